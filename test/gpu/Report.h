//===- Report.h - What gpu-verify found -------------------------*- C++ -*-===//

#ifndef KV_TEST_GPU_REPORT_H
#define KV_TEST_GPU_REPORT_H

#include "Gpu.h"

#include <optional>

namespace kv::cuda::test {

/// One test: passed, or why not.
struct Check {
  std::string name;
  bool passed;
  std::string message;
  double seconds;
};

/// One measurement: a median, and its ratio to a baseline where there is one.
struct Row {
  std::string name, metric, unit;
  double value;
  std::string baseline;
  std::optional<double> ratio, aim; // ratio >= aim is what a release must hold
};

struct Report {
  std::string commit;
  std::vector<Check> checks;
  std::vector<Row> rows;
  std::vector<std::string> left; // what was not looked at, and why

  bool passed() const;
  /// One table, for people.
  std::string table() const;
  /// The same for programs; `gpu` says on what.
  std::string json(const GpuFacts &gpu) const;
};

/// The middle one, or the mean of the middle two; 0 of nothing.
double median(std::vector<float> values);

/// `text` as JSON writes a string, in quotes.
std::string jsonString(std::string_view text);

} // namespace kv::cuda::test

#endif // KV_TEST_GPU_REPORT_H
