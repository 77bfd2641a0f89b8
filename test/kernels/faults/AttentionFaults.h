//===- AttentionFaults.h - Attention with mistakes --------------*- C++ -*-===//

#ifndef KV_TEST_KERNELS_FAULTS_ATTENTIONFAULTS_H
#define KV_TEST_KERNELS_FAULTS_ATTENTIONFAULTS_H

#include "FaultyKernel.h"
#include "kernels/cuda/attention/common/MergeBody.h"
#include "kernels/cuda/attention/mma/WarpKernel.h"
#include "kernels/cuda/twins/LaunchRoles.h"
#include "test/kernels/attention/AttentionCase.h"
#include "test/kernels/emulator/EmulatorBackend.h"

namespace kv::cuda::test {

/// The kernels whose warps do the same.
template <class ConfigT> struct Warps {
  using Config = ConfigT;
  using Fixture =
      AttentionFixture<typename Config::Query, typename Config::Cache>;
  static AttentionKernel kernel() { return kernelOf<Config>(); }
  static void launch(Machine &machine, const Fixture &fixture,
                     const AttentionParams &p) {
    launchWarps<Config>(machine, fixture.c.parts, [&](Machine &m, int thread) {
      Faulty<CpuBlock> b(CpuBlock(m, thread));
      WarpKernel<Faulty<CpuBlock>, Config>(b, p).run();
    });
  }
  static Results run(Fixture &fixture) {
    EmulatorBackend backend(fixture.c.machine);
    return fixture.runBy(backend, [&](const AttentionParams &p) {
      launch(backend.machine, fixture, p);
    });
  }
};

/// The same, and the merge apart.
template <class ConfigT> struct Apart : Warps<ConfigT> {
  using typename Warps<ConfigT>::Fixture;
  static Results run(Fixture &fixture) {
    EmulatorBackend backend(fixture.c.machine);
    return fixture.runBy(backend, [&](AttentionParams p) {
      p.mergesApart = 1;
      Warps<ConfigT>::launch(backend.machine, fixture, p);
      MergeParams merge = fixture.mergeOf(p);
      backend.machine.launch(3, MoverThreads, MergeSharedBytes,
                             [&](Machine &m, int thread) {
                               Faulty<CpuBlock> b(CpuBlock(m, thread));
                               mergeBody(b, merge);
                             });
    });
  }
};

/// Those whose warps have roles: `runRoles(b, tiles)` is the kernel.
template <class ConfigT, class B> struct Roles {
  using Config = ConfigT;
  using Fixture =
      AttentionFixture<typename Config::Query, typename Config::Cache>;
  static AttentionKernel kernel() { return kernelOf<Config>(); }
  template <class Kernel> static Results runBy(Fixture &fixture, Kernel body) {
    EmulatorBackend backend(fixture.c.machine);
    return fixture.runBy(backend, [&](const AttentionParams &p) {
      TileParams tiles = fixture.tilesOf(backend, p);
      launchRoles<Config>(backend.machine, fixture.c.parts * PartBlocks<Config>,
                          [&](Machine &m, int thread) {
                            Faulty<B> b{B(CpuBlock(m, thread))};
                            body(b, tiles);
                          });
    });
  }
};

/// Those that copy tiles; the test includes the kernel.
template <class ConfigT> struct Tiles : Roles<ConfigT, CpuBlock> {
  static Results run(typename Roles<ConfigT, CpuBlock>::Fixture &fixture) {
    return Tiles::runBy(
        fixture, [](auto &b, const TileParams &p) { runTiles<ConfigT>(b, p); });
  }
};

/// What may be left out where others copy tiles.
inline const Survivor MergedTiles = {
    {"Merge.h", "finishMerged", Member::Sync},
    "runWork() has a barrier before it stores anything of the next unit"};
inline const Survivor ScaledPaths = {
    {"RowResults.h", "finishRows", Member::Sync, 0},
    "one warpgroup with scales has a barrier behind a leaf's scores, and reads "
    "paths before that"};
/// And over latent rows.
inline const Survivor FoldedTotal = {
    {"Group.h", "foldTotal", Member::SyncNamed},
    "for the compiler, which would load more than it has registers for"};

/// Truths are shared by runs, since they cost more than these.
template <class Fixture>
std::shared_ptr<typename Fixture::Truth> truthOf(const AttentionKernel &kernel,
                                                 const AttentionCase &c) {
  static std::vector<std::shared_ptr<typename Fixture::Truth>> all;
  auto shape = Fixture::truthShape(kernel, c);
  for (const auto &each : all)
    if (each->shape == shape)
      return each;
  return all.emplace_back(Fixture::makeTruth(kernel, c));
}

template <class K> Outcome outcomeOf(typename K::Fixture &fixture) {
  Results results = K::run(fixture);
  Outcome outcome{results.reports, ""};
  auto good = fixture.check(results);
  if (!good && results.reports.empty())
    outcome.wrong = good.message();
  return outcome;
}

/// A case of a kernel, whose fixture `prepare` may change.
template <class K>
Case caseOf(const AttentionCase &c,
            void (*prepare)(typename K::Fixture &) = nullptr) {
  return [c, prepare](Schedule schedule) {
    AttentionCase own = c;
    own.machine.schedule = schedule;
    AttentionKernel kernel = K::kernel();
    typename K::Fixture fixture(kernel, own,
                                truthOf<typename K::Fixture>(kernel, own));
    if (prepare)
      prepare(fixture);
    return outcomeOf<K>(fixture);
  };
}

} // namespace kv::cuda::test

#endif // KV_TEST_KERNELS_FAULTS_ATTENTIONFAULTS_H
