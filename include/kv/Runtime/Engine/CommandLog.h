//===- CommandLog.h - What was asked of an engine, in order -----*- C++ -*-===//
//
// Every call that changes an engine is a command. The engine never looks at a
// clock, a thread or an address, so the same commands on an engine of the same
// options give the same pages: a log is a bug report, a test, and what a second
// engine follows. Events are an output, not the log.
//
// As text, one command a line:
//
//   engine pages=9 pageSize=2 groups=full,window:4 ...
//   open 0 adapter=61 salt=
//   tokens 0 5 6 7
//   reserve 0 prompt=3 length=4 chunk=4 draft=0 reuse=1
//   begin time=0
//   join 0 step=1
//   commit 0 prompt=3 processed=3
//   complete step=1
//   fork 0 into=1 tokens=2
//   truncate 0 tokens=1
//   release 0
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_ENGINE_COMMANDLOG_H
#define KV_RUNTIME_ENGINE_COMMANDLOG_H

#include "kv/Runtime/Engine/Scope.h"
#include "kv/Runtime/Engine/Sequence.h"

#include <cstdint>
#include <span>
#include <string>

namespace kv {

struct Command {
  enum Kind : uint8_t {
    Open,         // scope, retention; sequence: the slot that it got
    SetRetention, // retention
    Tokens,       // tokens: appended to the sequence's prompt
    Image,        // a: begin, b: length, scope.salt: the hash
    Reserve,      // a: length, b: chunk, c: draft, d: reuse, prompt
    Commit,       // a: processed, prompt
    Fork,         // a: tokens, b: the slot that the new one got, retention
    Truncate,     // a: tokens, and so long is the prompt from now on
    Release,      //
    BeginStep,    // a: time; no sequence
    Join,         // a: step
    CompleteStep, // a: step; no sequence
    CompleteAll,  // no sequence
    Reset         // no sequence
  };
  Kind kind = Open;
  int32_t sequence = -1; // slot
  int64_t a = 0, b = 0, c = 0, d = 0;
  int64_t prompt = 0; // tokens of the prompt that were passed
  std::span<const int32_t> tokens = {};
  Scope scope = {};
  Retention retention = {};
};

class CommandSink {
public:
  virtual ~CommandSink() = default;
  /// What the command points to ends with the call.
  virtual void command(const Command &command) = 0;
};

} // namespace kv

#endif // KV_RUNTIME_ENGINE_COMMANDLOG_H
