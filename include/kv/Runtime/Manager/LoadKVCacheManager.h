//===- LoadKVCacheManager.h - The manager that fits -------------*- C++ -*-===//

#ifndef KV_RUNTIME_MANAGER_LOADKVCACHEMANAGER_H
#define KV_RUNTIME_MANAGER_LOADKVCACHEMANAGER_H

#include "kv/Runtime/Manager/PagedKVCacheManager.h"

namespace kv {

/// Creates a null manager on virtual devices, otherwise the manager of the
/// collections' strategy. A continuous manager has maxBatchSize slots and
/// ignores the options about pages. Errors: those of the manager's create();
/// virtual devices beside others.
Expected<std::unique_ptr<KVCacheManager>>
loadKVCacheManager(const MultiKVCacheParams &params,
                   const PagedKVCacheManager::Options &options);

} // namespace kv

#endif // KV_RUNTIME_MANAGER_LOADKVCACHEMANAGER_H
