//===- CommandInterpreter.h - Runs a command log ----------------*- C++ -*-===//
//
// The caller of an engine as a log knows it: it keeps each sequence's prompt
// and does what the commands say, for tests, fuzzing and bug reports alike.
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
  /// For the sequences that `engine`, which outlives this, can have open.
  CommandInterpreter(CacheEngine &engine, int32_t maxSequences);

  /// What a command did. An engine's error is an answer, too.
  struct Outcome {
    std::optional<CacheEngine::Plan> plan = {}; // of Reserve
    CacheEngine::Step step = {};                // of BeginStep
    int32_t opened = -1;                        // slot, of Open and Fork
    std::optional<Error> refused = {};
  };

  /// Error: the command makes no sense where it stands, because it names a
  /// sequence that is not open, more of a prompt than there is, or less than no
  /// tokens. It was not passed on.
  Expected<Outcome> execute(const Command &command);

  /// Runs the lines of a log; empty ones and those that begin with # are
  /// passed over. Error: that of the first line that cannot be run.
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
  /// Its first `length` tokens. Valid until the next command.
  Prompt prompt(int32_t slot, int64_t length) const {
    return {std::span(slots[slot].tokens).first(length), slots[slot].images};
  }
  Prompt prompt(int32_t slot) const { return prompt(slot, promptLength(slot)); }

private:
  struct Slot {
    Sequence sequence;
    std::vector<int32_t> tokens;
    std::vector<ImageSpan> images;
    std::vector<std::string> hashes; // that the images point to

    void cut(int64_t length);
  };

  Expected<Outcome> adopt(Expected<Sequence> opened, Slot prompt);

  CacheEngine &engine;
  std::vector<Slot> slots;
};

} // namespace kv

#endif // KV_RUNTIME_ENGINE_COMMANDINTERPRETER_H
