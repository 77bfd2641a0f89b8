//===- TensorByteTest.cpp - tcgen05.mma of 8 bits -------------------------===//
//
// One warpgroup's products of f8E4M3FN with sums in tensor memory: 32 summed at
// a time, A in shared or in tensor memory, B's neighbours along either index.
//
//===----------------------------------------------------------------------===//

#include "ProductCase.h"
#include "kernels/emulator/CpuTensorBlock.h"

using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

/// C [128][128] = A [128][64] B [64][128], one slab each.
constexpr int Rows = TensorLanes, K = 64, Columns = 128;
constexpr int PlaceAddress = 32768, PlaceBarrier = PlaceAddress + 16;
/// In tensor memory A lies behind the sums.
constexpr int Allocated = 256, ColumnA = Columns;

using ByteMatrices = MatricesOfBytes<Rows, K, Columns, Major::Other>;

enum class Wrong {
  Nothing,
  OtherKind,
  OtherFormat,
  OtherMajor,
  HalfSteps,
  OneAtomShort,
  OtherOrder,
  MissingFenceBefore,
  MissingProxyFence,
  Overwritten
};

/// Writes a row of A to tensor memory.
template <Wrong How>
void storeA(CpuTensorBlock &b, const ByteMatrices &m, TensorAddress to) {
  for (int i = 0; i < K / 4; i += 8) {
    uint32_t words[8];
    for (int j = 0; j < 8; ++j) {
      int word = How == Wrong::OtherOrder ? i + (j ^ 1) : i + j;
      words[j] = packed(b, &m.a[b.thread() * K + word * 4]);
    }
    b.storeTensor(to.behind(i), words);
  }
  b.awaitStores();
  if (How != Wrong::MissingFenceBefore)
    b.fenceBefore();
}

/// One thread issues the products of all steps.
template <Major MajorB, bool FromTensor, Wrong How>
void issue(CpuTensorBlock &b, TensorAddress base,
           CpuBlock::SharedBarrier complete) {
  constexpr auto Is = [](Wrong wrong) { return How == wrong; };
  b.fenceAfter();
  TensorInstruction instruction = encode(
      {TensorFormat<std::conditional_t<Is(Wrong::OtherFormat), Bf16, F8E4M3>>,
       Is(Wrong::OtherMajor) ? Major::K : MajorB, Columns});
  TensorDescriptor operandA =
      encodeTensor({b.sharedAddress(PlaceA), 0, AtomBytes});
  TensorDescriptor operandB =
      encodeTensor({b.sharedAddress(PlaceB), 0, AtomBytes});
  constexpr TensorKind Kind =
      Is(Wrong::OtherKind) ? TensorKind::F16 : TensorKind::F8F6F4;
  for (int step = 0; step < K / 32; ++step) {
    int bytes = step * (Is(Wrong::HalfSteps) ? 16 : 32);
    int atom = step * 4 - (Is(Wrong::OneAtomShort) && step > 0 ? 1 : 0);
    auto stepB = operandB.behind(MajorB == Major::K ? bytes : atom * AtomBytes);
    if (FromTensor)
      b.multiplyTensor<Kind>(base, base.behind(ColumnA + bytes / 4), stepB,
                             instruction, step > 0);
    else
      b.multiplyTensor<Kind>(base, operandA.behind(bytes), stepB, instruction,
                             step > 0);
  }
  b.commitTensor(complete);
}

template <Major MajorB, bool FromTensor, Wrong How>
void product(CpuBlock &block, ByteMatrices &m) {
  CpuTensorBlock b(block);
  int warp = b.thread() / WarpLanes;
  fillSlab(b, PlaceA, m.a, K);
  fillSlabOfB<MajorB>(b, m.b, K, Columns);
  if (How != Wrong::MissingProxyFence)
    b.fenceAsync();
  auto complete = b.barrier(PlaceBarrier);
  if (warp == 0) {
    b.allocateTensor(PlaceAddress, Allocated);
    b.relinquishTensor();
    if (b.thread() == 0) {
      b.init(complete, 1);
      b.fenceInit();
    }
  }
  b.sync();
  TensorAddress base = {b.shared<uint32_t>(PlaceAddress, 1).load(0)};
  TensorAddress own = base.below(warp * WarpReach);
  if (FromTensor) {
    storeA<How>(b, m, own.behind(ColumnA));
    b.sync();
  }
  if (b.thread() == 0)
    issue<MajorB, FromTensor, How>(b, base, complete);
  b.sync();
  if (How == Wrong::Overwritten && b.thread() == 5)
    storeWord(b, PlaceB, 40, 64, 1);
  b.awaitPhase(complete, 0);
  b.fenceAfter();
  for (int part = 0; part < Columns; part += 32) {
    float sums[32];
    b.loadTensor(sums, own.behind(part));
    b.awaitLoads(sums);
    for (int i = 0; i < 32; ++i)
      b.store(&m.c[b.thread() * Columns + part + i], sums[i]);
  }
  b.fenceBefore();
  b.sync();
  b.fenceAfter();
  if (warp == 0)
    b.freeTensor(base, Allocated);
}

template <Major MajorB, bool FromTensor, Wrong How = Wrong::Nothing>
bool isRight(SumOrder order = usualOrder()) {
  ByteMatrices m;
  runClean({.order = order}, m, product<MajorB, FromTensor, How>);
  return m.isRight();
}

template <bool FromTensor, Wrong How> void expectWrong(const char *text) {
  expectReport(product<Major::Other, FromTensor, How>, text);
}

} // namespace

TEST(TensorBytes, Sums) {
  for (SumOrder order : SumOrders) {
    EXPECT_TRUE((isRight<Major::K, false>(order))) << int(order);
    EXPECT_TRUE((isRight<Major::K, true>(order))) << int(order);
    EXPECT_TRUE((isRight<Major::Other, false>(order))) << int(order);
    EXPECT_TRUE((isRight<Major::Other, true>(order))) << int(order);
  }
}

// As the PTX ISA's table of the instruction's descriptor has the bits.
TEST(TensorBytes, Instructions) {
  TensorInstruction bytes =
      encode(TensorProduct{TensorFormat<F8E4M3>, Major::Other, 128});
  EXPECT_EQ(bytes.bits, 0x08210010u);
  EXPECT_TRUE(isUnderstood(bytes, TensorKind::F8F6F4));
  TensorInstruction other =
      encode(TensorProduct{TensorFormat<Bf16>, Major::Other, 128});
  EXPECT_TRUE(isUnderstood(other, TensorKind::F16));
  EXPECT_FALSE(isUnderstood(other, TensorKind::F8F6F4));
}

TEST(TensorBytes, OtherElements) {
  EXPECT_FALSE((isRight<Major::Other, true, Wrong::OtherKind>()));
  EXPECT_FALSE((isRight<Major::Other, false, Wrong::HalfSteps>()));
  EXPECT_FALSE((isRight<Major::K, true, Wrong::HalfSteps>()));
  EXPECT_FALSE((isRight<Major::Other, true, Wrong::OneAtomShort>()));
  EXPECT_FALSE((isRight<Major::Other, true, Wrong::OtherOrder>()));
}

TEST(TensorBytes, Mistakes) {
  expectWrong<true, Wrong::OtherFormat>("where its kind is f8f6f4 of e4m3");
  expectWrong<true, Wrong::OtherMajor>("reads what nobody wrote");
  expectWrong<true, Wrong::MissingFenceBefore>(
      "not awaited and passed on by fenceBefore(), behind a store");
  expectWrong<false, Wrong::MissingProxyFence>("reads without fenceAsync()");
  expectWrong<true, Wrong::Overwritten>(
      "thread 5 writes unordered with the read of a product of warpgroup 0");
}
