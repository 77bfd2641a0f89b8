//===- Tiers.h - What is behind kv-run's caches -----------------*- C++ -*-===//

#ifndef KV_TOOLS_KVRUN_TIERS_H
#define KV_TOOLS_KVRUN_TIERS_H

#include "Options.h"

#include "kv/Runtime/Manager/PagedKVCacheManager.h"
#include "kv/Runtime/Transport/PeerConnector.h"

namespace kv::run {

/// Sets the connector of `params`, and the options of a manager with `pages`
/// pages a replica, to what --host-pages, --disk-dir, --store and --role ask
/// for. With --role, `peer`, which must outlive this, points to the connector
/// when the manager has been created. `manifest` is the artifact's. Errors name
/// the option, or the file that cannot be read.
Expected<void> chooseTiers(const Options &options, int64_t pages,
                           const Manifest &manifest, MultiKVCacheParams &params,
                           PagedKVCacheManager::TierOptions &tiers,
                           PeerConnector *&peer);

} // namespace kv::run

#endif // KV_TOOLS_KVRUN_TIERS_H
