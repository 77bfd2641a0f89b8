//===- EngineFuzz.cpp - The engine under libFuzzer ------------------------===//
//
// An input is 32-bit words, as the state machine's tests make them: the options
// first, then commands. A contradiction prints the log that replays it.
//
//===----------------------------------------------------------------------===//

#include "test/unit/engine/EngineHarness.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace kv;
using namespace kv::test;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto word = [&](size_t at) {
    uint32_t value;
    std::memcpy(&value, data + at * sizeof(value), sizeof(value));
    return value;
  };
  size_t words = size / sizeof(uint32_t);
  if (words < 2)
    return 0;
  EngineHarness harness(optionsOf(word(0)));
  CommandWriter log;
  harness.setRecorder(&log);
  for (size_t at = 1; at < words; ++at)
    if (std::string fault = harness.step(word(at)); !fault.empty()) {
      std::fprintf(stderr, "options %u:\n%s%s\n", word(0), log.text().c_str(),
                   fault.c_str());
      std::abort();
    }
  return 0;
}
