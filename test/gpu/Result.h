//===- Result.h - What a row of gpu-verify found ----------------*- C++ -*-===//

#ifndef KV_TEST_GPU_RESULT_H
#define KV_TEST_GPU_RESULT_H

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kv::cuda::test {

/// What a measurement is held against.
enum class Baseline { None, ReadCeiling, CopyCeiling, MultiplyCeiling };

struct Measurement {
  std::string metric, unit; // "time", "us"
  double value;
  Baseline baseline = Baseline::None;
  std::optional<double> aim = {}; // of value / baseline
};

/// One row: passed, or why not; and what was measured. A passed row may have a
/// note: a fact that is neither right nor wrong.
struct Result {
  bool passed = true;
  std::string message;
  std::vector<Measurement> measurements = {};

  static Result failed(std::string why) { return {false, std::move(why)}; }
};

/// A JSON object: passed, message, measurements.
std::string json(const Result &result);

/// `text` as JSON writes a string, in quotes.
std::string jsonString(std::string_view text);

/// The middle one, or the mean of the middle two; 0 of nothing.
double median(std::vector<float> values);

} // namespace kv::cuda::test

#endif // KV_TEST_GPU_RESULT_H
