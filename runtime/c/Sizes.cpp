//===- Sizes.cpp - How much memory holds, in C ----------------------------===//

#include "Handles.h"

#include "kv/Runtime/Manager/ContinuousBatchingKVCacheManager.h"
#include "kv/Runtime/Manager/NullKVCacheManager.h"
#include "kv/Runtime/Manager/PagedSizes.h"

using namespace kv;
using namespace kv::capi;

static Expected<StepLimits> readLimits(const KvStepLimits *given) {
  StepLimits limits;
  if (!given)
    return limits;
  if (given->maxSteps < 0 || given->maxSteps > KVCacheManager::MostSteps)
    return makeError(KV_STATUS_INVALID_ARGUMENT, "maxSteps is ",
                     given->maxSteps, ", allowed: 1 to ",
                     KVCacheManager::MostSteps, ", or 0 for ",
                     KVCacheManager::DefaultMaxSteps);
  if (given->maxChunkTokens < 0)
    return makeError(KV_STATUS_INVALID_ARGUMENT, "maxChunkTokens is ",
                     given->maxChunkTokens,
                     ", allowed: 1 or more, or 0 for whole prompts");
  if (given->maxSteps)
    limits.maxSteps = given->maxSteps;
  limits.maxChunkTokens = given->maxChunkTokens;
  return limits;
}

/// withSpec() for fn(params, limits).
template <class Fn>
static int32_t withLimits(const char *function, const KvCacheSpec *spec,
                          const KvStepLimits *limits, int64_t *out, Fn &&fn) {
  return withSpec(function, spec, out,
                  [&](const auto &params) -> Expected<int64_t> {
                    Expected<StepLimits> read = readLimits(limits);
                    if (!read)
                      return std::unexpected(read.error());
                    return fn(params, *read);
                  });
}

int32_t kvPagedNumBlocks(const KvCacheSpec *spec, int64_t maxBatchSize,
                         int64_t maxSeqLen, int64_t availableCacheMemory,
                         const KvStepLimits *limits, int64_t *pages) {
  return withLimits("kvPagedNumBlocks", spec, limits, pages,
                    [&](const auto &params, const StepLimits &read) {
                      return PagedKVCacheManager::numBlocks(
                          params, maxBatchSize, maxSeqLen, availableCacheMemory,
                          read);
                    });
}

int32_t kvPagedEstimatedMemorySize(const KvCacheSpec *spec,
                                   int64_t maxBatchSize, int64_t maxSeqLen,
                                   int64_t availableCacheMemory,
                                   const KvStepLimits *limits, int64_t *bytes) {
  return withLimits("kvPagedEstimatedMemorySize", spec, limits, bytes,
                    [&](const auto &params, const StepLimits &read) {
                      return PagedKVCacheManager::estimatedMemorySize(
                          params, maxBatchSize, maxSeqLen, availableCacheMemory,
                          read);
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
                                          const KvStepLimits *limits,
                                          int64_t *tokens) {
  return withLimits(
      "kvPagedMaxSupportedSequenceLength", spec, limits, tokens,
      [&](const auto &params, const StepLimits &read) -> Expected<int64_t> {
        if (availableCacheMemory < 0)
          return makeError(KV_STATUS_INVALID_ARGUMENT,
                           "available_cache_memory is ", availableCacheMemory,
                           " bytes, allowed: 0 or more");
        return PagedKVCacheManager::maxSupportedSequenceLength(
            params, availableCacheMemory, read);
      });
}

int32_t kvPagedHostPages(const KvCacheSpec *spec, int64_t maxBatchSize,
                         int64_t pages, int64_t mostBytes, int64_t *hostPages) {
  return withSpec(
      "kvPagedHostPages", spec, hostPages,
      [&](const auto &params) -> Expected<int64_t> {
        if (Expected<void> valid = params.validate(); !valid)
          return std::unexpected(valid.error());
        if (!params.params[0].geometry.isPaged() || pages < 0 || mostBytes < 0)
          return makeError(KV_STATUS_INVALID_ARGUMENT,
                           "kvPagedHostPages: ", pages, " pages and ",
                           mostBytes,
                           " bytes, allowed: 0 or more, of paged caches");
        if (maxBatchSize < params.dataParallelDegree())
          return makeError(KV_STATUS_INVALID_ARGUMENT, "max_batch_size is ",
                           maxBatchSize, ", allowed: at least one for each of ",
                           params.dataParallelDegree(), " replicas");
        return PagedSizes(params, maxBatchSize / params.dataParallelDegree(), 0)
            .hostPages(pages, mostBytes);
      });
}

int32_t kvContinuousEstimatedMemorySize(const KvCacheSpec *spec,
                                        int64_t maxBatchSize,
                                        const KvStepLimits *limits,
                                        int64_t *bytes) {
  return withLimits(
      "kvContinuousEstimatedMemorySize", spec, limits, bytes,
      [&](const auto &params, const StepLimits &read) {
        return ContinuousBatchingKVCacheManager::estimatedMemorySize(
            params, maxBatchSize, read.maxSteps);
      });
}

int32_t kvContinuousInferOptimalBatchSize(const KvCacheSpec *spec,
                                          int64_t availableCacheMemory,
                                          const KvStepLimits *limits,
                                          int64_t *batch) {
  return withLimits(
      "kvContinuousInferOptimalBatchSize", spec, limits, batch,
      [&](const auto &params, const StepLimits &read) {
        return ContinuousBatchingKVCacheManager::inferOptimalBatchSize(
            params, availableCacheMemory, read.maxSteps);
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
