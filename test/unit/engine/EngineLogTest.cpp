//===- EngineLogTest.cpp - Replay, determinism, failing memory ------------===//

#include "EngineFixture.h"
#include "EngineHarness.h"

#include <cstdlib>
#include <new>

using namespace kv;
using namespace kv::test;

//===----------------------------------------------------------------------===//
// Memory that runs out
//===----------------------------------------------------------------------===//

namespace {

int64_t allocationsLeft = -1; // until one fails; negative: none does
int64_t allocations = 0;

void *take(size_t bytes, size_t alignment) {
  ++allocations;
  if (allocationsLeft >= 0 && allocationsLeft-- == 0)
    return nullptr;
  return alignment > alignof(std::max_align_t)
             ? std::aligned_alloc(alignment, (bytes + alignment - 1) /
                                                 alignment * alignment)
             : std::malloc(bytes);
}

void *takeOrThrow(size_t bytes) {
  if (void *memory = take(bytes, 1))
    return memory;
  throw std::bad_alloc();
}

} // namespace

void *operator new(size_t bytes) { return takeOrThrow(bytes); }
void *operator new[](size_t bytes) { return takeOrThrow(bytes); }
void *operator new(size_t bytes, const std::nothrow_t &) noexcept {
  return take(bytes, 1);
}
void *operator new(size_t bytes, std::align_val_t alignment,
                   const std::nothrow_t &) noexcept {
  return take(bytes, size_t(alignment));
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete[](void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
void operator delete[](void *memory, size_t) noexcept { std::free(memory); }
void operator delete(void *memory, std::align_val_t) noexcept {
  std::free(memory);
}

TEST(EngineMemory, EveryAllocationOfConstructionCanFail) {
  CacheEngine::Options options = {
      .numPages = 64,
      .pageSize = 4,
      .groups = {CacheGroup::full(), CacheGroup::slidingWindow(9)}};
  int64_t before = allocations;
  make(options);
  int64_t needed = allocations - before;
  EXPECT_GT(needed, 10);
  int64_t failed = 0;
  for (int64_t nth = 0; nth < needed; ++nth) {
    allocationsLeft = nth;
    auto made = CacheEngine::create(options);
    allocationsLeft = -1;
    failed += !made;
    EXPECT_EQ(text(made), "cache engine: no memory for the bookkeeping of 64 "
                          "pages and 16 sequences");
  }
  EXPECT_EQ(failed, needed);
}

TEST(EngineMemory, NothingIsAllocatedAfterConstruction) {
  auto engine =
      make({.numPages = 32,
            .pageSize = 2,
            .groups = {CacheGroup::full(), CacheGroup::slidingWindow(5)}});
  Tokens tokens = iota(21), others = iota(40, 100);
  int64_t before = allocations;
  for (int round = 0; round < 10; ++round) {
    Sequence a = open(*engine, {.salt = "tenant"});
    engine->reserve(a, tokens, {.length = 20});
    CacheEngine::Step step = begin(*engine);
    engine->join(a, step.ticket);
    commit(*engine, a, tokens, 19);
    Sequence b = std::move(*engine->fork(a, 19));
    engine->reserve(b, tokens, {.length = 21});
    engine->truncate(a, 18);
    a.release();
    engine->completeStep(step.ticket);
    begin(*engine); // for b's copy
    engine->completeAllSteps();
    b.release();
    Sequence c = open(*engine);
    engine->reserve(c, others, {.length = 30}); // evicts, or is refused
    if (round == 5)
      engine->resetPrefixes();
  }
  EXPECT_EQ(allocations, before);
  EXPECT_GT(engine->metrics().evictedPages, 0);
  EXPECT_EQ(engine->check(), "");
}

//===----------------------------------------------------------------------===//
// Logs
//===----------------------------------------------------------------------===//

namespace {

/// A log of some length, by way of the state machine's words.
std::string record(uint32_t options, uint64_t seed, int words, bool byEngine) {
  CommandWriter writer;
  CacheEngine::Options wanted = optionsOf(options);
  wanted.maxOpenSteps = 8;
  wanted.log = byEngine ? &writer : nullptr;
  EngineHarness harness(wanted);
  harness.setRecorder(byEngine ? nullptr : &writer);
  std::mt19937 random(seed);
  for (int i = 0; i < words; ++i) {
    std::string fault = harness.step(random());
    if (fault.empty() && i % 20 == 19)
      fault = harness.completeEach();
    EXPECT_EQ(fault, "");
  }
  return writer.text();
}

std::vector<ParsedCommand> parse(std::string_view log) {
  std::vector<ParsedCommand> commands;
  while (!log.empty()) {
    std::string_view line = log.substr(0, log.find('\n'));
    log.remove_prefix(line.size() + 1);
    auto parsed = parseCommand(line);
    EXPECT_TRUE(parsed) << parsed.error().message;
    commands.push_back(std::move(*parsed));
    commands.back().command.tokens = commands.back().tokens;
  }
  return commands;
}

} // namespace

TEST(EngineLog, AReplayWritesTheSameLog) {
  for (uint32_t options = 0; options < 40; ++options) {
    std::string log = record(options * 7919, options, 300, true);
    CommandWriter writer;
    CacheEngine::Options wanted = optionsOf(options * 7919);
    wanted.maxOpenSteps = 8;
    wanted.log = &writer;
    auto engine = make(wanted);
    {
      CommandInterpreter interpreter(*engine, wanted.maxSequences);
      EXPECT_EQ(text(interpreter.run(log)), "no error");
      EXPECT_EQ(engine->check(), "");
      EXPECT_EQ(writer.text(), log) << options;
    }
  }
}

TEST(EngineLog, NumbersThatNoPromptHas) {
  auto engine = make({.numPages = 4, .pageSize = 2});
  CommandInterpreter interpreter(*engine, 16);
  ASSERT_EQ(text(interpreter.run("open 0\ntokens 0 1 2 3")), "no error");
  auto verdict = [&](std::string_view line) {
    auto parsed = parseCommand(line);
    auto done = interpreter.execute(parsed->command);
    EXPECT_TRUE(done) << text(done);
    return done->plan->verdict;
  };
  EXPECT_EQ(verdict("reserve 0 a=3 b=3 prompt=3"), CacheEngine::Verdict::Fits);
  for (std::string_view line :
       {"reserve 0 a=9223372036854775807 b=9223372036854775807 c=1 prompt=3",
        "reserve 0 a=1 b=1 c=9223372036854775807 prompt=3"})
    EXPECT_EQ(verdict(line), CacheEngine::Verdict::Never) << line;
  for (std::string_view line :
       {"reserve 0 a=-1", "reserve 0 b=-1", "reserve 0 c=-1", "image 0 a=-1",
        "image 0 b=-1"})
    EXPECT_EQ(text(interpreter.run(line)),
              "command log: -1 tokens of sequence 0, allowed: 0 or more");
  EXPECT_EQ(engine->check(), "");
}

/// The device runs a step's operations in any order, and reports steps in any
/// order between two calls: what a kernel is given is the same, byte for byte.
TEST(EngineLog, CompletionsInAnyOrderGiveTheSameInputs) {
  int64_t copies = 0, reordered = 0;
  for (uint32_t options : {0u, 120u, 45678u, 3u * 8 * 5}) {
    std::string log = record(options, options + 1, 1500, false);
    std::vector<ParsedCommand> commands = parse(log);
    std::vector<std::string> expected;
    for (uint64_t shuffle = 0; shuffle < 100; ++shuffle) {
      std::mt19937_64 random(shuffle);
      std::vector<const Command *> order;
      for (const ParsedCommand &parsed : commands)
        order.push_back(&parsed.command);
      // Runs of completions with nothing between them.
      for (size_t at = 0; shuffle > 0 && at < order.size();) {
        size_t end = at;
        while (end < order.size() && order[end]->kind == Command::CompleteStep)
          ++end;
        std::shuffle(order.begin() + at, order.begin() + end, random);
        reordered += end > at + 1;
        at = std::max(end, at + 1);
      }
      CacheEngine::Options wanted = optionsOf(options);
      wanted.maxOpenSteps = 8;
      EngineHarness harness(wanted, shuffle);
      std::vector<std::string> inputs;
      for (const Command *command : order) {
        ASSERT_EQ(harness.execute(*command), "");
        if (command->kind == Command::BeginStep)
          inputs.push_back(harness.runtimeInputs());
      }
      copies += harness.coverage.copies;
      if (shuffle == 0)
        expected = inputs;
      ASSERT_EQ(inputs, expected) << "shuffle " << shuffle;
      for (const std::string &input : inputs)
        ASSERT_EQ(input.find("a table is not"), std::string::npos);
    }
  }
  EXPECT_GT(copies, 1000);
  EXPECT_GT(reordered, 1000);
}

TEST(EngineLog, Errors) {
  auto parse = [](std::string_view line) { return text(parseCommand(line)); };
  EXPECT_EQ(parse("begin a=5"), "no error");
  EXPECT_EQ(parse("dance 1"), "command log: dance is not a command");
  EXPECT_EQ(parse("open x"), "command log: x is not a field of open");
  EXPECT_EQ(parse("open 0 salt=6"),
            "command log: salt=6 is not a field of open");
  EXPECT_EQ(parse("open 0 salt=6x"),
            "command log: salt=6x is not a field of open");
  EXPECT_EQ(parse("open 0 priority=300"),
            "command log: priority=300 is not a field of open");
  EXPECT_EQ(parse("release 0 1"), "command log: 1 is not a field of release");
  EXPECT_EQ(parse("tokens 0 99999999999"),
            "command log: 99999999999 is not a field of tokens");

  auto engine = make({.numPages = 4, .pageSize = 2});
  CommandInterpreter interpreter(*engine, 16);
  auto run = [&](std::string_view log) { return text(interpreter.run(log)); };
  EXPECT_EQ(run("# a comment\n\nopen 0\n"), "no error");
  EXPECT_EQ(run("release 7"), "command log: sequence 7 is not open");
  EXPECT_EQ(run("reserve 0 a=4 prompt=3"),
            "command log: 3 tokens of a prompt of 0");
  // What the engine refuses is an answer: the log goes on.
  EXPECT_EQ(run("commit 0 a=9\ncomplete a=4\ntokens 0 1 2 3"), "no error");
}
