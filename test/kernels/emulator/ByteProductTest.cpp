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
constexpr int PlaceA = 0, PlaceB = 8192;

struct ByteMatrices {
  std::vector<uint8_t> a = wholes(Rows * K, 1), b = wholes(Columns * K, 2);
  std::vector<float> c = std::vector<float>(Rows * Columns);

  std::vector<Given> given() { return {in(a), in(b), out(c)}; }
  float expected(int row, int column) const { // b [column][k]
    float sum = 0;
    for (int k = 0; k < K; ++k)
      sum += widen(F8E4M3{a[row * K + k]}) * widen(F8E4M3{b[column * K + k]});
    return sum;
  }
};

enum class Wrong {
  Nothing,
  MissingFence,
  MissingProxyFence,
  HalfSteps,
  EarlyRead
};

template <bool FromRegisters, Wrong How>
void product(CpuBlock &b, ByteMatrices &m) {
  auto shared = b.shared<uint32_t>(0, 8192);
  auto wordOf = [&](const std::vector<uint8_t> &from, int i) {
    uint32_t word = 0;
    for (int j = 0; j < 4; ++j)
      word |= uint32_t(b.load(&from[i + j])) << 8 * j;
    return word;
  };
  auto store = [&](int place, int i, uint32_t word) {
    uint32_t at = swizzled(b.sharedAddress(place + i)) - b.sharedAddress(0);
    shared.store(int(at) / 4, word);
  };
  for (int i = b.thread() * 4; i < Rows * K; i += 4 * GroupThreads)
    store(PlaceA, i, wordOf(m.a, i));
  for (int i = b.thread() * 4; i < Columns * K; i += 4 * GroupThreads)
    store(PlaceB, i, wordOf(m.b, i));
  if (How != Wrong::MissingProxyFence)
    b.fenceAsync();
  b.sync();
  uint32_t a[K / 32][4];
  for (int step = 0; step < K / 32; ++step)
    for (int i = 0; i < 4; ++i) {
      // Two elements of 8 bits in the place of one of 16.
      Place place = groupFragmentA(b.thread(), i, 0);
      a[step][i] = wordOf(m.a, place.row * K + step * 32 + place.column * 2);
    }
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
  for (int n = 0; n < Tiles; ++n)
    for (int i = 0; i < 4; ++i) {
      Place place = groupFragmentC(b.thread(), n, i);
      b.store(&m.c[place.row * Columns + place.column], acc[n][i]);
    }
  if (How == Wrong::EarlyRead)
    b.awaitProducts<0>(acc);
}

LaunchShape shape() { return shapeOf(GroupThreads); }

bool isRight(const ByteMatrices &m) {
  for (int i = 0; i < Rows * Columns; ++i)
    if (m.c[i] != m.expected(i / Columns, i % Columns))
      return false;
  return true;
}

template <bool FromRegisters, Wrong How> void expectWrong(const char *text) {
  ByteMatrices m;
  expectReport(
      shape(), {text}, [&](CpuBlock &b) { product<FromRegisters, How>(b, m); },
      m.given());
}

} // namespace

TEST(ByteProducts, Sums) {
  for (SumOrder order : SumOrders)
    for (auto body :
         {product<false, Wrong::Nothing>, product<true, Wrong::Nothing>}) {
      ByteMatrices m;
      EXPECT_EQ(joined(reportsOf(
                    {.order = order}, shape(), [&](CpuBlock &b) { body(b, m); },
                    m.given())),
                "nothing was reported");
      EXPECT_TRUE(isRight(m)) << int(order);
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
  EXPECT_FALSE(isRight(m));
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
