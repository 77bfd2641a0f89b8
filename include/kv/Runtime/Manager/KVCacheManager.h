//===- KVCacheManager.h - The interface of cache managers -------*- C++ -*-===//
//
// A manager gives requests memory for their keys and values, and a compiled
// graph the cache arguments of each step. A caller's loop over a batch:
//
//   manager->claim(context.id());
//   manager->alloc(context);
//   auto inputs = manager->runtimeInputs(batch);
//   ... execute ...
//   context.update(tokens);      // the caller's list, one longer
//   manager->step(batch);        // what was computed becomes shareable
//   manager->release(context.id());
//
// Each request is claimed on one replica; in a batch, the requests of replica 0
// come first, then those of replica 1, and so on. All devices (shards) of a
// replica have the same page ids. One thread at a time calls a manager. A call
// that fails changes nothing.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_MANAGER_KVCACHEMANAGER_H
#define KV_RUNTIME_MANAGER_KVCACHEMANAGER_H

#include "kv/Runtime/Device/Buffer.h"
#include "kv/Runtime/Manager/KVCacheParams.h"
#include "kv/Runtime/Manager/TextGenerationContext.h"

#include <optional>
#include <span>

namespace kv {

/// The arguments of one collection on one device for one step. The manager owns
/// the memory of the views: that of blocks and scales stays as it is, that of
/// the others is written again by the second next call of runtimeInputs().
struct RaggedKVCacheInputs {
  KvTensorView blocks;       // KVCacheParams::blockShape
  KvTensorView cacheLengths; // i32 [B]: tokens in the cache before the step
  KvTensorView lookupTable;  // i32 [B, pitch]: page ids, unused entries 0;
                             // continuous: i32 [B], slots; recurrent: i32
                             // [B, 2], the states to read and to write
  /// i32 [steps, 2], in host memory: the most new tokens of a sequence, and the
  /// most tokens of one with them.
  KvTensorView maxLengths;
  KvTensorView scales = {}; // KVCacheParams::scaleShape; null data: no scales
  /// The sources of cacheLengths and lookupTable in host memory, for code that
  /// cannot read the device's. Null data: the two views are in host memory
  /// themselves.
  KvTensorView hostCacheLengths = {}, hostLookupTable = {};
  /// Whether no sequence of the device has tokens in the cache, so that the
  /// step computes whole prompts; also true without sequences. False after
  /// incrementCacheLengths(). max_lengths does not tell: cached lengths of 0
  /// and 5 with 10 and 5 new tokens give [10, 10], too.
  bool isCacheEmpty = true;
};

/// A batch in the order of its requests' replicas.
using ContextBatch = std::span<const TextGenerationContext *const>;

/// Why a reservation was refused. The refused call changed nothing, unless it
/// says Loading: then it has begun, and the next alloc() goes on with it.
struct AllocationError {
  enum class Reason {
    Wait,      // released pages become free when steps that run now are over
    Full,      // other requests hold the pages
    NeverFits, // the request does not fit even if it is the only one
    Invalid,   // the arguments are wrong, whatever is free
    Loading    // it has its pages; some of them are being read from a disk or a
               // store, which is asked for them
  };
  Reason reason;
  Error error;
};

/// The result of a reservation.
struct Allocation {
  int64_t cachedTokens = 0; // of the hit; the context has skipped them
  int32_t newPages = 0;
};

/// The result that a reservation would have.
struct AllocationPlan {
  int64_t cachedTokens = 0;
  /// Pages that would have to be free: new pages, and those pages of the hit
  /// that no request holds.
  int32_t pages = 0;
  bool fits = false;
};

struct KVCacheMetrics {
  int64_t inputTokens = 0;  // active tokens of successful reservations
  int64_t cachedTokens = 0; // tokens of hits, which need not be computed
  int64_t evictedPages = 0;
  int64_t refusals = 0;      // reservations that did not fit
  int64_t peakUsedPages = 0; // the sum of the replicas' peaks
  int64_t loadedPages = 0;   // copied from host memory to the devices
  int64_t storedPages = 0;   // copied from the devices to host memory
  int64_t diskPagesRead = 0, diskPagesWritten = 0;
  int64_t storePagesRead = 0, storePagesWritten = 0; // that machines share

  int64_t promptTokens() const { return inputTokens + cachedTokens; }
  /// 0 to 1; 0 if there were no tokens.
  double cacheHitRate() const {
    return promptTokens() ? static_cast<double>(cachedTokens) / promptTokens()
                          : 0;
  }
};

class KVCacheManager {
public:
  /// Default of the managers' option maxSteps: the most steps of a multi-step
  /// loop. Each of them takes memory for the lengths of two batches on every
  /// device.
  static constexpr int32_t DefaultMaxSteps = 64;
  /// The largest value of that option.
  static constexpr int32_t MostSteps = 1 << 20;

  virtual ~KVCacheManager();

  virtual const MultiKVCacheParams &params() const = 0;
  /// Replica-major: device = replica * shards + shard.
  virtual std::span<const Device> devices() const = 0;
  int32_t numReplicas() const {
    return static_cast<int32_t>(params().dataParallelDegree());
  }
  virtual int64_t maxSeqLen() const = 0;
  /// Bytes of TextGenerationContext::payload() for each token; 0: none are
  /// kept, and requests that have a payload compute their whole prompts.
  virtual int64_t payloadBytesPerToken() const { return 0; }

  //===--------------------------------------------------------------------===//
  // Requests
  //===--------------------------------------------------------------------===//

  /// Starts to track a request, on a replica. Errors: it is claimed already;
  /// there are several replicas and none is given; there is no such replica;
  /// all slots of the replica are in use.
  virtual Expected<void> claim(RequestId id,
                               std::optional<int32_t> replica = {}) = 0;
  virtual bool contains(RequestId id) const = 0;

  /// Releases a request's pages and stops tracking it. Allowed at any time,
  /// also while a step runs. Error: not claimed.
  virtual Expected<void> release(RequestId id) = 0;

  /// The replica on which the request was claimed. Error: not claimed.
  virtual Expected<int32_t> getReplica(RequestId id) const = 0;
  /// The replica on which the request was claimed or, if it was not, the one
  /// that suits it best.
  virtual int32_t
  getOrRecommendReplica(const TextGenerationContext &context) const = 0;

  /// Int64 [replicas + 1]: the requests of replica r are batch[splits[r]] to
  /// batch[splits[r + 1] - 1]. Valid until the next call. Errors: a request
  /// that is not claimed, or out of the order of replicas.
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

  /// Takes over the longest cached prefix, which context.skip() then counts,
  /// and reserves pages for the processed and active tokens, for `steps` - 1
  /// more and for drafts. After it, runtimeInputs() cannot fail for lack of
  /// memory.
  virtual std::expected<Allocation, AllocationError>
  alloc(TextGenerationContext &context, int32_t steps = 1) = 0;

  /// Sets the time, in nanoseconds of any clock that never goes back:
  /// priorities whose duration is over end. Only callers that use durations
  /// need it, for example before each step. Error: earlier than the last time.
  virtual Expected<void> setTime([[maybe_unused]] int64_t nanoseconds) {
    return {};
  }

  /// Waits until a page that an alloc() waits for (Reason::Loading) has come,
  /// but not longer than `nanoseconds`. False: none was on its way, or none has
  /// come.
  virtual bool waitForLoads([[maybe_unused]] int64_t nanoseconds) {
    return false;
  }

  /// The result that alloc() would have; changes nothing. A request that is not
  /// claimed is looked up on the replica that getOrRecommendReplica() names,
  /// whether or not a slot is free. Errors: those of alloc() that do not depend
  /// on free pages or on a claim.
  virtual Expected<AllocationPlan> probe(const TextGenerationContext &context,
                                         int32_t steps = 1) const = 0;

  /// The inputs of a step over `batch`: for each device, one for each
  /// collection in the order of the parameters. The rows of a device are the
  /// requests of its replica in the order of the batch. Errors name the
  /// request: it is not claimed, or out of the order of replicas; it has no
  /// active token; alloc() has not reserved enough pages.
  virtual Expected<std::span<RaggedKVCacheInputs>>
  runtimeInputs(ContextBatch batch, int32_t steps = 1) = 0;

  /// Prepares the next step of a multi-step loop. The cache lengths grow by the
  /// tokens that were computed: row b of the whole batch has computed
  /// rowOffsets[b + 1] - rowOffsets[b] tokens (i32 [B + 1], on the host). The
  /// first row of max_lengths is dropped, and isCacheEmpty is false. The call
  /// waits for nothing: the views of `inputs` move on to lengths that
  /// runtimeInputs() has written for all steps. A copy of corrected lengths is
  /// queued only if a step has computed less than was assumed: all active
  /// tokens in the first step, one token per request in later ones. Errors:
  /// `inputs` are not the latest, the offsets do not fit them, or no step is
  /// left.
  virtual Expected<void>
  incrementCacheLengths(std::span<RaggedKVCacheInputs> inputs,
                        std::span<const int32_t> rowOffsets) = 0;

  /// Between the execution of a step and step(): of the request's active
  /// tokens, the nodes of a tree of drafts (kv.attention), those at the indices
  /// `path` are accepted, which ascend. Their keys and values become those of
  /// the first positions after the processed tokens, in every layer on every
  /// device; the copies are queued last. The next step overwrites the rows of
  /// rejected nodes. The caller then calls accept() of the context. Errors: not
  /// claimed; the context has not processed what the cache holds; `path` is
  /// empty, does not ascend, or has an index of no active token. Two more
  /// errors: no pages are reserved for the tokens; a collection has states.
  virtual Expected<void> acceptPath(const TextGenerationContext &context,
                                    std::span<const int32_t> path) = 0;

  /// Commits the newly full pages of requests whose contexts have advanced over
  /// the tokens that were computed, and ends the step. Errors name the request:
  /// it is not claimed, or out of the order of replicas; its context has
  /// advanced beyond its pages.
  virtual Expected<void> step(ContextBatch batch) = 0;

  /// The cache arguments of a graph for `devices` devices (by default all),
  /// device by device: names, types and shapes in the order of runtimeInputs()
  /// and RaggedKVCacheInputs. `layers` replaces the geometry's.
  std::vector<std::vector<Argument>>
  symbolicInputs(std::optional<int32_t> devices = {},
                 std::optional<int64_t> layers = {}) const;

  //===--------------------------------------------------------------------===//
  // Figures
  //===--------------------------------------------------------------------===//

  /// Pages (continuous: slots) that a request holds at most at any moment on
  /// its way to `tokens` tokens: those of all windows, and those of drafts.
  virtual int64_t blocksFor(int64_t tokens) const = 0;
  /// Usable pages of each replica.
  virtual int64_t numPagesPerReplica() const = 0;
  /// Pages of a replica that no request holds: blank, cached and deferred ones.
  virtual int64_t numFreeBlocks(int32_t replica) const = 0;

  /// The sums over all replicas.
  virtual int64_t numFreeBlocks() const;
  virtual int64_t totalNumPages() const;
  /// Free and used pages as fractions of all usable pages, 0 to 1.
  virtual double freeBlocksPct() const;
  virtual double usedBlocksPct() const;
  /// Pages in host memory that back the devices' pages, and the fraction of
  /// them that has content. The two figures are 0 without a connector.
  virtual int64_t totalNumHostPages() const { return 0; }
  virtual double hostCommittedBlockPct() const { return 0; }
  /// Bytes on all devices: blocks and scales, null pages included, and the
  /// tables and lengths of two steps.
  virtual int64_t poolBytes() const = 0;
  /// Bytes of host memory in addition to those pages: pinned memory in which
  /// steps are written, and max_lengths.
  virtual int64_t hostBytes() const = 0;

  virtual KVCacheMetrics metrics() const = 0;
  virtual void resetMetrics() = 0;

  /// Forgets all cached prefixes. Running requests keep their pages.
  virtual void resetPrefixCache() = 0;

  /// Checks all invariants. Error: the first contradiction.
  virtual Expected<void> check() const = 0;
};

} // namespace kv

#endif // KV_RUNTIME_MANAGER_KVCACHEMANAGER_H
