//===- EngineStateMachineTest.cpp - Random commands against the model -----===//
//
// KV_ENGINE_OPS sets how many commands are run (default 10^7); KV_ENGINE_SEED
// where they start. A failure is shrunk, and printed as a log that
// CommandInterpreter replays.
//
//===----------------------------------------------------------------------===//

#include "EngineHarness.h"
#include "test/Environment.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <iostream>
#include <sstream>

using namespace kv;
using namespace kv::test;

namespace {

using Words = std::vector<uint32_t>;

struct Played {
  std::string fault;
  int64_t commands;
  EngineHarness::Coverage coverage;
};

/// The first word is the options.
Played play(const Words &words, uint64_t shuffle = 1,
            CommandSink *log = nullptr) {
  CacheEngine::Options options = optionsOf(words.empty() ? 0 : words[0]);
  options.log = log;
  EngineHarness harness(options, shuffle);
  std::string fault;
  for (size_t at = 1; at < words.size() && fault.empty(); ++at)
    fault = harness.step(words[at]);
  return {fault, harness.numCommands(), harness.coverage};
}

void add(EngineHarness::Coverage &total, const EngineHarness::Coverage &more) {
  total.hits += more.hits;
  total.revived += more.revived;
  total.evictions += more.evictions;
  total.copies += more.copies;
  total.twins += more.twins;
  for (int i = 0; i < 4; ++i)
    total.refused[i] += more.refused[i];
  total.forks += more.forks;
  total.truncations += more.truncations;
  total.resets += more.resets;
  total.deferred += more.deferred;
  total.passed += more.passed;
  total.accesses += more.accesses;
  total.ended += more.ended;
}

} // namespace

TEST(EngineStateMachine, AgreesWithTheModel) {
  int64_t wanted = environment("KV_ENGINE_OPS", 10'000'000), commands = 0;
  uint64_t seed = environment("KV_ENGINE_SEED", 1);
  EngineHarness::Coverage total;
  auto property = [&] {
    auto word = rc::gen::resize(100, rc::gen::arbitrary<uint32_t>());
    Words words = *rc::gen::scale(10, rc::gen::container<Words>(word));
    Played done = play(words);
    commands += done.commands;
    add(total, done.coverage);
    if (!done.fault.empty()) {
      CommandWriter log;
      play(words, 1, &log);
      RC_LOG() << "options " << (words.empty() ? 0 : words[0]) << ":\n"
               << log.text();
      RC_FAIL(done.fault);
    }
  };
  for (; commands < wanted; ++seed) {
    rc::detail::TestParams params;
    params.seed = seed;
    params.maxSuccess = 100;
    rc::detail::TestResult result =
        rc::detail::checkTestable(property, rc::detail::TestMetadata(), params);
    if (!result.is<rc::detail::SuccessResult>()) {
      std::ostringstream text;
      rc::detail::printResultMessage(result, text);
      FAIL() << "seed " << seed << ": " << text.str();
    }
  }
  std::cout << commands << " commands: " << total.hits << " pages hit, "
            << total.revived << " revived, " << total.evictions << " evicted, "
            << total.copies << " copied, " << total.twins << " twins, "
            << total.passed << " passed by windows, " << total.ended
            << " priorities ended; refused: " << total.refused[1] << " wait, "
            << total.refused[2] << " full, " << total.refused[3] << " never; "
            << total.forks << " forks, " << total.truncations
            << " truncations, " << total.resets << " resets\n";
  // Nothing that matters is met too seldom to be tested.
  for (int64_t count :
       {total.hits, total.revived, total.evictions, total.copies, total.twins,
        total.passed, total.refused[1], total.refused[2], total.refused[3],
        total.forks, total.truncations, total.resets, total.deferred,
        total.accesses, total.ended})
    EXPECT_GT(count, commands / 2000);
}
