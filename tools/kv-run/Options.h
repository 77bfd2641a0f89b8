//===- Options.h - The command line of kv-run -------------------*- C++ -*-===//

#ifndef KV_TOOLS_KVRUN_OPTIONS_H
#define KV_TOOLS_KVRUN_OPTIONS_H

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace kv::run {

/// docs/requests.md, section Options.
struct Options {
  std::string artifact;
  std::string weights;
  std::string requests; // empty: standard input
  bool mapWeights = false;
  unsigned threads = 0;             // 0: one a core
  std::string device;               // empty: cpu
  std::vector<std::string> devices; // one a rank of this machine
  bool deterministic = false;
  bool graphs = true;
  std::optional<int64_t> pages;
  std::optional<int64_t> cacheBytes;
  std::optional<int64_t> pageSize;
  int32_t replicas = 1;
  int32_t maxBatch = 16;
  int64_t maxBatchTokens = 512;
  int64_t snapshots = -1; // StepLimits::snapshots
  bool prefixCache = true;
  std::optional<int64_t> hostPages; // nullopt: none, or what a disk needs
  std::string diskDirectory;        // empty: no disk
  int64_t diskBytes = int64_t(8) << 30;
  std::string store;      // that machines share; empty: none
  std::string role;       // "prefill", "decode"; empty: neither
  std::string peer;       // endpoint
  std::string dumpLogits; // empty: none
  bool stream = true;
  std::string events; // endpoints; empty: none
  std::string eventsReplay, eventsTopic;
  bool eventsAsMaps = false, eventsTiers = false;
  std::string metrics;     // HOST:PORT; empty: none
  std::string metricsVllm; // the model's name there; empty: our names only
  std::string resetEndpoint;
  double rankTimeout = 4; // seconds
};

/// The options, or the exit code when there is nothing to run: help and
/// version have been printed, or what is wrong has.
std::variant<Options, int> parseCommandLine(int argc, char **argv);

} // namespace kv::run

#endif // KV_TOOLS_KVRUN_OPTIONS_H
