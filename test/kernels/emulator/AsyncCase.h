//===- AsyncCase.h - Small bodies whose warps have roles --------*- C++ -*-===//

#ifndef KV_TEST_KERNELS_EMULATOR_ASYNCCASE_H
#define KV_TEST_KERNELS_EMULATOR_ASYNCCASE_H

#include "kernels/emulator/CpuBlock.h"
#include "kernels/emulator/base/Hurry.h"

#include <cstring>
#include <gtest/gtest.h>
#include <optional>

namespace kv::cuda::test {

using Body = std::function<void(CpuBlock &)>;

/// How bodies are run: under each must be seen what is expected.
inline std::vector<MachineOptions> machines() {
  std::vector<MachineOptions> all = {{.schedule = Schedule::LatestFirst},
                                     {.schedule = Schedule::OldestFirst}};
  for (uint32_t seed = 1; seed <= 6; ++seed)
    all.push_back({.schedule = Schedule::Random, .seed = seed});
  return all;
}

/// Memory that a body may read or write.
struct Given {
  const void *data;
  size_t bytes;
  Access access;
};
template <class T> Given in(const std::vector<T> &data) {
  return {data.data(), data.size() * sizeof(T), Access::Read};
}
template <class T> Given out(std::vector<T> &data) {
  return {data.data(), data.size() * sizeof(T), Access::Write};
}

inline LaunchShape shapeOf(int threads) {
  return {
      .blocks = 1, .threads = threads, .sharedBytes = 65536, .registers = 128};
}

inline std::vector<std::string> reportsOf(const MachineOptions &options,
                                          const LaunchShape &shape,
                                          const Body &body,
                                          const std::vector<Given> &given) {
  Machine machine(options);
  for (const Given &each : given)
    machine.global().allow(each.data, each.bytes, each.access);
  machine.launch(shape, [&](Machine &m, int thread) {
    CpuBlock b(m, thread);
    body(b);
  });
  return machine.reports();
}

inline std::string joined(const std::vector<std::string> &reports) {
  std::string all;
  for (const std::string &report : reports)
    all += report + "\n";
  return all.empty() ? "nothing was reported" : all;
}

/// Each run of the body must be found bad, by a report that has one of `texts`.
inline void expectReport(const LaunchShape &shape,
                         const std::vector<std::string> &texts,
                         const Body &body,
                         const std::vector<Given> &given = {}) {
  for (const MachineOptions &options : machines()) {
    std::string all = joined(reportsOf(options, shape, body, given));
    bool seen = false;
    for (const std::string &text : texts)
      seen |= all.find(text) != std::string::npos;
    EXPECT_TRUE(seen) << "schedule " << int(options.schedule) << ", seed "
                      << options.seed << ": expected '" << texts[0]
                      << "', but: " << all;
  }
}
inline void expectReport(int threads, const char *text, const Body &body,
                         const std::vector<Given> &given = {}) {
  expectReport(shapeOf(threads), {text}, body, given);
}

inline void expectClean(const LaunchShape &shape, const Body &body,
                        const std::vector<Given> &given = {}) {
  for (const MachineOptions &options : machines())
    for (bool hurries : {false, true}) {
      std::optional<Hurry> hurry;
      if (hurries)
        hurry.emplace(options.seed);
      auto reports = reportsOf(options, shape, body, given);
      EXPECT_TRUE(reports.empty())
          << "schedule " << int(options.schedule) << ", seed " << options.seed
          << ", hurries " << hurries << ": " << joined(reports);
    }
}
inline void expectClean(int threads, const Body &body,
                        const std::vector<Given> &given = {}) {
  expectClean(shapeOf(threads), body, given);
}

/// A map as the emulator finds it.
inline TensorMap mapOf(const TensorDescription &tensor) {
  DescribedMap described = {DescriptionMark, tensor};
  TensorMap map;
  std::memcpy(&map, &described, sizeof(map));
  return map;
}

/// Of a matrix of rows of `columns` elements of 16 bits; a box has `boxRows`
/// rows of 64 elements.
inline TensorMap matrixMap(const void *data, int rows, int columns,
                           int boxRows) {
  uint64_t pitch = uint64_t(columns) * 2, all = pitch * rows;
  return mapOf({data,
                {uint64_t(columns), uint64_t(rows), 1, 1},
                {pitch, all, all},
                {64, uint32_t(boxRows), 1, 1}});
}

} // namespace kv::cuda::test

#endif // KV_TEST_KERNELS_EMULATOR_ASYNCCASE_H
