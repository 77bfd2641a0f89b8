//===- TensorFaultTest.cpp - Mistakes in a kernel with tensor memory ------===//

#include "TensorFaultRun.h"

using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

using Config = TensorConfig<Bf16, Bf16, 64>;
using Fixture = AttentionFixture<Bf16, Bf16>;

template <Fault F, class C = Config>
void expectSeen(const char *text, const AttentionCase &c = tensorCase()) {
  expectTensorFault<C, F, Fixture>(c, text);
}

} // namespace

TEST(TensorFault, None) {
  Fixture fixture(kernelOf<Config>(), tensorCase());
  EXPECT_TRUE(fixture.check(runTensorBody<Config, Fault::None>(fixture)));
}
TEST(TensorFault, MissingEmptyWait) {
  expectSeen<Fault::MissingEmptyWait>("shared memory");
}
TEST(TensorFault, BoxNotCounted) { expectSeen<Fault::BoxNotCounted>("bytes"); }
TEST(TensorFault, MissingTileWait) {
  expectSeen<Fault::MissingTileWait>("shared memory");
}
TEST(TensorFault, EarlyRelease) {
  expectSeen<Fault::EarlyRelease>("shared memory");
}
TEST(TensorFault, MissingCleanFence) {
  expectSeen<Fault::MissingCleanFence>("fenceAsync");
}
TEST(TensorFault, MissingQueriesFence) {
  expectSeen<Fault::MissingQueriesFence>("fenceAsync");
}
TEST(TensorFault, ScoresTooEarly) {
  expectSeen<Fault::ScoresTooEarly>("tensor memory");
}
TEST(TensorFault, MissingScoresFence) {
  expectSeen<Fault::MissingScoresFence>("without fenceAfter()");
}
TEST(TensorFault, EarlyScores) { expectSeen<Fault::EarlyScores>("awaited"); }
TEST(TensorFault, MissingStoreWait) {
  expectSeen<Fault::MissingStoreWait>("behind a store");
}
TEST(TensorFault, MissingWeightsFence) {
  expectSeen<Fault::MissingWeightsFence>("passed on by fenceBefore()");
}
TEST(TensorFault, MissingIssuersFence) {
  expectSeen<Fault::MissingIssuersFence>("without fenceAfter()");
}
TEST(TensorFault, MissingValuesWait) {
  expectSeen<Fault::MissingValuesWait>("tensor memory");
}
TEST(TensorFault, MissingFoldWait) {
  expectSeen<Fault::MissingFoldWait>("tensor memory");
}
TEST(TensorFault, MissingPartWait) {
  expectSeen<Fault::MissingPartWait>("tensor memory");
}
TEST(TensorFault, EarlySettled) {
  expectSeen<Fault::EarlySettled>("before it awaited a store");
}
// Whose values are folded by slices.
TEST(TensorFault, MissingSliceWait) {
  expectSeen<Fault::MissingSliceWait, TensorConfig<Bf16, Bf16, 128>>(
      "tensor memory");
}
TEST(TensorFault, MissingFoldWaitOfSlices) {
  expectSeen<Fault::MissingFoldWait, TensorConfig<Bf16, Bf16, 128>>(
      "tensor memory");
}
TEST(TensorFault, NeverFreed) {
  expectSeen<Fault::NeverFreed>("tensor memory allocated");
}
TEST(TensorFault, QueriesOfOtherRows) {
  expectSeen<Fault::QueriesOfOtherRows>(nullptr);
}
TEST(TensorFault, ValuesOneAtomShort) {
  expectSeen<Fault::ValuesOneAtomShort>(nullptr);
}
TEST(TensorFault, NoTailFill) { expectSeen<Fault::NoTailFill>(nullptr); }
// A second tile of sixteen rows is left out.
TEST(TensorFault, RowsOfOneTileMore) {
  AttentionCase c = tensorCase();
  c.sequences = {{130, 36}};
  expectSeen<Fault::RowsOfOneTileMore>(nullptr, c);
}
