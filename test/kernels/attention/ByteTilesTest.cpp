//===- ByteTilesTest.cpp - Products of 8 bits by tile copies --------------===//
//
// The kernels of 9.0 and 10.0 for operations with products of 8 bits, against
// the definition in double precision (AttentionTruth.h), and a row's bits: the
// same in a prompt, a chunk and a decode, in any batch, pages, layout and
// parts.
//
//===----------------------------------------------------------------------===//

#include "AttentionCase.h"

using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

using Fixture = AttentionFixture<Bf16, F8E4M3>;

/// The results of a case, which must be right.
Results run(const AttentionKernel &kernel, const AttentionCase &c) {
  Fixture fixture(kernel, c);
  Results results = fixture.run();
  EXPECT_TRUE(fixture.check(results)) << kernel.name << ", " << c;
  return results;
}

/// Whether the last rows of both are the same, bit by bit.
::testing::AssertionResult sameEnd(const Results &a, const Results &b) {
  auto same = [](const std::vector<float> &a, const std::vector<float> &b) {
    size_t count = std::min(a.size(), b.size());
    return count > 0 &&
           std::memcmp(a.data() + a.size() - count, b.data() + b.size() - count,
                       count * sizeof(float)) == 0;
  };
  if (!same(a.out, b.out))
    return ::testing::AssertionFailure() << "results differ";
  if (!same(a.lse, b.lse))
    return ::testing::AssertionFailure() << "lse differs";
  return ::testing::AssertionSuccess();
}

class ByteTiles : public ::testing::Test {
protected:
  void SetUp() override {
    for (const AttentionKernel &kernel : TileKernels)
      if (kernel.tiles && kernel.eightBitProducts && canRun(kernel.name))
        kernels.push_back(kernel);
    if (kernels.empty())
      GTEST_SKIP() << "this chip has no kernels that copy tiles for products "
                      "of 8 bits";
  }

  std::vector<AttentionKernel> kernels;
};

} // namespace

TEST_F(ByteTiles, AnyPageSizeAndLayout) {
  for (const AttentionKernel &kernel : kernels) {
    AttentionCase c;
    c.sequences = {{300, 40}, {77, 9}};
    Results expected = run(kernel, c);
    for (int page : {8, 24, 64, 512}) {
      c.pageSize = page;
      c.headsFirst = page != 24;
      EXPECT_TRUE(sameEnd(expected, run(kernel, c))) << kernel.name << c;
    }
  }
}

// Also rows of a tile that is not full, and rows that see nothing.
TEST_F(ByteTiles, EveryMask) {
  struct {
    int mask;
    int64_t window;
  } masks[] = {{KV_MASK_CAUSAL, 0},    {KV_MASK_SLIDING, 1},
               {KV_MASK_SLIDING, 300}, {KV_MASK_NONE, 0},
               {KV_MASK_SLIDING, 128}, {KV_MASK_SLIDING_NONCAUSAL, 200}};
  int i = 0, groups[] = {1, 3, 4, 8, 16};
  for (auto [mask, window] : masks) {
    AttentionCase c;
    c.heads = 1;
    c.mask = mask;
    c.window = window;
    c.group = groups[i % 5];
    c.sequences = {{400, 70}, {31, 33}, {5, 0}, {900, 2}};
    c.softcap = i % 2 ? 2.5f : 0;
    c.sinks = i % 3 == 0;
    c.scale = i == 4 ? -0.125f : 0;
    c.trees = i < 3 && i != 1;
    for (const AttentionKernel &kernel : kernels)
      if (kernel.headDim == (i % 2 ? 128 : 64))
        run(kernel, c);
    ++i;
  }
}

// Groups of leaves, and units that parts share.
TEST_F(ByteTiles, AnyHandOut) {
  for (const AttentionKernel &kernel : kernels) {
    AttentionCase c;
    c.heads = 1;
    c.sequences = {{2200, 5}, {300, 70}, {0, 5}, {1024, 1}};
    c.parts = 1;
    Results one = run(kernel, c);
    std::mt19937 random(3);
    for (int i = 0; i < 4; ++i) {
      c.parts = 2 + random() % 24;
      c.slots = random() % 2 ? 0 : 2 * (random() % 20);
      c.machine.schedule = Schedule(i % 3);
      c.machine.seed = i;
      EXPECT_TRUE(sameEnd(one, run(kernel, c))) << kernel.name << c;
    }
  }
}

TEST_F(ByteTiles, PromptChunkDecodeAndBatch) {
  for (const AttentionKernel &kernel : kernels)
    for (int heads : {2, 1}) {
      AttentionCase c;
      c.heads = heads;
      c.sequences = {{1199, 1}};
      Results decode = run(kernel, c);
      c.sequences = {{1140, 60}};
      EXPECT_TRUE(sameEnd(decode, run(kernel, c))) << kernel.name << c;
      c.sequences = {{17, 3}, {800, 1}, {1196, 4}};
      c.pageSize = 8;
      c.parts = 7;
      EXPECT_TRUE(sameEnd(decode, run(kernel, c))) << kernel.name << c;
      if (heads > 1)
        continue;
      c.sequences = {{0, 1200}};
      c.parts = 16;
      EXPECT_TRUE(sameEnd(decode, run(kernel, c))) << kernel.name << c;
    }
}

// Powers of two change no bit, down to magnitudes that count as 2^-119.
TEST_F(ByteTiles, QueriesOfAnySize) {
  for (const AttentionKernel &kernel : kernels) {
    AttentionCase c;
    c.heads = 1;
    c.sequences = {{200, 20}};
    Results expected = run(kernel, c);
    for (int power : {100, -7, -90}) {
      Fixture fixture(kernel, c);
      fixture.enlargeQueries(power);
      Results results = fixture.run();
      EXPECT_TRUE(sameEnd(expected, results)) << kernel.name << power;
    }
  }
}

// A row that holds a NaN or an infinity is NaN, one of zeros is the mean of
// what it sees, and no other row knows of them.
TEST_F(ByteTiles, QueriesThatAreNoNumbers) {
  for (const AttentionKernel &kernel : kernels) {
    AttentionCase c;
    c.heads = 1;
    c.group = 8;
    c.sequences = {{200, 1}};
    int dim = kernel.headDim;
    Results expected = run(kernel, c);
    Fixture fixture(kernel, c);
    fixture.q[1 * dim + 3] = Bf16{0x7fc0};
    fixture.q[2 * dim + 5] = Bf16{0xff80}; // minus infinity
    std::fill_n(&fixture.q[6 * dim], dim, Bf16{0});
    Results results = fixture.run();
    EXPECT_TRUE(results.reports.empty());
    for (int h = 0; h < 8; ++h)
      for (int d = 0; d < dim; ++d) {
        float got = results.out[h * dim + d];
        if (h == 1 || h == 2) {
          ASSERT_TRUE(std::isnan(got)) << kernel.name << ", head " << h;
        } else if (h == 6) {
          double mean = 0;
          for (int key = 0; key < 201; ++key)
            mean += widen(fixture.truth->element(key, 1, 0)[d]) / 201;
          ASSERT_NEAR(got, mean, 0.002) << kernel.name;
        } else {
          ASSERT_EQ(got, expected.out[h * dim + d]) << kernel.name;
        }
      }
  }
}

// A key that is a NaN is one for every row that sees it, wherever in a leaf it
// lies, and no other row knows of it.
TEST_F(ByteTiles, KeysThatAreNoNumbers) {
  for (const AttentionKernel &kernel : kernels) {
    AttentionCase c;
    c.heads = 1;
    c.sequences = {{200, 20}};
    Results expected = run(kernel, c);
    const int rowElements = c.group * kernel.headDim;
    for (int key : {5, 96, 127, 210}) {
      Fixture fixture(kernel, c);
      fixture.pool[fixture.place(0, 0, key, 0) + 7] = F8E4M3{0x7f};
      Results results = fixture.run();
      EXPECT_TRUE(results.reports.empty());
      for (int i = 0; i < 20 * rowElements; ++i)
        if (200 + i / rowElements < key)
          ASSERT_EQ(results.out[i], expected.out[i]) << kernel.name << key;
        else
          ASSERT_TRUE(std::isnan(results.out[i])) << kernel.name << key;
    }
  }
}
