//===- LoadTiers.cpp - Loads libkv_tiers.so -------------------------------===//

#include "LoadTiers.h"

#include "../LoadSymbol.h"

using namespace kv;

Expected<std::unique_ptr<PageConnector>>
PageConnector::open(const Options &options) {
  Expected<void *> found = loadSymbol("libkv_tiers.so", "KV_TIERS_LIBRARY",
                                      "kv_open_page_connector");
  if (!found)
    return makeError(KV_STATUS_UNSUPPORTED,
                     "host and disk tiers need libkv_tiers.so, which is built "
                     "where LMDB and OpenSSL are installed: ",
                     found.error().message);
  Error error;
  if (PageConnector *made = reinterpret_cast<OpenPageConnector>(*found)(
          TiersInterfaceVersion, &options, &error))
    return std::unique_ptr<PageConnector>(made);
  return std::unexpected(std::move(error));
}
