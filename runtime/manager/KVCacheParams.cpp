//===- KVCacheParams.cpp - The parameters of one cache --------------------===//

#include "kv/Runtime/Manager/KVCacheParams.h"

#include <algorithm>
#include <cmath>

using namespace kv;

std::string_view kv::speculativeMethodName(SpeculativeMethod method) {
  constexpr std::string_view Names[] = {"none", "eagle", "mtp", "dflash"};
  return Names[static_cast<size_t>(method)];
}

std::string_view kv::connectorName(KVConnector connector) {
  constexpr std::string_view Names[] = {"none", "null", "host", "tiered"};
  return Names[static_cast<size_t>(connector)];
}

Expected<int64_t> kv::shardHeads(int64_t heads, int64_t degree,
                                 bool replicate) {
  if (heads < 1 || degree < 1)
    return makeError(KV_STATUS_INVALID_ARGUMENT, heads, " KV heads on ", degree,
                     " devices: both must be positive");
  if (heads % degree == 0)
    return heads / degree;
  if (replicate && degree % heads == 0)
    return 1;
  return makeError(KV_STATUS_INVALID_ARGUMENT, heads, " KV heads on ", degree,
                   " devices: the number of heads must be a multiple of the "
                   "number of devices",
                   replicate ? ", or divide it" : "");
}

//===----------------------------------------------------------------------===//
// Validation
//===----------------------------------------------------------------------===//

Expected<void> KVCacheParams::validate() const {
  auto fail = [&](const auto &...parts) {
    return makeError(KV_STATUS_INVALID_ARGUMENT, "collection ", name, ": ",
                     parts...);
  };
  if (std::string problem = geometry.problem(); !problem.empty())
    return fail(problem);
  if (geometry.heads == CacheGeometry::Unknown)
    return fail("'heads' must be known to make a cache");
  constexpr int64_t MostDevices = 1 << 16;
  if (numDevices < 1 || numDevices > MostDevices)
    return fail("n_devices is ", numDevices, ", allowed: 1 to ", MostDevices);
  if (dataParallelDegree < 1 || dataParallelDegree > numDevices)
    return fail("data_parallel_degree is ", dataParallelDegree,
                ", allowed: 1 to n_devices = ", numDevices);
  if (numDevices % dataParallelDegree != 0)
    return fail("data_parallel_degree is ", dataParallelDegree,
                ", allowed: a divisor of n_devices = ", numDevices);
  if (enablePrefixCaching && geometry.strategy == CacheStrategy::Continuous)
    return fail("enable_prefix_caching is true, allowed: false, since the "
                "strategy is continuous");

  if (geometry.isRecurrent() && numDraftTokens != 0)
    return fail("num_draft_tokens is ", numDraftTokens,
                ", allowed: 0, since a state cannot go back to before a "
                "rejected draft");
  constexpr int64_t MostDrafts = 1 << 10;
  if (numDraftTokens < 0 || numDraftTokens > MostDrafts)
    return fail("num_draft_tokens is ", numDraftTokens, ", allowed: 0 to ",
                MostDrafts);
  if (speculativeMethod == SpeculativeMethod::None && numDraftTokens != 0)
    return fail("num_draft_tokens is ", numDraftTokens,
                ", allowed: 0, since speculative_method is none");

  if (hostSwapSpaceGB &&
      !(std::isfinite(*hostSwapSpaceGB) && *hostSwapSpaceGB > 0))
    return fail("host_kvcache_swap_space_gb is ", *hostSwapSpaceGB,
                ", allowed: a positive number");
  if (connector == KVConnector::Host || connector == KVConnector::Tiered) {
    // The parts of a snapshot may come from several computations, whose bits
    // are the same in f32 only (docs/guides/hybrid.md).
    if (geometry.isRecurrent() && geometry.dtype != KV_DTYPE_F32)
      return fail("kv_connector is ", connectorName(connector),
                  ", allowed beside states of ", dtypeName(dtype()),
                  ": none, null");
    if (!enablePrefixCaching)
      return fail("kv_connector is ", connectorName(connector),
                  ", enable_prefix_caching is false: the connector needs it");
    if (!hostSwapSpaceGB)
      return fail("kv_connector is ", connectorName(connector),
                  ", host_kvcache_swap_space_gb is not given: the connector "
                  "needs it");
  }
  return {};
}

static std::string describe(const Dimension &dimension) {
  return dimension.isStatic() ? std::to_string(dimension.size)
                              : dimension.symbol;
}

Expected<void> KVCacheParams::validate(const Entry &entry) const {
  for (const Argument &wanted : symbolicInputs()) {
    const Argument *found = entry.findInput(wanted.kind, name);
    auto fail = [&](std::string_view field, const auto &theirs,
                    const auto &ours) {
      return makeError(KV_STATUS_INVALID_ARGUMENT, "entry ", entry.name, ": ",
                       field, " of ", wanted.name, " is ", theirs,
                       ", the cache manager gives ", ours);
    };
    if (!found) {
      // Only graphs that make the attention plan on the host take max_lengths.
      if (wanted.kind == ArgumentKind::MaxLengths)
        continue;
      return makeError(KV_STATUS_INVALID_ARGUMENT, "entry ", entry.name,
                       " has no argument of the kind ",
                       argumentKindName(wanted.kind), " for collection ", name);
    }
    if (found->dtype != wanted.dtype)
      return fail("dtype", dtypeName(found->dtype), dtypeName(wanted.dtype));
    if (found->shape.size() != wanted.shape.size())
      return fail("rank", found->shape.size(), wanted.shape.size());
    for (size_t i = 0; i < wanted.shape.size(); ++i) {
      const Dimension &theirs = found->shape[i], &ours = wanted.shape[i];
      if (theirs.isStatic() != ours.isStatic() || theirs.size != ours.size)
        return fail(concat("dimension ", i), describe(theirs), describe(ours));
    }
  }
  return {};
}

//===----------------------------------------------------------------------===//
// What follows from the parameters
//===----------------------------------------------------------------------===//

int64_t KVCacheParams::numDraftTokensPerStep() const {
  if (speculativeMethod == SpeculativeMethod::None)
    return 0;
  return speculativeMethod == SpeculativeMethod::DFlash ? numDraftTokens : 1;
}

static std::array<int64_t, 6> shape(const CacheGeometry &geometry,
                                    int64_t count, int64_t elements) {
  // The first page is the null page, the first state the null state.
  int64_t logical[] = {count + (geometry.strategy != CacheStrategy::Continuous),
                       geometry.planes(),
                       geometry.layersPerPage(),
                       geometry.tokensPerRow(),
                       geometry.heads,
                       elements};
  std::array<int64_t, 6> result;
  std::ranges::transform(blockOrder(geometry.layout), result.begin(),
                         [&](int dimension) { return logical[dimension]; });
  return result;
}

std::array<int64_t, 6> KVCacheParams::blockShape(int64_t count) const {
  return shape(geometry, count, geometry.dim);
}

std::array<int64_t, 6> KVCacheParams::scaleShape(int64_t count) const {
  return shape(geometry, count,
               quantized() ? geometry.dim / geometry.scaleGroup : 0);
}

std::vector<Argument>
KVCacheParams::symbolicInputs(std::string_view prefix,
                              std::optional<int64_t> layers) const {
  CacheGeometry wanted = geometry;
  wanted.layers = layers.value_or(geometry.layers);
  std::vector<Argument> result;
  for (const CacheComponent &component : wanted.components()) {
    Argument argument;
    argument.name = concat(prefix, name, ".", component.name);
    argument.kind = cacheArgumentKind(component.name);
    argument.dtype = static_cast<DType>(component.dtype);
    argument.collection = name;
    argument.host = component.onHost;
    for (const ComponentDim &dim : component.dims)
      argument.shape.push_back(
          dim.symbol
              ? Dimension{.symbol = concat(prefix, name, ".", dim.symbol)}
              : Dimension{.size = dim.size, .symbol = {}});
    result.push_back(std::move(argument));
  }
  return result;
}
