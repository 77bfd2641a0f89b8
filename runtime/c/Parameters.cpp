//===- Parameters.cpp - Errors, specs and sizes in C ----------------------===//

#include "Handles.h"

#include "kv/Runtime/Manager/ContinuousBatchingKVCacheManager.h"

using namespace kv;
using namespace kv::capi;

static thread_local Error lastError;

int32_t capi::fail(const Error &error) {
  try {
    lastError = error;
  } catch (const std::bad_alloc &) {
    lastError.message.clear(); // The code still says what it was.
  }
  return error.code;
}

const char *kvErrorMessage(void) { return lastError.message.c_str(); }

/// `value` as one of `count` enumerators.
template <class E>
static Expected<E> readEnum(std::string_view field, int32_t value,
                            int32_t count) {
  if (value >= 0 && value < count)
    return static_cast<E>(value);
  return makeError(KV_STATUS_INVALID_ARGUMENT, field, " is ", value,
                   ", allowed: 0 to ", count - 1);
}

Expected<MultiKVCacheParams> capi::readSpec(const KvCacheSpec *spec) {
  if (!spec)
    return makeError(KV_STATUS_INVALID_ARGUMENT, "spec is null");
  if (spec->numCollections > 0 && !spec->collections)
    return makeError(KV_STATUS_INVALID_ARGUMENT, "spec: collections is null");
  std::vector<KVCacheParams> params;
  for (int32_t i = 0; i < spec->numCollections; ++i) {
    const KvCollectionSpec &from = spec->collections[i];
    auto strategy = readEnum<CacheStrategy>("strategy", from.strategy, 2);
    auto layout = readEnum<CacheLayout>("layout", from.layout, 3);
    auto method = readEnum<SpeculativeMethod>("speculativeMethod",
                                              spec->speculativeMethod, 4);
    for (const Error *error : {strategy ? nullptr : &strategy.error(),
                               layout ? nullptr : &layout.error(),
                               method ? nullptr : &method.error()})
      if (error)
        return std::unexpected(*error);
    params.push_back(
        {.name = from.name ? from.name : "kv",
         .geometry = {.strategy = *strategy,
                      .dtype = static_cast<KvDType>(from.dtype),
                      .layers = from.layers,
                      .heads = from.heads,
                      .dim = from.dim,
                      .page = from.page,
                      .vDim = from.vDim,
                      .layout = *layout,
                      .scaleGroup = from.scaleGroup,
                      .scaleDType = static_cast<KvDType>(from.scaleDType),
                      .window = from.window,
                      .pageLayers = from.pageLayers},
         .numDevices = spec->numDevices ? spec->numDevices : 1,
         .dataParallelDegree =
             spec->dataParallelDegree ? spec->dataParallelDegree : 1,
         .enablePrefixCaching = spec->enablePrefixCaching != 0,
         .speculativeMethod = *method,
         .numDraftTokens = spec->numDraftTokens});
  }
  return MultiKVCacheParams::fromParams(std::move(params));
}

/// Calls fn(params) and gives what it returns.
template <class Out, class Fn>
static int32_t withSpec(const KvCacheSpec *spec, Out *out, Fn &&fn) {
  return guarded([&] {
    KV_REQUIRE("sizes", out);
    Expected<MultiKVCacheParams> params = readSpec(spec);
    if (!params)
      return fail(params.error());
    return give(Expected<int64_t>(fn(*params)), out);
  });
}

int32_t kvBytesPerPage(const KvCacheSpec *spec, int64_t *bytes) {
  return withSpec(spec, bytes, [](const auto &p) { return p.bytesPerPage(); });
}

int32_t kvBytesPerBlock(const KvCacheSpec *spec, int64_t *bytes) {
  return withSpec(spec, bytes, [](const auto &p) { return p.bytesPerBlock(); });
}

int32_t kvBlockShape(const KvCacheSpec *spec, int32_t index, int64_t count,
                     int64_t shape[6]) {
  return guarded([&] {
    KV_REQUIRE("kvBlockShape", shape);
    Expected<MultiKVCacheParams> params = readSpec(spec);
    if (!params)
      return fail(params.error());
    if (index < 0 || index >= spec->numCollections)
      return invalid("kvBlockShape: collection ", index, ", allowed: 0 to ",
                     spec->numCollections - 1);
    // One more, the null page, and tables hold i32.
    if (count < 0 || count >= INT32_MAX)
      return invalid("kvBlockShape: ", count, " pages or slots, allowed: 0 to ",
                     INT32_MAX - 1);
    std::ranges::copy(params->params[index].blockShape(count), shape);
    return int32_t(KV_STATUS_OK);
  });
}

int32_t kvPagedNumBlocks(const KvCacheSpec *spec, int64_t maxBatchSize,
                         int64_t maxSeqLen, int64_t availableCacheMemory,
                         int64_t *pages) {
  return withSpec(spec, pages, [&](const auto &params) {
    return PagedKVCacheManager::numBlocks(params, maxBatchSize, maxSeqLen,
                                          availableCacheMemory);
  });
}

int32_t kvPagedEstimatedMemorySize(const KvCacheSpec *spec,
                                   int64_t maxBatchSize, int64_t maxSeqLen,
                                   int64_t availableCacheMemory,
                                   int64_t *bytes) {
  return withSpec(spec, bytes, [&](const auto &params) {
    return PagedKVCacheManager::estimatedMemorySize(
        params, maxBatchSize, maxSeqLen, availableCacheMemory);
  });
}

int32_t kvPagedInferOptimalBatchSize(const KvCacheSpec *spec, int64_t maxSeqLen,
                                     int64_t availableCacheMemory,
                                     int64_t *batch) {
  return withSpec(spec, batch, [&](const auto &params) {
    return PagedKVCacheManager::inferOptimalBatchSize(params, maxSeqLen,
                                                      availableCacheMemory);
  });
}

/// Calls fn(params) if there can be so much memory.
template <class Fn>
static Expected<int64_t> ofMemory(int64_t available,
                                  const MultiKVCacheParams &params, Fn &&fn) {
  if (available < 0)
    return makeError(KV_STATUS_INVALID_ARGUMENT, "available cache memory is ",
                     available, " bytes, allowed: 0 or more");
  return fn(params, available);
}

int32_t kvPagedMaxSupportedSequenceLength(const KvCacheSpec *spec,
                                          int64_t availableCacheMemory,
                                          int64_t *tokens) {
  return withSpec(spec, tokens, [&](const auto &params) {
    return ofMemory(
        availableCacheMemory, params, [](const auto &params, int64_t bytes) {
          return PagedKVCacheManager::maxSupportedSequenceLength(params, bytes);
        });
  });
}

int32_t kvContinuousEstimatedMemorySize(const KvCacheSpec *spec,
                                        int64_t maxBatchSize, int64_t *bytes) {
  return withSpec(spec, bytes, [&](const auto &params) {
    return ContinuousBatchingKVCacheManager::estimatedMemorySize(params,
                                                                 maxBatchSize);
  });
}

int32_t kvContinuousInferOptimalBatchSize(const KvCacheSpec *spec,
                                          int64_t availableCacheMemory,
                                          int64_t *batch) {
  return withSpec(spec, batch, [&](const auto &params) {
    return ofMemory(availableCacheMemory, params,
                    ContinuousBatchingKVCacheManager::inferOptimalBatchSize);
  });
}
