//===- TileFaultRun.h - Mistakes in kernels that take tiles -----*- C++ -*-===//

#ifndef KV_TEST_KERNELS_FAULTS_TILEFAULTRUN_H
#define KV_TEST_KERNELS_FAULTS_TILEFAULTRUN_H

#include "kernels/cuda/twins/LaunchRoles.h"
#include "kernels/emulator/CpuBlock.h"
#include "test/kernels/attention/AttentionCase.h"
#include "test/kernels/emulator/EmulatorBackend.h"

namespace kv::cuda::test {

/// Runs body(machine, thread, tiles) for each thread of a kernel with the
/// shapes of `Config`.
template <class Config, class Fixture, class Body>
Results runTileBody(Fixture &fixture, Body body) {
  EmulatorBackend backend(fixture.c.machine);
  return fixture.runBy(backend, [&](const AttentionParams &p) {
    TileParams tiles = fixture.tilesOf(backend, p);
    launchRoles<Config>(
        backend.machine, fixture.c.parts * PartBlocks<Config>,
        [&](Machine &m, int thread) { body(m, thread, tiles); });
  });
}

/// The same by the kernel's body with a mistake, whose header the caller
/// includes.
template <class Config, Fault F, class Fixture>
Results runTileFault(Fixture &fixture) {
  return runTileBody<Config>(
      fixture, [](Machine &m, int thread, const TileParams &tiles) {
        CpuBlock b(m, thread);
        runTiles<Config, F>(b, tiles);
      });
}

/// run(fixture), of a kernel with a mistake, under every schedule: it must be
/// found bad.
template <class Fixture, class Run>
void expectSeenBySchedules(const AttentionKernel &kernel, AttentionCase c,
                           const char *text, Run run) {
  for (Schedule schedule :
       {Schedule::LatestFirst, Schedule::OldestFirst, Schedule::Random}) {
    c.machine.schedule = schedule;
    Fixture fixture(kernel, c);
    fixture.expectSeen(run(fixture), text);
  }
}

/// Small queries, of a magnitude that 8 bits have no numbers for:
/// right(fixture) runs the kernel, mistaken(fixture) one with a mistake, which
/// must be seen.
template <class Fixture, class Right, class Mistaken>
void expectSmallQueries(const AttentionKernel &kernel, const AttentionCase &c,
                        Right right, Mistaken mistaken) {
  Fixture good(kernel, c), bad(kernel, c);
  good.enlargeQueries(-12);
  EXPECT_TRUE(good.check(right(good)));
  bad.enlargeQueries(-12);
  bad.expectSeen(mistaken(bad), nullptr);
}

} // namespace kv::cuda::test

#endif // KV_TEST_KERNELS_FAULTS_TILEFAULTRUN_H
