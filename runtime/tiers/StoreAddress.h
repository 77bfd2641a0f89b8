//===- StoreAddress.h - Where a store that machines share is ----*- C++ -*-===//

#ifndef KV_RUNTIME_TIERS_STOREADDRESS_H
#define KV_RUNTIME_TIERS_STOREADDRESS_H

#include "kv/Runtime/Base/Error.h"

#include <chrono>
#include <string>
#include <string_view>

namespace kv {

/// The parts of PageConnector::Options::blockStoreEndpoint:
///
///   redis://[[user]:password@]host[:port][/db][?name=value&...]
///   unix:///path[?name=value&...], or the path alone, which begins with a /
///
/// with the names db, timeout (milliseconds) and ttl (seconds).
struct StoreAddress {
  std::string path; // of a Unix socket; empty: host and port
  std::string host;
  int port = 6379;
  std::string user, password; // password empty: none is sent
  int db = 0;
  /// Most time of a call: to connect, or to move a batch.
  std::chrono::milliseconds timeout{500};
  int64_t ttl = 0; // seconds that the store keeps a record; 0: as it likes

  /// Error: what is wrong, without the password.
  static Expected<StoreAddress> parse(std::string_view text);
};

} // namespace kv

#endif // KV_RUNTIME_TIERS_STOREADDRESS_H
