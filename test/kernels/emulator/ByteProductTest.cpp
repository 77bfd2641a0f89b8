//===- ByteProductTest.cpp - wgmma of 8 bits ------------------------------===//
//
// One warpgroup's products of f8E4M3FN, 32 summed at a time, and stmatrix.
//
//===----------------------------------------------------------------------===//

#include "ProductCase.h"

using namespace kv::cuda;
using namespace kv::cuda::test;

// Elements of 8 bits have no transposed operand.
static_assert(Multiplied<F8E4M3, Major::K>);
static_assert(!Multiplied<F8E4M3, Major::Other>);
static_assert(Multiplied<F16, Major::Other>);

namespace {

/// C [64][72] = A [64][128] B [128][72]: one slab each.
constexpr int Rows = 64, K = 128, Tiles = 9, Columns = Tiles * 8;
using ByteMatrices = MatricesOfBytes<Rows, K, Columns, Major::K>;

enum class Wrong {
  Nothing,
  MissingFence,
  MissingProxyFence,
  HalfSteps,
  EarlyRead
};

template <bool FromRegisters, Wrong How>
void product(CpuBlock &b, ByteMatrices &m) {
  fillSlab(b, PlaceA, m.a, K);
  fillSlab(b, PlaceB, m.b, K);
  if (How != Wrong::MissingProxyFence)
    b.fenceAsync();
  b.sync();
  uint32_t a[K / 32][4];
  loadFragments(b, m.a, a);
  float acc[Tiles][4] = {};
  Descriptor operandA = encode({b.sharedAddress(PlaceA), 0, AtomBytes}),
             operandB = encode({b.sharedAddress(PlaceB), 0, AtomBytes});
  if (How != Wrong::MissingFence)
    b.fenceProducts(acc, a);
  for (int step = 0; step < K / 32; ++step) {
    Descriptor stepB =
        operandB.behind(step * (How == Wrong::HalfSteps ? 16 : 32));
    if (FromRegisters)
      b.multiplyGroup<F8E4M3, Major::K>(acc, a[step], stepB, step > 0);
    else
      b.multiplyGroup<F8E4M3, Major::K>(acc, operandA.behind(step * 32), stepB,
                                        step > 0);
  }
  b.commitProducts();
  if (How != Wrong::EarlyRead)
    b.awaitProducts<0>(acc);
  storeSums(b, m.c, acc);
  if (How == Wrong::EarlyRead)
    b.awaitProducts<0>(acc);
}

template <bool FromRegisters, Wrong How> void expectWrong(const char *text) {
  expectReport(product<FromRegisters, How>, text);
}

} // namespace

TEST(ByteProducts, Sums) {
  for (SumOrder order : SumOrders)
    for (auto body :
         {product<false, Wrong::Nothing>, product<true, Wrong::Nothing>}) {
      ByteMatrices m;
      runClean({.order = order}, m, body);
      EXPECT_TRUE(m.isRight()) << int(order);
    }
}

TEST(ByteProducts, Mistakes) {
  expectWrong<true, Wrong::MissingFence>(
      "needs fenceProducts() before the product");
  expectWrong<false, Wrong::MissingProxyFence>(
      "a product of warpgroup 0 reads without fenceAsync()");
  expectWrong<true, Wrong::EarlyRead>(
      "uses the accumulator of a product that it did not wait for");
  ByteMatrices m;
  expectClean(
      shape(), [&](CpuBlock &b) { product<false, Wrong::HalfSteps>(b, m); },
      m.given());
  EXPECT_FALSE(m.isRight());
}

// What ldmatrix loads, stmatrix stores.
TEST(ByteProducts, StoredMatrices) {
  std::vector<uint32_t> in(128), out(128);
  for (int i = 0; i < 128; ++i)
    in[i] = i * 0x01010101u;
  expectClean(shapeOf(GroupThreads),
              [&](CpuBlock &b) {
                if (b.thread() >= WarpLanes)
                  return;
                auto chunks = b.shared<Chunk>(0, 64);
                int lane = b.thread();
                Chunk own;
                for (int i = 0; i < 4; ++i)
                  own.words[i] = b.load(&in[lane * 4 + i]);
                chunks.store(lane, own);
                b.syncNamed(1, WarpLanes);
                uint32_t r[4];
                b.loadMatrix(r, chunks, lane);
                b.storeMatrix(r, chunks, 32 + (lane ^ 5));
                b.syncNamed(1, WarpLanes);
                Chunk other = chunks.load(32 + (lane ^ 5));
                for (int i = 0; i < 4; ++i)
                  b.store(&out[lane * 4 + i], other.words[i]);
              },
              {Given{in.data(), in.size() * 4, Access::Read},
               Given{out.data(), out.size() * 4, Access::Write}});
  EXPECT_EQ(in, out);
}
