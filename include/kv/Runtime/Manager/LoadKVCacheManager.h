//===- LoadKVCacheManager.h - The manager that fits -------------*- C++ -*-===//

#ifndef KV_RUNTIME_MANAGER_LOADKVCACHEMANAGER_H
#define KV_RUNTIME_MANAGER_LOADKVCACHEMANAGER_H

#include "kv/Runtime/Manager/PagedKVCacheManager.h"

namespace kv {

enum class ManagerKind { Null, Continuous, Paged };

/// Which manager loadKVCacheManager() creates: a null manager on virtual
/// devices, otherwise that of the collections' strategy. Errors: virtual
/// devices together with others; sinks of events, events to publish or resets
/// are asked of a manager that caches no prefixes.
Expected<ManagerKind> chooseManager(const MultiKVCacheParams &params,
                                    const PagedKVCacheManager::Options &options,
                                    bool publishes = false);

/// Creates this manager. A continuous one has maxBatchSize slots and ignores
/// the options about pages. Errors: those of chooseManager() and of the
/// manager's create().
Expected<std::unique_ptr<KVCacheManager>>
loadKVCacheManager(const MultiKVCacheParams &params,
                   const PagedKVCacheManager::Options &options);

} // namespace kv

#endif // KV_RUNTIME_MANAGER_LOADKVCACHEMANAGER_H
