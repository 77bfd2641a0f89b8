//===- LatentTileFaultTest.cpp - Mistakes where latent rows are shared ----===//

#include "TileFaultRun.h"
#include "kernels/cuda/attention/wgmma/LatentTileRows.h"

using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

using Config = LatentTileConfig<Bf16, 192, 128>;
using Fixture = AttentionFixture<Bf16, Bf16>;

/// Several tiles of rows, a tail, more leaves than there are stages, odd and
/// even numbers of them.
AttentionCase ordinary() {
  AttentionCase c;
  c.heads = 1;
  c.group = 16;
  c.sequences = {{1400, 5}, {70, 3}};
  return c;
}

template <Fault F> void expectSeen(const char *text) {
  expectSeenBySchedules<Fixture>(kernelOf<Config>(), ordinary(), text,
                                 runTileFault<Config, F, Fixture>);
}

} // namespace

TEST(LatentTileFault, None) {
  Fixture fixture(kernelOf<Config>(), ordinary());
  EXPECT_TRUE(fixture.check(runTileFault<Config, Fault::None>(fixture)));
}
TEST(LatentTileFault, MissingEmptyWait) {
  expectSeen<Fault::MissingEmptyWait>("shared memory");
}
TEST(LatentTileFault, BoxNotCounted) {
  expectSeen<Fault::BoxNotCounted>("bytes");
}
TEST(LatentTileFault, MissingCleanFence) {
  expectSeen<Fault::MissingCleanFence>("fence");
}
TEST(LatentTileFault, MissingQueriesFence) {
  expectSeen<Fault::MissingQueriesFence>("fence");
}
TEST(LatentTileFault, MissingTileWait) {
  expectSeen<Fault::MissingTileWait>("shared memory");
}
TEST(LatentTileFault, WrongParity) { expectSeen<Fault::WrongParity>("race"); }
TEST(LatentTileFault, EarlyRelease) {
  expectSeen<Fault::EarlyRelease>("shared memory");
}
TEST(LatentTileFault, ReleasedTwice) {
  expectSeen<Fault::ReleasedTwice>("at byte");
}
TEST(LatentTileFault, EarlyScores) {
  expectSeen<Fault::EarlyScores>("product");
}
TEST(LatentTileFault, MissingProductsFence) {
  expectSeen<Fault::MissingProductsFence>("fence");
}
TEST(LatentTileFault, MissingGroupBarrier) {
  expectSeen<Fault::MissingGroupBarrier>("shared memory");
}
TEST(LatentTileFault, MissingWeightsFence) {
  expectSeen<Fault::MissingWeightsFence>("fence");
}
TEST(LatentTileFault, MissingWeightsBarrier) {
  expectSeen<Fault::MissingWeightsBarrier>("shared memory");
}
TEST(LatentTileFault, WeightsOfOtherLeaf) {
  expectSeen<Fault::WeightsOfOtherLeaf>("shared memory");
}
TEST(LatentTileFault, ValuesOneAtomShort) {
  expectSeen<Fault::ValuesOneAtomShort>(nullptr);
}
TEST(LatentTileFault, NoTailFill) { expectSeen<Fault::NoTailFill>(nullptr); }
