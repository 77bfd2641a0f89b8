//===- ReplicatedKVCacheManager.cpp - Managers that own memory ------------===//

#include "kv/Runtime/Manager/ReplicatedKVCacheManager.h"

#include <algorithm>

using namespace kv;

Expected<ReplicatedKVCacheManager::Common> ReplicatedKVCacheManager::prepare(
    const MultiKVCacheParams &params, CacheStrategy strategy,
    std::span<const Device> devices, int64_t maxBatchSize, int64_t maxSeqLen,
    int64_t maxSteps, bool enableRuntimeChecks) {
  if (Expected<void> valid = params.validate(strategy); !valid)
    return std::unexpected(valid.error());
  if (strategy != CacheStrategy::Paged && params.hasTiers())
    return makeError(KV_STATUS_UNSUPPORTED, "kv_connector is ",
                     connectorName(params.connector()),
                     ", allowed for caches that are not paged: none, null");
  auto inRange = [](std::string_view name, int64_t value, int64_t least,
                    int64_t most) -> Expected<void> {
    if (value < least || value > most)
      return makeError(KV_STATUS_INVALID_ARGUMENT, "cache manager: ", name,
                       " is ", value, ", allowed: ", least, " to ", most);
    return {};
  };
  int64_t replicas = params.dataParallelDegree();
  for (Expected<void> valid :
       {inRange("maxBatchSize", maxBatchSize, replicas, 1 << 20),
        inRange("maxSeqLen", maxSeqLen, 1, INT32_MAX),
        inRange("maxSteps", maxSteps, 1, KVCacheManager::MostSteps)})
    if (!valid)
      return std::unexpected(valid.error());

  Common common = {.params = params,
                   .layout = PoolLayout::of(params),
                   .devices = {devices.begin(), devices.end()},
                   .slots = static_cast<int32_t>(maxBatchSize / replicas),
                   .maxSeqLen = maxSeqLen,
                   .maxSteps = static_cast<int32_t>(maxSteps),
                   .enableRuntimeChecks = enableRuntimeChecks};
  if (devices.empty())
    for (int index = 0; index < params.numDevices(); ++index)
      common.devices.push_back({Device::Kind::CPU, index});
  if (static_cast<int64_t>(common.devices.size()) != params.numDevices())
    return makeError(KV_STATUS_INVALID_ARGUMENT,
                     "cache manager: ", devices.size(),
                     " devices are given, n_devices is ", params.numDevices());
  for (size_t i = 0; i < devices.size(); ++i)
    if (std::ranges::count(devices, devices[i]) > 1)
      return makeError(KV_STATUS_INVALID_ARGUMENT, "cache manager: the device ",
                       devices[i].str(), " is given twice");
  return common;
}

ReplicatedKVCacheManager::ReplicatedKVCacheManager(Common prepared)
    : common(std::move(prepared)), requests(numReplicas(), common.slots),
      splits(numReplicas() + 1),
      extents(static_cast<size_t>(numReplicas()) * common.slots),
      seen(extents.size()),
      inputs(common.devices.size() * common.params.params.size()),
      inputRows(numReplicas(), -1) {
  ids.reserve(seen.size());
  places.reserve(seen.size());
}

Expected<void> ReplicatedKVCacheManager::allocate(int64_t count,
                                                  int64_t segment,
                                                  int64_t states) {
  for (int64_t bytes : common.layout.slabs)
    if (__int128(count + 1) * bytes > INT64_MAX)
      return makeError(KV_STATUS_OUT_OF_MEMORY, "cache manager: ", count, " ",
                       segment ? "pages" : "slots", " of ", bytes,
                       " bytes are more than this machine can address");
  int64_t shards = common.params.tensorParallelDegree();
  for (int32_t replica = 0; replica < numReplicas(); ++replica) {
    Expected<CacheMemory> memory = CacheMemory::create(
        common.params, common.layout,
        std::span(common.devices).subspan(replica * shards, shards),
        {.count = count,
         .maxBatch = common.slots,
         .segment = segment,
         .maxSteps = common.maxSteps,
         .states = states});
    if (!memory)
      return std::unexpected(memory.error());
    memories.push_back(std::move(*memory));
  }
  return {};
}

int64_t ReplicatedKVCacheManager::poolBytes() const {
  int64_t bytes = 0;
  for (const CacheMemory &memory : memories)
    bytes += memory.poolBytes();
  return bytes;
}

int64_t ReplicatedKVCacheManager::hostBytes() const {
  int64_t bytes = 0;
  for (const CacheMemory &memory : memories)
    bytes += memory.hostBytes();
  return bytes;
}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

Error ReplicatedKVCacheManager::unclaimed(RequestId id) {
  return {KV_STATUS_INVALID_ARGUMENT,
          concat("request ", id, " is not claimed")};
}

Expected<void>
ReplicatedKVCacheManager::canClaim(RequestId id,
                                   std::optional<int32_t> replica) const {
  if (contains(id))
    return makeError(KV_STATUS_INVALID_ARGUMENT, "request ", id,
                     " is claimed already");
  if (!replica && numReplicas() > 1)
    return makeError(KV_STATUS_INVALID_ARGUMENT, "request ", id,
                     " cannot be claimed without a replica, of which there "
                     "are ",
                     numReplicas());
  int32_t where = replica.value_or(0);
  if (where < 0 || where >= numReplicas())
    return makeError(KV_STATUS_INVALID_ARGUMENT, "request ", id,
                     " cannot be claimed on replica ", where,
                     ", allowed: 0 to ", numReplicas() - 1);
  if (requests.count(where) == common.slots)
    return makeError(KV_STATUS_OUT_OF_MEMORY, "request ", id,
                     " cannot be claimed: all ", common.slots,
                     " sequence slots are in use",
                     numReplicas() > 1 ? concat(" on replica ", where) : "");
  return {};
}

Expected<void> ReplicatedKVCacheManager::claim(RequestId id,
                                               std::optional<int32_t> replica) {
  if (Expected<void> possible = canClaim(id, replica); !possible)
    return possible;
  requests.insert(id, replica.value_or(0));
  ids.clear();
  return checked();
}

Expected<void> ReplicatedKVCacheManager::release(RequestId id) {
  const RequestPlace *place = requests.find(id);
  if (!place)
    return std::unexpected(unclaimed(id));
  free(*place);
  requests.erase(id);
  ids.clear();
  return checked();
}

Expected<int32_t> ReplicatedKVCacheManager::getReplica(RequestId id) const {
  if (const RequestPlace *place = requests.find(id))
    return place->replica;
  return std::unexpected(unclaimed(id));
}

int32_t ReplicatedKVCacheManager::getOrRecommendReplica(
    const TextGenerationContext &context) const {
  if (const RequestPlace *place = requests.find(context.id()))
    return place->replica;
  int32_t best = 0;
  for (int32_t replica = 1; replica < numReplicas(); ++replica)
    if (requests.count(replica) < requests.count(best))
      best = replica;
  return best;
}

//===----------------------------------------------------------------------===//
// Batches
//===----------------------------------------------------------------------===//

bool ReplicatedKVCacheManager::isLocated(ContextBatch batch) const {
  if (batch.size() != ids.size())
    return false;
  for (size_t row = 0; row < batch.size(); ++row)
    if (batch[row]->id() != ids[row])
      return false;
  return true;
}

Expected<void> ReplicatedKVCacheManager::locate(ContextBatch batch) const {
  if (isLocated(batch) && !batch.empty())
    return {};
  ids.clear();
  places.clear();
  ++batches;
  int32_t replica = 0;
  splits[0] = 0;
  for (size_t row = 0; row < batch.size(); ++row) {
    RequestId id = batch[row]->id();
    const RequestPlace *place = requests.find(id);
    if (!place)
      return std::unexpected(unclaimed(id));
    if (place->replica < replica)
      return makeError(KV_STATUS_INVALID_ARGUMENT,
                       "the batch is not in the order of replicas: request ",
                       id, " of replica ", place->replica,
                       " comes after request ", batch[row - 1]->id(),
                       " of replica ", replica);
    uint64_t &mark = seen[index(*place)];
    if (mark == batches)
      return makeError(KV_STATUS_INVALID_ARGUMENT, "request ", id,
                       " is in the batch twice");
    mark = batches;
    while (replica < place->replica)
      splits[++replica] = static_cast<int64_t>(row);
    places.push_back(*place);
  }
  while (replica < numReplicas())
    splits[++replica] = static_cast<int64_t>(batch.size());
  for (const TextGenerationContext *context : batch)
    ids.push_back(context->id());
  return {};
}

Expected<std::span<const int64_t>>
ReplicatedKVCacheManager::getDataParallelSplits(ContextBatch batch) const {
  if (Expected<void> valid = locate(batch); !valid)
    return std::unexpected(valid.error());
  return std::span<const int64_t>(splits);
}

Expected<void>
ReplicatedKVCacheManager::checkRow(const TextGenerationContext &context,
                                   const Extent &extent, int32_t steps) {
  RequestId id = context.id();
  if (context.active() < 1)
    return makeError(KV_STATUS_INVALID_ARGUMENT, "request ", id,
                     " has no token to compute");
  if (context.processed() != extent.held)
    return makeError(KV_STATUS_INVALID_ARGUMENT, "request ", id,
                     ": its context has processed ", context.processed(),
                     " tokens, its cache holds ", extent.held);
  int64_t length = context.processed() + context.active() + steps - 1;
  if (length > extent.room)
    return makeError(KV_STATUS_INVALID_ARGUMENT, "request ", id,
                     " needs room for ", length, " tokens in this step, ",
                     extent.room,
                     " are reserved (is a call of alloc missing?)");
  return {};
}

/// Assumes that the first step computes all active tokens, and that each later
/// step computes the one token that the step before it generated.
/// publishComputed() corrects this.
void ReplicatedKVCacheManager::expectLengths(ContextBatch batch, int32_t steps,
                                             int32_t *lengths) {
  for (int32_t step = 1; step < steps; ++step)
    for (const TextGenerationContext *context : batch) {
      int64_t length = context->processed() + context->active() + step - 1;
      lengths[batch.size()] = static_cast<int32_t>(length);
      ++lengths;
    }
}

Expected<std::span<RaggedKVCacheInputs>>
ReplicatedKVCacheManager::runtimeInputs(ContextBatch batch, int32_t steps) {
  if (steps < 1 || steps > common.maxSteps)
    return makeError(KV_STATUS_INVALID_ARGUMENT, "runtime inputs of ", steps,
                     " steps, allowed: 1 to maxSteps = ", common.maxSteps);
  if (Expected<void> valid = locate(batch); !valid)
    return std::unexpected(valid.error());
  std::span<const Extent> held = extentsOf(places);
  for (size_t row = 0; row < batch.size(); ++row)
    if (Expected<void> valid = checkRow(*batch[row], held[row], steps); !valid)
      return std::unexpected(valid.error());
  int32_t buffer = (latest + 1) % CacheMemory::NumBuffers;
  for (CacheMemory &memory : memories)
    if (Expected<void> free = memory.reuse(buffer); !free)
      return std::unexpected(free.error());
  if (Expected<void> begun = beginStep(buffer); !begun)
    return std::unexpected(begun.error());
  latest = buffer;

  size_t share = inputs.size() / numReplicas();
  for (int32_t replica = 0; replica < numReplicas(); ++replica) {
    CacheMemory &memory = memories[replica];
    int64_t rows = splits[replica + 1] - splits[replica];
    int64_t maxActive = 0, maxLength = 0, cached = 0;
    int32_t *lengths = memory.lengths(buffer);
    for (int64_t row = 0; row < rows; ++row) {
      const TextGenerationContext &context = *batch[splits[replica] + row];
      int64_t length = context.processed() + context.active();
      lengths[row] = static_cast<int32_t>(context.processed());
      maxActive = std::max(maxActive, context.active());
      maxLength = std::max(maxLength, length);
      cached |= context.processed();
    }
    if (steps > 1)
      expectLengths(batch.subspan(splits[replica], rows), steps, lengths);
    writeRows(replica, buffer, placesOf(replica));
    int32_t *maxima = memory.maxima(buffer);
    for (int32_t step = 0; step < steps; ++step) {
      maxima[2 * step] =
          static_cast<int32_t>(step == 0 || rows == 0 ? maxActive : 1);
      maxima[2 * step + 1] =
          static_cast<int32_t>(rows == 0 ? 0 : maxLength + step);
    }
    memory.publish(buffer, rows, steps);
    std::span<RaggedKVCacheInputs> own =
        std::span(inputs).subspan(replica * share, share);
    memory.fill(own, buffer, rows, steps);
    for (RaggedKVCacheInputs &one : own)
      one.isCacheEmpty = cached == 0;
    inputRows[replica] = rows;
  }
  inputSteps = steps;
  if (Expected<void> sound = checked(); !sound)
    return std::unexpected(sound.error());
  return std::span(inputs);
}

Expected<void> ReplicatedKVCacheManager::incrementCacheLengths(
    std::span<RaggedKVCacheInputs> given, std::span<const int32_t> rowOffsets) {
  auto invalid = [](const auto &...parts) {
    return makeError(KV_STATUS_INVALID_ARGUMENT,
                     "increment of cache lengths: ", parts...);
  };
  if (given.size() != inputs.size())
    return invalid(given.size(), " inputs are given, this manager's are ",
                   inputs.size());
  size_t share = inputs.size() / numReplicas();
  int64_t rows = 0;
  for (size_t i = 0; i < given.size(); ++i) {
    int64_t replica = i / share;
    if (given[i].cacheLengths.data != inputs[i].cacheLengths.data ||
        given[i].cacheLengths.sizes[0] != inputRows[replica] ||
        given[i].maxLengths.data != inputs[i].maxLengths.data ||
        given[i].maxLengths.rank != 2)
      return invalid("input ", i, " is not of the latest runtime inputs");
    if (given[i].maxLengths.sizes[0] < 2)
      return invalid("input ", i, " has no step left after this one");
  }
  for (int64_t count : inputRows)
    rows += count;
  if (static_cast<int64_t>(rowOffsets.size()) != rows + 1)
    return invalid(rowOffsets.size(), " row offsets are given for ", rows,
                   " sequences, needed: ", rows + 1);
  for (int64_t row = 0; row < rows; ++row)
    if (rowOffsets[row] > rowOffsets[row + 1])
      return invalid("row offset ", row + 1, " is ", rowOffsets[row + 1],
                     ", less than ", rowOffsets[row], " before it");

  int64_t done = inputSteps - inputs[0].maxLengths.sizes[0];
  // A step cannot have computed more than max_lengths allowed when its inputs
  // were made.
  for (int64_t row = 0, replica = 0, end = inputRows[0]; row < rows; ++row) {
    while (row == end)
      end += inputRows[++replica];
    int64_t begin = end - inputRows[replica];
    const auto *maxima =
        static_cast<const int32_t *>(given[replica * share].maxLengths.data);
    int64_t computed = int64_t(rowOffsets[row + 1]) - rowOffsets[row];
    int64_t most = std::min<int64_t>(
        maxima[0], int64_t(maxima[1]) -
                       memories[replica].lengths(
                           latest)[done * inputRows[replica] + row - begin]);
    if (computed > most)
      return invalid("sequence ", row, " has computed ", computed,
                     " tokens, allowed: 0 to ", most);
  }

  // All collections and shards of a replica have the same lengths.
  for (int32_t replica = 0; replica < numReplicas(); ++replica) {
    publishComputed(replica, done, rowOffsets.first(inputRows[replica] + 1));
    rowOffsets = rowOffsets.subspan(inputRows[replica]);
  }
  for (size_t i = 0; i < given.size(); ++i) {
    RaggedKVCacheInputs &one = inputs[i];
    one.cacheLengths.data =
        static_cast<int32_t *>(one.cacheLengths.data) + inputRows[i / share];
    one.maxLengths.data = static_cast<int32_t *>(one.maxLengths.data) + 2;
    --one.maxLengths.sizes[0];
    one.isCacheEmpty = false;
    given[i] = one;
  }
  return {};
}

void ReplicatedKVCacheManager::publishComputed(
    int32_t replica, int64_t done, std::span<const int32_t> rowOffsets) {
  int64_t rows = inputRows[replica];
  int32_t *now = memories[replica].lengths(latest) + done * rows;
  int32_t *next = now + rows;
  bool published = true;
  for (int64_t row = 0; row < rows; ++row)
    published &= next[row] - now[row] == rowOffsets[row + 1] - rowOffsets[row];
  if (published)
    return;
  for (int64_t row = 0; row < rows; ++row) {
    int32_t length = now[row] + rowOffsets[row + 1] - rowOffsets[row];
    for (int64_t step = 0; step < inputSteps - done - 1; ++step)
      next[step * rows + row] = length + static_cast<int32_t>(step);
  }
  memories[replica].publishLengths(latest, rows, done + 1, inputSteps);
}

Expected<void> ReplicatedKVCacheManager::step(ContextBatch batch) {
  if (Expected<void> valid = locate(batch); !valid)
    return valid;
  std::span<const Extent> held = extentsOf(places);
  for (size_t row = 0; row < batch.size(); ++row)
    if (int64_t processed = batch[row]->processed();
        processed < held[row].held || processed > held[row].room)
      return makeError(KV_STATUS_INVALID_ARGUMENT, "request ", batch[row]->id(),
                       ": its context has processed ", processed,
                       " tokens, allowed: ", held[row].held, " to ",
                       held[row].room);
  if (Expected<void> done = commit(batch, places); !done)
    return done;
  return checked();
}
