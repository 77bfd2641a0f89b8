//===- MultiKVCacheParams.cpp - Several caches that share pages -----------===//

#include "kv/Runtime/Engine/Groups.h"
#include "kv/Runtime/Manager/PoolLayout.h"

#include <algorithm>
#include <map>

using namespace kv;

Expected<MultiKVCacheParams>
MultiKVCacheParams::fromParams(std::vector<KVCacheParams> params) {
  MultiKVCacheParams result;
  result.params = std::move(params);
  if (Expected<void> valid = result.validate(); !valid)
    return std::unexpected(valid.error());
  return result;
}

static std::string spell(const std::optional<double> &value) {
  return value ? std::to_string(*value) : "not given";
}

Expected<void> MultiKVCacheParams::validate() const {
  if (params.empty())
    return makeError(KV_STATUS_INVALID_ARGUMENT,
                     "no cache parameters are given, at least one is needed");
  const KVCacheParams &first = params[0];
  for (const KVCacheParams &other : params) {
    if (Expected<void> valid = other.validate(); !valid)
      return valid;
    auto differ = [&](std::string_view field, const auto &theirs,
                      const auto &ours) {
      return makeError(KV_STATUS_INVALID_ARGUMENT, "collections ", first.name,
                       " and ", other.name, " share pages, but ", field, " is ",
                       ours, " in the first and ", theirs, " in the second");
    };
    auto strategy = [](const KVCacheParams &one) {
      return kCacheStrategyNames[static_cast<size_t>(one.geometry.strategy)];
    };
    auto boolean = [](bool value) { return value ? "true" : "false"; };
    bool isBeside = other.geometry.isRecurrent() && first.geometry.isPaged();
    if (strategy(other) != strategy(first) && !isBeside)
      return differ("strategy", strategy(other), strategy(first));
    if (other.pageSize() != first.pageSize())
      return differ(first.geometry.pageName(), other.pageSize(),
                    first.pageSize());
    if (other.numDevices != first.numDevices)
      return differ("n_devices", other.numDevices, first.numDevices);
    if (other.dataParallelDegree != first.dataParallelDegree)
      return differ("data_parallel_degree", other.dataParallelDegree,
                    first.dataParallelDegree);
    if (other.enablePrefixCaching != first.enablePrefixCaching)
      return differ("enable_prefix_caching", boolean(other.enablePrefixCaching),
                    boolean(first.enablePrefixCaching));
    if (other.connector != first.connector)
      return differ("kv_connector", connectorName(other.connector),
                    connectorName(first.connector));
    if (other.hostSwapSpaceGB != first.hostSwapSpaceGB)
      return differ("host_kvcache_swap_space_gb", spell(other.hostSwapSpaceGB),
                    spell(first.hostSwapSpaceGB));
    if (other.speculativeMethod != first.speculativeMethod)
      return differ("speculative_method",
                    speculativeMethodName(other.speculativeMethod),
                    speculativeMethodName(first.speculativeMethod));
    if (other.numDraftTokens != first.numDraftTokens)
      return differ("num_draft_tokens", other.numDraftTokens,
                    first.numDraftTokens);
    if (std::ranges::count(params, other.name, &KVCacheParams::name) > 1)
      return makeError(KV_STATUS_INVALID_ARGUMENT, "the collection name ",
                       other.name, " is used twice");
  }
  // Counts the groups before PoolLayout::of() allocates them.
  std::map<int64_t, int64_t> bands; // by window
  for (const KVCacheParams &one : params) {
    if (one.geometry.isRecurrent())
      continue;
    int64_t &most = bands[one.geometry.isPaged() ? one.geometry.window : 0];
    most = std::max(most, one.geometry.bands());
  }
  int64_t groups = 0;
  for (auto [window, count] : bands)
    groups += count;
  if (groups > CacheGroups::Most)
    return makeError(KV_STATUS_INVALID_ARGUMENT, "the ", params.size(),
                     " collections need ", groups,
                     " groups of pages (windows times bands of page_layers "
                     "layers), at most ",
                     CacheGroups::Most, " are allowed");
  PoolLayout layout = PoolLayout::of(*this);
  if (std::max(layout.bytesPerPage(), layout.bytesPerState()) * numDevices() >
      INT64_MAX)
    return makeError(KV_STATUS_INVALID_ARGUMENT, "a page or a state of the ",
                     params.size(), " collections on ", numDevices(),
                     " devices takes 2^63 bytes or more");
  return {};
}

Expected<void> MultiKVCacheParams::validate(CacheStrategy strategy) const {
  if (Expected<void> valid = validate(); !valid)
    return valid;
  if (CacheStrategy own = params[0].geometry.strategy; own != strategy)
    return makeError(KV_STATUS_INVALID_ARGUMENT, "collection ", params[0].name,
                     ": strategy is ",
                     kCacheStrategyNames[static_cast<size_t>(own)],
                     ", this cache manager needs ",
                     kCacheStrategyNames[static_cast<size_t>(strategy)]);
  return {};
}

bool MultiKVCacheParams::replicatesKVAcrossTP() const {
  return std::ranges::all_of(params, &KVCacheParams::replicatesKVAcrossTP);
}

int64_t MultiKVCacheParams::draftSlots() const {
  int64_t drafts = numDraftTokens();
  if (drafts == 0)
    return 0;
  return 2 * drafts + (params[0].numDraftTokensPerStep() == drafts);
}

int64_t MultiKVCacheParams::bytesPerPage() const {
  return static_cast<int64_t>(PoolLayout::of(*this).bytesPerPage());
}

int64_t MultiKVCacheParams::bytesPerBlock() const {
  return bytesPerPage() * tensorParallelDegree();
}

std::vector<Argument>
MultiKVCacheParams::symbolicInputs(std::string_view prefix,
                                   std::optional<int64_t> layers) const {
  std::vector<Argument> result;
  for (const KVCacheParams &one : params)
    for (Argument &argument : one.symbolicInputs(prefix, layers))
      result.push_back(std::move(argument));
  return result;
}
