//===- TensorInstructionBodies.h - What 10.0 alone has ----------*- C++ -*-===//
//
// Tensor memory and products whose sums lie there, as small as they can be. One
// warpgroup; its first thread issues.
//
//===----------------------------------------------------------------------===//

#ifndef KV_TEST_KERNELS_INSTRUCTIONS_TENSORINSTRUCTIONBODIES_H
#define KV_TEST_KERNELS_INSTRUCTIONS_TENSORINSTRUCTIONBODIES_H

#include "TileInstructionBodies.h"
#include "kernels/block/TensorBlock.h"

namespace kv::cuda::test {

/// Both operands of a product, then where addresses come to, and a barrier.
constexpr int TensorPlaceB = TensorLanes * SlabRowBytes,
              TensorPlaceAddress = TensorPlaceB + 2 * 64 * SlabRowBytes,
              TensorPlaceBarrier = TensorPlaceAddress + 32;
static_assert(TensorPlaceBarrier + 8 <= TileInstructionSharedBytes);

/// Allocates all that a body has, beside a barrier for one arrival.
template <class B> KV_BODY TensorAddress beginTensor(B &b, int columns) {
  auto complete = b.barrier(TensorPlaceBarrier);
  if (b.thread() == 0) {
    b.init(complete, 1);
    b.fenceInit();
  }
  if (b.thread() < WarpLanes) {
    b.allocateTensor(TensorPlaceAddress, columns);
    b.relinquishTensor();
  }
  b.sync();
  return {b.template shared<uint32_t>(TensorPlaceAddress, 1).load(0)};
}
template <class B>
KV_BODY void endTensor(B &b, TensorAddress memory, int columns) {
  b.fenceBefore();
  b.sync();
  b.fenceAfter();
  if (b.thread() < WarpLanes)
    b.freeTensor(memory, columns);
}

/// The lanes that the thread's warp reaches.
template <class B> KV_BODY TensorAddress ownLanes(B &b, TensorAddress memory) {
  return memory.below(b.thread() / WarpLanes * WarpReach);
}

/// 16 columns from `from` on of the thread's lane become its words.
template <class B>
KV_BODY void storeColumns(B &b, TensorAddress to, const uint32_t *from) {
  uint32_t words[16];
  KV_UNROLL for (int i = 0; i < 16; ++i)
    words[i] = b.load(from + i);
  b.storeTensor(to, words);
}

/// To out [128][Columns] from a lane each, Width columns at a time; Width 4:
/// from the first sixteen lanes of each warp, as fragments of 64 columns.
template <int Columns, int Width, class B>
KV_BODY void loadColumns(B &b, TensorAddress own, float *out) {
  KV_UNROLL for (int from = 0; from < Columns; from += Width == 4 ? 64 : Width)
    if constexpr (Width == 4) {
      float sums[8][4];
      b.loadTensor(sums, own.behind(from));
      b.awaitLoads(sums);
      KV_UNROLL for (int i = 0; i < 32; ++i) {
        Place at = groupFragmentC(b.thread(), i / 4, i % 4);
        b.store(out + at.row * Columns + from + at.column, sums[i / 4][i % 4]);
      }
    } else {
      float sums[Width];
      b.loadTensor(sums, own.behind(from));
      b.awaitLoads(sums);
      KV_UNROLL for (int i = 0; i < Width; ++i)
        b.store(out + b.thread() * Columns + from + i, sums[i]);
    }
}

constexpr int TensorWords = 64;

/// in: a word of each of 128 lanes and 64 columns; out: what loads find there.
template <int Width, class B>
KV_BODY void tensorWordsBody(B &b, const TileInstructionParams &p) {
  TensorAddress memory = beginTensor(b, TensorWords), own = ownLanes(b, memory);
  for (int from = 0; from < TensorWords; from += 16)
    storeColumns(b, own.behind(from),
                 static_cast<const uint32_t *>(p.in) +
                     b.thread() * TensorWords + from);
  b.awaitStores();
  loadColumns<TensorWords, Width>(b, own, static_cast<float *>(p.out));
  endTensor(b, memory, TensorWords);
}

/// The columns that a block allocates: 32 to 512.
KV_HD constexpr int allocatedBy(int block) {
  return FewestColumns << block % 5;
}

/// out [blocks][5]: the address of what a block has allocated, and of each warp
/// how many words were others when it had stored some in every column and
/// loaded them again. A block allocates once: of two that wait for each other's
/// columns neither would go on.
template <class B>
KV_BODY void tensorAllocationBody(B &b, const TileInstructionParams &p) {
  const int columns = allocatedBy(b.block());
  TensorAddress memory = beginTensor(b, columns), own = ownLanes(b, memory);
  const uint32_t first = uint32_t(b.block() * GroupThreads + b.thread()) << 10;
  for (int from = 0; from < columns; from += 16) {
    uint32_t words[16];
    KV_UNROLL for (int i = 0; i < 16; ++i)
      words[i] = first + from + i;
    b.storeTensor(own.behind(from), words);
  }
  b.awaitStores();
  float others = 0;
  for (int from = 0; from < columns; from += 32) {
    float found[32];
    b.loadTensor(found, own.behind(from));
    b.awaitLoads(found);
    KV_UNROLL for (int i = 0; i < 32; ++i)
      others += bitsAs<uint32_t>(found[i]) != first + from + i;
  }
  KV_UNROLL for (int mask = 1; mask < WarpLanes; mask *= 2)
    others += b.shuffleXor(others, mask);
  auto *out = static_cast<float *>(p.out) + b.block() * (1 + GroupWarps);
  if (b.thread() % WarpLanes == 0)
    b.store(out + 1 + b.thread() / WarpLanes, others);
  if (b.thread() == 0)
    b.store(out, bitsAs<float>(memory.bits));
  endTensor(b, memory, columns);
}

/// B [64][N] of `from`, to shared memory as a product takes it.
template <Major MajorB, int N, class B>
KV_BODY Operand storeRight(B &b, const uint16_t *from) {
  constexpr int K = GroupProductK;
  auto shared = b.template shared<uint16_t>(0, TensorPlaceAddress / 2);
  // More columns than a slab has lie in a second one.
  Operand operand{TensorPlaceB, 8 * AtomBytes, AtomBytes};
  for (int i = b.thread(); i < K * N / 2; i += GroupThreads) {
    int other = MajorB == Major::K ? i / (K / 2) : i % (N / 2) * 2;
    int k = MajorB == Major::K ? i % (K / 2) * 2 : i / (N / 2);
    storePair(b, shared, operand, MajorB, other, k, from + k * N + other,
              MajorB == Major::K ? N : 1);
  }
  return operand;
}
/// A [Rows][64] of `from`, likewise.
template <int Rows, class B>
KV_BODY void storeLeft(B &b, const uint16_t *from) {
  constexpr int K = GroupProductK;
  auto shared = b.template shared<uint16_t>(0, TensorPlaceAddress / 2);
  for (int i = b.thread(); i < Rows * K / 2; i += GroupThreads)
    storePair(b, shared, {0, 0, AtomBytes}, Major::K, i / (K / 2),
              i % (K / 2) * 2, from + i * 2, 1);
}

/// in: A [Rows][64] and B [64][N] of T; out: their product, of float. A comes
/// from shared or from tensor memory, sums go to the registers as kernels load
/// them: single columns of a few, 32 of 128 rows, fragments of 64.
template <class T, Major MajorB, bool FromTensor, int N, int Rows, class B>
KV_BODY void tensorProductBody(B &b, const TileInstructionParams &p) {
  constexpr int K = GroupProductK, ColumnA = 128, Allocated = 256;
  const auto *a = static_cast<const uint16_t *>(p.in);
  Operand right = storeRight<MajorB, N>(b, a + Rows * K);
  if constexpr (!FromTensor)
    storeLeft<Rows>(b, a);
  b.fenceAsync();
  TensorAddress memory = beginTensor(b, Allocated), own = ownLanes(b, memory);
  if constexpr (FromTensor) {
    // Pairs of a row's neighbours are the words of its lane.
    for (int from = 0; from < K / 2; from += 16)
      storeColumns(b, own.behind(ColumnA + from),
                   reinterpret_cast<const uint32_t *>(a) +
                       b.thread() * (K / 2) + from);
    b.awaitStores();
    b.fenceBefore();
    b.sync();
  }
  auto complete = b.barrier(TensorPlaceBarrier);
  if (b.thread() == 0) {
    b.fenceAfter();
    TensorInstruction instruction =
        encode(TensorProduct{TensorFormat<T>, MajorB, N, Rows});
    TensorDescriptor operandA =
        encodeTensor({b.sharedAddress(0), 0, AtomBytes});
    TensorDescriptor operandB = encodeTensor(
        {b.sharedAddress(TensorPlaceB), right.leading, right.stride});
    for (int step = 0; step < K / 16; ++step) {
      TensorDescriptor stepB = operandB.behind(
          MajorB == Major::K ? step * 32 : step * 2 * AtomBytes);
      if constexpr (FromTensor)
        b.multiplyTensor(memory, memory.behind(ColumnA + step * 8), stepB,
                         instruction, step > 0);
      else
        b.multiplyTensor(memory, operandA.behind(step * 32), stepB, instruction,
                         step > 0);
    }
    b.commitTensor(complete);
  }
  b.sync();
  b.awaitPhase(complete, 0);
  b.fenceAfter();
  loadColumns < N, Rows == HalfRows
                       ? 4
                       : N<32 ? 1 : 32>(b, own, static_cast<float *>(p.out));
  endTensor(b, memory, Allocated);
}

/// in: A [128][64] and B [64][16] of bf16; out [count][128]: the sums of the
/// first column when A B was added so many times, a commit each.
template <class B>
KV_BODY void tensorTurnsBody(B &b, const TileInstructionParams &p) {
  constexpr int N = 16, K = GroupProductK;
  const auto *a = static_cast<const uint16_t *>(p.in);
  storeLeft<TensorLanes>(b, a);
  storeRight<Major::K, N>(b, a + TensorLanes * K);
  b.fenceAsync();
  TensorAddress memory = beginTensor(b, FewestColumns);
  auto complete = b.barrier(TensorPlaceBarrier);
  for (int turn = 0; turn < p.count; ++turn) {
    if (b.thread() == 0) {
      b.fenceAfter();
      for (int step = 0; step < K / 16; ++step)
        b.multiplyTensor(
            memory,
            encodeTensor({b.sharedAddress(0), 0, AtomBytes}).behind(step * 32),
            encodeTensor({b.sharedAddress(TensorPlaceB), 0, AtomBytes})
                .behind(step * 32),
            encode(TensorProduct{TensorFormat<Bf16>, Major::K, N}),
            turn + step > 0);
      b.commitTensor(complete);
    }
    b.sync();
    b.awaitPhase(complete, turn & 1);
    b.fenceAfter();
    float sum[1];
    b.loadTensor(sum, ownLanes(b, memory));
    b.awaitLoads(sum);
    b.store(static_cast<float *>(p.out) + turn * TensorLanes + b.thread(),
            sum[0]);
    b.fenceBefore();
    b.sync();
  }
  endTensor(b, memory, FewestColumns);
}

/// in: three pairs of floats a thread; out [128][3]: the product of the first
/// two, that plus the third, and, 1 or 0 each, whether the lane was elected and
/// whether a lane of its warp has a first number below zero.
template <class B>
KV_BODY void tensorPairsBody(B &b, const TileInstructionParams &p) {
  const auto *in = static_cast<const FloatPair *>(p.in) + b.thread() * 3;
  auto *out = static_cast<FloatPair *>(p.out) + b.thread() * 3;
  FloatPair x = b.load(in), y = b.load(in + 1), z = b.load(in + 2);
  b.store(out, b.multiply(x, y));
  b.store(out + 1, b.fusedMultiplyAdd(x, y, z));
  FloatPair chosen{b.elect() ? 1.0f : 0.0f, b.anyLane(x.x < 0) ? 1.0f : 0.0f};
  b.store(out + 2, chosen);
}

} // namespace kv::cuda::test

#endif // KV_TEST_KERNELS_INSTRUCTIONS_TENSORINSTRUCTIONBODIES_H
