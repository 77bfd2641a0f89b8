//===- EventEncoder.h - Events as vLLM's readers know them ------*- C++ -*-===//

#ifndef KV_RUNTIME_EVENTS_EVENTENCODER_H
#define KV_RUNTIME_EVENTS_EVENTENCODER_H

#include "BlockTable.h"

#include "kv/Runtime/Events/EventPublisher.h"

namespace kv {

/// The payload of a message: MessagePack of [seconds since 1970, events, rank].
class EventEncoder {
public:
  explicit EventEncoder(const EventPublisher::Options &options)
      : options(options) {}

  std::string encode(double seconds, std::span<const CacheEvent> events) const;

private:
  EventPublisher::Options options;
};

/// Eight bytes, big endian: the frame with a message's number.
std::string sequenceFrame(int64_t sequence);

} // namespace kv

#endif // KV_RUNTIME_EVENTS_EVENTENCODER_H
