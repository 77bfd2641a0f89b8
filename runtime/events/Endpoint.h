//===- Endpoint.h - Sockets of ZeroMQ and their endpoints -------*- C++ -*-===//

#ifndef KV_RUNTIME_EVENTS_ENDPOINT_H
#define KV_RUNTIME_EVENTS_ENDPOINT_H

#include "runtime/base/Port.h"

#include "kv/Runtime/Base/Error.h"

#include <zmq.hpp>

namespace kv {

/// Binds the socket to the endpoint, or connects it. Error: what is wrong with
/// the endpoint, without a subject.
inline Expected<void> attach(zmq::socket_t &socket, const std::string &endpoint,
                             bool binds) {
  std::string_view failed =
      binds ? " cannot be bound: " : " cannot be connected: ";
  // ZeroMQ itself takes the last 16 bits of any number, and 80 for 80x. A port
  // that ZeroMQ chooses would be unknown to subscribers.
  if (endpoint.starts_with("tcp:") && portOf(endpoint).value_or(0) == 0)
    return makeError(KV_STATUS_INVALID_ARGUMENT, endpoint, failed,
                     "its port is '", endpoint.substr(endpoint.rfind(':') + 1),
                     "', allowed: 1 to ", MostPort);
  try {
    binds ? socket.bind(endpoint) : socket.connect(endpoint);
  } catch (const zmq::error_t &error) {
    return makeError(KV_STATUS_INVALID_ARGUMENT, endpoint, failed,
                     error.what());
  }
  return {};
}

} // namespace kv

#endif // KV_RUNTIME_EVENTS_ENDPOINT_H
