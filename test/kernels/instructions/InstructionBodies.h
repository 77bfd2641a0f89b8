//===- InstructionBodies.h - Kernels that try one instruction ---*- C++ -*-===//
//
// One warp, but for `arrive`. What a lane holds goes to memory as it is, or by
// the maps of ptx/Layout.h; the tests know what must be there.
//
//===----------------------------------------------------------------------===//

#ifndef KV_TEST_KERNELS_INSTRUCTIONS_INSTRUCTIONBODIES_H
#define KV_TEST_KERNELS_INSTRUCTIONS_INSTRUCTIONBODIES_H

#include "kernels/block/Block.h"
#include "kernels/block/Body.h"
#include "kernels/block/Widen.h"
#include "kv/Definition/Fold.h"

namespace kv::cuda::test {

constexpr int InstructionThreads = WarpLanes;
constexpr int InstructionSharedBytes = 2048;

/// What is where depends on the kernel.
struct InstructionParams {
  const void *in;
  void *out;
  uint32_t *counter;
  int32_t count;
};

/// Item i of the input, and of the output.
template <class T, class B>
KV_BODY T inAt(B &b, const InstructionParams &p, int i) {
  return b.load(static_cast<const T *>(p.in) + i);
}
template <class T, class B>
KV_BODY void outAt(B &b, const InstructionParams &p, int i, T x) {
  b.store(static_cast<T *>(p.out) + i, x);
}

/// Calls f(i) for all i < count, each in one lane of the grid.
template <class B, class Function>
KV_BODY void forEachItem(B &b, const InstructionParams &p, Function f) {
  for (int i = b.block() * InstructionThreads + b.thread(); i < p.count;
       i += b.blocks() * InstructionThreads)
    f(i);
}

/// in: A [16][16] and B [16][8] of T; out: C [16][8] = A B + 1 of float.
template <class T, class B>
KV_BODY void multiplyBody(B &b, const InstructionParams &p) {
  auto element = [&](int place, int half) {
    return uint32_t(inAt<uint16_t>(b, p, place)) << 16 * half;
  };
  uint32_t a[4] = {}, bs[2] = {};
  float c[4];
  KV_UNROLL for (int half = 0; half < 2; ++half) {
    KV_UNROLL for (int i = 0; i < 4; ++i) {
      Place place = fragmentA(b.thread(), i, half);
      a[i] |= element(place.row * 16 + place.column, half);
    }
    KV_UNROLL for (int i = 0; i < 2; ++i) {
      Place place = fragmentB(b.thread(), i, half);
      bs[i] |= element(256 + place.row * 8 + place.column, half);
    }
  }
  KV_UNROLL for (int i = 0; i < 4; ++i)
    c[i] = 1;
  b.template multiplyAdd<T>(c, a, bs[0], bs[1]);
  KV_UNROLL for (int i = 0; i < 4; ++i) {
    Place place = fragmentC(b.thread(), i);
    outAt(b, p, place.row * 8 + place.column, c[i]);
  }
}

/// in: A [16][32] and the transpose of B, [8][32], of f8E4M3FN, four neighbours
/// a word; out: C [16][8] = A B + 1 of float.
template <class B>
KV_BODY void multiplyBytesBody(B &b, const InstructionParams &p) {
  uint32_t a[4], bs[2];
  float c[4];
  // Four elements of 8 bits where two of 16 are.
  KV_UNROLL for (int i = 0; i < 4; ++i) {
    Place place = fragmentA(b.thread(), i, 0);
    a[i] = inAt<uint32_t>(b, p, place.row * 8 + place.column / 2);
    c[i] = 1;
  }
  KV_UNROLL for (int i = 0; i < 2; ++i) {
    Place place = fragmentB(b.thread(), i, 0);
    bs[i] = inAt<uint32_t>(b, p, 128 + place.column * 8 + place.row / 2);
  }
  b.template multiplyAdd<F8E4M3>(c, a, bs[0], bs[1]);
  KV_UNROLL for (int i = 0; i < 4; ++i) {
    Place place = fragmentC(b.thread(), i);
    outAt(b, p, place.row * 8 + place.column, c[i]);
  }
}

/// in: 16 x 16 elements of 16 bits; out: each lane's four registers.
template <bool Transposed, class B>
KV_BODY void loadMatrixBody(B &b, const InstructionParams &p) {
  auto matrix = b.template shared<Chunk>(0, 32);
  matrix.store(b.thread(), inAt<Chunk>(b, p, b.thread()));
  b.sync();
  Place place = Transposed ? loadB(b.thread()) : loadA(b.thread());
  uint32_t r[4];
  if constexpr (Transposed)
    b.loadMatrixTransposed(r, matrix, place.row * 2 + place.column);
  else
    b.loadMatrix(r, matrix, place.row * 2 + place.column);
  KV_UNROLL for (int i = 0; i < 4; ++i)
    outAt(b, p, b.thread() * 4 + i, r[i]);
}

constexpr int CopyGroups = 4;
/// Whether a lane copies a chunk, or zeros.
KV_HD constexpr bool copies(int lane) { return lane % 3; }

/// in, out: CopyGroups times 32 chunks, a chunk a lane; each is read by the
/// next lane when its group, and not yet those after it, must be there.
template <class B> KV_BODY void copyBody(B &b, const InstructionParams &p) {
  auto target = b.template shared<Chunk>(0, CopyGroups * WarpLanes);
  KV_UNROLL for (int g = 0; g < CopyGroups; ++g) {
    int i = g * WarpLanes + b.thread();
    b.copyAsync(target, i,
                copies(b.thread())
                    ? addressOf(static_cast<const Chunk *>(p.in) + i)
                    : NoAddress + i * ChunkBytes);
    b.commit();
  }
  auto pass = [&](int g) {
    b.sync();
    int i = g * WarpLanes + (b.thread() + 1) % WarpLanes;
    outAt(b, p, i, target.load(i));
  };
  b.template wait<3>();
  pass(0);
  b.template wait<2>();
  pass(1);
  b.template wait<1>();
  pass(2);
  b.template wait<0>();
  pass(3);
}

/// out [5][32]: the number of the lane that is asked, for masks 1, 2, 4, 8, 16.
template <class B> KV_BODY void shuffleBody(B &b, const InstructionParams &p) {
  KV_UNROLL for (int i = 0; i < 5; ++i)
    outAt(b, p, i * WarpLanes + b.thread(),
          b.shuffleXor(float(b.thread()), 1 << i));
}

/// out: 32 floats and 32 pairs are stored, 0, 1, 2 and so on, and read by
/// other lanes: as 32 floats, 32 pairs, 24 quads.
template <class B> KV_BODY void scratchBody(B &b, const InstructionParams &p) {
  auto *out = static_cast<float *>(p.out);
  int lane = b.thread(), other = lane ^ 1;
  b.storeScratch(out + lane, float(lane));
  auto *pairs = reinterpret_cast<FloatPair *>(out + 32);
  b.storeScratch(pairs + lane,
                 FloatPair{float(32 + lane * 2), float(33 + lane * 2)});
  b.sync();
  outAt(b, p, 96 + other, b.loadScratch(out + other));
  outAt(b, p, 64 + other, b.loadScratch(pairs + other));
  if (lane < 24)
    outAt(b, p, 48 + lane,
          b.loadScratch(reinterpret_cast<FloatQuad *>(out) + lane));
}

/// out [1 + blocks]: each block leaves 10 + its number; the last to arrive
/// stores the sum of all at 0. The counter ends at the number of blocks.
template <class B> KV_BODY void arriveBody(B &b, const InstructionParams &p) {
  auto *out = static_cast<float *>(p.out);
  auto last = b.template shared<uint32_t>(0, 1);
  if (b.thread() == 7)
    b.storeScratch(out + 1 + b.block(), float(10 + b.block()));
  b.sync();
  if (b.thread() == 0) {
    uint32_t number = b.template arrive<Order::AcquireRelease>(p.counter, 1);
    last.store(0, number + 1 == uint32_t(b.blocks()));
  }
  b.sync();
  if (!last.load(0) || b.thread() != 3)
    return;
  float sum = 0;
  for (int i = 0; i < b.blocks(); ++i)
    sum += b.loadScratch(out + 1 + i);
  b.storeScratch(out, sum);
}

/// out [count]: one more than `in`, which the kernel before writes; that may
/// still run when this one begins. The next one may begin at once.
template <class B>
KV_BODY void gridDependencyBody(B &b, const InstructionParams &p) {
  b.letLaterBegin();
  if (!b.waitForEarlier())
    return;
  auto *in = static_cast<const float *>(p.in);
  auto *out = static_cast<float *>(p.out);
  forEachItem(
      b, p, [&](int i) { b.storeScratch(out + i, b.loadScratch(in + i) + 1); });
}

/// in: count times T; out: float.
template <class T, class B>
KV_BODY void widenBody(B &b, const InstructionParams &p) {
  forEachItem(b, p, [&](int i) { outAt(b, p, i, widen(inAt<T>(b, p, i))); });
}

/// in: count times four bytes; out: count times four f16, in their order and
/// then the even ones before the odd ones.
template <class T, class B>
KV_BODY void widenFourBody(B &b, const InstructionParams &p) {
  forEachItem(b, p, [&](int i) {
    uint32_t low, high, even, odd;
    widenFour<T>(inAt<uint32_t>(b, p, i), low, high);
    widenEvenOdd<T>(inAt<uint32_t>(b, p, i), even, odd);
    outAt(b, p, i, Chunk{{low, high, even, odd}});
  });
}

/// in: count times two pairs of f16; out: the pair of their products.
template <class B>
KV_BODY void multiplyPairBody(B &b, const InstructionParams &p) {
  forEachItem(b, p, [&](int i) {
    IntPair two = inAt<IntPair>(b, p, i);
    outAt(b, p, i, multiplyPair(uint32_t(two.x), uint32_t(two.y)));
  });
}

/// in: count times float; out: T.
template <class T, class B>
KV_BODY void narrowBody(B &b, const InstructionParams &p) {
  forEachItem(b, p,
              [&](int i) { outAt(b, p, i, narrow<T>(inAt<float>(b, p, i))); });
}

/// in: count times two floats; out: two T.
template <class T, class B>
KV_BODY void narrowPairBody(B &b, const InstructionParams &p) {
  forEachItem(b, p, [&](int i) {
    FloatPair pair = inAt<FloatPair>(b, p, i);
    outAt(b, p, i, narrowPair<T>(pair.x, pair.y));
  });
}

/// in: count times four floats; out: four T.
template <class T, class B>
KV_BODY void narrowFourBody(B &b, const InstructionParams &p) {
  forEachItem(b, p, [&](int i) {
    FloatQuad x = inAt<FloatQuad>(b, p, i);
    outAt(b, p, i, narrowFour<T>(x.x, x.y, x.z, x.w));
  });
}

/// in: count times two floats; out: the larger one, or NaN.
template <class B>
KV_BODY void largerOrNaNBody(B &b, const InstructionParams &p) {
  forEachItem(b, p, [&](int i) {
    FloatPair pair = inAt<FloatPair>(b, p, i);
    outAt(b, p, i, kv::plan::largerOrNaN(pair.x, pair.y));
  });
}

/// in: count times float; out: [count] of 2^x, 1 / x, ln x and x x + x.
template <class B>
KV_BODY void functionsBody(B &b, const InstructionParams &p) {
  using namespace kv::plan;
  forEachItem(b, p, [&](int i) {
    float x = inAt<float>(b, p, i);
    outAt(b, p, i,
          FloatQuad{powerOfTwo(x), reciprocal(x), logOfSum({0.0f, x}),
                    fusedMultiplyAdd(x, x, x)});
  });
}

} // namespace kv::cuda::test

#endif // KV_TEST_KERNELS_INSTRUCTIONS_INSTRUCTIONBODIES_H
