//===- Parameters.cpp - Errors, and what caches are, in C -----------------===//

#include "Handles.h"

#include "kv/Runtime/Manager/PoolLayout.h"

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
    auto strategy = readEnum<CacheStrategy>("strategy", from.strategy, 3);
    auto layout = readEnum<CacheLayout>("layout", from.layout, 3);
    auto method = readEnum<SpeculativeMethod>("speculativeMethod",
                                              spec->speculativeMethod, 4);
    auto connector = readEnum<KVConnector>("connector", spec->connector, 4);
    for (const Error *error : {strategy ? nullptr : &strategy.error(),
                               layout ? nullptr : &layout.error(),
                               method ? nullptr : &method.error(),
                               connector ? nullptr : &connector.error()})
      if (error)
        return std::unexpected(*error);
    bool hasDefault = from.page == 0 && *strategy != CacheStrategy::Continuous;
    params.push_back(
        {.name = from.name ? from.name : "kv",
         .geometry = {.strategy = *strategy,
                      .dtype = static_cast<KvDType>(from.dtype),
                      .layers = from.layers,
                      .heads = from.heads,
                      .dim = from.dim,
                      .page =
                          hasDefault ? CacheGeometry::DefaultPage : from.page,
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
         .numDraftTokens = spec->numDraftTokens,
         .connector = *connector,
         .hostSwapSpaceGB = spec->hostSwapSpaceGB != 0
                                ? std::optional(spec->hostSwapSpaceGB)
                                : std::nullopt});
  }
  return MultiKVCacheParams::fromParams(std::move(params));
}

int32_t kvPageSize(const KvCacheSpec *spec, int64_t *tokens) {
  return withSpec("kvPageSize", spec, tokens,
                  [](const auto &p) { return p.pageSize(); });
}

int32_t kvBytesPerPage(const KvCacheSpec *spec, int64_t *bytes) {
  return withSpec("kvBytesPerPage", spec, bytes,
                  [](const auto &p) { return p.bytesPerPage(); });
}

int32_t kvBytesPerBlock(const KvCacheSpec *spec, int64_t *bytes) {
  return withSpec("kvBytesPerBlock", spec, bytes,
                  [](const auto &p) { return p.bytesPerBlock(); });
}

int32_t kvBytesPerRecord(const KvCacheSpec *spec, int64_t *bytes) {
  return withSpec("kvBytesPerRecord", spec, bytes, [](const auto &p) {
    return PoolLayout::of(p).recordBytes();
  });
}

int32_t kvTensorParallelDegree(const KvCacheSpec *spec, int64_t *degree) {
  return withSpec("kvTensorParallelDegree", spec, degree,
                  [](const auto &p) { return p.tensorParallelDegree(); });
}

int32_t kvReplicatesKVAcrossTP(const KvCacheSpec *spec, int32_t *replicates) {
  return withSpec("kvReplicatesKVAcrossTP", spec, replicates,
                  [](const auto &p) { return p.replicatesKVAcrossTP(); });
}

int32_t kvDraftSlots(const KvCacheSpec *spec, int64_t *slots) {
  return withSpec("kvDraftSlots", spec, slots,
                  [](const auto &p) { return p.draftSlots(); });
}

/// fn(params of the collection at `index`) goes to `shape`.
template <class Fn>
static int32_t giveShape(const char *function, const KvCacheSpec *spec,
                         int32_t index, int64_t count, int64_t *shape,
                         Fn &&fn) {
  return guarded([&] {
    KV_REQUIRE(function, shape);
    Expected<MultiKVCacheParams> params = readSpec(spec);
    if (!params)
      return fail(params.error());
    if (index < 0 || index >= spec->numCollections)
      return invalid(function, ": collection ", index, ", allowed: 0 to ",
                     spec->numCollections - 1);
    // One more, the null page, and tables hold i32.
    if (count < 0 || count >= INT32_MAX)
      return invalid(function, ": ", count, " pages or slots, allowed: 0 to ",
                     INT32_MAX - 1);
    std::ranges::copy(fn(params->params[index]), shape);
    return int32_t(KV_STATUS_OK);
  });
}

int32_t kvBlockShape(const KvCacheSpec *spec, int32_t index, int64_t count,
                     int64_t shape[6]) {
  return giveShape("kvBlockShape", spec, index, count, shape,
                   [&](const auto &one) { return one.blockShape(count); });
}

int32_t kvScaleShape(const KvCacheSpec *spec, int32_t index, int64_t count,
                     int64_t shape[6]) {
  return giveShape("kvScaleShape", spec, index, count, shape,
                   [&](const auto &one) { return one.scaleShape(count); });
}

int32_t kvShardHeads(int64_t heads, int64_t degree, int32_t replicate,
                     int64_t *shardHeads) {
  return guarded([&] {
    KV_REQUIRE("kvShardHeads", shardHeads);
    return give(kv::shardHeads(heads, degree, replicate != 0), shardHeads);
  });
}
