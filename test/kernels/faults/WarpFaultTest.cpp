//===- WarpFaultTest.cpp - Mistakes where all warps do the same -----------===//

#include "AttentionFaults.h"

using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

using Small = Warps<AttentionConfig<Bf16, Bf16, 64, 1, 4>>;
using SmallApart = Apart<Small::Config>;
/// Three stages, which are filled as soon as they are read, and five.
using Latent = Warps<LatentConfig<Bf16, Bf16, 192, 128, 1, 3>>;
using LatentPrefill = Warps<LatentConfig<Bf16, Bf16, 192, 128, 2, 5>>;
/// Heads that are no power of two.
using Narrow = Warps<AttentionConfig<Bf16, Bf16, 80, 1, 4>>;
using NarrowEight = Warps<AttentionConfig<Bf16, F8E4M3, 80, 1, 4>>;
using Eight = Warps<AttentionConfig<Bf16, F8E4M3, 64, 1, 4>>;
using ScaledRows = Warps<AttentionConfig<Bf16, F8E4M3, 64, 1, 4, Scales::Row>>;
using ScaledGroups = Warps<AttentionConfig<Bf16, I8, 64, 1, 4, Scales::Groups>>;
/// Products of 8 bits.
using ByteDecode = Warps<ByteDecodeConfig<Bf16, F8E4M3, 64>>;
using BytePrefill = Warps<BytePrefillConfig<Bf16, F8E4M3, 64>>;

AttentionCase batch(std::vector<SequenceLengths> sequences, int parts = 3) {
  AttentionCase c;
  c.sequences = std::move(sequences);
  c.parts = parts;
  return c;
}
AttentionCase ordinary() { return batch({{300, 1}, {0, 1}, {130, 1}}); }
/// Two groups, each of several parts.
AttentionCase sharedUnit() { return batch({{1500, 1}}, 11); }
/// Who comes last goes on with another unit, while others look where their
/// second columns are.
AttentionCase twoUnits() {
  AttentionCase c = batch({{1500, 1}, {700, 1}}, 5);
  c.group = 16;
  return c;
}
AttentionCase longPages(AttentionCase c) {
  c.pageSize = 128;
  return c;
}
AttentionCase oneHead(AttentionCase c) {
  c.heads = 1;
  return c;
}
AttentionCase latent() { return oneHead(batch({{600, 1}, {0, 1}, {130, 7}})); }
/// Units of two groups that several parts share, one behind the other.
AttentionCase latentShared(int parts = 11) {
  return oneHead(batch({{1500, 7}, {700, 7}}, parts));
}
/// One request of very many groups, of which few weigh most.
AttentionCase manyGroups() {
  AttentionCase c = oneHead(batch({{17000, 1}}, 40));
  c.group = 1;
  c.scale = 3;
  return c;
}
AttentionCase bytes(int added = 1) {
  return oneHead(batch({{300, added}, {130, added}}));
}
/// Trees behind a leaf's edge, and of several tiles.
AttentionCase trees(std::vector<SequenceLengths> sequences = {{300, 12},
                                                              {100, 40}}) {
  AttentionCase c = oneHead(batch(std::move(sequences)));
  c.trees = true;
  return c;
}
AttentionCase with(AttentionCase c, auto change) {
  change(c);
  return c;
}

constexpr auto KeyFile = "KeyRing.h", LatentFile = "LatentRing.h",
               MergeFile = "Merge.h";

const Survivor FirstTile = {
    {"WarpKernel.h", "runWork", Member::Sync, 1},
    "nextTile() has a barrier before anybody reads queries or bounds"};

const bool Added[] = {
    addKernel(
        {"WarpFault",
         {caseOf<Small>(ordinary()), caseOf<Small>(batch({{2500, 1}}, 1)),
          caseOf<Small>(sharedUnit()), caseOf<Small>(twoUnits())},
         {{"LoadBeforeBarrier", Mistake::LoadBeforeBarrier, "race",
           caseOf<Small>(ordinary())},
          {"WaitOneShort",
           {{{KeyFile, "nextTile", Member::Wait}, Action::Weaken}},
           "reads under the copy",
           caseOf<Small>(ordinary())},
          {"SkippedShuffle",
           {{{"Scores.h", "largest", Member::Shuffle, 0},
             Action::LeaveOut,
             is37}},
           "for its warp",
           caseOf<Small>(ordinary())},
          {"SkippedBarrier",
           {{{KeyFile, "nextTile", Member::Sync}, Action::LeaveOut, is37}},
           "deadlock",
           caseOf<Small>(ordinary())},
          {"SkippedOnce",
           {{{KeyFile, "nextTile", Member::Sync}, Action::LeaveOut, is37, 1}},
           "race",
           caseOf<Small>(ordinary())},
          // The page goes on beyond the end: what lies there is not the
          // sequence's.
          {"NoTailFill", Mistake::NoTailFill, nullptr,
           caseOf<Small>(longPages(ordinary()))},
          {"ForgottenMask", Mistake::ForgottenMask, nullptr,
           caseOf<Small>(batch({{10, 9}}))},
          {"UnclearedWeights", Mistake::UnclearedWeights, "nobody wrote",
           caseOf<Small>(ordinary())},
          {"MissingRelease",
           {{{MergeFile, "arrive", Member::Arrive}, Action::NoRelease}},
           "reads scratch unordered",
           caseOf<Small>(sharedUnit())},
          {"MissingAcquire",
           {{{MergeFile, "arrive", Member::Arrive}, Action::Weaken}},
           "reads scratch unordered",
           caseOf<Small>(sharedUnit())},
          {"MissingReset", Mistake::MissingReset, "a counter is left",
           caseOf<Small>(sharedUnit())},
          {"PlainScratchLoad",
           {{{MergeFile, "loadPieces", Member::LoadScratch}, Action::Weaken}},
           "as if nobody else wrote it",
           caseOf<Small>(sharedUnit())},
          {"PlainScratchStore",
           {{{"RowResults.h", "storePiece", Member::StoreScratch},
             Action::Weaken}},
           "as if nobody else read it",
           caseOf<Small>(sharedUnit())},
          {"SlotOfAnotherGroup", Mistake::SlotOfAnotherGroup, nullptr,
           caseOf<Small>(sharedUnit())}}}),
    addKernel({"ApartFault",
               {caseOf<SmallApart>(sharedUnit()),
                // More parts than a block looks at in one turn.
                caseOf<SmallApart>(batch({{1500, 1}}, 300))},
               {{"SlotOfAnotherGroup", Mistake::SlotOfAnotherGroup, nullptr,
                 caseOf<SmallApart>(sharedUnit())}},
               {{{"Merge.h", "arriveAndMerge", Member::Sync, 0},
                 "nobody arrives where another launch merges"}}}),
    addKernel({"LatentFault",
               {caseOf<Latent>(latent()),
                caseOf<Latent>(oneHead(batch({{1500, 1}}, 11)))},
               {{"LoadBeforeBarrier", Mistake::LoadBeforeBarrier, "race",
                 caseOf<Latent>(latent())},
                {"WaitOneShort",
                 {{{LatentFile, "nextTile", Member::Wait}, Action::Weaken}},
                 "reads under the copy",
                 caseOf<Latent>(latent())},
                {"NoTailFill", Mistake::NoTailFill, nullptr,
                 caseOf<Latent>(longPages(latent()))},
                {"SlotOfAnotherGroup", Mistake::SlotOfAnotherGroup, nullptr,
                 caseOf<Latent>(oneHead(batch({{1500, 1}}, 11)))}},
               {FirstTile}}),
    addKernel({"LatentPrefillFault",
               {caseOf<LatentPrefill>(latent()),
                caseOf<LatentPrefill>(latentShared()),
                caseOf<LatentPrefill>(latentShared(5))},
               {{"WaitOneShort",
                 {{{LatentFile, "nextTile", Member::Wait}, Action::Weaken}},
                 "reads under the copy",
                 caseOf<LatentPrefill>(latent())},
                {"ForgottenMask", Mistake::ForgottenMask, nullptr,
                 caseOf<LatentPrefill>(latent())}},
               {FirstTile}}),
    addKernel({"NarrowFault",
               {caseOf<Narrow>(ordinary()), caseOf<Narrow>(twoUnits())},
               {{"ColumnsBeyondRow", Mistake::ColumnsBeyondRow, "nobody wrote",
                 caseOf<Narrow>(ordinary())},
                {"StoredBeyondHead", Mistake::StoredBeyondHead,
                 "leaves global memory", caseOf<Narrow>(ordinary())},
                {"CopiedBeyondRow", Mistake::CopiedBeyondRow, "under the copy",
                 caseOf<NarrowEight>(ordinary())}}}),
    addKernel({"EightFault",
               {caseOf<Eight>(ordinary()), caseOf<Eight>(twoUnits())},
               {{"UnscaledQueries", Mistake::UnscaledQueries, nullptr,
                 caseOf<Eight>(ordinary(),
                               [](Eight::Fixture &fixture) {
                                 fixture.enlargeQueries(18); // beyond f16
                               })}}}),
    addKernel({"ScaledRowsFault",
               {caseOf<ScaledRows>(ordinary()), caseOf<ScaledRows>(twoUnits())},
               {{"StaleScales", Mistake::StaleScales, nullptr,
                 caseOf<ScaledRows>(ordinary())},
                {"OneScaleBuffer", Mistake::OneScaleBuffer, "race",
                 caseOf<ScaledRows>(ordinary())}}}),
    addKernel(
        {"ScaledGroupsFault",
         {caseOf<ScaledGroups>(ordinary()), caseOf<ScaledGroups>(twoUnits())},
         {{"StaleScales", Mistake::StaleScales, nullptr,
           caseOf<ScaledGroups>(ordinary())},
          {"OneScaleBuffer", Mistake::OneScaleBuffer, "race",
           caseOf<ScaledGroups>(ordinary())}}}),
    addKernel({"BytesFault",
               {caseOf<ByteDecode>(bytes()), caseOf<ByteDecode>(twoUnits())},
               {{"WeightsInOwnOrder", Mistake::WeightsInOwnOrder, nullptr,
                 caseOf<ByteDecode>(bytes())},
                {"WeightsNotDivided", Mistake::WeightsNotDivided, nullptr,
                 caseOf<ByteDecode>(bytes())},
                {"UnclearedWeights", Mistake::UnclearedWeights, "nobody wrote",
                 caseOf<ByteDecode>(bytes())},
                {"UnscaledQueries", Mistake::UnscaledQueries, nullptr,
                 caseOf<ByteDecode>(bytes(),
                                    [](ByteDecode::Fixture &fixture) {
                                      fixture.enlargeQueries(-12);
                                    })}}}),
    addKernel({"BytesPrefillFault",
               {caseOf<BytePrefill>(bytes(20))},
               {{"WaitOneShort",
                 {{{KeyFile, "nextTile", Member::Wait}, Action::Weaken}},
                 "reads under the copy",
                 caseOf<BytePrefill>(bytes(20))}},
               {FirstTile}}),
    addKernel(
        {"TreeFault",
         {},
         {// The last nodes stand behind a leaf that holds the first ones.
          {"TreeInSight", Mistake::TreeInSight, nullptr,
           caseOf<Small>(trees({{100, 64}}))},
          {"PathOneBitOff", Mistake::PathOneBitOff, nullptr,
           caseOf<Small>(trees())},
          // Rows of a token share its path.
          {"PathOfAnotherRow", Mistake::PathOfAnotherRow, nullptr,
           caseOf<Small>(with(trees(), [](AttentionCase &c) { c.group = 1; }))},
          {"WindowByRow", Mistake::WindowByRow, nullptr,
           caseOf<Small>(with(trees(),
                              [](AttentionCase &c) {
                                c.mask = KV_MASK_SLIDING;
                                c.window = 64;
                              }))}}}),
};

/// A fixture as no manager sends it: the mistake leaves memory.
template <class K, class Change>
void expectLeaves(Mistake mistake, Change change) {
  for (Schedule schedule : Schedules) {
    AttentionCase c = ordinary();
    c.machine.schedule = schedule;
    typename K::Fixture fixture(K::kernel(), c);
    change(fixture);
    EXPECT_TRUE(K::run(fixture).reports.empty());
    Results results = withMistake(mistake, [&] { return K::run(fixture); });
    ASSERT_FALSE(results.reports.empty());
    EXPECT_NE(results.reports[0].find("leaves global memory"),
              std::string::npos)
        << results.reports[0];
  }
}

/// Right by the truth, and of other bits with the mistake.
template <class K> void expectOtherBits(Mistake mistake) {
  typename K::Fixture fixture(K::kernel(), manyGroups());
  Results right = K::run(fixture);
  EXPECT_TRUE(fixture.check(right));
  EXPECT_NE(right.out,
            withMistake(mistake, [&] { return K::run(fixture); }).out);
}

} // namespace

TEST(WarpFault, UncheckedPage) {
  for (int32_t page : {1 << 30, 100})
    expectLeaves<Small>(Mistake::UncheckedPage,
                        [&](auto &fixture) { fixture.table[3] = page; });
}
TEST(WarpFault, UncheckedTable) {
  expectLeaves<Small>(Mistake::UncheckedTable,
                      [](auto &fixture) { fixture.cached[2] += 190; });
}
TEST(ScaledRowsFault, UncheckedScalePage) {
  expectLeaves<ScaledRows>(Mistake::UncheckedScalePage,
                           [](auto &fixture) { fixture.table[3] = 1 << 30; });
}
// More groups than a warp has lanes, or than are folded at a time; the first is
// what scores most.
TEST(LatentFault, ForgottenMaximum) {
  expectOtherBits<Latent>(Mistake::ForgottenMaximum);
}
TEST(ApartFault, ForgottenMaximum) {
  expectOtherBits<Apart<Latent::Config>>(Mistake::ForgottenMaximum);
}
TEST(ScaledRowsFault, UnscaledWeights) {
  // Scales of values beyond what a weight of 16 bits holds.
  ScaledRows::Fixture fixture(ScaledRows::kernel(), ordinary());
  std::vector<float> expected = ScaledRows::run(fixture).out;
  for (size_t at = 0; at < fixture.scales.size() / 4; ++at) {
    float scale;
    std::memcpy(&scale, &fixture.scales[at * 4], 4);
    if (at * 64 / fixture.view.planeStride % 2)
      fixture.setScale(at, std::ldexp(scale, 30));
  }
  // A power of two changes nothing but roundings.
  Results large = ScaledRows::run(fixture);
  ASSERT_TRUE(large.reports.empty());
  for (size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(std::ldexp(large.out[i], -30), expected[i], 0.02) << i;
  EXPECT_FALSE(std::isfinite(withMistake(Mistake::UnscaledWeights, [&] {
                               return ScaledRows::run(fixture);
                             }).out[0]));
}
TEST(ScaledRowsFault, ScalesOfUnseenKeys) {
  // The last token's value is huge; the token before does not see it.
  ScaledRows::Fixture fixture(ScaledRows::kernel(), oneHead(batch({{140, 2}})));
  Results plain = ScaledRows::run(fixture);
  fixture.setScale(fixture.place(0, 1, 141, 0) / 64, 0x1p90f);
  auto isSame = [&](Mistake mistake) {
    Results other =
        withMistake(mistake, [&] { return ScaledRows::run(fixture); });
    return std::equal(plain.out.begin(), plain.out.begin() + 4 * 64,
                      other.out.begin());
  };
  EXPECT_TRUE(isSame(Mistake::None));
  EXPECT_FALSE(isSame(Mistake::ScalesOfUnseenKeys));
}
