//===- LoadTransport.cpp - Loads libkv_transport.so -----------------------===//

#include "LoadTransport.h"

#include "kv/Runtime/Manager/PoolLayout.h"

#include "runtime/base/LoadSymbol.h"

#include <utility>

using namespace kv;

Expected<std::unique_ptr<PeerConnector>>
PeerConnector::open(const PageConnector::Options &slots,
                    std::unique_ptr<PageConnector> records,
                    const Options &options) {
  Expected<void *> found = loadSymbol(
      "libkv_transport.so", "KV_TRANSPORT_LIBRARY", "kv_open_peer_connector");
  if (!found)
    return makeError(KV_STATUS_UNSUPPORTED,
                     "pages of peers need libkv_transport.so, which is built "
                     "where libzmq, cppzmq and msgpack-cxx are installed: ",
                     found.error().message);
  Error error;
  if (PeerConnector *made = reinterpret_cast<OpenPeerConnector>(*found)(
          TransportInterfaceVersion, &slots, records.release(), &options,
          &error))
    return std::unique_ptr<PeerConnector>(made);
  return std::unexpected(std::move(error));
}

std::function<
    Expected<std::unique_ptr<PageConnector>>(const PageConnector::Options &)>
PeerConnector::opener(Options options, PeerConnector *&peer) {
  return
      [options = std::move(options), &peer](const PageConnector::Options &slots)
          -> Expected<std::unique_ptr<PageConnector>> {
        if (std::cmp_not_equal(slots.recordBytes,
                               PoolLayout::of(options.cache).recordBytes()))
          return makeError(KV_STATUS_INVALID_ARGUMENT,
                           "cachedLogprobs is given, and a peer, which sends "
                           "and reads pages without: allowed is one of them");
        Expected<std::unique_ptr<PageConnector>> records =
            PageConnector::open(slots);
        if (!records)
          return records;
        Expected<std::unique_ptr<PeerConnector>> opened =
            open(slots, std::move(*records), options);
        if (!opened)
          return std::unexpected(opened.error());
        peer = opened->get();
        return std::move(*opened);
      };
}
