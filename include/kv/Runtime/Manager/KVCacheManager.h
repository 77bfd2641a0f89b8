//===- KVCacheManager.h - What every cache manager does ---------*- C++ -*-===//
//
//   manager->claim(context.id());
//   manager->alloc(context);
//   auto inputs = manager->runtimeInputs(batch);
//   ... execute ...
//   context.update(tokens);      // the caller's list, one longer
//   manager->step(batch);        // what was computed becomes shareable
//   manager->release(context.id());
//
// Requests live on replicas, and every call that takes a batch wants it in the
// order of its requests' replicas. A replica's devices (shards) hold the same
// pages. One thread at a time. A call that fails changes nothing.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_MANAGER_KVCACHEMANAGER_H
#define KV_RUNTIME_MANAGER_KVCACHEMANAGER_H

#include "kv/Runtime/Buffer.h"
#include "kv/Runtime/Manager/KVCacheParams.h"
#include "kv/Runtime/Manager/TextGenerationContext.h"

#include <optional>
#include <span>

namespace kv {

/// The arguments of one collection on one device for one step. The views are
/// the manager's: blocks and scales stay, the others are valid until the second
/// next runtimeInputs, which writes to the same memory.
struct RaggedKVCacheInputs {
  KvTensorView blocks;       // KVCacheParams::blockShape
  KvTensorView cacheLengths; // i32 [B]: tokens in the cache before the step
  KvTensorView lookupTable;  // i32 [B, pitch]: page ids, unused entries 0;
                             // continuous: i32 [B], slots
  KvTensorView maxLengths;   // i32 [steps, 2]: most new tokens, most tokens
  KvTensorView scales = {};  // KVCacheParams::scaleShape; no data: none
  /// Whether none of the device's sequences has anything in its cache, so that
  /// the step encodes whole prompts; false after incrementCacheLengths. True
  /// without sequences. max_lengths cannot say it: cached lengths of 0 and 5
  /// with 10 and 5 new tokens give [10, 10].
  bool isCacheEmpty = true;
};

/// A batch in the order of its requests' replicas.
using ContextBatch = std::span<const TextGenerationContext *const>;

/// Why a reservation was refused. It changed nothing.
struct AllocationError {
  enum class Reason {
    Wait,      // not now: steps that have begun hold pages that were released
    Full,      // not now: other requests hold the pages
    NeverFits, // not even alone
    Invalid    // the call makes no sense
  };
  Reason reason;
  Error error;
};

/// What a reservation took.
struct Allocation {
  int64_t cachedTokens = 0; // skipped in the context
  int32_t newPages = 0;
};

/// What a reservation would take.
struct AllocationPlan {
  int64_t cachedTokens = 0;
  /// Pages that would have to be free: new ones, and cached ones of the hit.
  int32_t pages = 0;
  bool fits = false;
};

struct KVCacheMetrics {
  int64_t inputTokens = 0;  // active tokens of successful reservations
  int64_t cachedTokens = 0; // tokens that the prefix cache saved
  int64_t evictedPages = 0;
  int64_t refusals = 0;      // reservations that did not fit
  int64_t peakUsedPages = 0; // the sum of the replicas' peaks

  int64_t promptTokens() const { return inputTokens + cachedTokens; }
  /// 0 to 1; 0 if there were no tokens.
  double cacheHitRate() const {
    return promptTokens() ? static_cast<double>(cachedTokens) / promptTokens()
                          : 0;
  }
};

class KVCacheManager {
public:
  /// Steps of a multi-step loop that a manager has room for unless its options
  /// say otherwise. Each costs the lengths of a batch on every device, twice.
  static constexpr int32_t DefaultMaxSteps = 64;

  virtual ~KVCacheManager();

  virtual const MultiKVCacheParams &params() const = 0;
  /// Replica-major: device = replica * shards + shard.
  virtual std::span<const Device> devices() const = 0;
  int32_t numReplicas() const {
    return static_cast<int32_t>(params().dataParallelDegree());
  }
  virtual int64_t maxSeqLen() const = 0;

  //===--------------------------------------------------------------------===//
  // Requests
  //===--------------------------------------------------------------------===//

  /// Tracks a request on a replica. Errors: claimed already; no replica given
  /// where there are several; no such replica; its slots are in use.
  virtual Expected<void> claim(RequestId id,
                               std::optional<int32_t> replica = {}) = 0;
  virtual bool contains(RequestId id) const = 0;

  /// Gives a request's pages back; legal at any time. Error: not claimed.
  virtual Expected<void> release(RequestId id) = 0;

  /// Where the request was claimed. Error: not claimed.
  virtual Expected<int32_t> getReplica(RequestId id) const = 0;
  /// The same, or where it had best be claimed.
  virtual int32_t
  getOrRecommendReplica(const TextGenerationContext &context) const = 0;

  /// Int64 [replicas + 1], cumulative: the requests of replica r are those from
  /// splits[r] to splits[r + 1]. Valid until the next call. Errors: a request
  /// that is not claimed, a batch that is out of order.
  virtual Expected<std::span<const int64_t>>
  getDataParallelSplits(ContextBatch batch) const = 0;

  /// The request's pages in order, valid until its next call: those of the
  /// first full collection's first band. Where all collections have windows,
  /// those of the first, pages that it has passed being the null page. Error:
  /// not claimed.
  virtual Expected<std::span<const int32_t>>
  getReqBlocks(RequestId id) const = 0;

  //===--------------------------------------------------------------------===//
  // Steps
  //===--------------------------------------------------------------------===//

  /// Takes over the longest cached prefix (context.skip) and reserves pages for
  /// the processed and active tokens, `steps` - 1 more, and draft slots. After
  /// it, runtime inputs cannot fail for lack of memory.
  virtual std::expected<Allocation, AllocationError>
  alloc(TextGenerationContext &context, int32_t steps = 1) = 0;

  /// What alloc would take, without taking it. Errors: those of alloc that more
  /// free pages would not mend.
  virtual Expected<AllocationPlan> probe(const TextGenerationContext &context,
                                         int32_t steps = 1) const = 0;

  /// The inputs of a step over `batch`: for each device, those of each
  /// collection in the parameters' order. Rows of a device are its replica's
  /// requests in the batch's order. Errors name the request: not claimed, out
  /// of order, no active token, pages that were not reserved.
  virtual Expected<std::span<RaggedKVCacheInputs>>
  runtimeInputs(ContextBatch batch, int32_t steps = 1) = 0;

  /// Prepares the next step of a multi-step loop: lengths grow by what
  /// `rowOffsets`, i32 [B + 1] of the whole batch on the host, says was
  /// computed; one row of max_lengths is dropped; no cache is empty any more.
  /// The views of `inputs` move on to lengths that runtimeInputs published for
  /// all steps, so nothing is copied and nobody waits. Only where a step has
  /// computed less than its active tokens, or a later one less than one token,
  /// a copy of the new lengths is queued, for which nobody waits either.
  /// Errors: inputs that are not the latest, offsets that do not fit them, no
  /// step left.
  virtual Expected<void>
  incrementCacheLengths(std::span<RaggedKVCacheInputs> inputs,
                        std::span<const int32_t> rowOffsets) = 0;

  /// The contexts have been advanced over what was computed: commits newly full
  /// pages. Errors name the request: not claimed, out of order, progress that
  /// its pages do not cover.
  virtual Expected<void> step(ContextBatch batch) = 0;

  /// What a graph for these devices takes, device by device: names, types and
  /// shapes in the order of runtimeInputs and RaggedKVCacheInputs. `layers`
  /// replaces that of the parameters.
  std::vector<std::vector<Argument>>
  symbolicInputs(std::optional<int32_t> devices = {},
                 std::optional<int64_t> layers = {}) const;

  //===--------------------------------------------------------------------===//
  // Figures
  //===--------------------------------------------------------------------===//

  /// Pages (continuous: slots) that a request holds at most at any moment on
  /// its way to `tokens` tokens: those of all windows, and those of drafts.
  virtual int64_t blocksFor(int64_t tokens) const = 0;
  /// Usable pages of one replica; all have the same number.
  virtual int64_t numPagesPerReplica() const = 0;
  /// Free, cached and deferred pages; free + used = total.
  virtual int64_t numFreeBlocks(int32_t replica) const = 0;

  /// The same over all replicas.
  virtual int64_t numFreeBlocks() const;
  virtual int64_t totalNumPages() const;
  /// Fractions of the usable pages, 0 to 1.
  virtual double freeBlocksPct() const;
  virtual double usedBlocksPct() const;
  /// Pages of host memory behind the devices' pages, and the fraction of them
  /// that holds content. Both 0 without a connector.
  virtual int64_t totalNumHostPages() const { return 0; }
  virtual double hostCommittedBlockPct() const { return 0; }
  /// Bytes on all devices: blocks and scales, null pages included, and the
  /// tables and lengths of two steps.
  virtual int64_t poolBytes() const = 0;
  /// Bytes of host memory beside them: pinned memory in which steps are
  /// written, and max_lengths.
  virtual int64_t hostBytes() const = 0;

  virtual KVCacheMetrics metrics() const = 0;
  virtual void resetMetrics() = 0;

  /// No prefix computed so far is found any more. Running requests keep theirs.
  virtual void resetPrefixCache() = 0;

  /// All invariants. Error: the first contradiction.
  virtual Expected<void> check() const = 0;
};

} // namespace kv

#endif // KV_RUNTIME_MANAGER_KVCACHEMANAGER_H
