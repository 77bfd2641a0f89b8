//===- TileInstructionBodies.h - What 9.0 has, one by one -------*- C++ -*-===//
//
// Barriers in shared memory, tile copies, named barriers and products of a
// warpgroup, as small as they can be; and RingBody.h, where they come together,
// with registers that warps hand to others.
//
//===----------------------------------------------------------------------===//

#ifndef KV_TEST_KERNELS_INSTRUCTIONS_TILEINSTRUCTIONBODIES_H
#define KV_TEST_KERNELS_INSTRUCTIONS_TILEINSTRUCTIONBODIES_H

#include "RingBody.h"

namespace kv::cuda::test {

/// What is where depends on the kernel; `a`, `b` and `c` are a ring's.
struct TileInstructionParams : RingParams {
  const void *in;
  void *out;
  TileAt at; // of a box of `a`
  int32_t count;
};

constexpr int TileInstructionSharedBytes = RingSharedBytes;

/// out: the bytes of shared memory that a box of 64 x 64 elements of `a` fills.
template <class B>
KV_BODY void tileCopyBody(B &b, const TileInstructionParams &p) {
  auto bar = b.barrier(RingBarriers);
  if (b.thread() == 0) {
    b.init(bar, 1);
    b.fenceInit();
  }
  b.sync();
  if (b.thread() == 0) {
    b.expectBytes(bar, RingBox);
    b.copyTile(p.a, 0, p.at, bar);
  }
  b.awaitPhase(bar, 0);
  auto words = b.template shared<uint32_t>(0, RingBox / 4);
  for (int i = b.thread(); i < RingBox / 4; i += GroupThreads)
    b.store(static_cast<uint32_t *>(p.out) + i, words.load(i));
}

/// Two warps: the first leaves round * 32 + lane, the second reads it from the
/// neighbour's place. out [count][32].
template <class B>
KV_BODY void phasesBody(B &b, const TileInstructionParams &p) {
  auto full = b.barrier(RingBarriers), empty = b.barrier(RingBarriers + 8);
  auto slots = b.template shared<float>(0, WarpLanes);
  int lane = b.thread() % WarpLanes;
  if (b.thread() == 0) {
    b.init(full, WarpLanes);
    b.init(empty, WarpLanes);
    b.fenceInit();
  }
  b.sync();
  for (int round = 0; round < p.count; ++round)
    if (b.thread() < WarpLanes) {
      b.awaitPhase(empty, (round & 1) ^ 1);
      slots.store(lane, float(round * WarpLanes + lane));
      b.arriveAt(full);
    } else {
      b.awaitPhase(full, round & 1);
      b.store(static_cast<float *>(p.out) + round * WarpLanes + lane,
              slots.load(lane ^ 1));
      b.arriveAt(empty);
    }
}

/// Four warps: the first arrives and goes on, the second waits for it; the
/// others wait for one another. out [96]: the number of the thread that each
/// read from, of warps 1, 2, 3.
template <class B>
KV_BODY void namedBody(B &b, const TileInstructionParams &p) {
  auto slots = b.template shared<float>(0, GroupThreads);
  int warp = b.thread() / WarpLanes, lane = b.thread() % WarpLanes;
  slots.store(b.thread(), float(b.thread()));
  if (warp == 0) {
    b.arriveNamed(1, 2 * WarpLanes);
    return;
  }
  b.syncNamed(warp == 1 ? 1 : 2, 2 * WarpLanes);
  int from = warp == 1 ? lane ^ 3 : b.thread() ^ WarpLanes;
  b.store(static_cast<float *>(p.out) + b.thread() - WarpLanes,
          slots.load(from));
}

/// Two neighbours of an operand, as they share a word; in global memory the
/// second lies `step` elements behind the first.
template <class B, class Shared>
KV_BODY void storePair(B &b, Shared shared, Operand operand, Major major,
                       int other, int k, const uint16_t *from, int step) {
  int place = int(elementAddress(operand, major, other, k)) / 2;
  shared.store(place, b.load(from));
  shared.store(place + 1, b.load(from + step));
}

constexpr int GroupProductK = 64, GroupProductRows = 64;

/// in: A [64][64] and B [64][N] of T; out: their product, of float. A comes
/// from shared memory or from registers, B lies with neighbours along its rows
/// or its columns.
template <class T, Major MajorB, bool FromRegisters, int N, class B>
KV_BODY void groupProductBody(B &b, const TileInstructionParams &p) {
  constexpr int K = GroupProductK, Steps = K / 16, PlaceB = RingBox;
  const auto *a = static_cast<const uint16_t *>(p.in),
             *bs = a + GroupProductRows * K;
  auto shared = b.template shared<uint16_t>(0, RingBarriers / 2);
  // More columns than a slab has lie in a second one.
  Operand inA{0, 0, AtomBytes}, inB{PlaceB, 8 * AtomBytes, AtomBytes};
  for (int i = b.thread(); i < GroupProductRows * K / 2; i += GroupThreads)
    storePair(b, shared, inA, Major::K, i / (K / 2), i % (K / 2) * 2, a + i * 2,
              1);
  for (int i = b.thread(); i < K * N / 2; i += GroupThreads) {
    int other = MajorB == Major::K ? i / (K / 2) : i % (N / 2) * 2;
    int k = MajorB == Major::K ? i % (K / 2) * 2 : i / (N / 2);
    storePair(b, shared, inB, MajorB, other, k, bs + k * N + other,
              MajorB == Major::K ? N : 1);
  }
  b.fenceAsync();
  b.sync();
  uint32_t fragments[Steps][4];
  if constexpr (FromRegisters) KV_UNROLL
    for (int i = 0; i < Steps * 4; ++i) {
      Place at = groupFragmentA(b.thread(), i % 4, 0);
      const uint16_t *pair = a + at.row * K + i / 4 * 16 + at.column;
      fragments[i / 4][i % 4] = b.load(pair) | uint32_t(b.load(pair + 1)) << 16;
    }
  float acc[N / 8][4];
  KV_UNROLL for (int i = 0; i < N / 2; ++i)
    acc[i / 4][i % 4] = 0;
  Descriptor operandA = encode({b.sharedAddress(0), 0, AtomBytes});
  Descriptor operandB =
      encode({b.sharedAddress(PlaceB), inB.leading, AtomBytes});
  if constexpr (FromRegisters)
    b.fenceProducts(acc, fragments);
  else
    b.fenceProducts(acc);
  KV_UNROLL for (int step = 0; step < Steps; ++step) {
    Descriptor stepB =
        operandB.behind(MajorB == Major::K ? step * 32 : step * 2 * AtomBytes);
    if constexpr (FromRegisters)
      b.template multiplyGroup<T, MajorB>(acc, fragments[step], stepB, true);
    else
      b.template multiplyGroup<T, MajorB>(acc, operandA.behind(step * 32),
                                          stepB, true);
  }
  b.commitProducts();
  b.template awaitProducts<0>(acc);
  KV_UNROLL for (int i = 0; i < N / 2; ++i) {
    Place at = groupFragmentC(b.thread(), i / 4, i % 4);
    b.store(static_cast<float *>(p.out) + at.row * N + at.column,
            acc[i / 4][i % 4]);
  }
}

constexpr int ByteProductK = 128; // one slab

/// in: A [64][128] and B [N][128] of f8E4M3FN, four neighbours a word; out:
/// A times the transpose of B, of float, 32 summed at a time.
template <bool FromRegisters, int N, class B>
KV_BODY void byteProductBody(B &b, const TileInstructionParams &p) {
  constexpr int Words = ByteProductK / 4, Steps = ByteProductK / 32,
                PlaceB = RingBox;
  const auto *a = static_cast<const uint32_t *>(p.in),
             *bs = a + GroupProductRows * Words;
  auto shared = b.template shared<uint32_t>(0, RingBarriers / 4);
  for (int i = b.thread(); i < GroupProductRows * Words; i += GroupThreads)
    shared.store(int(swizzled(uint32_t(i) * 4)) / 4, b.load(a + i));
  for (int i = b.thread(); i < N * Words; i += GroupThreads)
    shared.store(int(swizzled(uint32_t(PlaceB + i * 4))) / 4, b.load(bs + i));
  b.fenceAsync();
  b.sync();
  uint32_t fragments[Steps][4];
  if constexpr (FromRegisters) KV_UNROLL
    for (int i = 0; i < Steps * 4; ++i) {
      // Four elements of 8 bits where two of 16 are.
      Place at = groupFragmentA(b.thread(), i % 4, 0);
      fragments[i / 4][i % 4] =
          b.load(a + at.row * Words + i / 4 * 8 + at.column / 2);
    }
  float acc[N / 8][4];
  KV_UNROLL for (int i = 0; i < N / 2; ++i)
    acc[i / 4][i % 4] = 0;
  Descriptor operandA = encode({b.sharedAddress(0), 0, AtomBytes});
  Descriptor operandB = encode({b.sharedAddress(PlaceB), 0, AtomBytes});
  if constexpr (FromRegisters)
    b.fenceProducts(acc, fragments);
  else
    b.fenceProducts(acc);
  KV_UNROLL for (int step = 0; step < Steps; ++step) {
    Descriptor stepB = operandB.behind(step * 32);
    if constexpr (FromRegisters)
      b.template multiplyGroup<F8E4M3, Major::K>(acc, fragments[step], stepB,
                                                 step > 0);
    else
      b.template multiplyGroup<F8E4M3, Major::K>(
          acc, operandA.behind(step * 32), stepB, step > 0);
  }
  b.commitProducts();
  b.template awaitProducts<0>(acc);
  KV_UNROLL for (int i = 0; i < N / 2; ++i) {
    Place at = groupFragmentC(b.thread(), i / 4, i % 4);
    b.store(static_cast<float *>(p.out) + at.row * N + at.column,
            acc[i / 4][i % 4]);
  }
}

/// A warp. in: four words a lane; out: the 32 chunks of shared memory that
/// stmatrix makes of them, matrix i from chunk 8 i on.
template <class B>
KV_BODY void storeMatrixBody(B &b, const TileInstructionParams &p) {
  auto chunks = b.template shared<Chunk>(0, WarpLanes);
  uint32_t words[4];
  KV_UNROLL for (int i = 0; i < 4; ++i)
    words[i] = b.load(static_cast<const uint32_t *>(p.in) + b.thread() * 4 + i);
  b.storeMatrix(words, chunks, b.thread());
  b.sync();
  b.store(static_cast<Chunk *>(p.out) + b.thread(), chunks.load(b.thread()));
}

template <bool FromRegisters, class B>
KV_BODY void ringBody(B &b, const TileInstructionParams &p) {
  RingBody<B, FromRegisters, RingFault::None>(b, p).run();
}

} // namespace kv::cuda::test

#endif // KV_TEST_KERNELS_INSTRUCTIONS_TILEINSTRUCTIONBODIES_H
