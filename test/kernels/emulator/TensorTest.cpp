//===- TensorTest.cpp - Tensor memory and tcgen05.mma ---------------------===//
//
// One warpgroup, alone: a product of 128 or 64 rows has mma.sync's bits, and
// each way to misuse tensor memory has its sentence. (That a GPU gives the same
// bits for both is for a GPU to say.)
//
//===----------------------------------------------------------------------===//

#include "ProductCase.h"
#include "kernels/emulator/CpuTensorBlock.h"

using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

using M = Matrices<TensorLanes>;
constexpr int K = M::K, Columns = M::Columns;
constexpr int PlaceAddress = 32768, PlaceBarrier = PlaceAddress + 16;
/// In tensor memory A lies behind the sums.
constexpr int Allocated = 128, ColumnA = Columns;

enum class Wrong {
  Nothing,
  NotPowerOfTwo,
  AllocatedTooLate,
  AllocatedTooMuch,
  NeverFreed,
  FreedTwice,
  FreedOtherColumns,
  UsedAfterFree,
  BeyondAllocation,
  LanesOfAnotherWarp,
  OneLaneLeaves,
  OneLanesAddress,
  TwoIssuers,
  MissingCommit,
  CommitOneShort,
  LastUncommitted,
  NeverAwaited,
  WrongParity,
  MissingFenceAfter,
  MissingIssuersFence,
  MissingFenceBefore,
  MissingAwaitStores,
  MissingAwaitLoads,
  UnnamedLoads,
  TouchedLoads,
  StoredOverLoads,
  MissingLastFence,
  MissingProxyFence,
  OverwrittenShared,
  OverwrittenA,
  ReadUnwritten,
  AddsToNothing,
  OtherShape,
  DescriptorOfWgmma,
  OtherRows,
  HalfFromTensor,
  UnfencedBarrier,
  OneStepBehind,
  OtherMajor
};

/// A row of A, two elements a register.
using Pairs = uint32_t[K / 2 / 16][16];

/// Warp 0 allocates tensor memory and makes the barrier.
template <Wrong How>
void begin(CpuTensorBlock &b, CpuBlock::SharedBarrier complete) {
  auto is = [](Wrong wrong) { return How == wrong; };
  if (is(Wrong::AllocatedTooLate))
    b.relinquishTensor();
  int columns = is(Wrong::NotPowerOfTwo)      ? 96
                : is(Wrong::BeyondAllocation) ? 32
                                              : Allocated;
  b.allocateTensor(PlaceAddress, columns);
  if (is(Wrong::AllocatedTooMuch))
    b.allocateTensor(PlaceAddress + 4, TensorColumns);
  b.relinquishTensor();
  if (b.thread() == 0) {
    b.init(complete, 1);
    if (!is(Wrong::UnfencedBarrier))
      b.fenceInit();
  }
}

/// Writes a row of A to tensor memory.
template <Wrong How>
void storeA(CpuTensorBlock &b, const std::vector<uint16_t> &a, TensorAddress to,
            Pairs &pairs) {
  for (int i = 0; i < K / 2; ++i)
    pairs[i / 16][i % 16] = packed(b, &a[b.thread() * K + i * 2]);
  for (int i = 0; i < K / 2 / 16; ++i)
    b.storeTensor(to.behind(i * 16), pairs[i]);
  if (How != Wrong::MissingAwaitStores)
    b.awaitStores();
  if (How != Wrong::MissingFenceBefore)
    b.fenceBefore();
}

/// One thread issues the products of all steps and commits them.
template <Major MajorB, bool FromTensor, Wrong How, int Rows>
void issue(CpuTensorBlock &b, TensorAddress base,
           CpuBlock::SharedBarrier complete) {
  auto is = [](Wrong wrong) { return How == wrong; };
  if (!is(Wrong::MissingIssuersFence))
    b.fenceAfter();
  TensorInstruction instruction =
      encode({TensorFormat<Bf16>, is(Wrong::OtherMajor) ? Major::Other : MajorB,
              Columns, is(Wrong::HalfFromTensor) ? HalfRows : Rows});
  if (is(Wrong::OtherRows))
    instruction.bits ^= uint32_t((128 ^ 32) >> 4) << 24;
  TensorAddress addressA = base.behind(ColumnA);
  TensorDescriptor operandA =
      encodeTensor({b.sharedAddress(PlaceA), 0, AtomBytes});
  Operand placeB = {b.sharedAddress(PlaceB), AtomBytes * 8, AtomBytes};
  TensorDescriptor operandB = encodeTensor(placeB);
  if (is(Wrong::DescriptorOfWgmma))
    operandB.bits = encode(placeB).bits;
  for (int step = 0; step < K / 16; ++step) {
    int from = is(Wrong::OneStepBehind) ? std::max(step - 1, 0) : step;
    auto stepB =
        operandB.behind(MajorB == Major::K ? from * 32 : from * 2 * AtomBytes);
    bool adds = step > 0 || is(Wrong::AddsToNothing);
    if (is(Wrong::CommitOneShort) && step == K / 16 - 1)
      b.commitTensor(complete);
    if (is(Wrong::OtherShape) && step == 2)
      instruction = encode({TensorFormat<Bf16>, MajorB, Columns / 2});
    if (FromTensor)
      b.multiplyTensor(base, addressA.behind(step * 8), stepB, instruction,
                       adds);
    else
      b.multiplyTensor(base, operandA.behind(step * 32), stepB, instruction,
                       adds);
  }
  if (!is(Wrong::MissingCommit) && !is(Wrong::CommitOneShort))
    b.commitTensor(complete);
  if (is(Wrong::LastUncommitted))
    b.multiplyTensor(addressA, operandA, operandB, instruction, false);
}

/// Copies the sums of 128 rows, of which each thread reads one, to C.
template <Wrong How>
void readSums(CpuTensorBlock &b, M &m, TensorAddress base, const Pairs &pairs) {
  auto is = [](Wrong wrong) { return How == wrong; };
  int warp = b.thread() / WarpLanes;
  TensorAddress own = base.below(warp * WarpReach);
  for (int part = 0; part < Columns; part += 32) {
    float sums[32], others[1] = {};
    TensorAddress from = own.behind(part);
    if (is(Wrong::LanesOfAnotherWarp))
      from = base.below((warp + 1) % GroupWarps * WarpReach);
    if (is(Wrong::OneLanesAddress) && b.thread() == 70)
      from = own;
    if (is(Wrong::ReadUnwritten))
      from = own.behind(ColumnA);
    b.loadTensor(sums, from);
    if (is(Wrong::TouchedLoads))
      sums[3] = 1;
    if (is(Wrong::StoredOverLoads)) {
      b.storeTensor(from, pairs[0]);
      b.awaitStores();
    }
    if (is(Wrong::UnnamedLoads))
      b.awaitLoads(others);
    else if (!is(Wrong::MissingAwaitLoads))
      b.awaitLoads(sums);
    for (int i = 0; i < 32; ++i)
      b.store(&m.c[b.thread() * Columns + part + i], sums[i]);
    if (is(Wrong::MissingAwaitLoads))
      b.awaitLoads(sums);
  }
}

template <Wrong How, bool FromTensor = false, Major MajorB = Major::Other,
          int Rows = TensorLanes>
void product(CpuBlock &block, Matrices<Rows> &m) {
  CpuTensorBlock b(block);
  auto is = [](Wrong wrong) { return How == wrong; };
  int warp = b.thread() / WarpLanes;
  fillSlab(b, PlaceA, m.a, K);
  fillSlabOfB<MajorB>(b, m.b, K, Columns);
  if (!is(Wrong::MissingProxyFence))
    b.fenceAsync();
  auto complete = b.barrier(PlaceBarrier);
  if (warp == 0)
    begin<How>(b, complete);
  b.sync();
  TensorAddress base = {b.shared<uint32_t>(PlaceAddress, 1).load(0)};
  TensorAddress own = base.below(warp * WarpReach);
  Pairs pairs;
  if (FromTensor) {
    storeA<How>(b, m.a, own.behind(ColumnA), pairs);
    b.sync();
  }
  if (b.thread() == 0 || (is(Wrong::TwoIssuers) && b.thread() == 1))
    issue<MajorB, FromTensor, How, Rows>(b, base, complete);
  b.sync(); // all is issued, and may be under way
  if (is(Wrong::OverwrittenShared) && b.thread() == 5)
    storeWord(b, PlaceB, 3, 4, 1);
  if (is(Wrong::OverwrittenA)) {
    pairs[1][7] ^= 1;
    b.storeTensor(own.behind(ColumnA + 16), pairs[1]);
    b.awaitStores();
  }
  if (is(Wrong::OneLaneLeaves) && b.thread() == 40)
    return;
  if (!is(Wrong::NeverAwaited))
    b.awaitPhase(complete, is(Wrong::WrongParity));
  if (!is(Wrong::MissingFenceAfter))
    b.fenceAfter();
  if (is(Wrong::UsedAfterFree)) {
    b.sync();
    if (warp == 0)
      b.freeTensor(base, Allocated);
    b.sync();
  }
  if constexpr (Rows == HalfRows) {
    float sums[8][4];
    b.loadTensor(sums, own);
    b.awaitLoads(sums);
    storeSums(b, m.c, sums);
  } else {
    readSums<How>(b, m, base, pairs);
  }
  if (!is(Wrong::MissingLastFence))
    b.fenceBefore();
  b.sync();
  b.fenceAfter();
  if (warp == 0 && !is(Wrong::NeverFreed) && !is(Wrong::UsedAfterFree))
    b.freeTensor(is(Wrong::FreedOtherColumns) ? base.behind(64) : base,
                 is(Wrong::FreedOtherColumns) ? 64 : Allocated);
  if (warp == 0 && is(Wrong::FreedTwice))
    b.freeTensor(base, Allocated);
}

template <Wrong How, bool FromTensor = false>
void expectWrong(const char *text) {
  expectReport(product<How, FromTensor>, text);
}

} // namespace

TEST(Tensor, BitsOfMma) {
  expectBitsOfMma<TensorLanes>({product<Wrong::Nothing>,
                                product<Wrong::Nothing, true>,
                                product<Wrong::Nothing, false, Major::K>,
                                product<Wrong::Nothing, true, Major::K>});
  expectBitsOfMma<HalfRows>(
      {product<Wrong::Nothing, false, Major::Other, HalfRows>,
       product<Wrong::Nothing, false, Major::K, HalfRows>});
}

TEST(Tensor, Descriptors) {
  for (uint32_t address : {0u, 1024u, 229376u}) {
    Operand operand = {address, 16384, 1024};
    TensorDescriptor descriptor = encodeTensor(operand);
    EXPECT_TRUE(isUnderstood(descriptor));
    EXPECT_EQ(decode(descriptor).address, address);
    EXPECT_EQ(decode(descriptor).leading, operand.leading);
    EXPECT_EQ(decode(descriptor).stride, operand.stride);
    EXPECT_FALSE(isUnderstood(TensorDescriptor{encode(operand).bits}));
  }
  // As the PTX ISA's tables of both descriptors have the bits.
  EXPECT_EQ(encodeTensor({0x400, 0, 0x400}).bits, 0x4000404000000040u);
  constexpr uint32_t F = TensorFormat<F16>, B = TensorFormat<Bf16>;
  EXPECT_EQ(encode(TensorProduct{B, Major::Other, 128}).bits, 0x08210490u);
  EXPECT_EQ(encode(TensorProduct{F, Major::K, 64}).bits, 0x08100010u);
  EXPECT_EQ(encode(TensorProduct{F, Major::K, 64, 64}).bits, 0x04100010u);
  for (uint32_t format : {F, B})
    for (Major major : {Major::K, Major::Other})
      for (int columns = 16; columns <= 256; columns += 16) {
        TensorInstruction bits = encode(TensorProduct{format, major, columns});
        EXPECT_TRUE(isUnderstood(bits));
        EXPECT_EQ(decode(bits).format, format);
        EXPECT_EQ(decode(bits).majorB, major);
        EXPECT_EQ(decode(bits).columns, columns);
      }
}

TEST(Tensor, Allocation) {
  expectWrong<Wrong::NotPowerOfTwo>("powers of two from 32 to 512");
  expectWrong<Wrong::AllocatedTooLate>("behind relinquishTensor()");
  expectWrong<Wrong::AllocatedTooMuch>("it waits for ever");
  expectWrong<Wrong::NeverFreed>("tensor memory allocated");
  expectWrong<Wrong::FreedTwice>("which are no allocation");
  expectWrong<Wrong::FreedOtherColumns>("which are no allocation");
  expectWrong<Wrong::UsedAfterFree>("which are not allocated");
  expectWrong<Wrong::BeyondAllocation>("which are not allocated");
}
TEST(Tensor, WhatAWarpReaches) {
  expectWrong<Wrong::LanesOfAnotherWarp>("it reaches those from");
  expectWrong<Wrong::OneLaneLeaves>("where 31 of 32 lanes use tensor memory");
  expectWrong<Wrong::OneLanesAddress>("loads different addresses");
}
TEST(Tensor, WhoIssues) {
  expectWrong<Wrong::TwoIssuers>("issues products, and so does thread");
}
TEST(Tensor, Commits) {
  expectWrong<Wrong::MissingCommit>("lacks 1 of 1 arrivals");
  expectWrong<Wrong::CommitOneShort>("before it awaited a commit of a product");
  expectWrong<Wrong::LastUncommitted>("which no commit follows");
  expectWrong<Wrong::NeverAwaited>("before it awaited a commit of a product");
  expectWrong<Wrong::WrongParity>("before it awaited a commit of a product");
  expectWrong<Wrong::UnfencedBarrier>("no fenceInit() showed to products");
}
TEST(Tensor, Fences) {
  expectWrong<Wrong::MissingFenceAfter>(
      "without fenceAfter() behind a product");
  expectWrong<Wrong::MissingIssuersFence, true>(
      "without fenceAfter() behind a store of warp");
  expectWrong<Wrong::MissingFenceBefore, true>(
      "not awaited and passed on by fenceBefore(), behind a store");
  expectWrong<Wrong::MissingAwaitStores, true>(
      "before it awaited a store of warp 0");
  expectWrong<Wrong::MissingLastFence>(
      "not awaited and passed on by fenceBefore(), behind a load");
  expectWrong<Wrong::MissingProxyFence>("reads without fenceAsync()");
}
TEST(Tensor, Loads) {
  expectWrong<Wrong::MissingAwaitLoads>("did not wait for");
  expectWrong<Wrong::UnnamedLoads>("does not name, the registers of its load");
  expectWrong<Wrong::TouchedLoads>("touched registers before it awaited");
  expectWrong<Wrong::StoredOverLoads, true>("before it awaited a load of warp");
  expectWrong<Wrong::ReadUnwritten>("which nobody wrote");
}
TEST(Tensor, Operands) {
  expectWrong<Wrong::OverwrittenShared>(
      "thread 5 writes unordered with the read of a product of warpgroup 0");
  expectWrong<Wrong::OverwrittenA, true>(
      "before it awaited a commit of a product");
  expectWrong<Wrong::AddsToNothing>("adds to what nobody wrote");
  expectWrong<Wrong::OtherShape>("before it awaited a commit of a product");
  expectWrong<Wrong::DescriptorOfWgmma>("is not one of tensor memory's");
  expectWrong<Wrong::HalfFromTensor, true>("takes A from tensor memory");
  expectWrong<Wrong::OtherRows>("is not of 128 rows and a multiple of 16");
}
TEST(Tensor, OtherElements) {
  expectOtherNumbers<TensorLanes>(product<Wrong::Nothing>,
                                  product<Wrong::OneStepBehind>);
  expectOtherNumbers<TensorLanes>(product<Wrong::Nothing, false, Major::K>,
                                  product<Wrong::OtherMajor, false, Major::K>);
}
