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
constexpr int Rows = TensorLanes, K = 64, Columns = 128, Words = K / 4;
constexpr int PlaceA = 0, PlaceB = 16384, PlaceAddress = 32768,
              PlaceBarrier = PlaceAddress + 16;
/// In tensor memory A lies behind the sums.
constexpr int Allocated = 256, ColumnA = Columns;

struct ByteMatrices {
  std::vector<uint8_t> a = wholes(Rows * K, 1), b = wholes(K * Columns, 2);
  std::vector<float> c = std::vector<float>(Rows * Columns);

  std::vector<Given> given() { return {in(a), in(b), out(c)}; }
  bool isRight() const {
    for (int i = 0; i < Rows * Columns; ++i) {
      float sum = 0;
      for (int k = 0; k < K; ++k)
        sum += widen(F8E4M3{a[i / Columns * K + k]}) *
               widen(F8E4M3{b[k * Columns + i % Columns]});
      if (c[i] != sum)
        return false;
    }
    return true;
  }
};

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

template <Major MajorB, bool FromTensor, Wrong How>
void product(CpuBlock &block, ByteMatrices &m) {
  CpuTensorBlock b(block);
  constexpr auto Is = [](Wrong wrong) { return How == wrong; };
  int warp = b.thread() / WarpLanes;
  auto shared = b.shared<uint32_t>(0, 8192);
  auto store = [&](int place, int row, int byte, uint32_t word) {
    shared.store(
        int(swizzled(b.sharedAddress(place + row * SlabRowBytes + byte)) -
            b.sharedAddress(0)) /
            4,
        word);
  };
  auto wordOf = [&](const std::vector<uint8_t> &from, int first, int pitch) {
    uint32_t word = 0;
    for (int i = 0; i < 4; ++i)
      word |= uint32_t(b.load(&from[first + i * pitch])) << 8 * i;
    return word;
  };
  for (int i = b.thread(); i < Rows * Words; i += GroupThreads)
    store(PlaceA, i / Words, i % Words * 4, wordOf(m.a, i * 4, 1));
  for (int i = b.thread(); i < K * Columns / 4; i += GroupThreads)
    if (MajorB == Major::Other)
      store(PlaceB, i * 4 / Columns, i * 4 % Columns, wordOf(m.b, i * 4, 1));
    else
      store(PlaceB, i / Words, i % Words * 4,
            wordOf(m.b, i % Words * 4 * Columns + i / Words, Columns));
  if (!Is(Wrong::MissingProxyFence))
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
  TensorAddress own = base.below(warp * WarpReach),
                addressA = base.behind(ColumnA);
  if (FromTensor) {
    for (int i = 0; i < Words; i += 8) {
      uint32_t words[8];
      for (int j = 0; j < 8; ++j) {
        int word = Is(Wrong::OtherOrder) ? i + (j ^ 1) : i + j;
        words[j] = wordOf(m.a, b.thread() * K + word * 4, 1);
      }
      b.storeTensor(own.behind(ColumnA + i), words);
    }
    b.awaitStores();
    if (!Is(Wrong::MissingFenceBefore))
      b.fenceBefore();
    b.sync();
  }
  if (b.thread() == 0) {
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
      auto stepB =
          operandB.behind(MajorB == Major::K ? bytes : atom * AtomBytes);
      if (FromTensor)
        b.multiplyTensor<Kind>(base, addressA.behind(bytes / 4), stepB,
                               instruction, step > 0);
      else
        b.multiplyTensor<Kind>(base, operandA.behind(bytes), stepB, instruction,
                               step > 0);
    }
    b.commitTensor(complete);
  }
  b.sync();
  if (Is(Wrong::Overwritten) && b.thread() == 5)
    store(PlaceB, 40, 64, 1);
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

LaunchShape shape() { return shapeOf(GroupThreads); }

template <Major MajorB, bool FromTensor, Wrong How = Wrong::Nothing>
bool isRight(SumOrder order = usualOrder()) {
  ByteMatrices m;
  EXPECT_EQ(joined(reportsOf(
                {.order = order}, shape(),
                [&](CpuBlock &b) { product<MajorB, FromTensor, How>(b, m); },
                m.given())),
            "nothing was reported");
  return m.isRight();
}

template <bool FromTensor, Wrong How> void expectWrong(const char *text) {
  ByteMatrices m;
  expectReport(
      shape(), {text},
      [&](CpuBlock &b) { product<Major::Other, FromTensor, How>(b, m); },
      m.given());
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
