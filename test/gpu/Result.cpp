//===- Result.cpp - What a row of gpu-verify found ------------------------===//

#include "Result.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace kv::cuda::test;

double kv::cuda::test::median(std::vector<float> values) {
  if (values.empty())
    return 0;
  std::sort(values.begin(), values.end());
  size_t middle = values.size() / 2;
  return values.size() % 2 ? values[middle]
                           : (double(values[middle - 1]) + values[middle]) / 2;
}

std::string kv::cuda::test::jsonString(std::string_view text) {
  std::string result = "\"";
  for (unsigned char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += char(c);
    } else if (c < 0x20 || c >= 0x7f) {
      char escape[8];
      std::snprintf(escape, sizeof(escape), "\\u%04x", c);
      result += escape;
    } else {
      result += char(c);
    }
  }
  return result + '"';
}

static std::string number(double value) {
  if (!std::isfinite(value))
    return "0"; // JSON has no other numbers
  char text[32];
  std::snprintf(text, sizeof(text), "%.6g", value);
  return text;
}

static std::string json(const Measurement &m) {
  constexpr const char *Names[] = {"", "read ceiling", "copy ceiling",
                                   "multiply ceiling"};
  return "{\"metric\": " + jsonString(m.metric) +
         ", \"unit\": " + jsonString(m.unit) +
         ", \"value\": " + number(m.value) +
         ", \"baseline\": " + jsonString(Names[int(m.baseline)]) +
         ", \"aim\": " + (m.aim ? number(*m.aim) : "null") + "}";
}

std::string kv::cuda::test::json(const Result &result) {
  std::string text =
      std::string("{\"passed\": ") + (result.passed ? "true" : "false") +
      ", \"message\": " + jsonString(result.message) + ", \"measurements\": [";
  for (size_t i = 0; i < result.measurements.size(); ++i)
    text += (i ? ", " : "") + ::json(result.measurements[i]);
  return text + "]}";
}
