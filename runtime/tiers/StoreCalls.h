//===- StoreCalls.h - What a shared store can fail at -----------*- C++ -*-===//

#ifndef KV_RUNTIME_TIERS_STORECALLS_H
#define KV_RUNTIME_TIERS_STORECALLS_H

#include "StoreAddress.h"

#include <hiredis/hiredis.h>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace kv {

/// Every call by which records reach a store or come from it. Tests replace it
/// and let each call fail in turn. Called by several threads.
class StoreCalls {
public:
  virtual ~StoreCalls() = default;

  /// Begins to connect, without waiting for the peer. Null or an error in it:
  /// it cannot.
  virtual redisContext *connect(const StoreAddress &address) {
    return address.path.empty()
               ? redisConnectNonBlock(address.host.c_str(), address.port)
               : redisConnectUnixNonBlock(address.path.c_str());
  }
  /// poll() of one descriptor.
  virtual int wait(pollfd &of, int milliseconds) {
    return poll(&of, 1, milliseconds);
  }
  virtual ssize_t read(int socket, void *data, size_t bytes) {
    return ::recv(socket, data, bytes, 0);
  }
  virtual ssize_t write(int socket, const void *data, size_t bytes) {
    return ::send(socket, data, bytes, MSG_NOSIGNAL);
  }
};

} // namespace kv

#endif // KV_RUNTIME_TIERS_STORECALLS_H
