//===- Open.cpp - What libkv_events.so exports ----------------------------===//

#include "LoadEvents.h"
#include "Publisher.h"
#include "ResetServer.h"

using namespace kv;

template <class Made, class Interface, class Options>
static Interface *open(uint32_t interfaceVersion, const Options &options,
                       Error *error) {
  if (interfaceVersion != EventsInterfaceVersion) {
    *error = {KV_STATUS_UNSUPPORTED,
              concat("libkv_events.so has the interface ",
                     EventsInterfaceVersion, ", the runtime ",
                     interfaceVersion)};
    return nullptr;
  }
  Expected<std::unique_ptr<Made>> opened = Made::open(options);
  if (opened)
    return opened->release();
  *error = opened.error();
  return nullptr;
}

extern "C" __attribute__((visibility("default"))) EventPublisher *
kv_open_event_publisher(uint32_t interfaceVersion,
                        const EventPublisher::Options *options, Error *error) {
  return open<Publisher, EventPublisher>(interfaceVersion, *options, error);
}

extern "C" __attribute__((visibility("default"))) ResetSocket *
kv_open_reset_socket(uint32_t interfaceVersion,
                     const ResetSocket::Options *options, Error *error) {
  return open<ResetServer, ResetSocket>(interfaceVersion, *options, error);
}
