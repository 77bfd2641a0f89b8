//===- TileFaultTest.cpp - Mistakes in a kernel that copies tiles ---------===//

#include "AttentionFaults.h"
#include "kernels/cuda/attention/wgmma/TileKernel.h"

using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

/// Of 16 bits, in parts, of 8 bits without scales, with one and with several a
/// row, in parts for one warpgroup, and of drafts.
using Plain = Tiles<TileConfig<Bf16, Bf16, 64, Scales::None>>;
using Parts = Tiles<TileConfig<Bf16, Bf16, 192, Scales::None>>;
using Eight = Tiles<TileConfig<Bf16, F8E4M3, 128, Scales::None>>;
using Scaled = Tiles<TileConfig<Bf16, F8E4M3, 64, Scales::Row>>;
using Groups = Tiles<TileConfig<Bf16, F8E4M3, 64, Scales::Groups>>;
using Wide = Tiles<TileConfig<Bf16, F8E4M3, 256, Scales::Row>>;
using Drafts = Tiles<DraftTileConfig<Bf16, F8E4M3, Scales::Row, 128>>;
using PlainDrafts = Tiles<DraftTileConfig<Bf16, F8E4M3, Scales::None, 128>>;

/// Several tiles of rows, a tail, more leaves than the ring has stages.
AttentionCase batch(std::vector<SequenceLengths> sequences = {{500, 40},
                                                              {130, 3}}) {
  AttentionCase c;
  c.heads = 1;
  c.sequences = std::move(sequences);
  return c;
}
/// So few rows that the second warpgroup has none, between others.
AttentionCase fewRows() { return batch({{500, 40}, {130, 3}, {900, 16}}); }
/// Whole units: their rows finish.
AttentionCase trees() {
  AttentionCase c = batch();
  c.trees = true;
  c.parts = 1;
  return c;
}
/// Units of several groups.
AttentionCase whole() {
  AttentionCase c = batch({{2500, 1}});
  c.parts = 1;
  return c;
}

/// Two groups, each of several parts.
AttentionCase sharedUnit() {
  AttentionCase c = batch({{1500, 3}});
  c.parts = 11;
  return c;
}
/// Who comes last goes on with another unit, while others still fold.
AttentionCase twoUnits() {
  AttentionCase c = batch({{1500, 40}, {700, 40}});
  c.parts = 5;
  return c;
}

constexpr auto File = "TileRing.h";
const What ReleasedTwice = {{{File, "releaseTile", Member::ArriveAt},
                             Action::Double,
                             [](int thread) { return thread < GroupThreads; }}};

const bool Added[] = {
    addKernel(
        {"TileFault",
         {caseOf<Plain>(batch()), caseOf<Plain>(fewRows()),
          caseOf<Plain>(trees()), caseOf<Plain>(twoUnits()),
          caseOf<Plain>(whole())},
         {{"RowsOfOneTileMore", Mistake::RowsOfOneTileMore, nullptr,
           caseOf<Plain>(batch({{500, 18}}))},
          // A deadlock, or tiles given back before they came.
          {"TurnsNotPassed", Mistake::TurnsNotPassed, "",
           caseOf<Plain>(fewRows())},
          {"BoxNotCounted", Mistake::BoxNotCounted, "bytes",
           caseOf<Plain>(batch())},
          {"WrongParity",
           {{{File, "awaitTile", Member::AwaitPhase}, Action::Weaken}},
           "race",
           caseOf<Plain>(batch())},
          {"EarlyRelease", Mistake::EarlyRelease, "shared memory",
           caseOf<Plain>(batch())},
          {"ReleasedTwice", ReleasedTwice, "at byte", caseOf<Plain>(batch())},
          {"QueriesOfOtherRows", Mistake::QueriesOfOtherRows, nullptr,
           caseOf<Plain>(batch())},
          {"ValuesOneAtomShort", Mistake::ValuesOneAtomShort, nullptr,
           caseOf<Plain>(batch())},
          {"NoTailFill", Mistake::NoTailFill, nullptr, caseOf<Plain>(batch())},
          {"LateCleanFence",
           {{{"TileLoader.h", "cleanRows", Member::FenceAsync}, Action::Later}},
           "fence",
           caseOf<Plain>(batch())}},
         {MergedTiles}}),
    addKernel({"TilePartsFault",
               {caseOf<Parts>(batch()), caseOf<Parts>(fewRows()),
                caseOf<Parts>(trees()), caseOf<Parts>(twoUnits()),
                caseOf<Parts>(whole())},
               {{"TurnsNotPassed", Mistake::TurnsNotPassed, "",
                 caseOf<Parts>(fewRows())},
                {"PartOfOtherColumns", Mistake::PartOfOtherColumns, nullptr,
                 caseOf<Parts>(batch())},
                {"OnePartAwaited", Mistake::OnePartAwaited, "shared memory",
                 caseOf<Parts>(batch())}},
               {MergedTiles}}),
    addKernel(
        {"TileEightFault",
         {caseOf<Eight>(batch()), caseOf<Eight>(fewRows()),
          caseOf<Eight>(trees()), caseOf<Eight>(twoUnits())},
         {{"EarlySlabRelease", Mistake::EarlySlabRelease, "shared memory",
           caseOf<Eight>(batch())},
          {"KeysInOwnOrder", Mistake::KeysInOwnOrder, nullptr,
           caseOf<Eight>(batch())},
          {"NoTailFill", Mistake::NoTailFill, nullptr, caseOf<Eight>(batch())}},
         {MergedTiles}}),
    addKernel({"TileScaledFault",
               {caseOf<Scaled>(batch()), caseOf<Scaled>(fewRows()),
                caseOf<Scaled>(trees()), caseOf<Scaled>(twoUnits())},
               {{"OneScaleBuffer", Mistake::OneScaleBuffer, "shared memory",
                 caseOf<Scaled>(batch())},
                {"ScalesByLeaf", Mistake::ScalesByLeaf, "shared memory",
                 caseOf<Scaled>(batch())}},
               {MergedTiles}}),
    addKernel({"TileGroupsFault",
               {caseOf<Groups>(batch()), caseOf<Groups>(fewRows()),
                caseOf<Groups>(trees()), caseOf<Groups>(twoUnits())},
               {},
               {MergedTiles}}),
    addKernel({"TileWideFault",
               {caseOf<Wide>(batch()), caseOf<Wide>(trees()),
                caseOf<Wide>(sharedUnit()), caseOf<Wide>(twoUnits()),
                caseOf<Wide>(whole())},
               {{"OneScaleBuffer", Mistake::OneScaleBuffer, "shared memory",
                 caseOf<Wide>(batch())}},
               {MergedTiles, ScaledPaths}}),
    addKernel({"TileDraftsFault",
               {caseOf<Drafts>(batch()), caseOf<Drafts>(trees()),
                caseOf<Drafts>(sharedUnit()), caseOf<Drafts>(twoUnits()),
                caseOf<Drafts>(whole())},
               {{"OneScaleBuffer", Mistake::OneScaleBuffer, "shared memory",
                 caseOf<Drafts>(batch())}},
               {MergedTiles, ScaledPaths}}),
    addKernel(
        {"TilePlainDraftsFault",
         {caseOf<PlainDrafts>(batch()), caseOf<PlainDrafts>(trees()),
          caseOf<PlainDrafts>(sharedUnit()), caseOf<PlainDrafts>(twoUnits())},
         {},
         {MergedTiles}}),
};

} // namespace

// A page table as no manager sends it. Boxes beyond the cache are zeros; scales
// are loaded.
TEST(TileScaledFault, UncheckedTilePage) {
  Scaled::Fixture fixture(Scaled::kernel(), batch());
  fixture.table[3] = 1 << 30;
  EXPECT_TRUE(Scaled::run(fixture).reports.empty());
  Results results = withMistake(Mistake::UncheckedTilePage,
                                [&] { return Scaled::run(fixture); });
  ASSERT_FALSE(results.reports.empty());
  EXPECT_NE(results.reports[0].find("leaves global memory"), std::string::npos)
      << results.reports[0];
}
