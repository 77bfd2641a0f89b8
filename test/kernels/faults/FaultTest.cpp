//===- FaultTest.cpp - Each planted mistake is seen -----------------------===//

#include "FaultRun.h"

using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

AttentionCase ordinary() {
  AttentionCase c;
  c.sequences = {{300, 1}, {0, 1}, {130, 1}};
  return c;
}

} // namespace

using Small = AttentionConfig<Bf16, Bf16, 64, 1, 4>;

TEST(Fault, LoadBeforeBarrier) {
  expectSeen<Fault::LoadBeforeBarrier, Small>(ordinary(), "race");
}
TEST(Fault, MissingWait) {
  expectSeen<Fault::MissingWait, Small>(ordinary(), "reads under the copy");
}
TEST(Fault, WaitOneShort) {
  expectSeen<Fault::WaitOneShort, Small>(ordinary(), "reads under the copy");
}
TEST(Fault, MissingStageBarrier) {
  expectSeen<Fault::MissingStageBarrier, Small>(ordinary(), "race");
}
TEST(Fault, MissingUnitBarrier) {
  expectSeen<Fault::MissingUnitBarrier, Small>(ordinary(), "shared memory");
}
TEST(Fault, MissingQueriesBarrier) {
  expectSeen<Fault::MissingQueriesBarrier, Small>(ordinary(), "shared memory");
}
TEST(Fault, MissingMaximaBarrier) {
  expectSeen<Fault::MissingMaximaBarrier, Small>(ordinary(), "shared memory");
}
TEST(Fault, MissingTotalBarrier) {
  AttentionCase c = ordinary();
  c.sequences = {{2500, 1}}; // three groups
  c.parts = 1;
  expectSeen<Fault::MissingTotalBarrier, Small>(c, "nobody wrote");
}
TEST(Fault, SkippedShuffle) {
  expectSeen<Fault::SkippedShuffle, Small>(ordinary(), "for its warp");
}
TEST(Fault, SkippedBarrier) {
  expectSeen<Fault::SkippedBarrier, Small>(ordinary(), "deadlock");
}
TEST(Fault, NoTailFill) {
  // The page goes on beyond the end: what lies there is not the sequence's.
  AttentionCase c = ordinary();
  c.pageSize = 128;
  expectSeen<Fault::NoTailFill, Small>(c, nullptr);
}
TEST(Fault, ForgottenMask) {
  AttentionCase c = ordinary();
  c.sequences = {{10, 9}};
  expectSeen<Fault::ForgottenMask, Small>(c, nullptr);
}
TEST(Fault, UnclearedWeights) {
  expectSeen<Fault::UnclearedWeights, Small>(ordinary(), "nobody wrote");
}

//===--- Latent rows
//------------------------------------------------------===//

namespace {

/// Three stages, which are filled as soon as they are read, and five.
using Latent = LatentConfig<Bf16, Bf16, 192, 128, 1, 3>;
using LatentPrefill = LatentConfig<Bf16, Bf16, 192, 128, 2, 5>;

AttentionCase latent() {
  AttentionCase c = ordinary();
  c.heads = 1;
  c.sequences = {{600, 1}, {0, 1}, {130, 7}};
  return c;
}

/// One request of very many groups, of which few weigh most.
AttentionCase manyGroups() {
  AttentionCase c = latent();
  c.group = 1;
  c.sequences = {{17000, 1}};
  c.parts = 40;
  c.scale = 3;
  return c;
}

} // namespace

TEST(Fault, LatentLoadBeforeBarrier) {
  expectSeen<Fault::LoadBeforeBarrier, Latent>(latent(), "race");
}
TEST(Fault, LatentMissingWait) {
  expectSeen<Fault::MissingWait, LatentPrefill>(latent(),
                                                "reads under the copy");
}
TEST(Fault, LatentWaitOneShort) {
  expectSeen<Fault::WaitOneShort, Latent>(latent(), "reads under the copy");
  expectSeen<Fault::WaitOneShort, LatentPrefill>(latent(),
                                                 "reads under the copy");
}
TEST(Fault, LatentMissingStageBarrier) {
  expectSeen<Fault::MissingStageBarrier, Latent>(latent(), "race");
}
TEST(Fault, LatentMissingMaximaBarrier) {
  expectSeen<Fault::MissingMaximaBarrier, LatentPrefill>(latent(), "race");
}
TEST(Fault, LatentMissingWeightsBarrier) {
  expectSeen<Fault::MissingWeightsBarrier, Latent>(latent(), "shared memory");
}
TEST(Fault, LatentMissingRefillBarrier) {
  expectSeen<Fault::MissingRefillBarrier, Latent>(latent(), "race");
}
TEST(Fault, LatentNoTailFill) {
  AttentionCase c = latent();
  c.pageSize = 128;
  expectSeen<Fault::NoTailFill, Latent>(c, nullptr);
}
TEST(Fault, LatentForgottenMask) {
  expectSeen<Fault::ForgottenMask, LatentPrefill>(latent(), nullptr);
}
TEST(Fault, LatentSlotOfAnotherGroup) {
  AttentionCase c = latent();
  c.sequences = {{1500, 1}};
  c.parts = 11;
  expectSeen<Fault::SlotOfAnotherGroup, Latent>(c, nullptr);
}

TEST(Fault, UnscaledQueries) {
  using Config = AttentionConfig<Bf16, F8E4M3, 64, 1, 4>;
  BodyFixture<Config> fixture(ordinary());
  fixture.enlargeQueries(18); // beyond f16
  EXPECT_TRUE(fixture.check(fixture.run()));
  EXPECT_FALSE(fixture.check(fixture.run<Fault::UnscaledQueries>()));
}

//===--- Heads that are no power of two
//-------------------------------------===//

using Narrow = AttentionConfig<Bf16, Bf16, 80, 1, 4>;

TEST(Fault, ColumnsBeyondRow) {
  expectSeen<Fault::ColumnsBeyondRow, Narrow>(ordinary(), "nobody wrote");
}
TEST(Fault, StoredBeyondHead) {
  expectSeen<Fault::StoredBeyondHead, Narrow>(ordinary(),
                                              "leaves global memory");
}
TEST(Fault, CopiedBeyondRow) {
  using Config = AttentionConfig<Bf16, F8E4M3, 80, 1, 4>;
  expectSeen<Fault::CopiedBeyondRow, Config>(ordinary(), "under the copy");
}

//===--- Scales
//-------------------------------------------------------------===//

using ScaledRows = AttentionConfig<Bf16, F8E4M3, 64, 1, 4, Scales::Row>;
using ScaledGroups = AttentionConfig<Bf16, I8, 64, 1, 4, Scales::Groups>;

TEST(Fault, StaleScales) {
  expectSeen<Fault::StaleScales, ScaledRows>(ordinary(), nullptr);
  expectSeen<Fault::StaleScales, ScaledGroups>(ordinary(), nullptr);
}
TEST(Fault, OneScaleBuffer) {
  expectSeen<Fault::OneScaleBuffer, ScaledRows>(ordinary(), "race");
  expectSeen<Fault::OneScaleBuffer, ScaledGroups>(ordinary(), "race");
}
TEST(Fault, UncheckedScalePage) {
  AttentionCase c = ordinary();
  BodyFixture<ScaledRows> fixture(c);
  fixture.table[3] = 1 << 30;
  EXPECT_TRUE(fixture.run().reports.empty());
  Results results = fixture.run<Fault::UncheckedScalePage>();
  ASSERT_FALSE(results.reports.empty());
  EXPECT_NE(results.reports[0].find("leaves global memory"), std::string::npos)
      << results.reports[0];
}
TEST(Fault, UnscaledWeights) {
  // Scales of values beyond what a weight of 16 bits holds.
  AttentionCase c = ordinary();
  BodyFixture<ScaledRows> fixture(c);
  std::vector<float> expected = fixture.run().out;
  for (size_t at = 0; at < fixture.scales.size() / 4; ++at) {
    float scale;
    std::memcpy(&scale, &fixture.scales[at * 4], 4);
    if (at * 64 / fixture.view.planeStride % 2)
      fixture.setScale(at, std::ldexp(scale, 30));
  }
  // A power of two changes nothing but roundings.
  Results large = fixture.run();
  ASSERT_TRUE(large.reports.empty());
  for (size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(std::ldexp(large.out[i], -30), expected[i], 0.02) << i;
  Results faulty = fixture.run<Fault::UnscaledWeights>();
  EXPECT_FALSE(std::isfinite(faulty.out[0]));
}
TEST(Fault, ScalesOfUnseenKeys) {
  // The last token's value is huge; the token before does not see it.
  AttentionCase c = ordinary();
  c.sequences = {{140, 2}};
  c.heads = 1;
  BodyFixture<ScaledRows> fixture(c);
  Results plain = fixture.run();
  fixture.setScale(fixture.place(0, 1, 141, 0) / 64, 0x1p90f);
  Results huge = fixture.run();
  std::vector<float> first(plain.out.begin(), plain.out.begin() + 4 * 64);
  auto same = [&](const Results &other) {
    return std::equal(first.begin(), first.end(), other.out.begin());
  };
  EXPECT_TRUE(same(huge));
  EXPECT_FALSE(same(fixture.run<Fault::ScalesOfUnseenKeys>()));
}

//===--- Units that parts share
//---------------------------------------------===//

namespace {

/// Two groups, each of several parts.
AttentionCase sharedUnit() {
  AttentionCase c = ordinary();
  c.sequences = {{1500, 1}};
  c.parts = 11;
  return c;
}

} // namespace

TEST(Fault, MissingRelease) {
  expectSeen<Fault::MissingRelease, Small>(sharedUnit(),
                                           "reads scratch unordered");
}
TEST(Fault, MissingAcquire) {
  expectSeen<Fault::MissingAcquire, Small>(sharedUnit(),
                                           "reads scratch unordered");
}
TEST(Fault, MissingArrivalBarrier) {
  expectSeen<Fault::MissingArrivalBarrier, Small>(sharedUnit(),
                                                  "reads scratch unordered");
}
TEST(Fault, MissingTicketBarrier) {
  expectSeen<Fault::MissingTicketBarrier, Small>(sharedUnit(), "shared memory");
}
TEST(Fault, MissingReset) {
  expectSeen<Fault::MissingReset, Small>(sharedUnit(), "a counter is left");
}
TEST(Fault, PlainScratchLoad) {
  expectSeen<Fault::PlainScratchLoad, Small>(sharedUnit(),
                                             "as if nobody else wrote it");
}
TEST(Fault, PlainScratchStore) {
  expectSeen<Fault::PlainScratchStore, Small>(sharedUnit(),
                                              "as if nobody else read it");
}
TEST(Fault, SlotOfAnotherGroup) {
  expectSeen<Fault::SlotOfAnotherGroup, Small>(sharedUnit(), nullptr);
}
TEST(Fault, MissingPieceWeightsBarrier) {
  AttentionCase c = latent();
  c.sequences = {{1500, 1}};
  c.parts = 11;
  expectSeen<Fault::MissingPieceWeightsBarrier, Latent>(c, "shared memory");
  expectSeen<Fault::MissingPieceWeightsBarrier, Small>(sharedUnit(),
                                                       "shared memory");
}
TEST(Fault, ForgottenMaximum) {
  // More groups than a warp has lanes; the first is what scores most.
  BodyFixture<Latent> fixture(manyGroups());
  Results right = fixture.run();
  EXPECT_TRUE(fixture.check(right));
  EXPECT_NE(right.out, fixture.run<Fault::ForgottenMaximum>().out);
}
TEST(Fault, MissingMergeBarrier) {
  // Who comes last goes on with another unit, while others look where their
  // second columns are.
  AttentionCase c = ordinary();
  c.group = 16;
  c.sequences = {{1500, 1}, {700, 1}};
  c.parts = 5;
  c.machine.schedule = Schedule::OldestFirst;
  BodyFixture<Small> fixture(c);
  EXPECT_TRUE(fixture.check(fixture.run()));
  Results results = fixture.run<Fault::MissingMergeBarrier>();
  ASSERT_FALSE(results.reports.empty());
  EXPECT_NE(results.reports[0].find("race"), std::string::npos)
      << results.reports[0];
}

//===--- Units that are merged apart
//----------------------------------------===//

namespace {

/// The same as expectSeen() of a mistake of the merge.
template <Fault F> void expectSeenApart(AttentionCase c, const char *text) {
  for (Schedule schedule : Schedules) {
    c.machine.schedule = schedule;
    BodyFixture<Small> fixture(c);
    ASSERT_TRUE(fixture.check(fixture.runApart())) << "without the mistake";
    fixture.expectSeen(fixture.template runApart<F>(), text);
  }
}

} // namespace

TEST(Fault, ApartMissingPlacesBarrier) {
  expectSeenApart<Fault::MissingPlacesBarrier>(sharedUnit(), "shared memory");
}
TEST(Fault, ApartMissingPieceWeightsBarrier) {
  expectSeenApart<Fault::MissingPieceWeightsBarrier>(sharedUnit(),
                                                     "shared memory");
}
TEST(Fault, ApartMissingMergeBarrier) {
  expectSeenApart<Fault::MissingMergeBarrier>(sharedUnit(), "shared memory");
}
TEST(Fault, ApartMissingUnitBarrier) {
  expectSeenApart<Fault::MissingUnitBarrier>(sharedUnit(), "shared memory");
}
TEST(Fault, ApartMissingSumsBarrier) {
  expectSeenApart<Fault::MissingSumsBarrier>(sharedUnit(), "shared memory");
}
TEST(Fault, ApartMissingTotalBarrier) {
  // More parts than a block looks at in one turn.
  AttentionCase c = sharedUnit();
  c.parts = 300;
  expectSeenApart<Fault::MissingTotalBarrier>(c, "race");
}
TEST(Fault, ApartSlotOfAnotherGroup) {
  expectSeenApart<Fault::SlotOfAnotherGroup>(sharedUnit(), nullptr);
}
TEST(Fault, ApartForgottenMaximum) {
  // More groups than are folded at a time.
  BodyFixture<Latent> fixture(manyGroups());
  Results right = fixture.runApart();
  EXPECT_TRUE(fixture.check(right));
  EXPECT_NE(right.out, fixture.runApart<Fault::ForgottenMaximum>().out);
}

namespace {

/// A page table or a length as no manager sends it.
template <Fault F>
void expectLeaves(int64_t entry, int32_t page, int32_t moreCached) {
  AttentionCase c = ordinary();
  for (Schedule schedule : Schedules) {
    c.machine.schedule = schedule;
    BodyFixture<Small> fixture(c);
    fixture.cached[2] += moreCached;
    if (entry >= 0)
      fixture.table[entry] = page;
    EXPECT_TRUE(fixture.run().reports.empty());
    Results results = fixture.run<F>();
    ASSERT_FALSE(results.reports.empty());
    EXPECT_NE(results.reports[0].find("leaves global memory"),
              std::string::npos)
        << results.reports[0];
  }
}

} // namespace

TEST(Fault, UncheckedPage) {
  expectLeaves<Fault::UncheckedPage>(3, 1 << 30, 0);
  expectLeaves<Fault::UncheckedPage>(3, 100, 0);
}
TEST(Fault, UncheckedTable) { expectLeaves<Fault::UncheckedTable>(-1, 0, 190); }
