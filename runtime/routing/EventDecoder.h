//===- EventDecoder.h - Batches of cache events -----------------*- C++ -*-===//

#ifndef KV_RUNTIME_ROUTING_EVENTDECODER_H
#define KV_RUNTIME_ROUTING_EVENTDECODER_H

#include "kv/Runtime/Base/Error.h"
#include "kv/Runtime/Engine/CacheEvents.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace kv {

/// The fields of an event that a router needs.
struct RoutedEvent {
  enum Kind { Stored, Removed, Cleared };
  Kind kind = Cleared;
  std::vector<uint64_t> blocks = {};
  int64_t group = 0; // of layers
  /// Stored: the blocks are states of recurrent layers, and so is whatever is
  /// removed of this group.
  bool isState = false;
  Tier tier = Tier::Device;
};

/// The events of the payload of a message, in either encoding
/// (docs/reference/events.md). Error: it is no such payload.
Expected<std::vector<RoutedEvent>> decodeEvents(std::string_view payload);

/// The status that the publisher sends of itself.
struct PublisherStatus {
  uint64_t incarnation = 0;
  int64_t sequence = -1; // of the last batch
};
Expected<PublisherStatus> decodeStatus(std::string_view payload);

} // namespace kv

#endif // KV_RUNTIME_ROUTING_EVENTDECODER_H
