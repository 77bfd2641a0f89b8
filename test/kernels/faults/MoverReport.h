//===- MoverReport.h - What the emulator says of a mover --------*- C++ -*-===//

#ifndef KV_TEST_KERNELS_FAULTS_MOVERREPORT_H
#define KV_TEST_KERNELS_FAULTS_MOVERREPORT_H

#include "kernels/cuda/parameters/Movers.h"
#include "kernels/emulator/CpuBlock.h"
#include "test/kernels/emulator/EmulatorBackend.h"

#include <gtest/gtest.h>

namespace kv::cuda::test {

constexpr int MostShared = ExpertSharedBytes;
static_assert(MostShared >= QuantSharedBytes);
static_assert(MostShared >= SampleSharedBytes);

/// Runs a body under every schedule, as one block or one cluster of them; each
/// must report `text`, or nothing at all where that is null.
template <class Give, class Body>
void expectReport(const char *text, Give give, Body body, int cluster = 1) {
  for (Schedule schedule :
       {Schedule::LatestFirst, Schedule::OldestFirst, Schedule::Random}) {
    EmulatorBackend backend({.schedule = schedule});
    give(backend);
    backend.machine.launch({.blocks = cluster,
                            .threads = MoverThreads,
                            .sharedBytes = MostShared,
                            .registers = cluster > 1 ? 64 : 0,
                            .cluster = cluster},
                           [&](Machine &m, int thread) {
                             CpuBlock b(m, thread);
                             body(b);
                           });
    if (!text) {
      EXPECT_TRUE(backend.reports().empty()) << backend.reports()[0];
      continue;
    }
    ASSERT_FALSE(backend.reports().empty());
    EXPECT_NE(backend.reports()[0].find(text), std::string::npos)
        << backend.reports()[0];
  }
}

} // namespace kv::cuda::test

#endif // KV_TEST_KERNELS_FAULTS_MOVERREPORT_H
