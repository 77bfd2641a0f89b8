//===- trace.h - Requests in Mooncake's format ------------------*- C++ -*-===//

#ifndef KV_BENCHMARKS_PROGRAMS_TRACE_H
#define KV_BENCHMARKS_PROGRAMS_TRACE_H

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

namespace kv::benchmark {

inline constexpr int32_t BlockTokens = 512;

/// Of this thread alone: other work on the machine is not counted.
inline double cpuSeconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) +
         1e-9 * static_cast<double>(now.tv_nsec);
}

struct Request {
  int64_t length;
  std::vector<int32_t> blocks;
};

/// Reads the two fields; the format has no nesting.
inline std::vector<Request> readTrace(const char *path) {
  std::ifstream file(path);
  std::vector<Request> requests;
  for (std::string line; std::getline(file, line);) {
    const char *length = std::strstr(line.c_str(), "\"input_length\":");
    const char *ids = std::strstr(line.c_str(), "\"hash_ids\":");
    if (!length || !ids)
      continue;
    Request request = {std::atoll(length + 15), {}};
    ids = std::strchr(ids, '[');
    while (ids && *ids != ']' && ids[1] != ']') {
      char *end;
      request.blocks.push_back(
          static_cast<int32_t>(std::strtol(ids + 1, &end, 10)));
      ids = end;
    }
    requests.push_back(std::move(request));
  }
  return requests;
}

} // namespace kv::benchmark

#endif // KV_BENCHMARKS_PROGRAMS_TRACE_H
