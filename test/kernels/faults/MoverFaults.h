//===- MoverFaults.h - Movers with mistakes ---------------------*- C++ -*-===//

#ifndef KV_TEST_KERNELS_FAULTS_MOVERFAULTS_H
#define KV_TEST_KERNELS_FAULTS_MOVERFAULTS_H

#include "FaultyKernel.h"
#include "kernels/cuda/parameters/Movers.h"
#include "test/kernels/emulator/EmulatorBackend.h"

#include <gtest/gtest.h>
#include <optional>

namespace kv::cuda::test {

/// Addresses as they are: a backend is given them when it is there.
struct Places {
  std::vector<std::tuple<const void *, size_t, Access>> all;
  template <class T> T *in(const std::vector<T> &x) {
    all.push_back({x.data(), x.size() * sizeof(T), Access::Read});
    return const_cast<T *>(x.data());
  }
  template <class T> T *out(std::vector<T> &x) {
    all.push_back({x.data(), x.size() * sizeof(T), Access::Write});
    return x.data();
  }
  void giveTo(Backend &b) const {
    for (auto [data, bytes, access] : all)
      b.give(data, bytes, access);
  }
};

/// Runs a body, as one block or one cluster of them, and says what it reports.
template <class Body>
std::vector<std::string> runBody(const Places &places, Body body,
                                 Schedule schedule, int cluster = 1) {
  constexpr int MostShared = ExpertSharedBytes;
  static_assert(MostShared >= QuantSharedBytes &&
                MostShared >= SampleSharedBytes);
  EmulatorBackend backend({.schedule = schedule});
  places.giveTo(backend);
  backend.machine.launch({.blocks = cluster,
                          .threads = MoverThreads,
                          .sharedBytes = MostShared,
                          .registers = cluster > 1 ? 64 : 0,
                          .cluster = cluster},
                         [&](Machine &m, int thread) {
                           Faulty<CpuBlock> b(CpuBlock(m, thread));
                           body(b);
                         });
  return backend.reports();
}

/// make(run) makes what a mover takes anew, and calls run(places, body,
/// results...). The first run, which has no mistake, says what results are
/// right; that they are is what the tests of movers show.
template <class Make> Case moverCase(Make make, int cluster = 1) {
  auto right = std::make_shared<std::optional<std::string>>();
  return [=](Schedule schedule) {
    Outcome outcome;
    make([&](const Places &places, auto body, const auto &...results) {
      outcome.reports = runBody(places, body, schedule, cluster);
      std::string bytes;
      (bytes.append(reinterpret_cast<const char *>(results.data()),
                    results.size() * sizeof(results[0])),
       ...);
      if (!*right)
        *right = bytes;
      if (outcome.reports.empty() && bytes != **right)
        outcome.wrong = "other results";
    });
    return outcome;
  };
}

} // namespace kv::cuda::test

#endif // KV_TEST_KERNELS_FAULTS_MOVERFAULTS_H
