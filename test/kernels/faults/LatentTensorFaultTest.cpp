//===- LatentTensorFaultTest.cpp - Mistakes over latent, tensor memory ----===//

#include "TensorFaultRun.h"

using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

using Config = LatentTensorConfig<Bf16, 192, 128>;
using Fixture = AttentionFixture<Bf16, Bf16>;

/// Several tiles of rows, a tail, more leaves than there are stages, odd and
/// even numbers of them.
AttentionCase ordinary() {
  AttentionCase c;
  c.heads = 1;
  c.group = 16;
  c.sequences = {{620, 5}, {70, 3}};
  return c;
}

template <Fault F> void expectSeen(const char *text) {
  expectTensorFault<Config, F, Fixture>(ordinary(), text);
}

} // namespace

TEST(LatentTensorFault, None) {
  Fixture fixture(kernelOf<Config>(), ordinary());
  EXPECT_TRUE(fixture.check(runTensorBody<Config, Fault::None>(fixture)));
}
TEST(LatentTensorFault, MissingEmptyWait) {
  expectSeen<Fault::MissingEmptyWait>("shared memory");
}
TEST(LatentTensorFault, BoxNotCounted) {
  expectSeen<Fault::BoxNotCounted>("bytes");
}
TEST(LatentTensorFault, MissingCleanFence) {
  expectSeen<Fault::MissingCleanFence>("fenceAsync");
}
TEST(LatentTensorFault, MissingQueriesFence) {
  expectSeen<Fault::MissingQueriesFence>("fenceAsync");
}
TEST(LatentTensorFault, MissingTileWait) {
  expectSeen<Fault::MissingTileWait>("shared memory");
}
TEST(LatentTensorFault, WrongParity) {
  expectSeen<Fault::WrongParity>("shared memory");
}
TEST(LatentTensorFault, EarlyRelease) {
  expectSeen<Fault::EarlyRelease>("shared memory");
}
TEST(LatentTensorFault, MissingScoresFence) {
  expectSeen<Fault::MissingScoresFence>("without fenceAfter()");
}
TEST(LatentTensorFault, EarlyScores) {
  expectSeen<Fault::EarlyScores>("does not name");
}
TEST(LatentTensorFault, MissingWeightsFence) {
  expectSeen<Fault::MissingWeightsFence>("fenceAsync");
}
TEST(LatentTensorFault, MissingWeightsBarrier) {
  expectSeen<Fault::MissingWeightsBarrier>("shared memory");
}
TEST(LatentTensorFault, MissingIssuersFence) {
  expectSeen<Fault::MissingIssuersFence>("without fenceAfter()");
}
TEST(LatentTensorFault, MissingValuesWait) {
  expectSeen<Fault::MissingValuesWait>("tensor memory");
}
TEST(LatentTensorFault, MissingFoldWait) {
  expectSeen<Fault::MissingFoldWait>("tensor memory");
}
TEST(LatentTensorFault, NeverFreed) {
  expectSeen<Fault::NeverFreed>("tensor memory allocated");
}
TEST(LatentTensorFault, WeightsOfOtherLeaf) {
  expectSeen<Fault::WeightsOfOtherLeaf>("shared memory");
}
TEST(LatentTensorFault, ValuesOneAtomShort) {
  expectSeen<Fault::ValuesOneAtomShort>(nullptr);
}
TEST(LatentTensorFault, NoTailFill) { expectSeen<Fault::NoTailFill>(nullptr); }
