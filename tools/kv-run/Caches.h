//===- Caches.h - The cache manager of a run --------------------*- C++ -*-===//

#ifndef KV_TOOLS_KVRUN_CACHES_H
#define KV_TOOLS_KVRUN_CACHES_H

#include "Loading.h"
#include "Monitoring.h"

#include "kv/Runtime/Serving/RankedRunner.h"
#include "kv/Runtime/Transport/PeerConnector.h"

namespace kv::run {

/// A manager, and what it publishes to and reads from.
struct Caches {
  Publishers publishers;
  PeerConnector *peer = nullptr; // the manager's; null without --role
  std::unique_ptr<KVCacheManager> manager;
  PagedKVCacheManager *paged = nullptr; // the same, or null
};

/// Of a loaded model. `ranked`, which outlives it, passes page operations on to
/// other ranks, if there are any. Errors name the option.
Expected<std::unique_ptr<Caches>> openCaches(const Options &options,
                                             LoadedModel &loaded,
                                             RankedRunner &ranked,
                                             bool hasRanks);

} // namespace kv::run

#endif // KV_TOOLS_KVRUN_CACHES_H
