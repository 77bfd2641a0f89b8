//===- ReplicatedKVCacheManager.h - Managers that own memory ----*- C++ -*-===//

#ifndef KV_RUNTIME_MANAGER_REPLICATEDKVCACHEMANAGER_H
#define KV_RUNTIME_MANAGER_REPLICATEDKVCACHEMANAGER_H

#include "kv/Runtime/Manager/CacheMemory.h"
#include "kv/Runtime/Manager/RequestTable.h"

#include <new>

namespace kv {

/// The common base of managers that own memory. Keeps the replica of each
/// request, checks batches, and makes the inputs of a step. The derived class
/// keeps the pages or slots of each request.
class ReplicatedKVCacheManager : public KVCacheManager {
public:
  const MultiKVCacheParams &params() const override { return common.params; }
  std::span<const Device> devices() const override { return common.devices; }
  int64_t maxSeqLen() const override { return common.maxSeqLen; }
  int64_t poolBytes() const override;
  int64_t hostBytes() const override;

  Expected<void> claim(RequestId id,
                       std::optional<int32_t> replica = {}) override;
  bool contains(RequestId id) const override { return requests.find(id); }
  Expected<void> release(RequestId id) override;
  Expected<int32_t> getReplica(RequestId id) const override;
  /// The replica of a claimed request; otherwise the one with the fewest
  /// requests, among equal ones that of the lowest index.
  int32_t
  getOrRecommendReplica(const TextGenerationContext &context) const override;
  Expected<std::span<const int64_t>>
  getDataParallelSplits(ContextBatch batch) const override;

  Expected<std::span<RaggedKVCacheInputs>>
  runtimeInputs(ContextBatch batch, int32_t steps = 1) override;
  Expected<void>
  incrementCacheLengths(std::span<RaggedKVCacheInputs> inputs,
                        std::span<const int32_t> rowOffsets) override;
  Expected<void> acceptPath(const TextGenerationContext &context,
                            std::span<const int32_t> path) override;
  Expected<void> step(ContextBatch batch) override;

protected:
  using RequestPlace = RequestTable::RequestPlace;

  struct Common {
    MultiKVCacheParams params;
    PoolLayout layout;
    std::vector<Device> devices;
    int32_t slots = 0; // most requests of a replica
    int64_t maxSeqLen = 0;
    int32_t maxSteps = DefaultMaxSteps;
    bool enableRuntimeChecks = false;
  };

  /// Checks the options and completes them: `devices`, if empty, becomes cpu:0,
  /// cpu:1, ... Errors name the option, its value and the allowed ones.
  static Expected<Common> prepare(const MultiKVCacheParams &params,
                                  CacheStrategy strategy,
                                  std::span<const Device> devices,
                                  int64_t maxBatchSize, int64_t maxSeqLen,
                                  int64_t maxSteps, bool enableRuntimeChecks);

  explicit ReplicatedKVCacheManager(Common common);

  /// Calls make() and returns its result, or an error if the heap is exhausted:
  /// the bookkeeping grows with the manager's options, so this can happen.
  template <class Fn> static auto orNoMemory(Fn &&make) -> decltype(make()) {
    try {
      return make();
    } catch (const std::bad_alloc &) {
      return makeError(KV_STATUS_OUT_OF_MEMORY,
                       "cache manager: no memory for its bookkeeping");
    }
  }

  /// Allocates on every device: `count` usable pages or slots, and tables whose
  /// rows have `segment` entries for each band; 0: tables of rank 1. `states`
  /// is the number of usable states. Errors: no memory.
  Expected<void> allocate(int64_t count, int64_t segment, int64_t states = 0);

  /// The extent of a request in the cache, in tokens.
  struct Extent {
    int64_t held = 0; // tokens whose keys and values are in the cache
    int64_t room = 0; // tokens that it has memory for
  };

  // These functions take a whole batch, since a step of hundreds of requests
  // does little work for each of them.

  /// Writes the extents of `places`, in their order.
  virtual void look(std::span<const RequestPlace> places,
                    Extent *extents) const = 0;
  /// Begins a step that uses the tables of `buffer`. Error: no step can begin
  /// now; nothing has changed.
  virtual Expected<void> beginStep(int32_t buffer) = 0;
  /// Makes requests of a replica part of the step: writes row i of its tables
  /// for places[i].
  virtual void writeRows(int32_t replica, int32_t buffer,
                         std::span<const RequestPlace> places) = 0;
  /// The first processed() tokens of each context have been computed; the
  /// caller has checked that they fit into what the requests have reserved.
  virtual Expected<void> commit(ContextBatch batch,
                                std::span<const RequestPlace> places) = 0;
  /// The page or slot of a request that holds page number `page` of a group.
  virtual PageId pageAt(RequestPlace place, int32_t group,
                        int64_t page) const = 0;
  /// Releases the pages or the slot of a request, which may have none yet.
  virtual void free(RequestPlace place) = 0;

  /// The checks that alloc() and probe() share: the request is claimed, it has
  /// tokens to compute, its context has processed what is in its cache, and it
  /// is not longer than maxSeqLen. `held` is the count of tokens in its cache;
  /// nullopt if it is not claimed. Returns nullopt if all hold.
  std::optional<AllocationError>
  checkDemand(const TextGenerationContext &context, int32_t steps,
              std::optional<int64_t> held) const;
  template <class... Parts>
  [[gnu::cold, gnu::noinline]] static AllocationError
  refuse(AllocationError::Reason reason, KvStatus code, const Parts &...parts) {
    return {reason, {code, concat(parts...)}};
  }
  /// The error of calls for a request that is not claimed.
  static Error unclaimed(RequestId id);
  /// Whether claim() would succeed; if not, its error.
  Expected<void> canClaim(RequestId id, std::optional<int32_t> replica) const;
  /// check(), if enableRuntimeChecks is set.
  Expected<void> checked() const {
    return common.enableRuntimeChecks ? check() : Expected<void>();
  }

  /// The index of a place among those of all replicas, from 0.
  size_t index(RequestPlace place) const {
    return static_cast<size_t>(place.replica) * common.slots + place.slot;
  }

  Common common;
  RequestTable requests;
  std::vector<CacheMemory> memories; // by replica

private:
  /// Fills `places` and `splits` for this batch. Errors name the request.
  Expected<void> locate(ContextBatch batch) const;
  /// Whether `places` and `splits` are already those of this batch.
  bool isLocated(ContextBatch batch) const;
  std::span<const RequestPlace> placesOf(int32_t replica) const {
    return std::span(places).subspan(splits[replica],
                                     splits[replica + 1] - splits[replica]);
  }
  std::span<const Extent>
  extentsOf(std::span<const RequestPlace> places) const {
    look(places, extents.data());
    return std::span(extents).first(places.size());
  }
  /// Called after step `done` of the latest inputs, which has computed
  /// rowOffsets[i + 1] - rowOffsets[i] tokens of row i: corrects the lengths of
  /// the later steps if runtimeInputs() had assumed others.
  void publishComputed(int32_t replica, int64_t done,
                       std::span<const int32_t> rowOffsets);
  /// Writes the lengths before each step of a multi-step loop except the first,
  /// [steps - 1, rows], after the first step's.
  static void expectLengths(ContextBatch batch, int32_t steps,
                            int32_t *lengths);
  /// Whether a request of a batch can run `steps` steps. Errors: it has no
  /// token to compute; context and cache disagree; it has not reserved enough.
  static Expected<void> checkRow(const TextGenerationContext &context,
                                 const Extent &extent, int32_t steps);

  // The latest batch. The next one is often the same, and then needs no search.
  mutable std::vector<RequestId> ids; // empty: the vectors below are outdated
  mutable std::vector<RequestPlace> places;
  mutable std::vector<int64_t> splits;
  mutable std::vector<Extent> extents; // scratch
  /// By index(): the value of `batches` when the request was last in a batch.
  mutable std::vector<uint64_t> seen;
  mutable uint64_t batches = 0;

  // The latest inputs, with the changes made by incrementCacheLengths().
  std::vector<RaggedKVCacheInputs> inputs;
  std::vector<int64_t> inputRows; // by replica: rows; -1 before the first
  int64_t inputSteps = 0;         // steps that they were made for
  int32_t latest = 0;             // CacheMemory buffer that they lie in
};

inline std::optional<AllocationError>
ReplicatedKVCacheManager::checkDemand(const TextGenerationContext &context,
                                      int32_t steps,
                                      std::optional<int64_t> held) const {
  auto invalid = [](const auto &...parts) {
    return refuse(AllocationError::Reason::Invalid, KV_STATUS_INVALID_ARGUMENT,
                  "request ", parts...);
  };
  if (!held)
    return invalid(context.id(), " is not claimed");
  if (steps < 1 || steps > common.maxSteps)
    return invalid(context.id(), ": ", steps,
                   " steps, allowed: 1 to maxSteps = ", common.maxSteps);
  if (context.active() < 1)
    return invalid(context.id(), " has no token to compute");
  if (context.processed() != *held)
    return invalid(context.id(), ": its context has processed ",
                   context.processed(), " tokens, its cache holds ", *held,
                   " (is a call of step missing?)");
  // The whole prompt is checked, since its last chunk must fit as well.
  int64_t whole = context.length() + steps - 1;
  if (whole > common.maxSeqLen)
    return refuse(AllocationError::Reason::NeverFits, KV_STATUS_OUT_OF_RANGE,
                  "request ", context.id(), " needs room for ", whole,
                  " tokens, the longest sequence is ", common.maxSeqLen);
  return std::nullopt;
}

} // namespace kv

#endif // KV_RUNTIME_MANAGER_REPLICATEDKVCACHEMANAGER_H
