//===- Open.cpp - What libkv_transport.so exports -------------------------===//

#include "DecodePeer.h"
#include "LoadTransport.h"
#include "PrefillPeer.h"

using namespace kv;

static Expected<std::unique_ptr<PeerConnector>>
openPeer(const PageConnector::Options &slots,
         std::unique_ptr<PageConnector> records,
         const PeerConnector::Options &options) {
  Expected<std::unique_ptr<Transport>> transport = Transport::openNixl();
  if (!transport)
    return std::unexpected(transport.error());
  std::span memory(slots.memory,
                   slots.recordBytes * static_cast<size_t>(slots.numSlots));
  if (Expected<void> added = (*transport)->add(memory); !added)
    return std::unexpected(added.error());
  if (options.role == PeerConnector::Role::Prefill)
    return PrefillPeer::open(slots, std::move(records), std::move(*transport),
                             options);
  return DecodePeer::open(slots, std::move(records), std::move(*transport),
                          options);
}

extern "C" __attribute__((visibility("default"))) PeerConnector *
// A symbol's name, as C has it. NOLINTNEXTLINE(readability-identifier-naming)
kv_open_peer_connector(uint32_t interfaceVersion,
                       const PageConnector::Options *slots,
                       PageConnector *records,
                       const PeerConnector::Options *options, Error *error) {
  std::unique_ptr<PageConnector> own(records);
  if (interfaceVersion != TransportInterfaceVersion) {
    *error = {KV_STATUS_UNSUPPORTED,
              concat("libkv_transport.so has the interface ",
                     TransportInterfaceVersion, ", the runtime ",
                     interfaceVersion)};
    return nullptr;
  }
  try {
    Expected<std::unique_ptr<PeerConnector>> opened =
        openPeer(*slots, std::move(own), *options);
    if (opened)
      return opened->release();
    *error = opened.error();
  } catch (const std::exception &exception) { // libzmq has no descriptor left
    *error = {KV_STATUS_OUT_OF_MEMORY, concat("peers: ", exception.what())};
  }
  return nullptr;
}
