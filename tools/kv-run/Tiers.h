//===- Tiers.h - Host memory and disk behind kv-run's caches ----*- C++ -*-===//

#ifndef KV_TOOLS_KVRUN_TIERS_H
#define KV_TOOLS_KVRUN_TIERS_H

#include "Options.h"

#include "kv/Runtime/Manager/PagedKVCacheManager.h"

namespace kv::run {

/// A digest of all bytes of a file. Error: it cannot be read.
Expected<std::string> digestFile(const std::string &path);

/// Sets the connector of `params`, and the options of a manager with `pages`
/// pages a replica, to what --host-pages, --disk-dir, --store and --role ask
/// for. Errors name the option, or the file that cannot be read.
Expected<void> chooseTiers(const Options &options, int64_t pages,
                           MultiKVCacheParams &params,
                           PagedKVCacheManager::TierOptions &tiers);

} // namespace kv::run

#endif // KV_TOOLS_KVRUN_TIERS_H
