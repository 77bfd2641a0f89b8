//===- RespConnection.h - Commands and replies in time ----------*- C++ -*-===//
//
// One connection to a Redis or Valkey server. hiredis writes and reads the
// protocol, except the length of a text: long texts are read to their place
// without a copy. This class decides when bytes move, so that a call ends in
// time, whatever a server does.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_TIERS_RESPCONNECTION_H
#define KV_RUNTIME_TIERS_RESPCONNECTION_H

#include "StoreCalls.h"

#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

namespace kv {

/// Commands that are sent together.
class RespCommands {
public:
  void add(std::span<const std::string_view> arguments);
  void add(std::initializer_list<std::string_view> arguments) {
    add(std::span(arguments.begin(), arguments.size()));
  }
  size_t size() const { return count; }

private:
  friend class RespConnection;
  struct Free {
    void operator()(char *text) const { redisFreeCommand(text); }
  };
  struct TextPart {
    std::unique_ptr<char, Free> large;
    size_t bytes = 0;  // of `large`
    std::string small; // instead: several commands
    std::string_view view() const {
      return large ? std::string_view(large.get(), bytes) : small;
    }
  };

  std::vector<TextPart> parts;
  size_t count = 0;
};

struct RespReply {
  enum class Kind : uint8_t { Text, Number, Nil, Status, Error };
  Kind kind = Kind::Nil;
  long long number = 0;
  std::string_view text; // valid during the call that it is given to
  bool isPlaced = false; // the text is where LongTexts wanted it
};

/// Where long texts go.
class LongTexts {
public:
  struct TextPlace {
    std::span<std::byte> head, body; // the text: first one, then the other
    size_t size() const { return head.size() + body.size(); }
  };
  virtual ~LongTexts() = default;
  /// For the text that is the reply to a command; empty: the reply has it.
  virtual TextPlace place(size_t command, size_t bytes) = 0;
  /// A part of its body is there: next to the one before, and in the CPU's
  /// caches.
  virtual void arrived(std::span<std::byte> part) = 0;
};

class RespConnection {
public:
  enum class Outcome {
    Done,
    Refused, // the server does not let us in
    Closed,  // by the server, or it cannot be reached
    Late,
    Broken // the server has sent an unexpected reply
  };
  using Clock = std::chrono::steady_clock;
  /// Gets the replies to the commands, in their order.
  using OnReply = std::function<void(size_t command, const RespReply &)>;

  RespConnection(StoreCalls &calls, const StoreAddress &address)
      : calls(calls), address(address) {}
  ~RespConnection() { close(); }
  RespConnection(const RespConnection &) = delete;

  bool isOpen() const { return context != nullptr; }
  void close();

  /// Sends all commands, and reads as many replies, of at most `mostBytes`
  /// each. Connects before if it has to. If it is not Done, the connection is
  /// closed, and of some commands there may have been no reply, though a part
  /// of its text may have been placed.
  Outcome exchange(const RespCommands &commands, size_t mostBytes,
                   const OnReply &onReply, Clock::time_point deadline,
                   LongTexts *texts = nullptr);

private:
  Outcome open(Clock::time_point deadline);
  Outcome move(const RespCommands &commands, Clock::time_point deadline);
  /// Reads what is there, but no more than a piece. As read() has it.
  ssize_t readSome(size_t &wanted);
  void takePlaced(size_t bytes);
  // False: the server has sent an unexpected reply.
  bool take(std::span<const char> bytes);
  bool takeLine();
  bool feed(std::span<const char> bytes, bool ends);
  /// False: it is too late.
  bool wait(bool alsoToWrite, Clock::time_point deadline);
  /// Writes what the socket takes of the parts from `part`, `sent` on.
  /// Negative: it is closed; 0: it takes nothing now.
  ssize_t writeSome(const RespCommands &commands, size_t &part, size_t &sent);
  static redisReplyObjectFunctions functions();
  void *accept(const RespReply &reply);

  StoreCalls &calls;
  const StoreAddress &address;
  redisContext *context = nullptr;
  redisReader *reader = nullptr;
  std::vector<char> buffer;
  // The call in flight.
  const OnReply *sink = nullptr;
  LongTexts *texts = nullptr;
  size_t mostBytes = 0, replies = 0, expected = 0;
  // The reply that is being read.
  std::string line;           // what there is of its first one
  size_t rest = 0;            // bytes left of the text after the line
  LongTexts::TextPlace place; // its rest; empty: hiredis has it
  bool isPlaced = false;
};

} // namespace kv

#endif // KV_RUNTIME_TIERS_RESPCONNECTION_H
