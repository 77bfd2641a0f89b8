//===- ContinuousBatchingKVCacheManager.h - A slot a sequence ---*- C++ -*-===//
//
// The cache manager of continuous collections: from its claim to its release,
// each request has one contiguous slot with room for the longest sequence.
// Blocks are [slots, planes, layers, max_seq, heads, dim]; the lookup table is
// i32 [B], the slot of each request. Slot 0 is a slot like the others, and
// there is no prefix cache.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_MANAGER_CONTINUOUSBATCHINGKVCACHEMANAGER_H
#define KV_RUNTIME_MANAGER_CONTINUOUSBATCHINGKVCACHEMANAGER_H

#include "kv/Runtime/Manager/ReplicatedKVCacheManager.h"

#include <memory>

namespace kv {

class ContinuousBatchingKVCacheManager : public ReplicatedKVCacheManager {
public:
  struct Options {
    /// As many as the parameters say; empty: cpu:0, cpu:1, ...
    std::vector<Device> devices = {};
    int32_t maxBatchSize = 16; // slots of all replicas
    /// Tokens of one request; 0: the geometry's max_seq, less draft slots.
    int64_t maxSeqLen = 0;
    int32_t maxSteps = DefaultMaxSteps; // of alloc and runtimeInputs
    bool enableRuntimeChecks = false;
  };

  /// Errors: parameters that do not validate, an option out of range, no
  /// memory.
  static Expected<std::unique_ptr<ContinuousBatchingKVCacheManager>>
  create(const MultiKVCacheParams &params, const Options &options) {
    return orNoMemory([&] { return make(params, options); });
  }

  /// The request's slot, a list of one entry.
  Expected<std::span<const int32_t>> getReqBlocks(RequestId id) const override;

  /// Checks that the sequence fits into its slot, which claim() has taken.
  std::expected<Allocation, AllocationError>
  alloc(TextGenerationContext &context, int32_t steps = 1) override;
  Expected<AllocationPlan> probe(const TextGenerationContext &context,
                                 int32_t steps = 1) const override;

  int64_t blocksFor(int64_t) const override { return 1; }
  int64_t numPagesPerReplica() const override {
    return requests.slotsPerReplica();
  }
  using KVCacheManager::numFreeBlocks;
  int64_t numFreeBlocks(int32_t replica) const override {
    return requests.slotsPerReplica() - requests.count(replica);
  }

  KVCacheMetrics metrics() const override { return counters; }
  void resetMetrics() override;
  void resetPrefixCache() override {}
  Expected<void> check() const override;

  //===--------------------------------------------------------------------===//
  // Sizes
  //===--------------------------------------------------------------------===//

  /// Blocks, lengths and tables of `maxBatchSize` slots on all devices, in
  /// bytes: a manager's poolBytes(). Errors: parameters that are not of
  /// continuous collections; fewer slots than replicas; more than 64 bits.
  static Expected<int64_t>
  estimatedMemorySize(const MultiKVCacheParams &params, int64_t maxBatchSize,
                      int64_t maxSteps = DefaultMaxSteps);
  /// Slots of all replicas that the memory of all devices holds. Errors:
  /// parameters that are not of continuous collections, negative memory.
  static Expected<int64_t>
  inferOptimalBatchSize(const MultiKVCacheParams &params,
                        int64_t availableCacheMemory,
                        int64_t maxSteps = DefaultMaxSteps);

protected:
  void look(std::span<const RequestPlace> places,
            Extent *extents) const override;
  Expected<void> beginStep(int32_t) override { return {}; }
  void writeRows(int32_t replica, int32_t buffer,
                 std::span<const RequestPlace> places) override;
  Expected<void> commit(ContextBatch batch,
                        std::span<const RequestPlace> places) override;
  PageId pageAt(RequestPlace place, int32_t, int64_t) const override {
    return place.slot;
  }
  void free(RequestPlace place) override { processed[index(place)] = 0; }

private:
  explicit ContinuousBatchingKVCacheManager(Common common);
  static Expected<std::unique_ptr<ContinuousBatchingKVCacheManager>>
  make(const MultiKVCacheParams &params, const Options &options);

  Extent extent(RequestPlace place) const {
    return {processed[index(place)], maxSeqLen()};
  }
  std::optional<AllocationError> refusal(const TextGenerationContext &context,
                                         int32_t steps) const;
  int64_t usedSlots() const;

  std::vector<int64_t> processed; // tokens, by index()
  std::vector<int32_t> slotIds;   // 0, 1, ...: getReqBlocks() points into it
  KVCacheMetrics counters;
};

} // namespace kv

#endif // KV_RUNTIME_MANAGER_CONTINUOUSBATCHINGKVCACHEMANAGER_H
