//===- LatentPairFaultTest.cpp - Mistakes between two blocks of a part ----===//

#include "TileFaultRun.h"
#include "kernels/cuda/attention/wgmma/LatentTileRows.h"

using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

using Config = LatentPairConfig<Bf16, 192, 128>;
using Fixture = AttentionFixture<Bf16, Bf16>;

/// Tiles of which both blocks have rows and one of which the second has none,
/// tails, more leaves than there are stages, units that parts share.
AttentionCase ordinary() {
  AttentionCase c;
  c.heads = 1;
  c.group = 16;
  c.sequences = {{700, 12}, {70, 3}};
  return c;
}

template <Fault F> void expectSeen(const char *text) {
  expectSeenBySchedules<Fixture>(kernelOf<Config>(), ordinary(), text,
                                 runTileFault<Config, F, Fixture>);
}

/// Found bad by a report or by the numbers, as the schedule has it.
template <Fault F> void expectWrong() {
  AttentionCase c = ordinary();
  for (Schedule schedule :
       {Schedule::LatestFirst, Schedule::OldestFirst, Schedule::Random}) {
    c.machine.schedule = schedule;
    Fixture fixture(kernelOf<Config>(), c);
    EXPECT_FALSE(fixture.check(runTileFault<Config, F>(fixture))) << c;
  }
}

} // namespace

TEST(LatentPairFault, None) {
  for (int page : {8, 16, 64}) {
    AttentionCase c = ordinary();
    c.pageSize = page;
    Fixture fixture(kernelOf<Config>(), c);
    EXPECT_TRUE(fixture.check(runTileFault<Config, Fault::None>(fixture))) << c;
  }
}
TEST(LatentPairFault, MissingClusterBarrier) {
  expectSeen<Fault::MissingClusterBarrier>("initialis");
}
TEST(LatentPairFault, MissingEmptyWait) {
  expectSeen<Fault::MissingEmptyWait>("shared memory");
}
TEST(LatentPairFault, EarlyRelease) {
  expectSeen<Fault::EarlyRelease>("shared memory");
}
TEST(LatentPairFault, ReleasedAtHome) {
  expectSeen<Fault::ReleasedAtHome>("arrivals");
}
TEST(LatentPairFault, OwnReadersCounted) {
  expectSeen<Fault::OwnReadersCounted>("at byte");
}
TEST(LatentPairFault, CopiedToOneBlock) {
  expectSeen<Fault::CopiedToOneBlock>("bytes");
}
TEST(LatentPairFault, HalfSlabUnasked) {
  expectSeen<Fault::HalfSlabUnasked>("bytes");
}
TEST(LatentPairFault, HalfSlabCounted) {
  expectSeen<Fault::HalfSlabCounted>("bytes");
}
TEST(LatentPairFault, MissingCleanFence) {
  expectSeen<Fault::MissingCleanFence>("fence");
}
TEST(LatentPairFault, NoTailFill) { expectSeen<Fault::NoTailFill>(nullptr); }
TEST(LatentPairFault, LeftEarly) { expectSeen<Fault::LeftEarly>("left"); }
TEST(LatentPairFault, RowsOfOtherBlock) {
  expectWrong<Fault::RowsOfOtherBlock>();
}
TEST(LatentPairFault, CountersOfOtherBlock) {
  expectWrong<Fault::CountersOfOtherBlock>();
}
