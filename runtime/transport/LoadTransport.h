//===- LoadTransport.h - What libkv_transport.so exports --------*- C++ -*-===//

#ifndef KV_RUNTIME_TRANSPORT_LOADTRANSPORT_H
#define KV_RUNTIME_TRANSPORT_LOADTRANSPORT_H

#include "kv/Runtime/Transport/PeerConnector.h"

namespace kv {

/// Grows with every change of what crosses the border between runtime and
/// library.
inline constexpr uint32_t TransportInterfaceVersion = 2;

/// Null, and the error, if it cannot be opened. Takes `records` in any case.
using OpenPeerConnector = PeerConnector *(*)(uint32_t interfaceVersion,
                                             const PageConnector::Options *,
                                             PageConnector *records,
                                             const PeerConnector::Options *,
                                             Error *);

} // namespace kv

#endif // KV_RUNTIME_TRANSPORT_LOADTRANSPORT_H
