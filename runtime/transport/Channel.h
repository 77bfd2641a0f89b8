//===- Channel.h - Frames between peers, and the time -----------*- C++ -*-===//
//
// A peer's view of the world, except memory (Transport.h): frames that the
// other side has sent, and a clock. Tests have a channel within one thread,
// whose time is theirs.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_TRANSPORT_CHANNEL_H
#define KV_RUNTIME_TRANSPORT_CHANNEL_H

#include "kv/Runtime/Base/Error.h"

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

namespace kv {

/// One end, used by one thread but for wake() and now(). A prefilling side
/// listens to several decoding ones, which it tells apart by names that the
/// channel gives them; to these, the name is empty.
class Channel {
public:
  using Clock = std::chrono::steady_clock;
  using Time = Clock::time_point;

  /// ZeroMQ: binds the endpoint, or connects to it, when it is opened. Throws
  /// zmq::error_t if the system has no descriptor left.
  static std::unique_ptr<Channel> zeromq(std::string endpoint, bool listens);

  virtual ~Channel() = default;

  /// Opens the channel, also again: then no answer to earlier messages is
  /// heard. Error: the endpoint cannot be used.
  virtual Expected<void> open() = 0;
  /// Does not wait. False: there is no connection.
  virtual bool send(const std::string &to, std::string_view frame) = 0;
  /// Does not wait. False: there is no frame.
  virtual bool receive(std::string &from, std::string &frame) = 0;
  /// Until there is something to receive, or somebody wakes it, or a signal
  /// comes, or for `most`.
  virtual void wait(std::chrono::milliseconds most) = 0;
  /// Ends a wait, also the next one. Any thread.
  virtual void wake() = 0;

  virtual Time now() const = 0;
  virtual void pause(std::chrono::microseconds time) = 0;

protected:
  Channel() = default;
};

} // namespace kv

#endif // KV_RUNTIME_TRANSPORT_CHANNEL_H
