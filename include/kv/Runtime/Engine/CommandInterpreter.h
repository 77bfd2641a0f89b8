//===- CommandInterpreter.h - Runs a command log ----------------*- C++ -*-===//
//
// Executes the commands of a log on an engine, for tests, fuzzing and bug
// reports. The interpreter keeps the open sequences and their prompts, as a
// manager does.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_ENGINE_COMMANDINTERPRETER_H
#define KV_RUNTIME_ENGINE_COMMANDINTERPRETER_H

#include "kv/Runtime/Engine/CacheEngine.h"

#include <optional>
#include <string>
#include <vector>

namespace kv {

class CommandInterpreter {
public:
  /// `engine` outlives the interpreter; `maxSequences` is the engine's.
  CommandInterpreter(CacheEngine &engine, int32_t maxSequences);

  /// The outcome of a command. An error of the engine is an outcome
  /// (`refused`).
  struct Outcome {
    std::optional<CacheEngine::Plan> plan = {}; // of Reserve
    CacheEngine::Step step = {};                // of BeginStep
    int32_t opened = -1;                        // slot; of Open and Fork
    std::optional<Error> refused = {};
  };

  /// Error: the command cannot be passed to the engine, because it names a
  /// sequence that is not open, more tokens than the prompt has, or a negative
  /// count of tokens.
  Expected<Outcome> execute(const Command &command);

  /// Executes the lines of a log, without empty ones and those that begin with
  /// #. Stops with the error of the first line that cannot be executed.
  Expected<void> run(std::string_view log);

  bool isOpen(int32_t slot) const {
    return slot >= 0 && slot < static_cast<int32_t>(slots.size()) &&
           slots[slot].sequence;
  }
  Sequence &sequence(int32_t slot) { return slots[slot].sequence; }
  const Sequence &sequence(int32_t slot) const { return slots[slot].sequence; }
  int64_t promptLength(int32_t slot) const {
    return static_cast<int64_t>(slots[slot].tokens.size());
  }
  /// The first `length` tokens of a sequence's prompt. Valid until the next
  /// command.
  Prompt prompt(int32_t slot, int64_t length) const {
    return {std::span(slots[slot].tokens).first(length), slots[slot].images};
  }
  Prompt prompt(int32_t slot) const { return prompt(slot, promptLength(slot)); }

private:
  struct SlotState {
    Sequence sequence;
    std::vector<int32_t> tokens;
    std::vector<ImageSpan> images;
    std::vector<std::string> hashes; // images[i].hash points into hashes[i]

    void cut(int64_t length);
    void pointToHashes(); // which may have moved
  };

  Outcome adopt(Expected<Sequence> opened, SlotState prompt);
  Outcome executeOnSequence(const Command &command, SlotState &slot);
  Expected<Outcome> executeOnEngine(const Command &command);

  CacheEngine &engine;
  std::vector<SlotState> slots;
};

} // namespace kv

#endif // KV_RUNTIME_ENGINE_COMMANDINTERPRETER_H
