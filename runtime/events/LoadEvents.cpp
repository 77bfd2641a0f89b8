//===- LoadEvents.cpp - Loads libkv_events.so -----------------------------===//

#include "LoadEvents.h"

#include "../LoadSymbol.h"

#include <charconv>

using namespace kv;

template <class Open, class Made, class Options>
static Expected<std::unique_ptr<Made>>
openBy(const char *symbol, std::string_view what, const Options &options) {
  return openFromLibrary<Made, Open>(
      "libkv_events.so", "KV_EVENTS_LIBRARY", symbol,
      concat(what, " need libkv_events.so, which is built where libzmq, cppzmq "
                   "and msgpack-cxx are installed"),
      EventsInterfaceVersion, &options);
}

Expected<std::unique_ptr<EventPublisher>>
EventPublisher::open(const Options &options) {
  return openBy<OpenEventPublisher, EventPublisher>("kv_open_event_publisher",
                                                    "cache events", options);
}

Expected<std::unique_ptr<ResetSocket>>
ResetSocket::open(const Options &options) {
  return openBy<OpenResetSocket, ResetSocket>("kv_open_reset_socket",
                                              "reset sockets", options);
}

std::string EventPublisher::endpointOf(const std::string &endpoint,
                                       int32_t rank) {
  if (rank == 0 || endpoint.empty())
    return endpoint;
  size_t colon = endpoint.rfind(':') + 1;
  int port = 0;
  auto [end, status] = std::from_chars(endpoint.data() + colon,
                                       endpoint.data() + endpoint.size(), port);
  if (endpoint.starts_with("tcp:") && status == std::errc() &&
      end == endpoint.data() + endpoint.size())
    return concat(endpoint.substr(0, colon), port + rank);
  return concat(endpoint, "_dp", rank);
}
