//===- ByteTileFaultTest.cpp - Mistakes in products of 8 bits -------------===//
//
// By tile copies: what the kernels of ByteTiles.h have beyond those of 16 bits,
// and what both have.
//
//===----------------------------------------------------------------------===//

#include "AttentionFaults.h"
#include "kernels/cuda/attention/wgmma/ByteTileKernel.h"

using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

template <int Dim> struct Bytes : Tiles<ByteTileConfig<Bf16, Dim>> {
  static AttentionKernel kernel() { return tileKernelFor("f8p", Dim); }
};
using Kernel = Bytes<64>;
using Parts = Bytes<128>;

/// Several tiles of rows, one of few rows, tails, and more leaves than the ring
/// has stages.
AttentionCase batch(std::vector<SequenceLengths> sequences = {{500, 40},
                                                              {130, 3}},
                    int parts = 1) {
  AttentionCase c;
  c.heads = 1;
  c.parts = parts;
  c.sequences = std::move(sequences);
  return c;
}
/// A tile of three tokens leaves a warpgroup without rows.
AttentionCase fewRows() { return batch({{1500, 3}}); }
/// Of few keys, so that roundings do not cancel out.
AttentionCase fewKeys() {
  AttentionCase c = batch({{0, 6}});
  c.scale = 1;
  return c;
}
bool isFirstGroup(int thread) { return thread < GroupThreads; }

const bool Added[] = {
    addKernel(
        {"ByteTileFault",
         {caseOf<Kernel>(batch()), caseOf<Kernel>(fewRows()),
          caseOf<Kernel>(batch({{1500, 3}}, 5)),
          caseOf<Kernel>(batch({{2500, 40}}, 1)),
          caseOf<Kernel>(batch({{1500, 40}, {700, 40}}, 5))},
         {{"EarlySlabRelease", Mistake::EarlySlabRelease, "shared memory",
           caseOf<Kernel>(batch())},
          {"KeysInOwnOrder", Mistake::KeysInOwnOrder, nullptr,
           caseOf<Kernel>(batch())},
          {"NoTailFill", Mistake::NoTailFill, nullptr, caseOf<Kernel>(batch())},
          // Weights and their sums.
          {"MissingOnes", Mistake::MissingOnes, nullptr,
           caseOf<Kernel>(batch())},
          {"WeightsOfOtherPower", Mistake::WeightsOfOtherPower, nullptr,
           caseOf<Kernel>(batch())},
          {"UnroundedSums", Mistake::UnroundedSums, nullptr,
           caseOf<Kernel>(fewKeys())},
          // Of a magnitude that the type has no numbers for.
          {"UnscaledQueries", Mistake::UnscaledQueries, nullptr,
           caseOf<Kernel>(
               batch(),
               [](Kernel::Fixture &fixture) { fixture.enlargeQueries(-12); })},
          {"EarlyPass", Mistake::EarlyPass, "barrier",
           caseOf<Kernel>(fewRows())},
          {"BoxNotCounted", Mistake::BoxNotCounted, "bytes",
           caseOf<Kernel>(batch())},
          {"WrongParity",
           {{{"TileRing.h", "awaitTile", Member::AwaitPhase}, Action::Weaken}},
           "race",
           caseOf<Kernel>(batch())},
          {"EarlyRelease", Mistake::EarlyRelease, "shared memory",
           caseOf<Kernel>(batch())},
          {"ReleasedTwice",
           {{{"TileRing.h", "releaseTile", Member::ArriveAt},
             Action::Double,
             isFirstGroup}},
           "at byte",
           caseOf<Kernel>(batch())},
          {"QueriesOfOtherRows", Mistake::QueriesOfOtherRows, nullptr,
           caseOf<Kernel>(batch())}},
         {MergedTiles}}),
    addKernel({"ByteTilePartsFault",
               {caseOf<Parts>(batch()), caseOf<Parts>(fewRows())}}),
};

} // namespace

// Of a key whose weights are polynomials.
TEST(ByteTileFault, LostNaN) {
  auto isNaN = [](Mistake mistake) {
    Kernel::Fixture fixture(Kernel::kernel(), batch());
    fixture.pool[fixture.place(0, 0, /*position=*/127, 0)] = F8E4M3{0x7f};
    Results results =
        withMistake(mistake, [&] { return Kernel::run(fixture); });
    return std::isnan(results.out[0]);
  };
  EXPECT_TRUE(isNaN(Mistake::None));
  EXPECT_FALSE(isNaN(Mistake::LostNaN));
}
