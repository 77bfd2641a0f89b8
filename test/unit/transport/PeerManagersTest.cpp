//===- PeerManagersTest.cpp - Two managers, transfers, disks and a store --===//
//
// Random calls of two managers (PeerPair.h): once many, in one thread, by
// connectors with moods, and once fewer with everything real but the bytes'
// way: disks, a server, ZeroMQ and its threads.
//
// KV_TIERS_OPS sets how many calls are made in one thread (default 10^7),
// KV_PEER_OPS how many are real (default 3*10^4); KV_PEER_SEED where both
// start.
//
//===----------------------------------------------------------------------===//

#include "PeerPair.h"
#include "test/Environment.h"

#ifdef KV_REDIS_SERVER
#include "test/unit/tiers/RedisServer.h"
#endif

#include <gtest/gtest.h>

#include <iostream>

using namespace kv;
using namespace kv::test;

namespace {

uint32_t firstSeed() {
  return static_cast<uint32_t>(environment("KV_PEER_SEED", 1));
}

void print(const PeerPair::Figures &figures,
           const TieredHarness::Coverage &total) {
  std::cout << figures.commands << " commands: " << figures.prompts
            << " prompts asked for, " << figures.readPages << " records read, "
            << figures.failedPages << " given up, " << figures.refusedReturns
            << " leases returned too late, " << figures.expiredLeases
            << " expired, " << figures.losses << " times lost, "
            << figures.deaths << " deaths, " << figures.storeLoads
            << " records read from a store; " << total.loaded
            << " pages loaded, " << total.stateLoads << " of them with states, "
            << total.abandoned << " abandoned, " << total.hits
            << " tokens hit, " << total.evicted << " evicted, " << total.resets
            << " resets, " << total.forks << " forks, " << total.truncations
            << " truncations; while loading: " << total.steppedWhileLoading
            << " steps, " << total.truncatedWhileLoading << " truncations, "
            << total.releasedWhileLoading << " releases, "
            << total.resetWhileLoading << " resets\n";
}

/// A half of the calls, so that two cores can make them: every second pair.
void inOneThread(uint32_t half) {
  int64_t wanted = environment("KV_TIERS_OPS", 10'000'000) / 2;
  PeerPair::Figures figures;
  TieredHarness::Coverage total;
  for (uint32_t seed = firstSeed() + half; figures.commands < wanted;
       seed += 2) {
    PeerPair pair(seed, {.inOneThread = true});
    std::string wrong = pair.play(2000);
    ASSERT_EQ(wrong, "") << "KV_PEER_SEED=" << seed;
    figures.add(pair.figures);
    total.add(pair.coverage);
  }
  print(figures, total);
  if (figures.commands < 1'000'000)
    return; // seldom things may be missing
  for (int64_t count :
       {figures.prompts, figures.readPages, total.hits, total.loaded,
        total.stateLoads, total.evicted, total.forks, total.truncations})
    EXPECT_GT(count, figures.commands / 500);
  for (int64_t count :
       {figures.failedPages, figures.refusedReturns, figures.expiredLeases,
        figures.losses, figures.deaths, figures.storeLoads, total.abandoned,
        total.resets, total.steppedWhileLoading, total.truncatedWhileLoading,
        total.releasedWhileLoading, total.resetWhileLoading})
    EXPECT_GT(count, figures.commands / 50'000);
}

} // namespace

TEST(PeerManagers, ReadTheirOwnPagesInOneThread) { inOneThread(0); }
TEST(PeerManagers, ReadTheirOwnPagesInOneThreadToo) { inOneThread(1); }

TEST(PeerManagers, ReadTheirOwnPages) {
  int64_t wanted = environment("KV_PEER_OPS", 30'000);
  PeerPair::Figures figures;
  TieredHarness::Coverage total;
  std::string store;
#ifdef KV_REDIS_SERVER
  RedisServer server;
  store = server.address("?timeout=200");
#endif
  for (uint32_t seed = firstSeed(); figures.commands < wanted; ++seed) {
    PeerPair pair(seed, {.store = seed % 3 == 0 ? store : ""});
    std::string wrong = pair.play(1000);
    ASSERT_EQ(wrong, "") << "KV_PEER_SEED=" << seed;
    figures.add(pair.figures);
    total.add(pair.coverage);
  }
  print(figures, total);
  for (int64_t count :
       {figures.prompts, figures.readPages, total.loaded, total.stateLoads})
    EXPECT_GT(count, figures.commands / 500);
  for (int64_t count :
       {figures.failedPages, total.abandoned, total.resets, figures.deaths})
    EXPECT_GT(count, figures.commands / 5000);
}
