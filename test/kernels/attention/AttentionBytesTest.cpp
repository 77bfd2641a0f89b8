//===- AttentionBytesTest.cpp - Attention with products of 8 bits ---------===//
//
// Against the definition (docs/reference/products.md) in double precision, and
// bit by bit against itself. AttentionTest.cpp has what these kernels share
// with others.
//
//===----------------------------------------------------------------------===//

#include "AttentionCase.h"
#include "test/kernels/SameBits.h"

using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

using Fixture = AttentionFixture<Bf16, F8E4M3>;

Results run(const AttentionKernel &kernel, const AttentionCase &c) {
  return Fixture(kernel, c).run();
}

/// The last of them are the others.
bool endsWith(const std::vector<float> &all, const std::vector<float> &last) {
  return all.size() >= last.size() &&
         sameBits({all.end() - last.size(), all.end()}, last);
}

class AttentionBytes : public ::testing::TestWithParam<int> {
protected:
  void SetUp() override {
    if (!canRun(decode.name))
      GTEST_SKIP() << "this chip has no such kernels";
  }
  const AttentionKernel &decode = byteKernelFor(GetParam(), false),
                        &prefill = byteKernelFor(GetParam(), true);
};

} // namespace

TEST_P(AttentionBytes, AreTheDefinition) {
  AttentionCase c;
  c.sequences = {{300, 1}, {0, 2}, {5, 0}, {126, 3}};
  EXPECT_TRUE(check(decode, c));
  c.group = 1;
  c.heads = 3;
  c.pageSize = 7;
  c.headsFirst = true;
  c.sinks = true;
  c.softcap = 5;
  EXPECT_TRUE(check(decode, c));
  c.group = 3;
  c.mask = KV_MASK_SLIDING;
  c.window = 150;
  c.sequences = {{380, 30}, {0, 70}, {5, 0}, {129, 1}};
  EXPECT_TRUE(check(prefill, c));
  c.softcap = 0;
  for (float scale : {-0.125f, 1e-30f, 6.0f}) {
    c.scale = scale;
    EXPECT_TRUE(check(prefill, c)) << scale;
  }
  c.scale = 0;
  c.mask = KV_MASK_CAUSAL;
  c.trees = true;
  c.sequences = {{300, 4}, {100, 40}, {250, 70}};
  EXPECT_TRUE(check(prefill, c));
  EXPECT_TRUE(check(decode, c));
}

// Of a long context of small weights each leaf has its own largest one.
TEST_P(AttentionBytes, SeveralGroupsOfLeaves) {
  AttentionCase c;
  c.heads = 1;
  c.sequences = {{2500, 1}, {1200, 1}};
  EXPECT_TRUE(check(decode, c));
  c.parts = 9;
  c.sequences = {{2500, 20}};
  EXPECT_TRUE(check(prefill, c));
}

TEST_P(AttentionBytes, OtherThanWideProducts) {
  const AttentionKernel &wide = kernelFor("f8", GetParam(), false);
  if (!canRun(wide.name))
    GTEST_SKIP() << "no image of " << wide.name << " is here";
  AttentionCase c;
  c.sequences = {{300, 1}};
  EXPECT_FALSE(sameBits(run(decode, c).out, run(wide, c).out));
}

TEST_P(AttentionBytes, DecodeIsPrefill) {
  AttentionCase c;
  c.heads = 1;
  c.group = 3;
  c.softcap = 5;
  c.sequences = {{1150, 20}};
  Results whole = run(prefill, c);
  std::mt19937 random(7);
  for (int i = 0; i < 8; ++i) {
    int page[] = {1, 5, 16, 100};
    c.pageSize = page[i % 4];
    c.headsFirst = i % 2;
    c.parts = 1 + random() % 20;
    c.slots = random() % 4 ? 0 : 2 * (random() % 20);
    c.machine = {.schedule = Schedule(i % 3), .seed = uint32_t(i)};
    int added = i % 4 == 3 ? 17 : 1 + i % 5;
    c.sequences = {{1170 - added, added}};
    const AttentionKernel &kernel = i % 4 == 3 ? prefill : decode;
    Results some = run(kernel, c);
    ASSERT_TRUE(some.reports.empty()) << some.reports[0];
    EXPECT_TRUE(endsWith(whole.out, some.out)) << c;
    EXPECT_TRUE(endsWith(whole.lse, some.lse)) << c;
    // In a batch, merged apart.
    c.sequences.insert(c.sequences.begin(), {int32_t(random() % 900), 2});
    c.merges = i % 3;
    Results batch = run(kernel, c);
    ASSERT_TRUE(batch.reports.empty()) << batch.reports[0];
    EXPECT_TRUE(endsWith(batch.out, some.out)) << c;
    c.merges = 0;
  }
}

// Queries are brought to the type's range exactly.
TEST_P(AttentionBytes, QueriesOfAnySize) {
  AttentionCase c;
  c.sequences = {{200, 1}, {70, 3}};
  Fixture one(decode, c);
  Results expected = one.run();
  for (int power : {-90, -30, -12, 12, 30, 100}) {
    Fixture other(decode, c);
    other.enlargeQueries(power);
    EXPECT_TRUE(sameBits(expected.out, other.run().out)) << power;
  }
}

TEST_P(AttentionBytes, QueriesThatAreNone) {
  AttentionCase c;
  c.heads = 1;
  c.group = 3;
  c.sequences = {{200, 1}, {130, 1}};
  for (const AttentionKernel *kernel : {&decode, &prefill}) {
    const std::vector<float> expected = run(*kernel, c).out;
    // The first row has a NaN or an infinity, the third none but zeros, for
    // which all keys are the same.
    for (float wrong : {NAN, INFINITY, -INFINITY}) {
      Fixture fixture(*kernel, c);
      fixture.q[5] = narrow<Bf16>(wrong);
      std::fill_n(fixture.q.begin() + 2 * GetParam(), GetParam(), Bf16{0});
      Results results = fixture.run();
      ASSERT_TRUE(results.reports.empty()) << results.reports[0];
      for (int i = 0; i < int(results.out.size()); ++i) {
        int row = i / GetParam();
        if (row == 0) {
          EXPECT_TRUE(std::isnan(results.out[i])) << i;
        } else if (row != 2) {
          EXPECT_EQ(results.out[i], expected[i]) << i;
        }
      }
      EXPECT_NEAR(results.lse[2], std::log(201.0f), 1e-5);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Heads, AttentionBytes, ::testing::Values(64, 128));
