//===- ReplicatedKVCacheManager.h - Managers that own memory ----*- C++ -*-===//

#ifndef KV_RUNTIME_REPLICATEDKVCACHEMANAGER_H
#define KV_RUNTIME_REPLICATEDKVCACHEMANAGER_H

#include "kv/Runtime/CacheMemory.h"
#include "kv/Runtime/RequestTable.h"

#include <new>

namespace kv {

/// What managers with memory have in common, whatever a request holds there:
/// which request lives where, the order of batches, the inputs of a step. What
/// a request holds is the derived class's business.
class ReplicatedKVCacheManager : public KVCacheManager {
public:
  const MultiKVCacheParams &params() const override { return common.params; }
  std::span<const Device> devices() const override { return common.devices; }
  int64_t maxSeqLen() const override { return common.maxSeqLen; }
  int64_t poolBytes() const override;

  Expected<void> claim(RequestId id,
                       std::optional<int32_t> replica = {}) override;
  bool contains(RequestId id) const override { return requests.find(id); }
  Expected<void> release(RequestId id) override;
  Expected<int32_t> getReplica(RequestId id) const override;
  /// Where it was claimed, else the replica with the fewest requests, the
  /// lowest index among equals.
  int32_t
  getOrRecommendReplica(const TextGenerationContext &context) const override;
  Expected<std::span<const int64_t>>
  getDataParallelSplits(ContextBatch batch) const override;

  Expected<std::span<RaggedKVCacheInputs>>
  runtimeInputs(ContextBatch batch, int32_t steps = 1) override;
  Expected<void>
  incrementCacheLengths(std::span<RaggedKVCacheInputs> inputs,
                        std::span<const int32_t> rowOffsets) override;
  Expected<void> step(ContextBatch batch) override;

protected:
  using Place = RequestTable::Place;

  struct Common {
    MultiKVCacheParams params;
    std::vector<Device> devices;
    int32_t slots = 0; // requests of a replica
    int64_t maxSeqLen = 0;
    int32_t maxSteps = 1;
    bool enableRuntimeChecks = false;
  };

  /// Checks and completes: devices that were not given are cpu:0, cpu:1 ...
  static Expected<Common> prepare(const MultiKVCacheParams &params,
                                  CacheStrategy strategy,
                                  std::span<const Device> devices,
                                  int64_t maxBatchSize, int64_t maxSeqLen,
                                  int64_t maxSteps, bool enableRuntimeChecks);

  explicit ReplicatedKVCacheManager(Common common);

  /// What `make` returns, or an error if the heap is exhausted meanwhile: a
  /// manager's bookkeeping is its size's business, as its blocks are.
  template <class Fn> static auto orNoMemory(Fn &&make) -> decltype(make()) {
    try {
      return make();
    } catch (const std::bad_alloc &) {
      return makeError(KV_STATUS_OUT_OF_MEMORY,
                       "cache manager: no memory for its bookkeeping");
    }
  }

  /// Allocates on every device. `groups` as in CacheMemory::Shape. Errors: no
  /// memory.
  Expected<void> allocate(int64_t count, int64_t pitch,
                          std::vector<int32_t> groups = {});

  /// Tokens that the request's pages hold.
  virtual int64_t cachedTokens(Place place) const = 0;
  /// Tokens that its pages have room for.
  virtual int64_t room(Place place) const = 0;
  /// A step is about to be computed with the tables of `buffer`. Errors: not
  /// now; nothing has changed.
  virtual Expected<void> beginStep(int32_t buffer) = 0;
  /// The request takes part in it, as this row of its replica's tables.
  virtual void writeRow(Place place, int32_t buffer, int64_t row) = 0;
  /// The request has computed so much; room() covers it.
  virtual Expected<void> commit(const TextGenerationContext &context,
                                Place place) = 0;
  /// All of the batch is committed.
  virtual void endStep(std::span<const Place> places) {}
  virtual void free(Place place) = 0;

  /// The common part of alloc's and probe's checks: claimed, something to
  /// compute, in step with its cache, no longer than a sequence may be.
  std::expected<Place, AllocationError>
  checkDemand(const TextGenerationContext &context, int32_t steps) const;
  static AllocationError refuse(AllocationError::Reason reason, KvStatus code,
                                std::string message) {
    return {reason, {code, std::move(message)}};
  }
  static Error unclaimed(RequestId id);
  /// check(), if it is asked for.
  Expected<void> checked() const {
    return common.enableRuntimeChecks ? check() : Expected<void>();
  }

  Common common;
  RequestTable requests;
  std::vector<CacheMemory> memories; // by replica

private:
  /// Fills `places` and `splits`. Errors name the request.
  Expected<void> locate(ContextBatch batch) const;
  std::span<const Place> placesOf(int32_t replica) const {
    return std::span(places).subspan(splits[replica],
                                     splits[replica + 1] - splits[replica]);
  }
  Expected<void> checkRow(const TextGenerationContext &context, Place place,
                          int32_t steps) const;

  // Of the latest batch; kept to be filled again.
  mutable std::vector<Place> places;
  mutable std::vector<int64_t> splits;
  mutable std::vector<uint64_t> seen; // by replica and slot: the batch's number
  mutable uint64_t batches = 0;

  std::vector<RaggedKVCacheInputs> inputs;
  std::vector<int64_t> inputRows; // by replica, of the latest inputs
  int32_t latest = 0;             // its buffer
};

} // namespace kv

#endif // KV_RUNTIME_REPLICATEDKVCACHEMANAGER_H
