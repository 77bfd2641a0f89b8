//===- LoadKVCacheManager.cpp - The manager that fits ---------------------===//

#include "kv/Runtime/Manager/LoadKVCacheManager.h"
#include "kv/Runtime/Manager/ContinuousBatchingKVCacheManager.h"
#include "kv/Runtime/Manager/NullKVCacheManager.h"

#include <algorithm>

using namespace kv;

Expected<ManagerKind>
kv::chooseManager(const MultiKVCacheParams &params,
                  const PagedKVCacheManager::Options &options, bool publishes) {
  size_t numVirtual =
      std::ranges::count_if(options.devices, &Device::isVirtual);
  if (numVirtual != 0 && numVirtual != options.devices.size())
    return makeError(KV_STATUS_INVALID_ARGUMENT, "cache manager: ", numVirtual,
                     " of ", options.devices.size(),
                     " devices are virtual, allowed: none or all");
  const CacheGeometry *first =
      params.params.empty() ? nullptr : &params.params[0].geometry;
  ManagerKind kind = ManagerKind::Paged;
  if (numVirtual != 0)
    kind = ManagerKind::Null;
  else if (first && first->strategy == CacheStrategy::Continuous)
    kind = ManagerKind::Continuous;
  bool asks = publishes || !options.events.empty() ||
              !options.zmqEndpointBase.empty() ||
              !options.resetEndpoint.empty();
  bool cachesPrefixes =
      kind == ManagerKind::Paged && (!first || first->isPaged());
  if (asks && !cachesPrefixes)
    return makeError(KV_STATUS_INVALID_ARGUMENT,
                     "events or resets are asked for, allowed: with paged "
                     "collections on real devices, which alone cache prefixes");
  return kind;
}

Expected<std::unique_ptr<KVCacheManager>>
kv::loadKVCacheManager(const MultiKVCacheParams &params,
                       const PagedKVCacheManager::Options &options) {
  Expected<ManagerKind> kind = chooseManager(params, options);
  if (!kind)
    return std::unexpected(kind.error());
  if (*kind == ManagerKind::Null)
    return NullKVCacheManager::create(
        params, {.devices = options.devices, .maxSeqLen = options.maxSeqLen});
  if (*kind == ManagerKind::Continuous)
    return ContinuousBatchingKVCacheManager::create(
        params, {.devices = options.devices,
                 .maxBatchSize = options.maxBatchSize,
                 .maxSeqLen = options.maxSeqLen,
                 .maxSteps = options.maxSteps,
                 .enableRuntimeChecks = options.enableRuntimeChecks});
  return PagedKVCacheManager::create(params, options);
}
