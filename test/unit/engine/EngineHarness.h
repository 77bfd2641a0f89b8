//===- EngineHarness.h - Engine, model and memory in step -------*- C++ -*-===//
//
// Words become commands that make sense where they stand; each is run on the
// engine and on the model, and everything is compared after it. Beside them is
// a memory that only steps and page operations write: what a sequence reads
// through its pages must be its own tokens. Shared by the state machine, the
// fuzzer and the replay of logs.
//
//===----------------------------------------------------------------------===//

#ifndef KV_TEST_UNIT_ENGINE_ENGINEHARNESS_H
#define KV_TEST_UNIT_ENGINE_ENGINEHARNESS_H

#include "EngineModel.h"

#include "kv/Runtime/Engine/CommandInterpreter.h"
#include "runtime/engine/CacheEngineImpl.h"
#include "runtime/engine/structures/LookupTable.h"

#include <bitset>
#include <memory>
#include <random>

namespace kv::test {

/// Small pools of all kinds: the options that a word stands for.
CacheEngine::Options optionsOf(uint32_t word);

class EngineHarness {
public:
  /// `shuffle` seeds the order in which the operations of a step are run.
  EngineHarness(const CacheEngine::Options &options, uint64_t shuffle = 1);

  /// One word: one command or a few. Returns the first contradiction, or an
  /// empty string.
  std::string step(uint32_t word);
  std::string execute(const Command &command);

  /// Hears the commands that are executed.
  void setRecorder(CommandSink *sink) { recorder = sink; }

  /// Reports every open step as complete, one after the other.
  std::string completeEach();

  int64_t numCommands() const { return commands; }
  CacheEngineImpl &engine() { return *made; }
  CommandInterpreter &caller() { return interpreter; }

  /// All that an attention kernel is given, for every open sequence: lengths
  /// and the rows of each group's table.
  std::string runtimeInputs();

  /// What the run has met, so that a run that meets nothing is seen.
  struct Coverage {
    int64_t hits = 0, revived = 0, evictions = 0, copies = 0, twins = 0;
    int64_t refused[4] = {}, forks = 0, truncations = 0, resets = 0;
    int64_t deferred = 0, passed = 0, accesses = 0;
    int64_t ended = 0; // priorities of cached pages
  } coverage;

private:
  int32_t pick(uint32_t word) const; // an open sequence, or -1
  Retention retentionOf(uint32_t word) const;
  std::string append(int32_t slot, uint32_t count, uint32_t word);
  std::string reserve(int32_t slot, uint32_t word);
  std::string compute(int32_t slot, uint32_t word);
  std::string openSequence(uint32_t word);
  std::string wholeRequest(int32_t slot, uint32_t word);
  std::string beginStep(uint32_t members);
  std::string completeStep(uint32_t which);
  void applyOpen(const Command &command, int32_t opened);
  std::string applyReserve(const Command &command,
                           const CacheEngine::Plan &plan);
  std::string applyJoin(const Command &command,
                        const CommandInterpreter::Outcome &outcome);
  std::string apply(const Command &command,
                    const CommandInterpreter::Outcome &outcome);
  std::string runStep(const CacheEngine::Step &step);
  std::string compare();
  int64_t nullPages(int32_t slot) const;
  int64_t workBefore(const Command &command) const;
  std::string readBack(int32_t slot) const;
  uint64_t fingerprint() const;
  int32_t value(const Prompt &prompt, int64_t position, int32_t group) const;
  int64_t outsideImages(int32_t slot, int64_t tokens) const;

  CacheEngine::Options options;
  std::unique_ptr<CacheEngineImpl> made;
  CommandInterpreter interpreter;
  EngineModel model;
  std::mt19937_64 random;
  int64_t commands = 0;
  CommandSink *recorder = nullptr;

  using PageSet = std::bitset<256>;
  std::vector<int32_t> memory;        // [page][position]
  std::vector<int64_t> computed;      // by slot: positions with known tokens
  std::vector<PageId> engineId;       // by the model's page
  std::vector<int64_t> born;          // likewise, when that was found
  std::vector<int> owner;             // by the engine's page
  std::map<Ticket, PageSet> inFlight; // pages of open steps
  std::vector<std::vector<PageId>> tables; // by group, as devices have them
  std::vector<LookupTable> lookups;
};

} // namespace kv::test

#endif // KV_TEST_UNIT_ENGINE_ENGINEHARNESS_H
