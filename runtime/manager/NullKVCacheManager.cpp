//===- NullKVCacheManager.cpp - A manager without memory ------------------===//

#include "kv/Runtime/Manager/NullKVCacheManager.h"

#include <algorithm>
#include <bit>

using namespace kv;

Expected<std::unique_ptr<NullKVCacheManager>>
NullKVCacheManager::create(const MultiKVCacheParams &params,
                           const Options &options) {
  if (Expected<void> valid = params.validate(); !valid)
    return std::unexpected(valid.error());
  if (static_cast<int64_t>(options.devices.size()) != params.numDevices())
    return makeError(KV_STATUS_INVALID_ARGUMENT,
                     "cache manager: ", options.devices.size(),
                     " devices are given, n_devices is ", params.numDevices());
  return std::unique_ptr<NullKVCacheManager>(
      new NullKVCacheManager(params, options));
}

Expected<void> NullKVCacheManager::claim(RequestId id, std::optional<int32_t>) {
  tracked.insert(id);
  return {};
}

Expected<void> NullKVCacheManager::release(RequestId id) {
  tracked.erase(id);
  return {};
}

Expected<std::span<const int64_t>>
NullKVCacheManager::getDataParallelSplits(ContextBatch batch) const {
  splits.assign(numReplicas() + 1, static_cast<int64_t>(batch.size()));
  splits[0] = 0;
  return std::span<const int64_t>(splits);
}

std::expected<Allocation, AllocationError>
NullKVCacheManager::alloc(TextGenerationContext &context, int32_t) {
  tracked.insert(context.id());
  return Allocation();
}

Expected<std::span<RaggedKVCacheInputs>>
NullKVCacheManager::runtimeInputs(ContextBatch batch, int32_t steps) {
  if (steps < 1 || steps > MaxSteps)
    return makeError(KV_STATUS_INVALID_ARGUMENT, "runtime inputs of ", steps,
                     " steps, allowed: 1 to ", MaxSteps);
  int64_t pitch = 1;
  for (const KVCacheParams &one : cacheParams.params)
    pitch = std::max(pitch, one.geometry.bands());
  size_t needed =
      std::max<size_t>({batch.size() * pitch, 2 * size_t(steps), 64});
  if (zeros.empty() || zeros.back().size() < needed)
    zeros.emplace_back(std::bit_ceil(needed));
  auto view = [&](const CacheComponent &component, int64_t rows,
                  int64_t bands) {
    std::vector<int64_t> sizes;
    for (const ComponentDim &dim : component.dims) {
      std::string_view symbol = dim.symbol ? dim.symbol : "";
      sizes.push_back(!dim.symbol         ? dim.size
                      : symbol == "batch" ? rows
                      : symbol == "pitch" ? bands
                      : symbol == "steps" ? steps
                                          : 0); // pages and slots
    }
    return makeView(zeros.back().data(), static_cast<DType>(component.dtype),
                    sizes);
  };
  inputs.clear();
  for (int64_t device = 0; device < cacheParams.numDevices(); ++device) {
    bool hasBatch = device < cacheParams.tensorParallelDegree();
    int64_t rows = hasBatch ? static_cast<int64_t>(batch.size()) : 0;
    for (const KVCacheParams &one : cacheParams.params) {
      std::vector<CacheComponent> components = one.geometry.components();
      RaggedKVCacheInputs &added = inputs.emplace_back();
      KvTensorView *views[] = {&added.blocks, &added.cacheLengths,
                               &added.lookupTable, &added.maxLengths,
                               &added.scales};
      for (size_t i = 0; i < components.size(); ++i)
        *views[i] = view(components[i], rows, one.geometry.bands());
    }
  }
  return std::span(inputs);
}
