//===- CommandLog.h - The calls that changed an engine ----------*- C++ -*-===//
//
// Every call that changes an engine is a command. The engine depends on no
// clock, thread or address, so the same commands and options give the same
// pages. A log is a bug report, a test, or the input of a second engine that
// follows the first.
//
// In the text form a line is a command; fields with their default are left out:
//
//   open 0 salt=6162 priority=3        strings in hexadecimal
//   tokens 0 5 6 7
//   reserve 0 a=4 b=4 prompt=3
//   begin
//   join 0 a=1
//   commit 0 a=3 prompt=3
//   complete a=1
//   fork 0 a=2 b=1
//   truncate 0 a=1
//   release 0
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_ENGINE_COMMANDLOG_H
#define KV_RUNTIME_ENGINE_COMMANDLOG_H

#include "kv/Runtime/Base/Error.h"
#include "kv/Runtime/Engine/Scope.h"
#include "kv/Runtime/Engine/Sequence.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kv {

struct Command {
  enum Kind : uint8_t {
    Open,         // scope, retention; sequence: the slot that it got
    SetRetention, // retention
    Tokens,       // tokens: appended to the sequence's prompt
    Image,        // a: begin, b: length, scope.salt: the hash
    Reserve,      // a: length, b: chunk, c: draft, prompt; d: 0: no reuse,
                  // 1: reuse, 1 + n: reuse of at most n pages
    Commit,       // a: processed, prompt
    Fork,         // a: tokens, b: the new sequence's slot, retention
    Truncate,     // a: tokens; the prompt is cut to this length
    Release,      //
    BeginStep,    // no sequence
    Join,         // a: ticket
    CompleteStep, // a: ticket; no sequence
    CompleteAll,  // no sequence
    Reset,        // no sequence
    Time,         // a: nanoseconds; no sequence
    KeepState     // a: tokens, b: whether prompts part there
  };
  Kind kind = Open;
  int32_t sequence = -1; // slot
  int64_t a = 0, b = 0, c = 0, d = 0;
  int64_t prompt = 0; // length of the prompt that was passed
  std::span<const int32_t> tokens = {};
  Scope scope = {};
  Retention retention = {};
};

class CommandSink {
public:
  virtual ~CommandSink() = default;
  /// Called for each valid call that changes the engine, and for every
  /// reserve(). `command` and its pointers are valid during this call only.
  virtual void command(const Command &command) = 0;
};

/// Writes commands as text, without the engine's options. Its string grows with
/// each command, so with a writer calls of the engine do allocate memory.
class CommandWriter : public CommandSink {
public:
  void command(const Command &command) override;
  const std::string &text() const { return written; }
  void clear() { written.clear(); }

private:
  std::string written;
};

/// A command that owns what it points to.
struct ParsedCommand {
  Command command;
  std::vector<int32_t> tokens;
  std::vector<std::string> strings;
};

/// One line of a log. Errors name what the line holds and what is allowed.
Expected<ParsedCommand> parseCommand(std::string_view line);

} // namespace kv

#endif // KV_RUNTIME_ENGINE_COMMANDLOG_H
