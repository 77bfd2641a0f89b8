//===- ByteTensorFaultTest.cpp - Mistakes in products of 8 bits -----------===//
//
// With tensor memory: what the kernels have beyond those of 16 bits, and what
// of both is other for bytes.
//
//===----------------------------------------------------------------------===//

#include "TensorFaultRun.h"

using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

template <int Dim> using ConfigOf = TensorConfig<Bf16, F8E4M3, Dim>;
using Config = ConfigOf<64>;
using Fixture = AttentionFixture<Bf16, F8E4M3>;

template <Fault F, class C = Config>
void expectSeen(const char *text, const AttentionCase &c = tensorCase()) {
  expectTensorFault<C, F, Fixture>(c, text);
}

template <class C> void expectNone() {
  Fixture fixture(kernelOf<C>(), tensorCase());
  EXPECT_TRUE(fixture.check(runTensorBody<C, Fault::None>(fixture)));
}

} // namespace

TEST(ByteTensorFault, None) {
  expectNone<ConfigOf<64>>();
  expectNone<ConfigOf<128>>();
}

// Queries.
TEST(ByteTensorFault, MissingQueriesBarrier) {
  expectSeen<Fault::MissingQueriesBarrier>("shared memory");
}
TEST(ByteTensorFault, MissingQueriesFence) {
  expectSeen<Fault::MissingQueriesFence>("fenceAsync");
}
TEST(ByteTensorFault, MissingUnitBarrier) {
  expectSeen<Fault::MissingUnitBarrier>("race");
}
TEST(ByteTensorFault, QueriesOfOtherRows) {
  expectSeen<Fault::QueriesOfOtherRows>(nullptr);
}
// Of a magnitude that the type has no numbers for.
TEST(ByteTensorFault, UnscaledQueries) {
  expectSmallQueries<Fixture>(
      kernelOf<Config>(), tensorCase(),
      runTensorBody<Config, Fault::None, Fixture>,
      runTensorBody<Config, Fault::UnscaledQueries, Fixture>);
}

// Weights and their sums.
TEST(ByteTensorFault, WeightsOfOtherPower) {
  expectSeen<Fault::WeightsOfOtherPower>(nullptr);
}
// Of few keys, so that roundings do not cancel out.
TEST(ByteTensorFault, UnroundedSums) {
  AttentionCase c = tensorCase();
  c.sequences = {{0, 6}};
  c.scale = 1;
  expectSeen<Fault::UnroundedSums>(nullptr, c);
}
TEST(ByteTensorFault, MissingStoreWait) {
  expectSeen<Fault::MissingStoreWait>("behind a store");
}
TEST(ByteTensorFault, MissingPartWait) {
  expectSeen<Fault::MissingPartWait>("tensor memory");
}
TEST(ByteTensorFault, ScoresTooEarly) {
  expectSeen<Fault::ScoresTooEarly>("tensor memory");
}

// Values, which have one place for both tiles.
TEST(ByteTensorFault, MissingFoldWait) {
  expectSeen<Fault::MissingFoldWait>("tensor memory");
  expectSeen<Fault::MissingFoldWait, ConfigOf<128>>("tensor memory");
}
TEST(ByteTensorFault, MissingValuesWait) {
  expectSeen<Fault::MissingValuesWait, ConfigOf<128>>("tensor memory");
}
TEST(ByteTensorFault, ValuesOneAtomShort) {
  expectSeen<Fault::ValuesOneAtomShort>(nullptr);
}
TEST(ByteTensorFault, NoTailFill) { expectSeen<Fault::NoTailFill>(nullptr); }
TEST(ByteTensorFault, MissingCleanFence) {
  expectSeen<Fault::MissingCleanFence>("fenceAsync");
}
TEST(ByteTensorFault, EarlyRelease) {
  expectSeen<Fault::EarlyRelease>("shared memory");
}

// A second tile of sixteen rows is left out.
TEST(ByteTensorFault, RowsOfOneTileMore) {
  AttentionCase c = tensorCase();
  c.sequences = {{130, 36}};
  expectSeen<Fault::RowsOfOneTileMore>(nullptr, c);
}
// And one of a decode step's, whose tiles of the ring the first one gives back.
TEST(ByteTensorFault, EarlyReleaseByOneTile) {
  AttentionCase c = tensorCase();
  c.sequences = {{1500, 3}};
  expectSeen<Fault::EarlyRelease>("shared memory", c);
}
