//===- Sizes.cpp - How much memory holds, in C ----------------------------===//

#include "Handles.h"

#include "kv/Runtime/Manager/ContinuousBatchingKVCacheManager.h"
#include "kv/Runtime/Manager/NullKVCacheManager.h"

using namespace kv;
using namespace kv::capi;

int32_t kvPagedNumBlocks(const KvCacheSpec *spec, int64_t maxBatchSize,
                         int64_t maxSeqLen, int64_t availableCacheMemory,
                         int64_t *pages) {
  return withSpec("kvPagedNumBlocks", spec, pages, [&](const auto &params) {
    return PagedKVCacheManager::numBlocks(params, maxBatchSize, maxSeqLen,
                                          availableCacheMemory);
  });
}

int32_t kvPagedEstimatedMemorySize(const KvCacheSpec *spec,
                                   int64_t maxBatchSize, int64_t maxSeqLen,
                                   int64_t availableCacheMemory,
                                   int64_t *bytes) {
  return withSpec("kvPagedEstimatedMemorySize", spec, bytes,
                  [&](const auto &params) {
                    return PagedKVCacheManager::estimatedMemorySize(
                        params, maxBatchSize, maxSeqLen, availableCacheMemory);
                  });
}

int32_t kvPagedInferOptimalBatchSize(const KvCacheSpec *spec, int64_t maxSeqLen,
                                     int64_t availableCacheMemory,
                                     int64_t *batch) {
  return withSpec("kvPagedInferOptimalBatchSize", spec, batch,
                  [&](const auto &params) {
                    return PagedKVCacheManager::inferOptimalBatchSize(
                        params, maxSeqLen, availableCacheMemory);
                  });
}

int32_t kvPagedMaxSupportedSequenceLength(const KvCacheSpec *spec,
                                          int64_t availableCacheMemory,
                                          int64_t *tokens) {
  return withSpec("kvPagedMaxSupportedSequenceLength", spec, tokens,
                  [&](const auto &params) -> Expected<int64_t> {
                    if (availableCacheMemory < 0)
                      return makeError(KV_STATUS_INVALID_ARGUMENT,
                                       "available_cache_memory is ",
                                       availableCacheMemory,
                                       " bytes, allowed: 0 or more");
                    return PagedKVCacheManager::maxSupportedSequenceLength(
                        params, availableCacheMemory);
                  });
}

int32_t kvContinuousEstimatedMemorySize(const KvCacheSpec *spec,
                                        int64_t maxBatchSize, int64_t *bytes) {
  return withSpec(
      "kvContinuousEstimatedMemorySize", spec, bytes, [&](const auto &params) {
        return ContinuousBatchingKVCacheManager::estimatedMemorySize(
            params, maxBatchSize);
      });
}

int32_t kvContinuousInferOptimalBatchSize(const KvCacheSpec *spec,
                                          int64_t availableCacheMemory,
                                          int64_t *batch) {
  return withSpec(
      "kvContinuousInferOptimalBatchSize", spec, batch,
      [&](const auto &params) {
        return ContinuousBatchingKVCacheManager::inferOptimalBatchSize(
            params, availableCacheMemory);
      });
}

int32_t kvNullEstimatedMemorySize(const KvCacheSpec *spec, int64_t maxBatchSize,
                                  int64_t maxSeqLen,
                                  int64_t availableCacheMemory,
                                  int64_t *bytes) {
  return withSpec("kvNullEstimatedMemorySize", spec, bytes,
                  [&](const auto &params) {
                    return NullKVCacheManager::estimatedMemorySize(
                        params, maxBatchSize, maxSeqLen, availableCacheMemory);
                  });
}

int32_t kvNullInferOptimalBatchSize(const KvCacheSpec *spec, int64_t maxSeqLen,
                                    int64_t availableCacheMemory,
                                    int64_t *batch) {
  return withSpec("kvNullInferOptimalBatchSize", spec, batch,
                  [&](const auto &params) {
                    return NullKVCacheManager::inferOptimalBatchSize(
                        params, maxSeqLen, availableCacheMemory);
                  });
}
