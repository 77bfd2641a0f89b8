//===- LoadTiers.cpp - Loads libkv_tiers.so -------------------------------===//

#include "LoadTiers.h"

#include "runtime/base/LoadSymbol.h"

using namespace kv;

Expected<std::unique_ptr<PageConnector>>
PageConnector::open(const Options &options) {
  return openFromLibrary<PageConnector, OpenPageConnector>(
      "libkv_tiers.so", "KV_TIERS_LIBRARY", "kv_open_page_connector",
      "host and disk tiers need libkv_tiers.so, which is built where LMDB, "
      "hiredis and OpenSSL are installed",
      TiersInterfaceVersion, &options);
}
