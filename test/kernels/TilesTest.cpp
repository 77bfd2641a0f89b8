//===- TilesTest.cpp - The prefill kernels that copy tiles ----------------===//
//
// They give the bits of the other kernels, whatever the pages, the batch, the
// mask and the hand-out are.
//
//===----------------------------------------------------------------------===//

#include "AttentionCase.h"

using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

/// The results of a case, which must be right.
Results run(const AttentionKernel &kernel, const AttentionCase &c) {
  return withFixture(kernel, c, [&](auto &fixture) {
    Results results = fixture.run();
    EXPECT_TRUE(fixture.check(results)) << kernel.name << ", " << c;
    return results;
  });
}

::testing::AssertionResult same(const Results &a, const Results &b) {
  if (a.out.size() != b.out.size() || a.lse.size() != b.lse.size())
    return ::testing::AssertionFailure() << "results of two sizes";
  for (size_t i = 0; i < a.out.size(); ++i)
    if (std::memcmp(&a.out[i], &b.out[i], sizeof(float)))
      return ::testing::AssertionFailure()
             << "element " << i << ": " << a.out[i] << " and " << b.out[i];
  if (std::memcmp(a.lse.data(), b.lse.data(), a.lse.size() * sizeof(float)))
    return ::testing::AssertionFailure() << "lse differs";
  return ::testing::AssertionSuccess();
}

class AttentionTiles : public ::testing::Test {
protected:
  void SetUp() override {
    for (const char *chip : {"sm_90a", "sm_100a"})
      if (const AttentionKernel &kernel = tileKernelFor("bf16", 64, chip);
          canRun(kernel.name))
        kernels.push_back(kernel);
    if (kernels.empty())
      GTEST_SKIP() << "this chip has no kernels that copy tiles";
  }
  /// They all give these results.
  void expectSame(const Results &expected, const AttentionCase &c) {
    for (const AttentionKernel &kernel : kernels)
      EXPECT_TRUE(same(expected, run(kernel, c))) << kernel.name << ", " << c;
  }

  std::vector<AttentionKernel> kernels; // one of each chip
  const AttentionKernel &plain = kernelFor("bf16", 64, true);
  const AttentionKernel &decode = kernelFor("bf16", 64, false);
};

} // namespace

TEST_F(AttentionTiles, BitsOfTheOtherPrefill) {
  for (const AttentionKernel &kernel : TileKernels) {
    if (!canRun(kernel.name))
      continue;
    AttentionCase c;
    c.sequences = {{300, 40}, {0, 20}};
    if (kernel.vDim)
      c.heads = 1;
    EXPECT_TRUE(same(
        run(kernel, c),
        run(kernelFor(kernel.type, kernel.headDim, true, kernel.vDim != 0), c)))
        << kernel.name;
  }
}

TEST_F(AttentionTiles, AnyPageSizeAndLayout) {
  AttentionCase c;
  c.sequences = {{500, 40}, {77, 9}};
  c.pageSize = 1;
  Results expected = run(plain, c);
  for (int page : {8, 16, 24, 48, 64, 128, 512})
    for (bool headsFirst : {false, true}) {
      c.pageSize = page;
      c.headsFirst = headsFirst;
      expectSame(expected, c);
    }
}

TEST_F(AttentionTiles, EveryMask) {
  struct {
    int mask;
    int64_t window;
  } masks[] = {{KV_MASK_NONE, 0},
               {KV_MASK_CAUSAL, 0},
               {KV_MASK_SLIDING, 1},
               {KV_MASK_SLIDING, 300},
               {KV_MASK_CHUNKED, 50},
               {KV_MASK_CHUNKED, 128},
               {KV_MASK_SLIDING_NONCAUSAL, 200}};
  int i = 0;
  for (auto [mask, window] : masks) {
    AttentionCase c;
    c.mask = mask;
    c.window = window;
    c.sequences = {{400, 70}, {31, 33}, {5, 0}, {900, 2}};
    c.softcap = i % 2 ? 2.5f : 0;
    c.sinks = i % 3 == 0;
    c.scale = i == 4 ? -0.125f : 0;
    int groups[] = {1, 3, 4, 8, 16};
    c.group = groups[i++ % 5];
    expectSame(run(plain, c), c);
  }
}

TEST_F(AttentionTiles, AnyHandOut) {
  for (int64_t window : {0, 1300}) {
    AttentionCase c;
    c.heads = 1;
    c.mask = window ? KV_MASK_SLIDING : KV_MASK_CAUSAL;
    c.window = window;
    c.sequences = {{2200, 30}, {300, 70}, {0, 5}, {1024, 1}};
    c.parts = 1;
    Results one = run(plain, c);
    std::mt19937 random(3);
    for (int i = 0; i < 4; ++i) {
      c.parts = i == 0 ? 1 : 2 + random() % 24;
      c.slots = random() % 4 ? 0 : 2 * (random() % 20);
      c.machine.schedule = Schedule(i % 3);
      c.machine.seed = i;
      expectSame(one, c);
    }
  }
}

// Whatever the order is in which an instruction sums.
TEST_F(AttentionTiles, DecodeGivesTheirLastRows) {
  for (int order = 0; order < 4; ++order) {
    AttentionCase c;
    c.machine.order = SumOrder(order);
    c.sequences = {{1197, 3}};
    c.pageSize = 5;
    Results last = run(decode, c);
    c.sequences = {{1140, 60}};
    c.pageSize = 16;
    for (const AttentionKernel &kernel : kernels) {
      Results whole = run(kernel, c);
      size_t before = whole.out.size() - last.out.size();
      EXPECT_EQ(0, std::memcmp(whole.out.data() + before, last.out.data(),
                               last.out.size() * sizeof(float)))
          << kernel.name << ", " << c;
    }
  }
}

// A latent cache's: pages, layouts, masks, numbers of heads and hand-outs at
// once, also where whole units have several groups of leaves.
TEST_F(AttentionTiles, LatentRows) {
  const AttentionKernel &latent = tileKernelFor("bf16", 192);
  const AttentionKernel &other = kernelFor("bf16", 192, true, true);
  struct {
    int mask;
    int64_t window;
  } masks[] = {{KV_MASK_CAUSAL, 0},    {KV_MASK_NONE, 0},
               {KV_MASK_SLIDING, 1},   {KV_MASK_SLIDING, 600},
               {KV_MASK_CHUNKED, 128}, {KV_MASK_SLIDING_NONCAUSAL, 200}};
  int groups[] = {16, 128, 5}, pages[] = {64, 8, 24, 512}, i = 0;
  for (auto [mask, window] : masks) {
    AttentionCase c;
    c.heads = 1;
    c.group = groups[i % 3];
    c.mask = mask;
    c.window = window;
    c.sequences = {{1100, 2}, {31, 20}, {5, 0}, {640, 1}};
    c.softcap = i % 3 == 1 ? 2.5f : 0;
    c.sinks = i % 2;
    c.scale = i == 4 ? -0.125f : 0;
    c.pageSize = 7;
    c.parts = 2;
    Results expected = run(other, c);
    c.pageSize = pages[i % 4];
    c.headsFirst = i % 2;
    c.parts = i % 2 ? 1 : 9;
    c.machine.schedule = Schedule(i % 3);
    c.machine.seed = i++;
    EXPECT_TRUE(same(expected, run(latent, c))) << c;
  }
}

TEST_F(AttentionTiles, LatentDecodeGivesTheirLastRows) {
  for (int order = 0; order < 4; ++order) {
    AttentionCase c;
    c.machine.order = SumOrder(order);
    c.heads = 1;
    c.sequences = {{680, 20}};
    Results whole = run(tileKernelFor("bf16", 192), c);
    c.sequences = {{697, 3}};
    c.pageSize = 5;
    Results last = run(kernelFor("bf16", 192, false, true), c);
    size_t before = whole.out.size() - last.out.size();
    EXPECT_EQ(0, std::memcmp(whole.out.data() + before, last.out.data(),
                             last.out.size() * sizeof(float)))
        << c;
  }
}

TEST(TileMaps, WhatNoBoxCanCopy) {
  CacheView view{};
  view.tokenStride = 128;
  view.headStride = 64;
  view.pages = 10;
  auto can = [&](int page, int64_t pageStride) {
    view.pageSize = page;
    view.pageStride = pageStride;
    return canTile(view, 2, 64);
  };
  EXPECT_TRUE(can(16, 16 * 128));
  EXPECT_TRUE(can(24, 24 * 128 * 4));
  for (int page : {1, 4, 12, 100})
    EXPECT_FALSE(can(page, page * 128)) << page;
  EXPECT_FALSE(can(16, 16 * 128 + 8)); // strides are not multiples
  view.headStride = 4;
  EXPECT_FALSE(can(16, 16 * 128)); // nor of sixteen bytes
  EXPECT_EQ(boxTokens(8), 8);
  EXPECT_EQ(boxTokens(48), 16);
  EXPECT_EQ(boxTokens(1024), 64);
}
