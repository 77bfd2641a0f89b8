//===- ClusterTest.cpp - Blocks that see one another ----------------------===//

#include "AsyncCase.h"

using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

constexpr int Threads = 128, Data = 1024, BoxRows = 16,
              BoxBytes = BoxRows * 128;

LaunchShape clusters(int blocks, int cluster) {
  return {.blocks = blocks,
          .threads = Threads,
          .sharedBytes = 8192,
          .registers = 64,
          .cluster = cluster};
}

enum class Remote {
  Right,
  MissingFirstSync,
  BlockSyncFirst,
  MissingArrival,
  MissingWait,
  StoreBehindArrival,
  MissingLastSync, // nor does a block wait for the others' stores
  OneBlockSkipsASync,
  NoSuchBlock,
  BeyondTheEnd
};

/// Each block stores to the next one, tells it so, and reads what it was given.
template <Remote How> void remote(CpuBlock &b, int blocks) {
  EXPECT_EQ(b.clusterRank(), b.block() % b.clusterBlocks());
  int next = (b.clusterRank() + 1) % blocks;
  int before = (b.clusterRank() + blocks - 1) % blocks;
  auto bar = b.barrier(0);
  auto x = b.shared<float>(Data, How == Remote::BeyondTheEnd ? 4096 : Threads);
  if (b.thread() == 0)
    b.init(bar, Threads);
  if (How == Remote::BlockSyncFirst)
    b.sync();
  else if (How != Remote::MissingFirstSync)
    b.syncCluster();
  if (How == Remote::NoSuchBlock)
    next = blocks;
  auto store = [&] {
    b.storeRemote(x, next,
                  b.thread() + (How == Remote::BeyondTheEnd ? 2000 : 0),
                  float(b.clusterRank() * 1000 + b.thread()));
  };
  if (How != Remote::StoreBehindArrival)
    store();
  if (How != Remote::MissingArrival)
    b.arriveAt(b.remote(bar, next));
  if (How == Remote::StoreBehindArrival)
    store();
  if (How != Remote::MissingWait && How != Remote::MissingLastSync)
    b.awaitPhase(bar, 0);
  if (How != Remote::NoSuchBlock && How != Remote::BeyondTheEnd &&
      How != Remote::MissingLastSync) {
    float read = x.load(Threads - 1 - b.thread());
    if (How == Remote::Right) {
      EXPECT_EQ(read, float(before * 1000 + Threads - 1 - b.thread()));
    }
  }
  if (How == Remote::OneBlockSkipsASync && b.clusterRank() == 1)
    return;
  if (How != Remote::MissingLastSync)
    b.syncCluster();
}

template <Remote How>
void expectRemote(const std::vector<std::string> &texts, int blocks = 2) {
  expectReport(clusters(4, blocks), texts,
               [&](CpuBlock &b) { remote<How>(b, blocks); });
}

enum class Multicast { Right, OneBlock, NotExpected, MissingSync, StageInUse };

/// Rank 0 copies a box to both blocks.
template <Multicast How> void multicast(CpuBlock &b, const TensorMap &map) {
  auto bar = b.barrier(0);
  auto x = b.shared<uint16_t>(Data, BoxBytes / 2);
  if (b.thread() == 0) {
    b.init(bar, 1);
    b.fenceInit();
  }
  if (How == Multicast::StageInUse && b.clusterRank() == 1) {
    x.store(2 * b.thread(), 1);
    b.fenceAsync();
  }
  if (How == Multicast::MissingSync)
    b.sync();
  else
    b.syncCluster();
  if (How == Multicast::StageInUse && b.clusterRank() == 1)
    x.load(2 * b.thread());
  if (b.thread() == 0 &&
      (How != Multicast::NotExpected || b.clusterRank() == 0))
    b.expectBytes(bar, BoxBytes);
  if (b.thread() == 0 && b.clusterRank() == 0)
    b.copyTileTo(How == Multicast::OneBlock ? 1 : 3, map, Data, {{0, 4, 0, 0}},
                 bar);
  b.awaitPhase(bar, 0);
  for (int i = b.thread(); i < BoxBytes / 2; i += Threads) {
    uint16_t read = x.load(int(swizzled(2 * i)) / 2);
    if (How == Multicast::Right) {
      EXPECT_EQ(read, 4 * 64 + i);
    }
  }
  b.syncCluster();
}

template <Multicast How>
void runMulticast(const std::vector<std::string> &texts) {
  std::vector<uint16_t> source(64 * 64);
  for (size_t i = 0; i < source.size(); ++i)
    source[i] = uint16_t(i);
  TensorMap map = matrixMap(source.data(), 64, 64, BoxRows);
  Body body = [&](CpuBlock &b) { multicast<How>(b, map); };
  if (texts.empty())
    expectClean(clusters(4, 2), body, {in(source)});
  else
    expectReport(clusters(4, 2), texts, body, {in(source)});
}

} // namespace

TEST(Clusters, StoresAndArrivals) {
  for (int blocks : {1, 2, 4})
    expectClean(clusters(4, blocks),
                [&](CpuBlock &b) { remote<Remote::Right>(b, blocks); });
}
TEST(Clusters, MissingFirstSync) {
  expectRemote<Remote::MissingFirstSync>(
      {"unordered with its initialisation", "where none was initialised"});
  expectRemote<Remote::BlockSyncFirst>(
      {"unordered with its initialisation", "where none was initialised"});
}
TEST(Clusters, WhatArrivalsOrder) {
  expectRemote<Remote::MissingArrival>({"lacks 128 of 128 arrivals"});
  expectRemote<Remote::MissingWait>({"unordered with the", "nobody wrote"});
  expectRemote<Remote::StoreBehindArrival>(
      {"unordered with the", "nobody wrote"}, 4);
}
TEST(Clusters, LeavingEarly) {
  expectRemote<Remote::MissingLastSync>(
      {"of a cluster may leave before thread", "which has left"}, 4);
  expectRemote<Remote::OneBlockSkipsASync>({"waits at a barrier"});
}
TEST(Clusters, Limits) {
  expectRemote<Remote::NoSuchBlock>(
      {"touches block 2 of its cluster, which has 2"});
  expectRemote<Remote::BeyondTheEnd>(
      {"leaves the shared memory of a block: 4 bytes at", "leaves shared"});
  expectReport(clusters(3, 2), {"clusters of 2 blocks need as many times that"},
               [](CpuBlock &) {});
}
TEST(Clusters, Multicast) { runMulticast<Multicast::Right>({}); }
TEST(Clusters, MulticastMistakes) {
  runMulticast<Multicast::OneBlock>(
      {"whose phase 0 lacks 0 of 1 arrivals and 2048 bytes"});
  runMulticast<Multicast::NotExpected>(
      {"lacks 1 of 1 arrivals and -2048 bytes"});
  runMulticast<Multicast::MissingSync>(
      {"unordered with its initialisation", "where none was initialised"});
  runMulticast<Multicast::StageInUse>(
      {"copies a box unordered with the read of", "under the box of"});
}
