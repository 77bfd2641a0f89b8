//===- Options.cpp - The command line of kv-route -------------------------===//

#include "Options.h"

#include "tools/CommandLine.h"

#include <algorithm>
#include <iostream>

using namespace kv::route;

/// NAME=EVENTS,REPLAY
static bool readMachine(const std::string &text, Machine &machine) {
  size_t equals = text.find('='), comma = text.find(',', equals);
  if (equals == std::string::npos || equals == 0 || comma == std::string::npos)
    return false;
  machine = {text.substr(0, equals),
             text.substr(equals + 1, comma - equals - 1),
             text.substr(comma + 1)};
  return !machine.events.empty() && !machine.replay.empty();
}

std::variant<Options, int> kv::route::parseCommandLine(int argc, char **argv) {
  Options options;
  CLI::App app("Says to which machine a request goes: where most of its prefix "
               "is cached, as machines tell by their events, and least is to "
               "be done. One JSON object a line, in and out.",
               "kv-route");
  app.set_version_flag("--version", "kv-route " KV_VERSION);
  std::vector<std::string> machines;
  app.add_option("--machine", machines,
                 "NAME=EVENTS,REPLAY: the endpoints that the machine has given "
                 "--events and --events-replay; again for each machine")
      ->required()
      ->take_all();
  app.add_option("--page-size", options.pageSize, "tokens; the machines'")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  app.add_option("--topic", options.topic, "of the machines' events");
  app.add_option("--patience", options.patience,
                 "milliseconds after which a machine that does not answer is "
                 "sent nothing")
      ->check(CLI::Range(1, 3'600'000))
      ->capture_default_str();
  app.add_option("--tier-percent", options.tierPercent,
                 "what a page that is loaded from a machine's host memory or "
                 "disk counts, of one that its device has; machines tell of "
                 "them with --events-tiers")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  if (std::optional<int> status = parseOptions(app, argc, argv))
    return *status;
  for (const std::string &text : machines) {
    if (!readMachine(text, options.machines.emplace_back())) {
      std::cerr << "kv-route: error: --machine is " << text
                << ", allowed: NAME=EVENTS,REPLAY\n";
      return 2;
    }
    auto isNamed = [&](const Machine &machine) {
      return machine.name == options.machines.back().name;
    };
    if (std::ranges::count_if(options.machines, isNamed) > 1) {
      std::cerr << "kv-route: error: --machine is " << text
                << ", and another one has its name\n";
      return 2;
    }
  }
  return options;
}
