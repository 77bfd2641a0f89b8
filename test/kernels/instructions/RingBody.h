//===- RingBody.h - Tiles through a ring to two warpgroups ------*- C++ -*-===//
//
// C = A B, where a producer thread copies tiles of A and B to a ring of stages
// and two warpgroups multiply them, 64 rows each: how a prefill kernel works,
// as small as it can be. Rows of B from `live` on are NaN in memory and count
// as zeros.
//
//===----------------------------------------------------------------------===//

#ifndef KV_TEST_KERNELS_INSTRUCTIONS_RINGBODY_H
#define KV_TEST_KERNELS_INSTRUCTIONS_RINGBODY_H

#include "kernels/block/Block.h"
#include "kernels/block/Body.h"

namespace kv::cuda::test {

/// Mistakes, one each.
enum class RingFault {
  None,
  MissingInitFence,
  MissingInitBarrier,
  MissingFullWait,
  MissingEmptyWait, // a stage is filled while others still read it
  WrongFullParity,
  WrongEmptyParity,
  ParityOfTheStage, // and not of how often the ring was gone round
  BoxNotExpected,
  BoxExpectedTwice,
  BoxNotCopied,
  BoxElsewhere, // of A's other rows
  StageElsewhere,
  EarlyRelease, // before the products that read the stage are waited for
  MissingRelease,
  ReleasedTwice,
  ReleasedByOneGroup,
  MissingTailFill,
  MissingTailFence,
  TailFenceAfterBarrier,
  MissingTailBarrier,
  OneWarpSkipsTheTail, // and its barrier
  TailBarrierOfTooMany,
  MissingProductsFence,
  MissingCommit,
  ProductsWaitOneShort,
  EarlyAccumulator,
  ScaledUnderWay,
  RegistersAOverwritten,
  WrongSwizzle, // of A, which is read by threads
  WrongStride,
  WrongSlab,
  ProducerKeepsRegisters,
  OneWarpTakesNoRegisters,
  ConsumerLeavesEarly,
  ProducerLeavesEarly,
  UnawaitedPhase, // one warp multiplies what it did not wait for
};

struct RingParams {
  TensorMap a, b; // boxes of 64 x 64 elements
  float *c;       // [128][64]
  int tiles;      // of 64 along K
  int live;       // rows of B that are some
};

constexpr int RingStages = 3, RingThreads = 384, RingConsumers = 256;
constexpr int RingBox = 64 * 128, RingStage = 3 * RingBox; // A, A, B
constexpr int RingBarriers = RingStages * RingStage;
constexpr int RingSharedBytes = RingBarriers + 128;
constexpr int RingRegisters = 168;

template <class B, bool FromRegisters, RingFault F> class RingBody {
public:
  KV_BODY RingBody(B &b, const RingParams &p) : b(b), p(p) {}

  KV_BODY void run() {
    if (b.thread() == 0) {
      for (int stage = 0; stage < RingStages; ++stage) {
        b.init(full(stage), 1);
        b.init(empty(stage), FromRegisters ? RingConsumers : 2);
      }
      if (F != RingFault::MissingInitFence)
        b.fenceInit();
    }
    if (F != RingFault::MissingInitBarrier)
      b.sync();
    if (b.thread() < RingConsumers) {
      if (F != RingFault::OneWarpTakesNoRegisters || b.thread() >= 32)
        b.template registersUp<240>();
      consume();
      return;
    }
    if (F != RingFault::ProducerKeepsRegisters)
      b.template registersDown<24>();
    if (b.thread() == RingConsumers)
      produce();
  }

private:
  KV_BODY auto full(int stage) { return b.barrier(RingBarriers + stage * 8); }
  KV_BODY auto empty(int stage) {
    return b.barrier(RingBarriers + (RingStages + stage) * 8);
  }

  KV_BODY void produce() {
    for (int tile = 0; tile < p.tiles; ++tile) {
      if (F == RingFault::ProducerLeavesEarly && tile == p.tiles - 1)
        return;
      int stage = tile % RingStages, round = tile / RingStages;
      int parity = (round & 1) ^ (F == RingFault::WrongEmptyParity ? 0 : 1);
      if (F != RingFault::MissingEmptyWait)
        b.awaitPhase(empty(stage), parity);
      int boxes = F == RingFault::BoxNotExpected     ? 2
                  : F == RingFault::BoxExpectedTwice ? 4
                                                     : 3;
      b.expectBytes(full(stage), boxes * RingBox);
      int place =
          (F == RingFault::StageElsewhere && tile == 1 ? 0 : stage) * RingStage;
      b.copyTile(p.a, place, {{tile * 64, 0, 0, 0}}, full(stage));
      if (F != RingFault::BoxNotCopied || tile != 2)
        b.copyTile(p.a, place + RingBox,
                   {{tile * 64, F == RingFault::BoxElsewhere ? 0 : 64, 0, 0}},
                   full(stage));
      b.copyTile(p.b, place + 2 * RingBox, {{0, tile * 64, 0, 0}}, full(stage));
    }
  }

  KV_BODY void consume() {
    KV_UNROLL for (int n = 0; n < 8; ++n) KV_UNROLL
      for (int i = 0; i < 4; ++i)
        acc[n][i] = 0;
    // Named once: from the second tile on products are under way, and where an
    // accumulator is named between them ptxas waits for each.
    if constexpr (!FromRegisters && F != RingFault::MissingProductsFence)
      b.fenceProducts(acc);
    for (int tile = 0; tile < p.tiles; ++tile) {
      int stage = tile % RingStages, round = tile / RingStages;
      int parity = F == RingFault::ParityOfTheStage  ? tile & 1
                   : F == RingFault::WrongFullParity ? (round & 1) ^ 1
                                                     : round & 1;
      if (F != RingFault::MissingFullWait &&
          (F != RingFault::UnawaitedPhase || b.thread() / 32 != 5))
        b.awaitPhase(full(stage), parity);
      if (F == RingFault::ConsumerLeavesEarly && tile == 2 &&
          b.thread() / 32 == 3)
        return;
      zeroTail(stage, tile);
      multiply(stage);
      if (F == RingFault::EarlyRelease)
        release(stage);
      else if (!FromRegisters && tile > 0)
        release((tile - 1) % RingStages);
      else if (FromRegisters)
        release(stage);
    }
    finish();
  }

  /// Rows that are none: a weight of zero does not make a NaN harmless.
  KV_BODY void zeroTail(int stage, int tile) {
    int from = p.live - tile * 64;
    if (F == RingFault::MissingTailFill || from >= 64)
      return;
    if (F == RingFault::OneWarpSkipsTheTail && b.thread() / 32 == 6)
      return;
    auto rows = b.template shared<Chunk>(stage * RingStage + 2 * RingBox,
                                         RingBox / ChunkBytes);
    for (int i = from * 8 + b.thread(); i < 64 * 8; i += RingConsumers)
      rows.store(i, Chunk{});
    if (F != RingFault::MissingTailFence &&
        F != RingFault::TailFenceAfterBarrier)
      b.fenceAsync();
    if (F != RingFault::MissingTailBarrier)
      b.syncNamed(1, F == RingFault::TailBarrierOfTooMany ? RingThreads
                                                          : RingConsumers);
    if (F == RingFault::TailFenceAfterBarrier)
      b.fenceAsync();
  }

  /// A's elements as a thread has them of its rows, from shared memory.
  KV_BODY void loadA(int place) {
    auto words = b.template shared<uint32_t>(0, RingBarriers / 4);
    KV_UNROLL for (int step = 0; step < 4; ++step) KV_UNROLL
      for (int i = 0; i < 4; ++i) {
        Place at = groupFragmentA(b.thread() % GroupThreads, i, 0);
        int linear =
            place + at.row * SlabRowBytes + (step * 16 + at.column) * 2;
        // Stages begin at multiples of an atom.
        a[step][i] = words.load(
            int(F == RingFault::WrongSwizzle ? linear : swizzled(linear)) / 4);
      }
  }

  KV_BODY void multiply(int stage) {
    int group = b.thread() / GroupThreads;
    int placeA = stage * RingStage + group * RingBox;
    Descriptor operandA = encode(
        {b.sharedAddress(F == RingFault::WrongSlab ? placeA + RingBox : placeA),
         0, AtomBytes});
    Descriptor operandB =
        encode({b.sharedAddress(stage * RingStage + 2 * RingBox), 0,
                uint32_t(F == RingFault::WrongStride ? 512 : AtomBytes)});
    if constexpr (FromRegisters) {
      // The last tile's products read a until here.
      if (F != RingFault::RegistersAOverwritten)
        b.template awaitProducts<0>(acc);
      loadA(placeA);
    }
    if (F == RingFault::ScaledUnderWay)
      acc[0][0] *= 0.5f;
    if (F != RingFault::MissingProductsFence) {
      if constexpr (FromRegisters)
        b.fenceProducts(acc, a);
      else
        b.fenceProducts();
    }
    KV_UNROLL for (int step = 0; step < 4; ++step) {
      Descriptor stepB = operandB.behind(step * 2 * AtomBytes);
      if constexpr (FromRegisters)
        b.template multiplyGroup<Bf16, Major::Other>(acc, a[step], stepB, true);
      else
        b.template multiplyGroup<Bf16, Major::Other>(
            acc, operandA.behind(step * 32), stepB, true);
    }
    if (F != RingFault::MissingCommit)
      b.commitProducts();
    // What read the stage before has ended, but for a release that is early.
    if (FromRegisters && F != RingFault::RegistersAOverwritten &&
        F != RingFault::EarlyRelease)
      b.template awaitProducts<0>(acc);
    else if (!FromRegisters)
      b.template awaitProducts<1>();
  }

  KV_BODY void release(int stage) {
    if (F == RingFault::MissingRelease)
      return;
    if (F == RingFault::ReleasedByOneGroup && b.thread() >= GroupThreads)
      return;
    if (FromRegisters || b.thread() % GroupThreads == 0)
      b.arriveAt(empty(stage));
    if (F == RingFault::ReleasedTwice && b.thread() == 0)
      b.arriveAt(empty(stage));
  }

  KV_BODY void finish() {
    if (F == RingFault::ProductsWaitOneShort)
      b.template awaitProducts<1>(acc);
    else if (F != RingFault::EarlyAccumulator)
      b.template awaitProducts<0>(acc);
    KV_UNROLL for (int n = 0; n < 8; ++n) KV_UNROLL
      for (int i = 0; i < 4; ++i) {
        Place at = groupFragmentC(b.thread() % GroupThreads, n, i);
        int row = b.thread() / GroupThreads * 64 + at.row;
        b.store(p.c + row * 64 + at.column, acc[n][i]);
      }
  }

  B &b;
  const RingParams &p;
  float acc[8][4];
  uint32_t a[4][4];
};

} // namespace kv::cuda::test

#endif // KV_TEST_KERNELS_INSTRUCTIONS_RINGBODY_H
