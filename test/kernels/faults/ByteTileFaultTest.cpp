//===- ByteTileFaultTest.cpp - Mistakes in products of 8 bits -------------===//
//
// By tile copies: what the kernels of ByteTiles.h have beyond those of 16 bits,
// and what both have.
//
//===----------------------------------------------------------------------===//

#include "TileFaultRun.h"
#include "kernels/cuda/attention/wgmma/ByteTileRows.h"

using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

using Config = ByteTileConfig<Bf16, 64>;
using Fixture = AttentionFixture<Bf16, F8E4M3>;

const AttentionKernel &kernel() { return tileKernelFor("f8p", 64); }

/// Several tiles of rows, one of few rows, tails, and more leaves than the ring
/// has stages.
AttentionCase ordinary() {
  AttentionCase c;
  c.heads = 1;
  c.parts = 1;
  c.sequences = {{500, 40}, {130, 3}};
  return c;
}

template <Fault F>
void expectSeen(const char *text, const AttentionCase &c = ordinary()) {
  expectSeenBySchedules<Fixture>(kernel(), c, text,
                                 runTileFault<Config, F, Fixture>);
}

} // namespace

TEST(ByteTileFault, None) {
  Fixture fixture(kernel(), ordinary());
  EXPECT_TRUE(fixture.check(runTileFault<Config, Fault::None>(fixture)));
}

// Values on their way.
TEST(ByteTileFault, MissingCopyWait) {
  expectSeen<Fault::MissingCopyWait>("shared memory");
}
TEST(ByteTileFault, MissingSlabWait) {
  expectSeen<Fault::MissingSlabWait>("shared memory");
}
TEST(ByteTileFault, EarlySlabRelease) {
  expectSeen<Fault::EarlySlabRelease>("shared memory");
}
TEST(ByteTileFault, MissingTransposeFence) {
  expectSeen<Fault::MissingTransposeFence>("fence");
}
TEST(ByteTileFault, KeysInOwnOrder) {
  expectSeen<Fault::KeysInOwnOrder>(nullptr);
}
TEST(ByteTileFault, NoTailFill) { expectSeen<Fault::NoTailFill>(nullptr); }

// Weights and their sums.
TEST(ByteTileFault, MissingOnes) { expectSeen<Fault::MissingOnes>(nullptr); }
TEST(ByteTileFault, WeightsOfOtherPower) {
  expectSeen<Fault::WeightsOfOtherPower>(nullptr);
}
// Of few keys, so that roundings do not cancel out.
TEST(ByteTileFault, UnroundedSums) {
  AttentionCase c = ordinary();
  c.sequences = {{0, 6}};
  c.scale = 1;
  expectSeen<Fault::UnroundedSums>(nullptr, c);
}
// Of a key whose weights are polynomials.
TEST(ByteTileFault, LostNaN) {
  auto isNaN = [](auto run) {
    Fixture fixture(kernel(), ordinary());
    fixture.pool[fixture.place(0, 0, /*position=*/127, 0)] = F8E4M3{0x7f};
    return std::isnan(run(fixture).out[0]);
  };
  EXPECT_TRUE(isNaN(runTileFault<Config, Fault::None, Fixture>));
  EXPECT_FALSE(isNaN(runTileFault<Config, Fault::LostNaN, Fixture>));
}
// Of a magnitude that the type has no numbers for.
TEST(ByteTileFault, UnscaledQueries) {
  expectSmallQueries<Fixture>(
      kernel(), ordinary(), runTileFault<Config, Fault::None, Fixture>,
      runTileFault<Config, Fault::UnscaledQueries, Fixture>);
}

// A tile of three tokens leaves a warpgroup without rows.
TEST(ByteTileFault, EarlyPass) {
  AttentionCase c = ordinary();
  c.sequences = {{1500, 3}};
  c.parts = 1;
  expectSeen<Fault::EarlyPass>("barrier", c);
}

TEST(ByteTileFault, MissingEmptyWait) {
  expectSeen<Fault::MissingEmptyWait>("shared memory");
}
TEST(ByteTileFault, BoxNotCounted) {
  expectSeen<Fault::BoxNotCounted>("bytes");
}
TEST(ByteTileFault, MissingQueriesFence) {
  expectSeen<Fault::MissingQueriesFence>("fence");
}
TEST(ByteTileFault, MissingTileWait) {
  expectSeen<Fault::MissingTileWait>("shared memory");
}
TEST(ByteTileFault, WrongParity) { expectSeen<Fault::WrongParity>("race"); }
TEST(ByteTileFault, EarlyRelease) {
  expectSeen<Fault::EarlyRelease>("shared memory");
}
TEST(ByteTileFault, ReleasedTwice) {
  expectSeen<Fault::ReleasedTwice>("at byte");
}
TEST(ByteTileFault, EarlyScores) { expectSeen<Fault::EarlyScores>("product"); }
TEST(ByteTileFault, EarlyPart) { expectSeen<Fault::EarlyPart>("product"); }
TEST(ByteTileFault, MissingProductsFence) {
  expectSeen<Fault::MissingProductsFence>("fence");
}
TEST(ByteTileFault, QueriesOfOtherRows) {
  expectSeen<Fault::QueriesOfOtherRows>(nullptr);
}
