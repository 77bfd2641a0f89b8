//===- Options.h - The command line of kv-run -------------------*- C++ -*-===//

#ifndef KV_TOOLS_KVRUN_OPTIONS_H
#define KV_TOOLS_KVRUN_OPTIONS_H

#include "kv/Runtime/Manager/ManagerSetup.h"
#include "kv/Runtime/Serving/Scheduler.h"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace kv::run {

/// docs/reference/requests.md, section Options, and docs/reference/options.md.
struct Options {
  std::string artifact;
  std::string weights;
  std::string requests; // empty: standard input
  std::string draft;    // folder of a model that guesses; empty: none
  bool mapWeights = false;
  unsigned threads = 0;             // 0: one a core
  std::string device;               // empty: cpu
  std::vector<std::string> devices; // one a rank of this machine
  bool deterministic = false;
  bool graphs = true;
  ManagerSetup setup; // of numPages and availableCacheMemory what was given
  Scheduler::Options steps;
  std::optional<int64_t> pageSize;
  int32_t replicas = 1;
  bool prefixCache = true;
  std::optional<int64_t> hostPages; // nullopt: none, or what a disk needs
  std::string dumpLogits;           // empty: none
  bool stream = true;
  double rankTimeout = 4; // seconds

  /// A given flag that asks for pages outside the devices; null: there is none.
  const char *tierFlag() const;
};

/// The options, or the exit code when there is nothing to run: help and
/// version have been printed, or what is wrong has.
std::variant<Options, int> parseCommandLine(int argc, char **argv);

} // namespace kv::run

#endif // KV_TOOLS_KVRUN_OPTIONS_H
