//===- TileFaultTest.cpp - Mistakes in a kernel that copies tiles ---------===//

#include "TileFaultRun.h"
#include "kernels/cuda/attention/wgmma/TileRows.h"

using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

/// Several tiles of rows, a tail, more leaves than the ring has stages.
AttentionCase ordinary() {
  AttentionCase c;
  c.heads = 1;
  c.sequences = {{500, 40}, {130, 3}};
  return c;
}

/// So few rows that the second warpgroup has none, between others.
AttentionCase fewRows() {
  AttentionCase c = ordinary();
  c.sequences.push_back({900, 16});
  return c;
}

/// The kernels with mistakes: of 16 bits, in parts, of 8 bits without scales,
/// with one and with several a row, in parts for one warpgroup, and of drafts.
template <class CacheT, int Dim, Scales S> struct Of {
  using Config = TileConfig<Bf16, CacheT, Dim, S>;
  using Fixture = AttentionFixture<Bf16, CacheT>;
};
template <class CacheT, int Dim, Scales S>
struct OfDrafts : Of<CacheT, Dim, S> {
  using Config = DraftTileConfig<Bf16, CacheT, S, Dim>;
};
using Plain = Of<Bf16, 64, Scales::None>;
using Parts = Of<Bf16, 192, Scales::None>;
using Eight = Of<F8E4M3, 128, Scales::None>;
using Scaled = Of<F8E4M3, 64, Scales::Row>;
using Groups = Of<F8E4M3, 64, Scales::Groups>;
using Wide = Of<F8E4M3, 256, Scales::Row>;
using Drafts = OfDrafts<F8E4M3, 128, Scales::Row>;
using PlainDrafts = OfDrafts<F8E4M3, 128, Scales::None>;

template <class T> const AttentionKernel &kernel() {
  using C = typename T::Config;
  return tileKernelFor(!C::Widens  ? "bf16"
                       : C::Shares ? "f8g"
                       : C::Scaled ? "f8s"
                                   : "f8",
                       C::HeadDim, /*latent=*/false, "sm_90a", DraftRows<C>);
}

template <Fault F, class T = Plain>
void expectSeen(const char *text, const AttentionCase &c = ordinary()) {
  expectSeenBySchedules<typename T::Fixture>(
      kernel<T>(), c, text,
      runTileFault<typename T::Config, F, typename T::Fixture>);
}

template <class T> void expectGood() {
  typename T::Fixture fixture(kernel<T>(), ordinary());
  EXPECT_TRUE(
      fixture.check(runTileFault<typename T::Config, Fault::None>(fixture)));
}

} // namespace

TEST(TileFault, None) {
  expectGood<Plain>();
  expectGood<Parts>();
  expectGood<Eight>();
  expectGood<Scaled>();
  expectGood<Groups>();
  expectGood<Wide>();
  expectGood<Drafts>();
  expectGood<PlainDrafts>();
}
TEST(TileFault, RowsOfOneTileMore) {
  AttentionCase c = ordinary();
  c.sequences = {{500, 18}};
  expectSeen<Fault::RowsOfOneTileMore>(nullptr, c);
}
TEST(TileFault, TurnsNotPassed) {
  // A deadlock, or tiles given back before they came.
  expectSeen<Fault::TurnsNotPassed>("", fewRows());
  expectSeen<Fault::TurnsNotPassed, Parts>("", fewRows());
}
TEST(TileFault, PartOfOtherColumns) {
  expectSeen<Fault::PartOfOtherColumns, Parts>(nullptr);
}
TEST(TileFault, OnePartAwaited) {
  expectSeen<Fault::OnePartAwaited, Parts>("shared memory");
}
TEST(TileFault, EarlyPart) { expectSeen<Fault::EarlyPart, Parts>("product"); }
TEST(TileFault, MissingPathsBarrier) {
  AttentionCase c = ordinary();
  c.trees = true;
  c.parts = 1; // whole units: their rows finish
  expectSeen<Fault::MissingPathsBarrier, Parts>("race", c);
  expectSeen<Fault::MissingPathsBarrier, PlainDrafts>("race", c);
}
TEST(TileFault, MissingEmptyWaitOfWideners) {
  expectSeen<Fault::MissingEmptyWait, Eight>("shared memory");
  expectSeen<Fault::MissingEmptyWait, Drafts>("shared memory");
}
TEST(TileFault, MissingSlabWait) {
  expectSeen<Fault::MissingSlabWait, Eight>("shared memory");
}
TEST(TileFault, EarlySlabRelease) {
  expectSeen<Fault::EarlySlabRelease, Eight>("shared memory");
}
TEST(TileFault, MissingWidenFence) {
  expectSeen<Fault::MissingWidenFence, Eight>("fence");
}
TEST(TileFault, KeysInOwnOrder) {
  expectSeen<Fault::KeysInOwnOrder, Eight>(nullptr);
}
TEST(TileFault, NoTailFillOfWideners) {
  expectSeen<Fault::NoTailFill, Eight>(nullptr);
}
TEST(TileFault, OneScaleBuffer) {
  expectSeen<Fault::OneScaleBuffer, Scaled>("shared memory");
}
TEST(TileFault, OneScaleBufferOfOneWarpgroup) {
  expectSeen<Fault::OneScaleBuffer, Wide>("shared memory");
  expectSeen<Fault::OneScaleBuffer, Drafts>("shared memory");
}
TEST(TileFault, MissingScalesBarrier) {
  expectSeen<Fault::MissingScalesBarrier, Wide>("race");
  expectSeen<Fault::MissingScalesBarrier, Drafts>("race");
}
TEST(TileFault, ScalesByLeaf) {
  expectSeen<Fault::ScalesByLeaf, Scaled>("shared memory");
}
// The unit that waits in shared memory.
TEST(TileFault, MissingUnitBarrierOfKept) {
  expectSeen<Fault::MissingUnitBarrier, Wide>("race");
}
TEST(TileFault, MissingQueriesBarrierOfKept) {
  expectSeen<Fault::MissingQueriesBarrier, Wide>("race");
}
TEST(TileFault, MissingSharesBarrier) {
  expectSeen<Fault::MissingSharesBarrier, Groups>("shared memory");
}
TEST(TileFault, MissingEmptyWait) {
  expectSeen<Fault::MissingEmptyWait>("shared memory");
}
TEST(TileFault, BoxNotCounted) { expectSeen<Fault::BoxNotCounted>("bytes"); }
TEST(TileFault, MissingCleanFence) {
  expectSeen<Fault::MissingCleanFence>("fence");
}
TEST(TileFault, MissingQueriesFence) {
  expectSeen<Fault::MissingQueriesFence>("fence");
}
TEST(TileFault, MissingTileWait) {
  expectSeen<Fault::MissingTileWait>("shared memory");
}
TEST(TileFault, WrongParity) { expectSeen<Fault::WrongParity>("race"); }
TEST(TileFault, EarlyRelease) {
  expectSeen<Fault::EarlyRelease>("shared memory");
}
TEST(TileFault, ReleasedTwice) { expectSeen<Fault::ReleasedTwice>("at byte"); }
TEST(TileFault, EarlyScores) { expectSeen<Fault::EarlyScores>("product"); }
TEST(TileFault, MissingProductsFence) {
  expectSeen<Fault::MissingProductsFence>("fence");
}
TEST(TileFault, QueriesOfOtherRows) {
  expectSeen<Fault::QueriesOfOtherRows>(nullptr);
}
TEST(TileFault, ValuesOneAtomShort) {
  expectSeen<Fault::ValuesOneAtomShort>(nullptr);
}
TEST(TileFault, NoTailFill) { expectSeen<Fault::NoTailFill>(nullptr); }
