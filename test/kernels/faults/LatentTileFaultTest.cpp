//===- LatentTileFaultTest.cpp - Mistakes where latent rows are shared ----===//
//
// By two warpgroups, and by two blocks of a part.
//
//===----------------------------------------------------------------------===//

#include "AttentionFaults.h"
#include "kernels/cuda/attention/wgmma/LatentTileKernel.h"

using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

using Alone = Tiles<LatentTileConfig<Bf16, 192, 128>>;
using Pair = Tiles<LatentPairConfig<Bf16, 192, 128>>;

AttentionCase batch(std::vector<SequenceLengths> sequences, int page = 16) {
  AttentionCase c;
  c.heads = 1;
  c.group = 16;
  c.pageSize = page;
  c.sequences = std::move(sequences);
  return c;
}
/// Several tiles of rows, a tail, more leaves than there are stages, odd and
/// even numbers of them.
AttentionCase ordinary() { return batch({{1400, 5}, {70, 3}}); }
/// Tiles of which both blocks have rows and one of which the second has none,
/// tails, more leaves than there are stages, units that parts share.
AttentionCase pairs(int page = 16) { return batch({{700, 12}, {70, 3}}, page); }
AttentionCase whole(int added) {
  AttentionCase c = batch({{2500, added}});
  c.parts = 1;
  return c;
}

/// Units of two groups that several parts share, one behind the other.
AttentionCase shared(int added) {
  AttentionCase c = batch({{1500, added}, {700, added}});
  c.parts = 11;
  return c;
}

constexpr auto File = "LatentTileKernel.h";

// Both left out are seen (MissingScoresFences).
const Survivor SumsFence = {
    {File, "multiplyQueries", Member::FenceProducts, 0},
    "the first slab's fence comes behind it, and nothing has touched the sums"};
const Survivor SlabsFence = {
    {File, "multiplyQueries", Member::FenceProducts, 1},
    "the fence that names the sums is before all slabs; the machine knows of "
    "no "
    "other registers"};
const Survivor ScoresBarrier = {
    {File, "awaitScores", Member::SyncNamed},
    "the machine takes a product for complete in all four warps when one has "
    "awaited it, and does not see that another may still read keys"};

const bool Added[] = {
    addKernel(
        {"LatentTileFault",
         {caseOf<Alone>(ordinary()), caseOf<Alone>(whole(2)),
          caseOf<Alone>(shared(5))},
         {{"BoxNotCounted", Mistake::BoxNotCounted, "bytes",
           caseOf<Alone>(ordinary())},
          {"WrongParity",
           {{{File, "multiplyQueries", Member::AwaitPhase}, Action::Weaken}},
           "race",
           caseOf<Alone>(ordinary())},
          {"EarlyRelease", Mistake::EarlyRelease, "shared memory",
           caseOf<Alone>(ordinary())},
          {"ReleasedTwice",
           {{{File, "releaseSlab", Member::ArriveAt},
             Action::Double,
             [](int thread) { return thread / WarpLanes % 4 < 2; }}},
           "at byte",
           caseOf<Alone>(ordinary())},
          {"MissingScoresFences",
           {{{File, "multiplyQueries", Member::FenceProducts}}},
           "fence",
           caseOf<Alone>(ordinary())},
          // Neither told nor asked whether the other's weights are there.
          {"MissingWeightsBarrier",
           {{{File, "passWeights", Member::ArriveNamed}},
            {{File, "awaitWeights", Member::SyncNamed}}},
           "shared memory",
           caseOf<Alone>(ordinary())},
          {"WeightsOfOtherLeaf", Mistake::WeightsOfOtherLeaf, "shared memory",
           caseOf<Alone>(ordinary())},
          {"ValuesOneAtomShort", Mistake::ValuesOneAtomShort, nullptr,
           caseOf<Alone>(ordinary())},
          {"NoTailFill", Mistake::NoTailFill, nullptr,
           caseOf<Alone>(ordinary())}},
         {MergedTiles, FoldedTotal, SumsFence, SlabsFence, ScoresBarrier}}),
    addKernel(
        {"LatentPairFault",
         {caseOf<Pair>(pairs()), caseOf<Pair>(whole(12)),
          caseOf<Pair>(shared(12)), caseOf<Pair>(pairs(8)),
          caseOf<Pair>(pairs(64))},
         {{"BlockBarrier",
           {{{"TileKernel.h", "runTiles", Member::SyncCluster, 0},
             Action::Weaken}},
           "initialis",
           caseOf<Pair>(pairs())},
          {"LeftEarly",
           {{{"TileKernel.h", "runTiles", Member::SyncCluster, 1}}},
           "left",
           caseOf<Pair>(pairs())},
          {"EarlyRelease", Mistake::EarlyRelease, "shared memory",
           caseOf<Pair>(pairs())},
          {"ReleasedAtHome", Mistake::ReleasedAtHome, "arrivals",
           caseOf<Pair>(pairs())},
          {"OwnReadersCounted", Mistake::OwnReadersCounted, "at byte",
           caseOf<Pair>(pairs())},
          {"CopiedToOneBlock", Mistake::CopiedToOneBlock, "bytes",
           caseOf<Pair>(pairs())},
          {"HalfSlabUnasked", Mistake::HalfSlabUnasked, "bytes",
           caseOf<Pair>(pairs())},
          {"HalfSlabCounted", Mistake::HalfSlabCounted, "bytes",
           caseOf<Pair>(pairs())},
          {"NoTailFill", Mistake::NoTailFill, nullptr, caseOf<Pair>(pairs())}},
         {MergedTiles, FoldedTotal, SumsFence, SlabsFence, ScoresBarrier}}),
};

/// Found bad by a report or by the numbers, as the schedule has it.
void expectWrong(Mistake mistake) {
  Case run = caseOf<Pair>(pairs());
  for (Schedule schedule : Schedules)
    EXPECT_FALSE(runWith(mistake, run, schedule).isGood());
}

} // namespace

TEST(LatentPairFault, RowsOfOtherBlock) {
  expectWrong(Mistake::RowsOfOtherBlock);
}
TEST(LatentPairFault, CountersOfOtherBlock) {
  expectWrong(Mistake::CountersOfOtherBlock);
}
