//===- Options.h - The command line of kv-route -----------------*- C++ -*-===//

#ifndef KV_TOOLS_KVROUTE_OPTIONS_H
#define KV_TOOLS_KVROUTE_OPTIONS_H

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace kv::route {

struct Machine {
  std::string name, events, replay; // endpoints
};

struct Options {
  std::vector<Machine> machines;
  int32_t pageSize = 16;
  std::string topic;
  int64_t patience = 1000; // milliseconds
  int64_t tierPercent = 75;
};

/// The options, or the exit status if there is nothing to do.
std::variant<Options, int> parseCommandLine(int argc, char **argv);

} // namespace kv::route

#endif // KV_TOOLS_KVROUTE_OPTIONS_H
