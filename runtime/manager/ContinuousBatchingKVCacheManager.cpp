//===- ContinuousBatchingKVCacheManager.cpp - A slot a sequence -----------===//

#include "kv/Runtime/Manager/ContinuousBatchingKVCacheManager.h"

#include <algorithm>
#include <numeric>

using namespace kv;

using Manager = ContinuousBatchingKVCacheManager;

Expected<std::unique_ptr<Manager>>
Manager::make(const MultiKVCacheParams &params, const Options &options) {
  int64_t maxSeqLen = options.maxSeqLen, room = 0;
  if (params.validate()) {
    room = params.pageSize() - params.draftSlots();
    maxSeqLen = maxSeqLen == 0 ? room : maxSeqLen;
  }
  Expected<Common> common = prepare(
      params, CacheStrategy::Continuous, options.devices, options.maxBatchSize,
      maxSeqLen, options.maxSteps, options.enableRuntimeChecks);
  if (!common)
    return std::unexpected(common.error());
  if (maxSeqLen > room)
    return makeError(KV_STATUS_INVALID_ARGUMENT, "cache manager: maxSeqLen is ",
                     maxSeqLen, ", allowed: 1 to ", room);
  std::unique_ptr<Manager> manager(new Manager(std::move(*common)));
  if (Expected<void> made =
          manager->allocate(manager->requests.slotsPerReplica(), 0);
      !made)
    return std::unexpected(made.error());
  return manager;
}

Manager::ContinuousBatchingKVCacheManager(Common common)
    : ReplicatedKVCacheManager(std::move(common)),
      processed(static_cast<size_t>(numReplicas()) *
                requests.slotsPerReplica()),
      slotIds(requests.slotsPerReplica()) {
  std::iota(slotIds.begin(), slotIds.end(), 0);
}

Expected<std::span<const int32_t>> Manager::getReqBlocks(RequestId id) const {
  if (const RequestPlace *place = requests.find(id))
    return std::span(slotIds).subspan(place->slot, 1);
  return std::unexpected(unclaimed(id));
}

std::optional<AllocationError>
Manager::refusal(const TextGenerationContext &context, int32_t steps) const {
  const RequestPlace *place = requests.find(context.id());
  return checkDemand(context, steps,
                     place ? std::optional(extent(*place).held) : std::nullopt);
}

Expected<AllocationPlan> Manager::probe(const TextGenerationContext &context,
                                        int32_t steps) const {
  std::optional<AllocationError> refused =
      contains(context.id()) ? refusal(context, steps)
                             : checkDemand(context, steps, /*held=*/0);
  if (refused)
    return std::unexpected(std::move(refused->error));
  return AllocationPlan{.fits = true};
}

int64_t Manager::usedSlots() const {
  int64_t used = 0;
  for (int32_t replica = 0; replica < numReplicas(); ++replica)
    used += requests.count(replica);
  return used;
}

std::expected<Allocation, AllocationError>
Manager::alloc(TextGenerationContext &context, int32_t steps) {
  if (std::optional<AllocationError> refused = refusal(context, steps)) {
    counters.refusals += refused->reason == AllocationError::Reason::NeverFits;
    return std::unexpected(std::move(*refused));
  }
  counters.inputTokens += context.active();
  counters.peakUsedPages = std::max(counters.peakUsedPages, usedSlots());
  return Allocation();
}

void Manager::look(std::span<const RequestPlace> places,
                   Extent *extents) const {
  for (RequestPlace place : places)
    *extents++ = extent(place);
}

void Manager::writeRows(int32_t replica, int32_t buffer,
                        std::span<const RequestPlace> places) {
  CacheMemory &memory = memories[replica];
  for (int32_t shard = 0; shard < memory.numShards(); ++shard)
    std::ranges::transform(places, memory.table(buffer, shard, 0),
                           &RequestPlace::slot);
}

Expected<void> Manager::commit(ContextBatch batch,
                               std::span<const RequestPlace> places) {
  for (size_t row = 0; row < batch.size(); ++row)
    processed[index(places[row])] = batch[row]->processed();
  return {};
}

void Manager::resetMetrics() { counters = {.peakUsedPages = usedSlots()}; }

Expected<void> Manager::check() const {
  std::vector<bool> claimed(processed.size());
  std::string fault;
  requests.forEach([&](RequestId id, RequestPlace place) {
    if (claimed[index(place)])
      fault = concat("slot ", place.slot, " of replica ", place.replica,
                     " has two requests, one of them ", id);
    claimed[index(place)] = true;
  });
  if (std::ranges::count(claimed, true) != usedSlots())
    fault = concat(usedSlots(), " slots are in use, ",
                   std::ranges::count(claimed, true), " have a request");
  for (size_t slot = 0; slot < processed.size(); ++slot)
    if (!claimed[slot] && processed[slot] != 0)
      fault = concat("unused slot ", slot, " holds tokens");
  if (!fault.empty())
    return makeError(KV_STATUS_INTERNAL, "cache manager: ", fault);
  return {};
}

/// Bytes of one slot on one device: its blocks and scales, and in the inputs of
/// two steps its length before each step of a loop and its entry in the table.
static __int128 bytesPerSlot(const MultiKVCacheParams &params,
                             int64_t maxSteps) {
  return params.bytesPerPage() +
         __int128(CacheMemory::NumBuffers) * (maxSteps + 1) * sizeof(int32_t);
}

Expected<int64_t> Manager::estimatedMemorySize(const MultiKVCacheParams &params,
                                               int64_t maxBatchSize,
                                               int64_t maxSteps) {
  if (Expected<void> valid = params.validate(CacheStrategy::Continuous); !valid)
    return std::unexpected(valid.error());
  int64_t replicas = params.dataParallelDegree();
  if (maxBatchSize < replicas)
    return makeError(KV_STATUS_INVALID_ARGUMENT, "max_batch_size is ",
                     maxBatchSize, ", allowed: at least one for each of ",
                     replicas, " replicas");
  int64_t slots = maxBatchSize / replicas;
  __int128 bytes = bytesPerSlot(params, maxSteps) * slots * params.numDevices();
  if (bytes > INT64_MAX)
    return makeError(KV_STATUS_OUT_OF_RANGE, maxBatchSize, " slots of ",
                     params.bytesPerPage(),
                     " bytes are more than 64 bits can say");
  return static_cast<int64_t>(bytes);
}

Expected<int64_t>
Manager::inferOptimalBatchSize(const MultiKVCacheParams &params,
                               int64_t availableCacheMemory, int64_t maxSteps) {
  if (Expected<void> valid = params.validate(CacheStrategy::Continuous); !valid)
    return std::unexpected(valid.error());
  if (availableCacheMemory < 0)
    return makeError(KV_STATUS_INVALID_ARGUMENT, "available_cache_memory is ",
                     availableCacheMemory, " bytes, allowed: 0 or more");
  int64_t replicas = params.dataParallelDegree();
  __int128 slot =
      bytesPerSlot(params, maxSteps) * params.tensorParallelDegree();
  return static_cast<int64_t>(availableCacheMemory / replicas / slot) *
         replicas;
}
