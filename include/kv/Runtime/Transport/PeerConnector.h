//===- PeerConnector.h - Pages that another process computes ----*- C++ -*-===//
//
// A connector (PageConnector.h) around another one, in which the records lie.
// In the role Prefill, peers may read its records. In the role Decode, records
// that it does not have come from a peer, which computes them if need be. To
// the manager, such a record is one on a disk. docs/guides/transport.md has the
// protocol.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_TRANSPORT_PEERCONNECTOR_H
#define KV_RUNTIME_TRANSPORT_PEERCONNECTOR_H

#include "kv/Runtime/Manager/KVCacheParams.h"
#include "kv/Runtime/Tiers/PageConnector.h"
#include "kv/Runtime/Transport/PeerMetrics.h"

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace kv {

class PeerConnector : public PageConnector {
public:
  enum class Role : uint8_t { Prefill, Decode };

  struct Options {
    Role role = Role::Prefill;
    /// The endpoint of the control channel, as ZeroMQ writes it: Prefill binds
    /// it, Decode connects to it.
    std::string endpoint;
    MultiKVCacheParams cache;
    /// Which weights and which kind of code compute the pages: peers must have
    /// the same.
    std::string model = {};
    /// How long a peer may take to read what it has leased.
    std::chrono::milliseconds lease = std::chrono::seconds(10);
    /// Without a sign of life for so long, a peer counts as dead.
    std::chrono::milliseconds answer = std::chrono::seconds(1);
    /// How long open() waits for the peer of a decoding side. A peer that is
    /// not there then is asked again from time to time.
    std::chrono::milliseconds connect = std::chrono::seconds(3);
    /// Whether somebody takes prompts that peers want to have computed.
    bool computes = true;
    /// Receives what users should know, one sentence each, during calls.
    std::function<void(std::string_view)> note = {};
  };

  /// A prompt that a peer wants to have computed.
  struct WantedPrompt {
    uint64_t id = 0;
    std::optional<std::string> model, adapter, salt; // its scope
    std::vector<int32_t> tokens;
  };

  /// From libkv_transport.so. `slots` is what `records` was opened with, but
  /// without a directory. Errors: the library is not there, or NIXL; the
  /// endpoint cannot be used; the peer has pages of another type or another
  /// model.
  static Expected<std::unique_ptr<PeerConnector>>
  open(const PageConnector::Options &slots,
       std::unique_ptr<PageConnector> records, const Options &options);

  /// The connector of a manager whose pages a peer brings or reads, for its
  /// TierOptions::open: the usual one, in one of these. `peer`, which outlives
  /// the manager's creation, points to it from then on.
  static std::function<
      Expected<std::unique_ptr<PageConnector>>(const PageConnector::Options &)>
  opener(Options options, PeerConnector *&peer);

  /// Any thread may read them.
  virtual const PeerMetrics &peerMetrics() const = 0;

  /// Prefill: readable while there are prompts to take; -1 in the other role.
  virtual int promptDescriptor() const { return -1; }
  /// The next prompt to compute, if there is one.
  virtual std::optional<WantedPrompt> takePrompt() { return std::nullopt; }
  /// No more pages of this prompt will come.
  virtual void promptDone(uint64_t id) {}
};

} // namespace kv

#endif // KV_RUNTIME_TRANSPORT_PEERCONNECTOR_H
