//===- LoadKVCacheManager.cpp - The manager that fits ---------------------===//

#include "kv/Runtime/Manager/LoadKVCacheManager.h"
#include "kv/Runtime/Manager/ContinuousBatchingKVCacheManager.h"
#include "kv/Runtime/Manager/NullKVCacheManager.h"

#include <algorithm>

using namespace kv;

Expected<std::unique_ptr<KVCacheManager>>
kv::loadKVCacheManager(const MultiKVCacheParams &params,
                       const PagedKVCacheManager::Options &options) {
  size_t numVirtual =
      std::ranges::count_if(options.devices, &Device::isVirtual);
  if (numVirtual != 0) {
    if (numVirtual != options.devices.size())
      return makeError(
          KV_STATUS_INVALID_ARGUMENT, "cache manager: ", numVirtual, " of ",
          options.devices.size(), " devices are virtual, allowed: none or all");
    return NullKVCacheManager::create(
        params, {.devices = options.devices, .maxSeqLen = options.maxSeqLen});
  }
  if (!params.params.empty() &&
      params.params[0].geometry.strategy == CacheStrategy::Continuous) {
    if (!(options.events.empty() && options.zmqEndpointBase.empty() &&
          options.resetEndpoint.empty()))
      return makeError(KV_STATUS_INVALID_ARGUMENT,
                       "cache manager: cache events or resets are asked for, "
                       "allowed: with paged collections, which alone cache "
                       "prefixes");
    return ContinuousBatchingKVCacheManager::create(
        params, {.devices = options.devices,
                 .maxBatchSize = options.maxBatchSize,
                 .maxSeqLen = options.maxSeqLen,
                 .maxSteps = options.maxSteps,
                 .enableRuntimeChecks = options.enableRuntimeChecks});
  }
  return PagedKVCacheManager::create(params, options);
}
