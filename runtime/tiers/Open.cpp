//===- Open.cpp - What libkv_tiers.so exports -----------------------------===//

#include "LoadTiers.h"
#include "TieredConnector.h"

using namespace kv;

extern "C" __attribute__((visibility("default"))) PageConnector *
// A symbol's name, as C has it. NOLINTNEXTLINE(readability-identifier-naming)
kv_open_page_connector(uint32_t interfaceVersion,
                       const PageConnector::Options *options, Error *error) {
  if (interfaceVersion != TiersInterfaceVersion) {
    *error = {KV_STATUS_UNSUPPORTED,
              concat("libkv_tiers.so has the interface ", TiersInterfaceVersion,
                     ", the runtime ", interfaceVersion)};
    return nullptr;
  }
  Expected<std::unique_ptr<TieredConnector>> opened =
      TieredConnector::open(*options);
  if (opened)
    return opened->release();
  *error = opened.error();
  return nullptr;
}
