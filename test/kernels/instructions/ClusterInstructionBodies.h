//===- ClusterInstructionBodies.h - Two blocks and what they share -*- C++ -*-//
//
// One cluster of two blocks: what one does to the shared memory and barriers of
// the other, one instruction at a time. A block's results follow those of the
// one before.
//
//===----------------------------------------------------------------------===//

#ifndef KV_TEST_KERNELS_INSTRUCTIONS_CLUSTERINSTRUCTIONBODIES_H
#define KV_TEST_KERNELS_INSTRUCTIONS_CLUSTERINSTRUCTIONBODIES_H

#include "TileInstructionBodies.h"

namespace kv::cuda::test {

constexpr int InstructionCluster = 2;

/// Each thread stores to the other block (st.shared::cluster at an address of
/// mapa), arrives there, and reads what it was given by its mirror image.
/// out [2][128]: 1000 * rank + thread of who stored it.
template <class B>
KV_BODY void remoteStoreBody(B &b, const TileInstructionParams &p) {
  auto bar = b.barrier(RingBarriers);
  auto given = b.template shared<float>(0, GroupThreads);
  int rank = b.clusterRank(), thread = b.thread();
  if (thread == 0) {
    b.init(bar, GroupThreads);
    b.fenceInit();
  }
  b.syncCluster();
  b.storeRemote(given, rank ^ 1, thread, float(rank * 1000 + thread));
  b.arriveAt(b.remote(bar, rank ^ 1));
  b.awaitPhase(bar, 0);
  b.store(static_cast<float *>(p.out) + rank * GroupThreads + thread,
          given.load(GroupThreads - 1 - thread));
  b.syncCluster();
}

/// Every third thread of a block arrives at the other's barrier, which waits
/// for no more, `count` times. out [2]: the phases that went by.
template <class B>
KV_BODY void remoteArrivalBody(B &b, const TileInstructionParams &p) {
  auto bar = b.barrier(RingBarriers);
  int rank = b.clusterRank(), phases = 0;
  if (b.thread() == 0) {
    b.init(bar, (GroupThreads + 2) / 3);
    b.fenceInit();
  }
  b.syncCluster();
  for (int i = 0; i < p.count; ++i) {
    b.releaseAt(bar, rank ^ 1, b.thread() % 3 == 0);
    b.awaitPhase(bar, i & 1);
    ++phases;
    b.syncCluster();
  }
  if (b.thread() == 0)
    b.store(static_cast<float *>(p.out) + rank, float(phases));
}

/// Each block copies its box of 64 x 64 elements of `a`, 64 rows apart, to the
/// same place of both; each barrier sees the bytes of two boxes.
/// out [2][2]: the bytes of both boxes in each block.
template <class B>
KV_BODY void multicastBody(B &b, const TileInstructionParams &p) {
  auto bar = b.barrier(RingBarriers);
  int rank = b.clusterRank();
  if (b.thread() == 0) {
    b.init(bar, 1);
    b.fenceInit();
  }
  b.syncCluster();
  if (b.thread() == 0) {
    TileAt at = p.at;
    at.at[1] += rank * 64;
    b.expectBytes(bar, 2 * RingBox);
    b.copyTileTo(3, p.a, rank * RingBox, at, bar);
  }
  b.awaitPhase(bar, 0);
  auto words = b.template shared<uint32_t>(0, 2 * RingBox / 4);
  auto *out = static_cast<uint32_t *>(p.out) + rank * (2 * RingBox / 4);
  for (int i = b.thread(); i < 2 * RingBox / 4; i += GroupThreads)
    b.store(out + i, words.load(i));
  b.syncCluster();
}

} // namespace kv::cuda::test

#endif // KV_TEST_KERNELS_INSTRUCTIONS_CLUSTERINSTRUCTIONBODIES_H
