//===- Transport.h - Reads of another process's memory ----------*- C++ -*-===//
//
// One-sided reads: the process that owns the memory takes no part in them. Who
// may read what, and when, is said elsewhere (PeerConnector.h). One thread.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_TRANSPORT_TRANSPORT_H
#define KV_RUNTIME_TRANSPORT_TRANSPORT_H

#include "kv/Runtime/Base/Error.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace kv {

class Transport {
public:
  /// A row of a descriptor list: `bytes` from the peer's address `from`.
  struct Part {
    std::byte *to;
    uint64_t from;
    size_t bytes;
  };
  enum class State : uint8_t { UnderWay, Done, Failed };
  using Peer = int32_t;
  using Read = int64_t;

  /// NIXL, through the C interface of libnixl_capi.so, with its UCX plugin.
  /// Error: it cannot be loaded, which says what to install, or has no such
  /// plugin.
  static Expected<std::unique_ptr<Transport>> openNixl();

  /// Nothing is read or written any more.
  virtual ~Transport() = default;

  /// Memory in which reads may end, and which peers that are given the address
  /// afterwards may read. The memory outlives the transport.
  virtual Expected<void> add(std::span<std::byte> memory) = 0;
  /// The address that a peer needs to reach this memory, as bytes.
  virtual Expected<std::string> address() = 0;

  virtual Expected<Peer> connect(const std::string &address) = 0;
  /// None of the peer's reads is in flight. After the return, no read writes
  /// any more.
  virtual void disconnect(Peer peer) = 0;

  /// Begins to read all parts. Error: a part is in no memory that the peer or
  /// this side has added.
  virtual Expected<Read> read(Peer peer, std::span<const Part> parts) = 0;
  /// Does not wait. Parts of a read that has failed may still be written until
  /// its peer is disconnected.
  virtual State state(Read read) = 0;
  /// Forgets a read that is not in flight, before its peer is disconnected.
  virtual void forget(Read read) = 0;
};

} // namespace kv

#endif // KV_RUNTIME_TRANSPORT_TRANSPORT_H
