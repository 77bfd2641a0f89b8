//===- ResetSocket.h - Asks a manager to forget its prefixes ----*- C++ -*-===//
//
// A program that changes a model's weights asks on a ZeroMQ socket that all
// cached prefixes be forgotten. A thread of the socket's receives. The thread
// that calls the manager does the reset between two of its calls, and only then
// is the answer sent.
//
// The code is in libkv_events.so, which open() loads; it needs libzmq.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_EVENTS_RESETSOCKET_H
#define KV_RUNTIME_EVENTS_RESETSOCKET_H

#include "kv/Runtime/Base/Error.h"

#include <atomic>
#include <memory>

namespace kv {

class ResetSocket {
public:
  struct Options {
    /// As MAX's zmq_endpoint_base: each message to the PUSH socket that is
    /// bound at BASE-reset_prefix_cache, with whatever content, is a request.
    /// There is no answer on such a socket. Empty: none.
    std::string endpointBase = {};
    /// Bound here: a ROUTER socket that answers requests of REQ sockets. A
    /// request is empty, or "reset_prefix_cache"; the answer is "ok", or a
    /// sentence that begins with "error: ". Empty: none.
    std::string endpoint = {};
  };

  /// Errors: the library cannot be loaded; an endpoint that cannot be used.
  static Expected<std::unique_ptr<ResetSocket>> open(const Options &options);
  virtual ~ResetSocket() = default;

  /// Whether a reset was asked for that was not answered; one load.
  bool isRequested() const {
    return asked.load(std::memory_order_acquire) !=
           answered.load(std::memory_order_relaxed);
  }
  /// Calls of the manager's thread around its reset: the requests that take()
  /// returns are answered when it is done, later ones are not. An error says
  /// why the manager refuses.
  virtual uint64_t take() = 0;
  virtual void answer(uint64_t upTo, const Expected<void> &done) = 0;

  /// A descriptor that is readable while isRequested(): for a thread that
  /// sleeps between its calls of the manager.
  virtual int descriptor() const = 0;

protected:
  std::atomic<uint64_t> asked = 0, answered = 0; // requests
};

} // namespace kv

#endif // KV_RUNTIME_EVENTS_RESETSOCKET_H
