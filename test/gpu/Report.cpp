//===- Report.cpp - What gpu-verify found ---------------------------------===//

#include "Report.h"

#include <algorithm>
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
    } else if (c < 0x20) {
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
  char text[32];
  std::snprintf(text, sizeof(text), "%.6g", value);
  return text;
}

bool Report::passed() const {
  return !checks.empty() &&
         std::all_of(checks.begin(), checks.end(),
                     [](const Check &c) { return c.passed; });
}

std::string Report::table() const {
  std::string text;
  auto line = [&](const std::string &name, const std::string &value,
                  const std::string &more) {
    char buffer[256];
    std::snprintf(buffer, sizeof(buffer), "%-52s %14s  ", name.c_str(),
                  value.c_str());
    text += buffer + more + '\n';
  };
  for (const Check &check : checks)
    line(check.name, check.passed ? "passed" : "FAILED", check.message);
  for (const Row &row : rows) {
    std::string more = row.metric;
    if (row.ratio)
      more += ", " + number(*row.ratio) + " of " + row.baseline;
    if (row.ratio && row.aim)
      more += *row.ratio >= *row.aim ? ", aim " + number(*row.aim) + " met"
                                     : ", aim " + number(*row.aim) + " MISSED";
    line(row.name, number(row.value) + " " + row.unit, more);
  }
  for (const std::string &reason : left)
    line("left out", "", reason);
  return text;
}

std::string Report::json(const GpuFacts &gpu) const {
  std::string text =
      "{\n  \"commit\": " + jsonString(commit) +
      ",\n  \"device\": " + jsonString(gpu.name) +
      ",\n  \"compute_capability\": \"" + std::to_string(gpu.major) + "." +
      std::to_string(gpu.minor) + "\"" +
      ",\n  \"multiprocessors\": " + std::to_string(gpu.multiprocessors) +
      ",\n  \"memory_bytes\": " + std::to_string(gpu.memoryBytes) +
      ",\n  \"l2_bytes\": " + std::to_string(gpu.l2Bytes) +
      ",\n  \"driver\": " + std::to_string(gpu.driverVersion) +
      ",\n  \"passed\": " + (passed() ? "true" : "false");
  auto list = [&](const char *name, const auto &items, auto item) {
    text += std::string(",\n  \"") + name + "\": [";
    for (size_t i = 0; i < items.size(); ++i)
      text += (i ? ",\n    " : "\n    ") + item(items[i]);
    text += "]";
  };
  list("checks", checks, [](const Check &c) {
    return "{\"name\": " + jsonString(c.name) +
           ", \"passed\": " + (c.passed ? "true" : "false") +
           ", \"message\": " + jsonString(c.message) +
           ", \"seconds\": " + number(c.seconds) + "}";
  });
  list("rows", rows, [](const Row &r) {
    std::string row = "{\"case\": " + jsonString(r.name) +
                      ", \"metric\": " + jsonString(r.metric) +
                      ", \"value\": " + number(r.value) +
                      ", \"unit\": " + jsonString(r.unit) +
                      ", \"baseline\": " + jsonString(r.baseline);
    row += ", \"ratio\": " + (r.ratio ? number(*r.ratio) : "null");
    row += ", \"aim\": " + (r.aim ? number(*r.aim) : "null");
    row += std::string(", \"met\": ") + (!r.ratio || !r.aim   ? "null"
                                         : *r.ratio >= *r.aim ? "true"
                                                              : "false");
    return row + "}";
  });
  list("left", left,
       [](const std::string &reason) { return jsonString(reason); });
  return text + "\n}\n";
}
