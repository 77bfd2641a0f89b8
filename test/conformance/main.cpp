//===- main.cpp - Runs conformance files ----------------------------------===//

#include "Scenario.h"

#include <cstdio>
#include <fstream>
#include <string_view>

using namespace kv::conformance;

int main(int argc, char **argv) {
  // Says behind each file which functions of the C interface it calls.
  bool listsCalls = argc > 1 && std::string_view(argv[1]) == "--calls";
  int first = listsCalls ? 2 : 1;
  if (argc <= first) {
    std::fprintf(stderr, "usage: kv-conformance [--calls] FILE.json...\n");
    return 2;
  }
  int failed = 0;
  for (int i = first; i < argc; ++i) {
    std::ifstream input(argv[i]);
    json file = json::parse(input, nullptr, /*allow_exceptions=*/false);
    if (!file.is_object()) {
      std::fprintf(stderr, "%s: not a JSON object\n", argv[i]);
      return 2;
    }
    try {
      Scenario scenario(file);
      scenario.run();
      for (const std::string &text : scenario.failures())
        std::fprintf(stderr, "%s: %s\n", argv[i], text.c_str());
      if (scenario.checks() == 0)
        std::fprintf(stderr, "%s: expects nothing\n", argv[i]);
      bool good = scenario.failures().empty() && scenario.checks() > 0;
      std::printf("%s: %s, %d checks\n", argv[i], good ? "passed" : "failed",
                  scenario.checks());
      if (listsCalls)
        for (const std::string &name : scenario.calls())
          std::printf("%s calls %s\n", argv[i], name.c_str());
      failed += !good;
    } catch (const std::exception &error) {
      std::fprintf(stderr, "%s: %s\n", argv[i], error.what());
      ++failed;
    }
  }
  return failed != 0;
}
