//===- TilesTest.cpp - The prefill kernels that copy tiles ----------------===//
//
// They, and those of a few drafts, give the bits of the other kernels, whatever
// the pages, the batch, the mask and the hand-out are.
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
    if (std::none_of(std::begin(TileKernels), std::end(TileKernels),
                     [](const auto &kernel) {
                       return !kernel.eightBitProducts && canRun(kernel.name);
                     }))
      GTEST_SKIP() << "this chip has no kernels that copy tiles";
  }
};

/// The kernels for a cache: those that copy tiles and of drafts, of each chip
/// that runs them here, and the others. Where one of these cannot run, none of
/// the first.
struct Kernels {
  std::vector<AttentionKernel> tiles;
  const AttentionKernel &plain, &decode;

  Kernels(std::string_view type, int headDim, bool latent = false)
      : plain(kernelFor(type, headDim, true, latent)),
        decode(kernelFor(type, headDim, false, latent)) {
    for (const AttentionKernel &kernel : TileKernels)
      if (kernel.type == type && kernel.headDim == headDim &&
          (kernel.vDim != 0) == latent && canRun(kernel.name) &&
          canRun(plain.name) && canRun(decode.name))
        tiles.push_back(kernel);
  }
  /// The former give these results.
  void expectSame(const Results &expected, const AttentionCase &c) const {
    for (const AttentionKernel &kernel : tiles)
      EXPECT_TRUE(same(expected, run(kernel, c))) << kernel.name << ": " << c;
  }
  /// The last rows that they give are these.
  void expectLast(const Results &last, const AttentionCase &c) const {
    for (const AttentionKernel &kernel : tiles) {
      Results whole = run(kernel, c);
      size_t before = whole.out.size() - last.out.size();
      EXPECT_EQ(0, std::memcmp(whole.out.data() + before, last.out.data(),
                               last.out.size() * sizeof(float)))
          << kernel.name << ": " << c;
    }
  }
};

} // namespace

TEST_F(AttentionTiles, BitsOfTheOtherPrefill) {
  for (const AttentionKernel &kernel : TileKernels) {
    if (!canRun(kernel.name) || kernel.eightBitProducts)
      continue;
    const AttentionKernel &plain =
        kernelFor(kernel.type, kernel.headDim, true, kernel.vDim != 0);
    AttentionCase c;
    c.heads = 1;
    c.sequences = {{200, 35}, {0, 20}};
    Results results = run(kernel, c);
    if (canRun(plain.name))
      EXPECT_TRUE(same(results, run(plain, c))) << kernel.name;
  }
}

// A plan chooses by the cache, and does not know its scales.
TEST_F(AttentionTiles, EveryScaleOfACacheHasOne) {
  for (const AttentionKernel &some : TileKernels)
    for (const AttentionKernel &kernel : AttentionKernels)
      if (kernel.prefill && !some.eightBitProducts &&
          kernel.vDim == some.vDim && kernel.cache == some.cache &&
          kernel.headDim == some.headDim) {
        EXPECT_TRUE(std::any_of(std::begin(TileKernels), std::end(TileKernels),
                                [&](const AttentionKernel &one) {
                                  return one.type == kernel.type &&
                                         one.drafts == some.drafts &&
                                         one.tiles == some.tiles &&
                                         one.headDim == some.headDim &&
                                         one.vDim == some.vDim &&
                                         one.rows == some.rows &&
                                         kv::kernels::onlyChipOf(one.name) ==
                                             kv::kernels::onlyChipOf(some.name);
                                }))
            << kernel.name << " beside " << some.name;
      }
}

TEST_F(AttentionTiles, AnyPageSizeAndLayout) {
  struct {
    const char *type;
    int headDim;
    std::vector<int> pages;
  } const caches[] = {{"bf16", 64, {8, 16, 24, 48, 64, 128, 512}},
                      {"f8s", 128, {8, 24, 64}},
                      {"bf16", 256, {8, 64}},
                      {"f8s", 192, {24}},
                      {"f8", 256, {8, 64}}};
  for (const auto &[type, headDim, pages] : caches) {
    Kernels kernels(type, headDim);
    if (kernels.tiles.empty())
      continue;
    AttentionCase c;
    c.heads = headDim == 64 ? 2 : 1;
    c.sequences = {{300, 40}, {77, 9}};
    c.pageSize = 1;
    Results expected = run(kernels.plain, c);
    for (int page : pages)
      for (bool headsFirst : {false, true}) {
        c.pageSize = page;
        c.headsFirst = headsFirst;
        kernels.expectSame(expected, c);
      }
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
  const Kernels caches[] = {{"bf16", 64}, {"f8s", 64}, {"bf16", 192},
                            {"f8g", 64},  {"f8", 64},  {"f8s", 192},
                            {"e5s", 256}, {"f8g", 256}};
  int i = 0;
  for (auto [mask, window] : masks) {
    AttentionCase c;
    c.mask = mask;
    c.window = window;
    c.sequences = {{400, 70}, {31, 33}, {5, 0}, {900, 2}};
    c.heads = 1;
    c.softcap = i % 2 ? 2.5f : 0;
    c.sinks = i % 3 == 0;
    c.scale = i == 4 ? -0.125f : 0;
    int groups[] = {1, 3, 4, 8, 16};
    c.group = groups[i % 5];
    c.powers = i % 2;
    c.groups = i % 3 ? 4 : 2;
    for (int j : {0, 1 + i % 7})
      if (!caches[j].tiles.empty())
        caches[j].expectSame(run(caches[j].plain, c), c);
    ++i;
  }
}

TEST_F(AttentionTiles, AnyHandOut) {
  const Kernels caches[] = {
      {"bf16", 64}, {"f8s", 64}, {"bf16", 192}, {"f8s", 256}};
  for (const Kernels &kernels : caches)
    for (int64_t window : {0, 1300}) {
      bool first = &kernels == caches; // the others' differ in a few places
      if ((!first && window) || kernels.tiles.empty())
        continue;
      AttentionCase c;
      c.heads = 1;
      c.mask = window ? KV_MASK_SLIDING : KV_MASK_CAUSAL;
      c.window = window;
      c.sequences = {{2200, first ? 30 : 5}, {300, 70}, {0, 5}, {1024, 1}};
      c.parts = 1;
      Results one = run(kernels.plain, c);
      std::mt19937 random(3);
      for (int i = 0; i < (first ? 6 : 2); ++i) {
        c.parts = i == 0 ? 1 : 2 + random() % 24;
        c.slots = random() % 4 ? 0 : 2 * (random() % 20);
        c.machine.schedule = Schedule(i % 3);
        c.machine.seed = i;
        kernels.expectSame(one, c);
      }
    }
}

// Of up to 64 rows a warpgroup has nothing to do but to give tiles back: units
// of as many, and fewer, beside others, in whatever parts.
TEST_F(AttentionTiles, RowsOfOneWarpgroup) {
  const Kernels caches[] = {
      {"bf16", 64}, {"f8s", 64}, {"bf16", 192}, {"f8", 192}};
  for (const Kernels &kernels : caches) {
    if (kernels.tiles.empty())
      continue;
    AttentionCase c;
    c.heads = 1;
    c.group = 8;
    c.sequences = {{1500, 8}, {140, 9}, {200, 24}, {390, 5}, {10, 8}};
    c.parts = 1;
    Results expected = run(kernels.plain, c);
    for (int parts : {1, 2, 7}) {
      c.parts = parts;
      c.machine.schedule = Schedule(parts % 3);
      kernels.expectSame(expected, c);
    }
  }
}

TEST_F(AttentionTiles, DecodeGivesTheirLastRows) {
  const Kernels caches[] = {
      {"bf16", 64}, {"f8", 64}, {"f8s", 64}, {"f16", 256}, {"f8", 256}};
  for (const Kernels &kernels : caches) {
    bool first = &kernels == caches;
    if (kernels.tiles.empty())
      continue;
    AttentionCase c;
    c.heads = first ? 2 : 1;
    c.sequences = {{1197, 3}};
    c.pageSize = 5;
    Results last = run(kernels.decode, c);
    c.sequences = {{first ? 1140 : 1180, first ? 60 : 20}};
    c.pageSize = 16;
    kernels.expectLast(last, c);
  }
}

// What they are for: two to four new tokens of eight query heads, or, by tile
// copies, up to eight, as trees too, of as many parts as steps of long
// sequences have. A row has the bits that the decode kernel gives its token
// alone.
TEST_F(AttentionTiles, Drafts) {
  if (!canRun("kv_attention_drafts_bf16_64"))
    GTEST_SKIP() << OtherChips;
  int i = 0;
  for (const AttentionKernel &kernel : TileKernels) {
    if (!kernel.drafts || !canRun(kernel.name))
      continue;
    AttentionCase c;
    c.heads = 1;
    c.group = 8;
    c.trees = i % 2;
    const int most = kernel.rows / 8;
    c.sequences = {
        {i % 3 ? 380 : 2300, most}, {130, most - 1}, {61, most}, {0, 2}};
    c.parts = 1 + i % 5 * 5;
    c.pageSize = i % 3 ? 16 : kernel.tiles ? 24 : 12;
    c.machine.schedule = Schedule(i % 3);
    c.machine.seed = i++;
    Results drafts = run(kernel, c);
    EXPECT_TRUE(
        same(run(kernelFor(kernel.type, kernel.headDim, true), c), drafts))
        << kernel.name;
    if (c.trees)
      continue;
    for (SequenceLengths &s : c.sequences)
      s = {s.cached + s.added - 1, 1};
    c.parts = 3;
    Results last = run(kernelFor(kernel.type, kernel.headDim, false), c);
    int64_t width = c.heads * c.group * kernel.headDim,
            rows[] = {most - 1, 2 * most - 2, 3 * most - 2, 3 * most};
    for (int sequence = 0; sequence < 4; ++sequence)
      EXPECT_EQ(0,
                std::memcmp(&drafts.out[rows[sequence] * width],
                            &last.out[sequence * width], width * sizeof(float)))
          << kernel.name << ", sequence " << sequence;
  }
  EXPECT_GT(i, 0);
}

// A latent cache's: pages, layouts, masks, numbers of heads and hand-outs at
// once, also where whole units have several groups of leaves.
TEST_F(AttentionTiles, LatentRows) {
  const Kernels kernels("bf16", 192, /*latent=*/true);
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
    Results expected = run(kernels.plain, c);
    c.pageSize = pages[i % 4];
    c.headsFirst = i % 2;
    c.parts = i % 2 ? 1 : 9;
    c.machine.schedule = Schedule(i % 3);
    c.machine.seed = i++;
    kernels.expectSame(expected, c);
  }
}

TEST_F(AttentionTiles, LatentDecodeGivesTheirLastRows) {
  const Kernels kernels("bf16", 192, /*latent=*/true);
  AttentionCase c;
  c.heads = 1;
  c.sequences = {{697, 3}};
  c.pageSize = 5;
  Results last = run(kernels.decode, c);
  c.sequences = {{680, 20}};
  c.pageSize = 16;
  kernels.expectLast(last, c);
}

// Units whose pieces are merged apart: those of a pair of blocks have the rows
// of both, of which the second one's are none in the last tile.
TEST_F(AttentionTiles, LatentRowsMergedApart) {
  const Kernels kernels("bf16", 192, /*latent=*/true);
  AttentionCase c;
  c.heads = 1;
  c.group = 40;
  c.sequences = {{1500, 4}, {900, 2}};
  c.parts = 2;
  Results expected = run(kernels.plain, c);
  for (int parts : {7, 16}) {
    c.parts = parts;
    c.merges = 3;
    c.machine.schedule = Schedule(parts % 3);
    kernels.expectSame(expected, c);
  }
}

// Whose two blocks have boxes of their own, of each page size that is copied.
TEST_F(AttentionTiles, BoxesOfPairs) {
  EXPECT_EQ(boxTokens(64, 2), 32);
  EXPECT_EQ(boxTokens(24, 2), 8);
  EXPECT_EQ(boxTokens(4, 2), 0);
  for (const AttentionKernel &kernel : TileKernels) {
    if (kernel.partBlocks == 1)
      continue;
    EXPECT_EQ(kernel.rows % kernel.partBlocks, 0) << kernel.name;
    EXPECT_FALSE(takesPairs(tileKernelFor(kernel.type, kernel.headDim, true),
                            64 * 3, 3));
    EXPECT_TRUE(takesPairs(tileKernelFor(kernel.type, kernel.headDim, true),
                           64 * 3 + 1, 3));
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
    return canTile(view, 2, 2, 64);
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
