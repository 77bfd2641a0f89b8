//===- LoadEvents.h - What libkv_events.so exports --------------*- C++ -*-===//

#ifndef KV_RUNTIME_EVENTS_LOADEVENTS_H
#define KV_RUNTIME_EVENTS_LOADEVENTS_H

#include "kv/Runtime/Events/EventPublisher.h"
#include "kv/Runtime/Events/ResetSocket.h"

namespace kv {

/// Grows with every change of what crosses the border between runtime and
/// library.
inline constexpr uint32_t EventsInterfaceVersion = 2;

/// Null, and the error, if it cannot be opened.
using OpenEventPublisher = EventPublisher *(*)(uint32_t interfaceVersion,
                                               const EventPublisher::Options *,
                                               Error *);
using OpenResetSocket = ResetSocket *(*)(uint32_t interfaceVersion,
                                         const ResetSocket::Options *, Error *);

} // namespace kv

#endif // KV_RUNTIME_EVENTS_LOADEVENTS_H
