//===- AttentionTest.cpp - What the matrix of cases does not say ----------===//

#include "AttentionCase.h"
#include "test/Environment.h"
#include "test/kernels/SameBits.h"

#include <cstdlib>

using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

const AttentionKernel &Decode64 = kernelFor("bf16", 64, false);
const AttentionKernel &Prefill64 = kernelFor("bf16", 64, true);
const AttentionKernel &Decode128 = kernelFor("f16", 128, false);
using Fixture = AttentionFixture<Bf16, Bf16>;

Results run(const AttentionKernel &kernel, const AttentionCase &c) {
  return withFixture(kernel, c, [](auto &fixture) { return fixture.run(); });
}

/// The results of the last `added` tokens of a single sequence.
std::vector<float> lastRows(const Results &results, const AttentionCase &c,
                            int dim, int added) {
  size_t row = size_t(c.heads) * c.group * dim;
  return {results.out.end() - added * row, results.out.end()};
}

} // namespace

TEST(Attention, LongSequencesOfSeveralGroups) {
  AttentionCase c;
  c.sequences = {{3000, 1}, {0, 1}, {5, 0}, {1500, 1}};
  EXPECT_TRUE(check(Decode128, c));
  c.sequences = {{2500, 30}, {0, 100}, {5, 0}, {1200, 1}};
  EXPECT_TRUE(check(Prefill64, c));
}

TEST(Attention, LatentRowsOfEverySize) {
  AttentionCase c;
  c.heads = 1;
  c.group = 16;
  c.sequences = {{1100, 1}, {0, 2}, {5, 0}, {300, 1}};
  for (int dim : {192, 320, 576})
    for (bool prefill : {false, true})
      EXPECT_TRUE(check(kernelFor("bf16", dim, prefill, true), c)) << dim;
}

TEST(Attention, ScalesOfAnySign) {
  AttentionCase c;
  c.sequences = {{200, 1}, {70, 3}};
  for (float scale : {-0.125f, 1e-30f, 6.0f, -6.0f}) {
    c.scale = scale;
    EXPECT_TRUE(check(Decode64, c)) << scale;
  }
}

TEST(Attention, TwoKernelsShareABatch) {
  AttentionCase c;
  c.group = 8;
  c.sequences = {{100, 1}, {30, 50}, {0, 0}, {400, 2}, {7, 3}};
  c.rowsTo = DecodeRows + 1;
  Fixture decode(Decode64, c);
  Results some = decode.run();
  EXPECT_TRUE(decode.check(some));
  // Rows of the other class stay untouched.
  EXPECT_TRUE(std::isnan(some.out[1 * 16 * 64]));
  std::swap(c.rowsFrom, c.rowsTo);
  c.rowsTo = INT64_MAX;
  Fixture prefill(Prefill64, c);
  Results others = prefill.run();
  EXPECT_TRUE(prefill.check(others));
  for (size_t i = 0; i < some.out.size(); ++i)
    EXPECT_NE(std::isnan(some.out[i]), std::isnan(others.out[i])) << i;
}

TEST(Attention, APoolBeyondTwoToThe31Elements) {
  if (!canRun(Decode128.name))
    GTEST_SKIP() << OtherChips;
  AttentionCase c;
  c.sparse = true;
  c.sequences = {{300, 1}, {700, 2}};
  for (bool headsFirst : {false, true}) {
    c.headsFirst = headsFirst;
    AttentionFixture<F16, F16> fixture(Decode128, c);
    bool below = false, above = false;
    for (int64_t position = 0; position < 300; ++position)
      (fixture.place(0, 0, position, 0) < INT32_MAX ? below : above) = true;
    EXPECT_TRUE(below && above);
    EXPECT_TRUE(fixture.check(fixture.run()));
  }
}

TEST(Attention, LengthsBeyondTheTableAreCut) {
  // Rows that see no key at all give zeros, and nothing is read that the
  // table does not have.
  AttentionCase c;
  c.mask = KV_MASK_CHUNKED;
  c.window = 64;
  c.sequences = {{60, 1}};
  Fixture fixture(Decode64, c);
  for (int32_t cached : {64, 1000, INT32_MAX}) {
    fixture.cached[0] = cached;
    Results results = fixture.run();
    ASSERT_TRUE(results.reports.empty()) << results.reports[0];
    for (float x : results.out)
      EXPECT_EQ(x, 0);
    for (float x : results.lse)
      EXPECT_EQ(x, -INFINITY);
  }
}

TEST(Attention, OffsetsOutOfOrderStayInBounds) {
  AttentionCase c;
  c.sequences = {{20, 2}, {10, 3}, {5, 1}};
  for (const AttentionKernel *kernel :
       {&Decode64, &tileKernelFor("bf16", 128),
        &tileKernelFor("bf16", 192, /*latent=*/true),
        &tileKernelFor("bf16", 64, /*latent=*/false, "sm_100a"),
        &tileKernelFor("bf16", 192, /*latent=*/true, "sm_100a")}) {
    if (!canRun(kernel->name))
      continue;
    for (int i = 0; i < 4; ++i)
      for (int32_t value : {INT32_MIN, -1, 2, 5, 7, INT32_MAX})
        withFixture(*kernel, c, [&](auto &fixture) {
          fixture.offsets[i] = value;
          fixture.cached[1] = int32_t(0u - uint32_t(value));
          Results results = fixture.run();
          EXPECT_TRUE(results.reports.empty())
              << kernel->name << ": " << results.reports[0];
        });
  }
}

//===--- Trees ------------------------------------------------------------===//

namespace {

/// Trees of one node to more than a tree has, before, across and behind the
/// edges of leaves; in the decode kernel and in one or several tiles.
AttentionCase trees() {
  AttentionCase c;
  c.trees = true;
  c.sequences = {{300, 4}, {0, 64}, {100, 40}, {250, 70}, {1100, 17}, {5, 1}};
  return c;
}

} // namespace

TEST(AttentionTrees, EveryKindOfKernel) {
  AttentionCase c = trees();
  for (const AttentionKernel *kernel :
       {&Decode64, &Prefill64, &Decode128, &kernelFor("f16", 128, true),
        &kernelFor("f8s", 64, true), &kernelFor("i8s", 128, false),
        &tileKernelFor("bf16", 128), &tileKernelFor("bf16", 256),
        &tileKernelFor("f8s", 64),
        &tileKernelFor("bf16", 64, /*latent=*/false, "sm_100a")})
    EXPECT_TRUE(check(*kernel, c)) << kernel->name;
  c.heads = 1;
  c.group = 8;
  c.sequences = {{300, 9}, {60, 64}};
  EXPECT_TRUE(check(kernelFor("bf16", 192, true, true), c));
  EXPECT_TRUE(check(kernelFor("bf16", 192, false, true), c));
  EXPECT_TRUE(check(tileKernelFor("bf16", 192, /*latent=*/true), c));
}

TEST(AttentionTrees, WindowsFollowThePath) {
  AttentionCase c = trees();
  c.mask = KV_MASK_SLIDING;
  for (int64_t window : {64, 100, 300})
    for (const AttentionKernel *kernel : {&Decode64, &Prefill64}) {
      c.window = window;
      EXPECT_TRUE(check(*kernel, c)) << kernel->name << ' ' << window;
    }
}

TEST(AttentionTrees, NoBranchesChangeNoBit) {
  AttentionCase c = trees();
  Fixture with(Prefill64, c);
  std::ranges::fill(with.words, KV_NO_TREE);
  Results tree = with.run();
  c.trees = false;
  EXPECT_TRUE(sameBits(tree.out, run(Prefill64, c).out));
  c.trees = true;
  Results branches = run(Prefill64, c);
  EXPECT_FALSE(sameBits(tree.out, branches.out));
  // Whatever kernel and hand-out.
  c.parts = 7;
  EXPECT_TRUE(sameBits(branches.out, run(Decode64, c).out));
}

//===--- Bits -------------------------------------------------------------===//

TEST(AttentionBits, AnyHandOut) {
  AttentionCase c;
  c.heads = 1;
  c.sequences = {{2200, 1}, {300, 2}, {1024, 1}};
  c.parts = 1;
  Results one = run(Decode64, c);
  std::mt19937 random(3);
  for (int64_t i = 0, plans = kv::test::environment("KV_TEST_HANDOUTS", 40);
       i < plans; ++i) {
    c.parts = 2 + random() % 24;
    c.slots = random() % 4 ? 0 : 2 * (random() % 20);
    c.machine.schedule = Schedule(i % 3);
    c.machine.seed = i;
    Results other = run(Decode64, c);
    ASSERT_TRUE(other.reports.empty()) << other.reports[0];
    ASSERT_TRUE(sameBits(one.out, other.out)) << c;
    ASSERT_TRUE(sameBits(one.lse, other.lse)) << c;
  }
}

TEST(AttentionBits, MergedApart) {
  // More groups than are folded at a time, several units, a window that begins
  // within a group, rows that are none, sinks, units that nobody shares.
  auto expectSame = [](const AttentionKernel &kernel, AttentionCase c) {
    if (!canRun(kernel.name))
      return;
    c.parts = 1;
    Results one = run(kernel, c);
    for (int parts : {5, 40}) {
      c.parts = parts;
      for (int blocks : {1, 7, 33}) {
        c.merges = blocks;
        c.machine.schedule = Schedule(blocks % 3);
        Results apart = run(kernel, c);
        ASSERT_TRUE(apart.reports.empty()) << apart.reports[0];
        ASSERT_TRUE(sameBits(one.out, apart.out)) << c;
        ASSERT_TRUE(sameBits(one.lse, apart.lse)) << c;
      }
    }
  };
  AttentionCase c;
  c.sinks = true;
  c.sequences = {{2200, 1}, {300, 2}, {0, 1}, {1024, 1}};
  expectSame(Decode64, c);
  expectSame(Decode128, c);
  c.mask = KV_MASK_SLIDING;
  c.window = 1300;
  expectSame(Decode64, c);
  AttentionCase latent;
  latent.heads = 1;
  latent.group = 16;
  latent.sequences = {{17000, 1}};
  expectSame(kernelFor("bf16", 192, false, true), latent);
  latent.sequences = {{1400, 3}};
  expectSame(kernelFor("bf16", 320, true, true), latent);
}

// A window's first leaf is in the middle of a leaf group, of which a part has
// all leaves or some.
TEST(AttentionBits, UnitsThatBeginWithinAGroup) {
  AttentionCase c;
  c.heads = 1;
  for (int mask : {KV_MASK_SLIDING, KV_MASK_SLIDING_NONCAUSAL})
    for (bool prefill : {false, true}) {
      const AttentionKernel &kernel = kernelFor("bf16", 64, prefill);
      c.mask = mask;
      c.window = 1500;
      c.sequences = {{2150, prefill ? 40 : 1}, {1900, prefill ? 30 : 2}};
      c.parts = 1;
      Results one = run(kernel, c);
      EXPECT_TRUE(check(kernel, c));
      for (int parts : {2, 3, 4, 7, 8, 11}) {
        c.parts = parts;
        Results other = run(kernel, c);
        ASSERT_TRUE(other.reports.empty()) << other.reports[0] << c;
        EXPECT_TRUE(sameBits(one.out, other.out)) << c;
        EXPECT_TRUE(sameBits(one.lse, other.lse)) << c;
      }
    }
}

TEST(AttentionBits, AnyPageSizeAndLayout) {
  AttentionCase c;
  c.sequences = {{500, 3}};
  c.pageSize = 1;
  Results one = run(Decode64, c);
  for (int page : {3, 16, 64, 100, 512})
    for (bool headsFirst : {false, true}) {
      c.pageSize = page;
      c.headsFirst = headsFirst;
      EXPECT_TRUE(sameBits(one.out, run(Decode64, c).out)) << c;
    }
}

TEST(AttentionBits, LatentRows) {
  const AttentionKernel &decode = kernelFor("bf16", 192, false, true);
  const AttentionKernel &prefill = kernelFor("bf16", 192, true, true);
  AttentionCase c;
  c.heads = 1;
  c.group = 5;
  c.pageSize = 1;
  c.parts = 1;
  c.sequences = {{1250, 50}};
  Results whole = run(prefill, c);
  std::mt19937 random(7);
  for (int i = 0; i < 12; ++i) {
    int page[] = {3, 16, 64, 100};
    c.pageSize = page[i % 4];
    c.headsFirst = i % 2;
    c.parts = 1 + random() % 20;
    c.slots = random() % 4 ? 0 : 2 * (random() % 20);
    c.machine = {.schedule = Schedule(i % 3),
                 .seed = uint32_t(i),
                 .sm = i % 2 ? 80 : 90,
                 .chip = 90};
    int added = i % 4 == 3 ? 30 : 1 + i % 3;
    c.sequences = {{1300 - added, added}};
    Results some = run(i % 4 == 3 ? prefill : decode, c);
    ASSERT_TRUE(some.reports.empty()) << some.reports[0];
    EXPECT_TRUE(sameBits(lastRows(whole, c, 128, added), some.out)) << c;
    // In a batch.
    c.sequences.insert(c.sequences.begin(), {int32_t(random() % 900), 2});
    Results batch = run(decode, c);
    EXPECT_TRUE(sameBits(some.out, lastRows(batch, c, 128, added))) << c;
  }
}

// 8-bit caches are multiplied in a type of small range.
TEST(AttentionBits, QueriesOfAnySize) {
  if (!canRun(kernelFor("f8", 128, true).name))
    GTEST_SKIP() << OtherChips;
  AttentionCase c;
  c.sequences = {{200, 1}, {70, 3}};
  for (bool prefill : {false, true})
    for (float softcap : {0.0f, 5.0f}) {
      c.softcap = softcap;
      AttentionFixture<Bf16, F8E4M3> one(kernelFor("f8", 128, prefill), c);
      Results expected = one.run();
      EXPECT_TRUE(one.check(expected));
      for (int power : {-90, -30, -12, 12, 30, 100}) {
        AttentionFixture<Bf16, F8E4M3> other(one.kernel, c);
        other.enlargeQueries(power);
        EXPECT_TRUE(sameBits(expected.out, other.run().out)) << power;
      }
    }
}

TEST(Attention, ScalesThatAreNone) {
  // f8E5M2 without scales is what it is with scales of 1.
  AttentionCase c;
  c.sequences = {{200, 1}, {70, 9}};
  c.unscaled = true;
  for (bool prefill : {false, true})
    EXPECT_TRUE(check(kernelFor("e5s", 128, prefill), c));
}

TEST(AttentionBits, DecodeIsPrefillOfEveryKernel) {
  for (const AttentionKernel &prefill : AttentionKernels) {
    if (!prefill.prefill)
      continue;
    const AttentionKernel &decode =
        kernelFor(prefill.type, prefill.headDim, false, prefill.vDim);
    if (!canRun(prefill.name) || !canRun(decode.name))
      continue;
    AttentionCase c;
    c.heads = 1;
    c.group = 3;
    c.sequences = {{150, 20}};
    Results whole = run(prefill, c);
    c.sequences = {{165, 5}};
    c.headsFirst = true;
    c.pageSize = 5;
    c.parts = 2;
    Results last = run(decode, c);
    EXPECT_TRUE(whole.reports.empty() && last.reports.empty());
    EXPECT_TRUE(sameBits(lastRows(whole, c, decode.valueDim(), 5), last.out))
        << decode.name;
  }
}

TEST(AttentionBits, AnyBatchAround) {
  AttentionCase c;
  c.parts = 5;
  c.sequences = {{1300, 2}};
  const Results alone = run(Decode64, c);
  size_t row = size_t(c.heads) * c.group * 64;
  std::mt19937 random(5);
  for (int64_t i = 0, batches = kv::test::environment("KV_TEST_BATCHES", 4);
       i < batches; ++i) {
    c.sequences.clear();
    int32_t tokens = 0;
    size_t at = random() % 3, others = at + random() % 3;
    size_t first = 0;
    for (size_t n = 0; n <= others; ++n) {
      if (n == at) {
        first = tokens * row;
        c.sequences.push_back({1300, 2});
      } else {
        c.sequences.push_back({int32_t(random() % (i ? 700 : 5000)),
                               int32_t(random() % 3 ? 1 : random() % 40)});
      }
      tokens += c.sequences.back().added;
    }
    c.parts = 1 + random() % 12;
    Results batch = run(Decode64, c);
    ASSERT_TRUE(batch.reports.empty()) << batch.reports[0];
    std::vector<float> rows(batch.out.begin() + first,
                            batch.out.begin() + first + 2 * row);
    ASSERT_TRUE(sameBits(alone.out, rows)) << c;
  }
}

TEST(AttentionBits, DecodeIsPrefillOfOneAndChunksAreOne) {
  // 1400 tokens: the last 60 at once, in pieces, and one by one.
  for (int mask : {KV_MASK_CAUSAL, KV_MASK_SLIDING, KV_MASK_CHUNKED,
                   KV_MASK_CHUNKED_CAUSAL}) {
    AttentionCase c;
    c.mask = mask;
    c.window = 300;
    c.softcap = 5;
    c.sinks = true;
    c.sequences = {{1340, 60}};
    Results whole = run(Prefill64, c);
    for (int cached : {1345, 1380, 1399}) {
      c.sequences = {{cached, 1400 - cached}};
      std::vector<float> expected = lastRows(whole, c, 64, 1400 - cached);
      EXPECT_TRUE(sameBits(expected, run(Prefill64, c).out)) << c;
      EXPECT_TRUE(sameBits(expected, run(Decode64, c).out)) << c;
    }
    const AttentionKernel &prefill = kernelFor("f8", 128, true),
                          &decode = kernelFor("f8", 128, false);
    if (!canRun(prefill.name) || !canRun(decode.name))
      continue;
    c.sequences = {{340, 60}};
    whole = run(prefill, c);
    c.sequences = {{397, 3}};
    EXPECT_TRUE(sameBits(lastRows(whole, c, 128, 3), run(decode, c).out)) << c;
  }
}
