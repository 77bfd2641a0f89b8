//===- LoadEvents.cpp - Loads libkv_events.so -----------------------------===//

#include "LoadEvents.h"

#include "runtime/base/LoadSymbol.h"
#include "runtime/base/Port.h"

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
  if (std::optional<int> port = portOf(endpoint);
      port && endpoint.starts_with("tcp:"))
    return concat(endpoint.substr(0, endpoint.rfind(':') + 1),
                  int64_t(*port) + rank);
  return concat(endpoint, "_dp", rank);
}
