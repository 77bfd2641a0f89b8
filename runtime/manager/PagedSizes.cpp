//===- PagedSizes.cpp - How many pages memory holds -----------------------===//

#include "kv/Runtime/Manager/PagedKVCacheManager.h"

#include <algorithm>

using namespace kv;

Expected<int64_t>
PagedKVCacheManager::numBlocks(const MultiKVCacheParams &params,
                               int64_t maxBatchSize, int64_t maxSeqLen,
                               int64_t availableCacheMemory) {
  if (Expected<void> valid = params.validate(CacheStrategy::Paged); !valid)
    return std::unexpected(valid.error());
  int64_t replicas = params.dataParallelDegree();
  if (maxBatchSize < replicas)
    return makeError(KV_STATUS_INVALID_ARGUMENT, "max_batch_size is ",
                     maxBatchSize, ", allowed: at least one for each of ",
                     replicas, " replicas");
  if (maxSeqLen < 1 || maxSeqLen > INT32_MAX)
    return makeError(KV_STATUS_INVALID_ARGUMENT, "max_seq_len is ", maxSeqLen,
                     ", allowed: 1 to ", INT32_MAX);
  int64_t holds = availableCacheMemory / replicas / params.bytesPerBlock();
  if (holds < 1)
    return makeError(KV_STATUS_OUT_OF_MEMORY, "available_cache_memory is ",
                     availableCacheMemory, " bytes for ", replicas,
                     replicas == 1 ? " replica" : " replicas",
                     ", one page of a replica takes ", params.bytesPerBlock());
  __int128 wanted =
      __int128(params.pagesFor(maxSeqLen)) * (maxBatchSize / replicas);
  return static_cast<int64_t>(
      std::min({__int128(holds), wanted, __int128(CacheEngine::MostPages)}));
}

Expected<int64_t> PagedKVCacheManager::estimatedMemorySize(
    const MultiKVCacheParams &params, int64_t maxBatchSize, int64_t maxSeqLen,
    int64_t availableCacheMemory) {
  Expected<int64_t> pages =
      numBlocks(params, maxBatchSize, maxSeqLen, availableCacheMemory);
  if (!pages)
    return pages;
  // At most availableCacheMemory, so it fits.
  return *pages * params.bytesPerBlock() * params.dataParallelDegree();
}

Expected<int64_t>
PagedKVCacheManager::inferOptimalBatchSize(const MultiKVCacheParams &params,
                                           int64_t maxSeqLen,
                                           int64_t availableCacheMemory) {
  if (Expected<void> valid = params.validate(CacheStrategy::Paged); !valid)
    return std::unexpected(valid.error());
  if (maxSeqLen < 1 || maxSeqLen > INT32_MAX)
    return makeError(KV_STATUS_INVALID_ARGUMENT, "max_seq_len is ", maxSeqLen,
                     ", allowed: 1 to ", INT32_MAX);
  if (availableCacheMemory < 0)
    return makeError(KV_STATUS_INVALID_ARGUMENT, "available_cache_memory is ",
                     availableCacheMemory, " bytes, allowed: 0 or more");
  return 512;
}

int64_t PagedKVCacheManager::maxSupportedSequenceLength(
    const MultiKVCacheParams &params, int64_t availableCacheMemory) {
  return availableCacheMemory / params.dataParallelDegree() /
         params.bytesPerBlock() * params.pageSize();
}
