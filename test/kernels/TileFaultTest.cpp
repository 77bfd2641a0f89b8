//===- TileFaultTest.cpp - Mistakes in a kernel that copies tiles ---------===//

#include "../../kernels/cuda/TileRows.h"
#include "../../kernels/cuda/emulator/CpuBlock.h"
#include "AttentionCase.h"
#include "EmulatorBackend.h"

using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

using Config = TileConfig<Bf16, 64>;
using Fixture = AttentionFixture<Bf16, Bf16>;

/// Several tiles of rows, a tail, more leaves than the ring has stages.
AttentionCase ordinary() {
  AttentionCase c;
  c.sequences = {{500, 40}, {130, 3}};
  return c;
}

template <Fault F> Results run(Fixture &fixture) {
  EmulatorBackend backend(fixture.c.machine);
  return fixture.runBy(backend, [&](const AttentionParams &p) {
    TileParams tiles = fixture.tilesOf(backend, p);
    backend.machine.launch({fixture.c.parts, Config::LaunchThreads,
                            Config::SharedBytes, Config::LaunchRegisters},
                           [&](Machine &m, int thread) {
                             CpuBlock b(m, thread);
                             runTiles<Config, F>(b, tiles);
                           });
  });
}

/// The kernel with a mistake, under every schedule: it must be found bad.
template <Fault F> void expectSeen(const char *text) {
  AttentionCase c = ordinary();
  for (Schedule schedule :
       {Schedule::LatestFirst, Schedule::OldestFirst, Schedule::Random}) {
    c.machine.schedule = schedule;
    Fixture fixture(tileKernelFor("bf16", 64), c);
    fixture.expectSeen(run<F>(fixture), text);
  }
}

} // namespace

TEST(TileFault, None) {
  Fixture fixture(tileKernelFor("bf16", 64), ordinary());
  EXPECT_TRUE(fixture.check(run<Fault::None>(fixture)));
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
