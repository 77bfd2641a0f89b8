//===- Follower.h - Keeps what a machine's events tell ----------*- C++ -*-===//
//
// Follows the events of one machine, as docs/guides/observability.md says, and
// tells a router. A snapshot comes first, then the messages after it. If a
// number is left out, the follower asks for that message again, or for
// everything. The status tells now and then whether the last message was lost,
// or whether the machine has begun anew. Nothing waits: step() does what there
// is to do.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_ROUTING_FOLLOWER_H
#define KV_RUNTIME_ROUTING_FOLLOWER_H

#include "EventDecoder.h"

#include "kv/Runtime/Routing/PrefixRouter.h"

#include <zmq.hpp>

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace kv {

class Follower {
public:
  struct Options {
    std::string events, replay; // endpoints of the machine
    std::string topic = {};
    std::chrono::milliseconds patience{1000}; // with an answer
    std::chrono::milliseconds interval{200};  // of the status
    /// Tests lose messages.
    std::function<bool()> loses = {};
  };
  struct FollowerFigures {
    int64_t messages = 0, gaps = 0, replays = 0, snapshots = 0, unanswered = 0;
  };

  /// The machine cannot be used before it is known. Error: an endpoint is none.
  static Expected<std::unique_ptr<Follower>>
  open(zmq::context_t &context, const Options &options, PrefixRouter &router,
       PrefixRouter::Machine machine);

  /// Takes what has come, and asks for what is missing. Returns whether there
  /// was something.
  bool step();
  /// Whether all that was heard of has been applied.
  bool isCurrent() const { return !asked && isKnown; }
  /// Whether requests may be sent there: its index is known.
  bool isUsable() const { return isKnown; }
  /// The number of the message that comes next.
  int64_t next() const { return expected; }
  /// Asks for the status at once.
  void check() { nextStatus = {}; }
  const FollowerFigures &figures() const { return counted; }
  /// The sockets that have something to read.
  std::array<zmq::pollitem_t, 2> pollItems();

private:
  using Clock = std::chrono::steady_clock;
  enum class Asked { Status, Replay, Snapshot };

  Follower(zmq::context_t &context, const Options &options,
           PrefixRouter &router, PrefixRouter::Machine machine);
  void ask(Asked what);
  bool takeEvents();
  bool takeAnswers();
  void receive(int64_t number, const std::string &payload);
  void answer(int64_t number, const std::string &payload);
  void apply(const std::string &payload);
  void applyHeld();
  void forget();

  zmq::context_t &context;
  Options options;
  PrefixRouter &router;
  PrefixRouter::Machine machine;
  zmq::socket_t events, requests;
  std::optional<Asked> asked;
  Clock::time_point askedAt = {}, nextStatus = {};
  bool isKnown = false; // since a snapshot
  int64_t expected = 0;
  int64_t missing = -1; // the last that a replay is to bring
  uint64_t incarnation = 0;
  int64_t stateGroup = -1; // which group's blocks are states, once one is told
  /// Messages that have come while an answer is awaited.
  std::map<int64_t, std::string> held;
  FollowerFigures counted;
};

} // namespace kv

#endif // KV_RUNTIME_ROUTING_FOLLOWER_H
