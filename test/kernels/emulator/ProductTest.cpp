//===- ProductTest.cpp - wgmma --------------------------------------------===//
//
// One warpgroup's products, alone: their bits are mma.sync's, and each way to
// misuse them has its sentence. (That a GPU gives the same bits for both is for
// a GPU to say.)
//
//===----------------------------------------------------------------------===//

#include "ProductCase.h"

using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

using Matrices = kv::cuda::test::Matrices<64>;
constexpr int K = Matrices::K, Tiles = Matrices::Tiles,
              Columns = Matrices::Columns;
constexpr int Atom = AtomBytes;

using Sums = float[Tiles][4];
using Fragments = uint32_t[K / 16][4]; // of A

enum class Wrong {
  Nothing,
  MissingFence,
  MissingFenceAfterWait,
  UnnamedA,
  TouchedAfterFence,
  MissingProxyFence,
  ProxyFenceAfterBarrier,
  MissingBarrier,
  MissingCommit,
  WaitOneShort,
  NeverWaited,
  EarlyRead,
  EarlyShuffle,
  TouchedUnderWay,
  RescaledBetween,
  OverwrittenA,
  OverwrittenShared,
  OtherShape,
  WrongStride,
  WrongSwizzle,
  UnalignedAtom,
  OtherMajor,
  OneStepBehind,
  OneThreadsDescriptor,
  OneWarpLeaves,
  OutOfShared
};

/// Writes A and B to shared memory for products to read.
template <Major MajorB, Wrong How>
void fillShared(CpuBlock &b, const Matrices &m) {
  // Where nothing is exchanged, what is stored is not what is multiplied.
  constexpr bool Swizzles = How != Wrong::WrongSwizzle;
  fillSlab(b, PlaceA, m.a, K, Swizzles);
  fillSlabOfB<MajorB>(b, m.b, K, Columns, Swizzles);
  if (How != Wrong::MissingProxyFence && How != Wrong::ProxyFenceAfterBarrier)
    b.fenceAsync();
  if (How != Wrong::MissingBarrier)
    b.sync();
  if (How == Wrong::ProxyFenceAfterBarrier)
    b.fenceAsync();
}

struct Operands {
  Descriptor a, b;
};
template <Wrong How> Operands operandsOf(const CpuBlock &b) {
  uint32_t addressA =
      b.sharedAddress(PlaceA + (How == Wrong::UnalignedAtom ? 16 : 0));
  Operands all = {
      encode({addressA, 0, Atom}),
      encode(
          {b.sharedAddress(How == Wrong::OutOfShared ? 65536 - 4096 : PlaceB),
           Atom * 8, uint32_t(How == Wrong::WrongStride ? 2 * Atom : Atom)})};
  if (How == Wrong::UnalignedAtom)
    all.a.bits |= uint64_t(1) << 49;
  if (How == Wrong::OneThreadsDescriptor && b.thread() == 77)
    all.b = all.b.behind(16);
  return all;
}

/// Issues the products of all steps, which take B as `Read` says.
template <Major Read, bool FromRegisters, Wrong How>
void issue(CpuBlock &b, const Operands &operands, Fragments &a, Sums &acc) {
  for (int step = 0; step < K / 16; ++step) {
    int from = How == Wrong::OneStepBehind ? std::max(step - 1, 0) : step;
    Descriptor stepA = operands.a.behind(step * 32);
    Descriptor stepB =
        operands.b.behind(Read == Major::K ? from * 32 : from * 2 * Atom);
    if (How == Wrong::RescaledBetween && step == 2)
      for (auto &tile : acc)
        tile[0] *= 2;
    if (How == Wrong::MissingFenceAfterWait && step == 2) {
      b.commitProducts();
      b.awaitProducts<0>(acc);
    }
    if constexpr (How == Wrong::OtherShape) {
      if (step == 2) {
        auto &half = reinterpret_cast<float (&)[Tiles / 2][4]>(acc);
        b.multiplyGroup<Bf16, Read>(half, stepA, stepB, true);
        continue;
      }
    }
    if (FromRegisters)
      b.multiplyGroup<Bf16, Read>(acc, a[step], stepB, true);
    else
      b.multiplyGroup<Bf16, Read>(acc, stepA, stepB,
                                  How == Wrong::TouchedAfterFence || step > 0);
    if (How == Wrong::WaitOneShort && step == 1)
      b.commitProducts();
  }
}

/// B in shared memory as it is, with neighbours along columns, or transposed.
template <Major MajorB, bool FromRegisters, Wrong How>
void product(CpuBlock &b, Matrices &m) {
  fillShared<MajorB, How>(b, m);
  Fragments a;
  if (FromRegisters)
    loadFragments(b, m.a, a);
  Sums acc = {};
  Operands operands = operandsOf<How>(b);
  constexpr Major Read = How != Wrong::OtherMajor ? MajorB
                         : MajorB == Major::K     ? Major::Other
                                                  : Major::K;
  if (How == Wrong::OneWarpLeaves && b.thread() >= 96)
    return;
  if (How == Wrong::UnnamedA)
    b.fenceProducts(acc);
  else if (How != Wrong::MissingFence)
    b.fenceProducts(acc, a);
  if (How == Wrong::TouchedAfterFence)
    acc[3][1] = 1;
  issue<Read, FromRegisters, How>(b, operands, a, acc);
  if (How == Wrong::OverwrittenA)
    a[1][2] ^= 1;
  if (How == Wrong::OverwrittenShared && b.thread() == 5)
    storeWord(b, PlaceB, 3, 4, 1);
  if (How == Wrong::TouchedUnderWay)
    acc[1][1] = 0;
  if (How != Wrong::MissingCommit)
    b.commitProducts();
  if (How == Wrong::EarlyShuffle)
    b.shuffleXor(acc[0][0], 1);
  if (How == Wrong::NeverWaited)
    return;
  if (How == Wrong::EarlyRead)
    ;
  else if (How == Wrong::WaitOneShort)
    b.awaitProducts<1>(acc);
  else
    b.awaitProducts<0>(acc);
  storeSums(b, m.c, acc);
  if (How == Wrong::EarlyRead)
    b.awaitProducts<0>(acc);
}

template <Wrong How, bool FromRegisters = false, Major MajorB = Major::Other>
void expectWrong(const char *text) {
  expectReport(product<MajorB, FromRegisters, How>, text);
}

template <Wrong How, Major MajorB = Major::Other> void expectOtherNumbers() {
  kv::cuda::test::expectOtherNumbers<64>(product<MajorB, false, Wrong::Nothing>,
                                         product<MajorB, false, How>);
}

} // namespace

TEST(Products, BitsOfMma) {
  using enum Major;
  expectBitsOfMma<64>({product<Other, false, Wrong::Nothing>,
                       product<Major::K, false, Wrong::Nothing>,
                       product<Other, true, Wrong::Nothing>,
                       product<Major::K, true, Wrong::Nothing>});
}

TEST(Products, MissingFence) {
  expectWrong<Wrong::MissingFence>("needs fenceProducts() before the product");
  expectWrong<Wrong::MissingFenceAfterWait>(
      "needs fenceProducts() before the product");
}
TEST(Products, RegistersThatNoFenceNames) {
  expectWrong<Wrong::UnnamedA, true>(
      "touched A's registers, which fenceProducts() before");
  expectWrong<Wrong::TouchedAfterFence>(
      "touched the accumulator between fenceProducts() and the product");
}
TEST(Products, MissingProxyFence) {
  expectWrong<Wrong::MissingProxyFence>(
      "a product of warpgroup 0 reads without fenceAsync() what was written "
      "by thread");
}
TEST(Products, ProxyFenceAfterTheBarrier) {
  expectWrong<Wrong::ProxyFenceAfterBarrier>(
      "a product of warpgroup 0 reads without fenceAsync()");
}
TEST(Products, MissingBarrier) {
  expectWrong<Wrong::MissingBarrier>(
      "a product of warpgroup 0 reads unordered with the write of thread");
}
TEST(Products, MissingCommit) {
  expectWrong<Wrong::MissingCommit>("commitProducts() is missing");
}
TEST(Products, WaitOneShort) {
  expectWrong<Wrong::WaitOneShort>(
      "which the wait leaves under way: 1 groups may be pending");
}
TEST(Products, NeverWaited) {
  expectWrong<Wrong::NeverWaited>("leaves with products under way");
}
TEST(Products, EarlyRead) {
  expectWrong<Wrong::EarlyRead>(
      "uses the accumulator of a product that it did not wait for");
  expectWrong<Wrong::EarlyShuffle>(
      "uses the accumulator of a product that it did not wait for");
}
TEST(Products, TouchedUnderWay) {
  expectWrong<Wrong::TouchedUnderWay>(
      "touched an accumulator before it was waited for");
  expectWrong<Wrong::RescaledBetween>(
      "touched the accumulator of a product under way before the product");
}
TEST(Products, OverwrittenOperands) {
  expectWrong<Wrong::OverwrittenA, true>(
      "touched A's registers of the product");
  expectWrong<Wrong::OverwrittenShared>(
      "thread 5 writes unordered with the read of a product of warpgroup "
      "0");
}
TEST(Products, OtherShape) {
  expectWrong<Wrong::OtherShape>("by a product of another shape");
}
TEST(Products, Descriptors) {
  expectWrong<Wrong::UnalignedAtom>("is not of rows of 128 bytes, swizzled");
  expectWrong<Wrong::WrongStride, false, Major::K>("nobody wrote");
  expectWrong<Wrong::OutOfShared>("leaves shared memory: byte");
  expectWrong<Wrong::OneThreadsDescriptor>(
      "thread 77 asks for another descriptor or sum than its warpgroup");
}
TEST(Products, OneWarpLeaves) {
  expectWrong<Wrong::OneWarpLeaves>("where 96 of 128 threads wait");
}
TEST(Products, OtherElements) {
  expectOtherNumbers<Wrong::WrongSwizzle>();
  expectOtherNumbers<Wrong::OneStepBehind>();
  expectOtherNumbers<Wrong::OneStepBehind, Major::K>();
  expectOtherNumbers<Wrong::OtherMajor, Major::K>();
}
