//===- PagedKVCacheManager.h - Pages for a batch of requests ----*- C++ -*-===//
//
// The cache manager of paged collections, with data and tensor parallelism: a
// pool of pages and a prefix index a replica, whose pages all of its devices
// hold. Several collections share one pool and one admission, and those that
// see equally far back share page ids and tables. A facade of CacheEngine.
// After construction, calls that succeed allocate no memory.
//
// The promise of the sizes: with numBlocks() = slots * blocksFor(maxSeqLen)
// pages, as many requests of maxSeqLen tokens on each replica are never
// refused, whatever the order of their chunks and steps. Forks and truncations
// are outside of it: a last page that they leave in the index is copied, which
// takes a page a group more while the copy waits for its step.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_MANAGER_PAGEDKVCACHEMANAGER_H
#define KV_RUNTIME_MANAGER_PAGEDKVCACHEMANAGER_H

#include "kv/Runtime/Engine/CacheEngine.h"
#include "kv/Runtime/Manager/PagedSizes.h"
#include "kv/Runtime/Manager/ReplicatedKVCacheManager.h"

#include <functional>
#include <memory>

namespace kv {

class CacheEngineImpl;

class PagedKVCacheManager : public ReplicatedKVCacheManager {
public:
  struct Options {
    /// As many as the parameters say; none: cpu:0, cpu:1 ...
    std::vector<Device> devices = {};
    int32_t maxBatchSize = 16; // requests tracked at a time, on all replicas
    int64_t maxSeqLen = 0;     // tokens of one request
    /// Usable pages of a replica, or bytes on all devices, of which numBlocks()
    /// makes pages: one of the two is given, the other is 0.
    int64_t numPages = 0;
    int64_t availableCacheMemory = 0;
    /// The largest `steps` of alloc and runtimeInputs.
    int32_t maxSteps = DefaultMaxSteps;
    /// Most tokens that a request with windows computes in a step; 0: its whole
    /// prompt. Windows need that many tokens' pages beside their own.
    int64_t maxChunkTokens = 0;
    /// Whether a new request is sent to the replica that has most of its
    /// prefix, the pages in use there taken off; otherwise to the replica with
    /// the fewest requests.
    bool prefixAffinity = true;
    bool enableRuntimeChecks = false; // all invariants after every call: slow
    uint64_t key = 0;                 // of the prefix index's tags
    /// Whether steps run behind the caller's back: then the pages of a step are
    /// given to nobody else before step(batch) or synchronize(), however they
    /// are released. Otherwise a step is over when the caller makes its next
    /// call.
    bool asynchronous = false;
    /// Nanoseconds: the durations of priorities are rounded up to it.
    int64_t retentionTick = 1'000'000'000;
    /// Hear every call that changes an engine; none, or one a replica.
    std::vector<CommandSink *> logs = {};
    /// Hears, one sentence each, what create() accepts and who runs it may not
    /// want: that maxBatchSize sequences of maxSeqLen tokens do not fit at the
    /// same time, and with numPages that not even one does.
    std::function<void(std::string_view)> warn = {};
  };

  /// Allocates what PagedSizes::bytesFor() says on each replica. Errors:
  /// parameters that do not validate, an option out of range, both or neither
  /// of numPages and availableCacheMemory, memory that does not hold one
  /// sequence of maxSeqLen tokens, no memory.
  static Expected<std::unique_ptr<PagedKVCacheManager>>
  create(const MultiKVCacheParams &params, const Options &options) {
    return orNoMemory([&] { return make(params, options); });
  }
  ~PagedKVCacheManager() override;

  /// Entries of a lookup table's row: the pages of the longest request, rounded
  /// up to 8, and 16 of slack for wide reads.
  static int64_t tablePitch(int64_t maxPages) {
    return (maxPages + 7) / 8 * 8 + 16;
  }

  /// Claims `id` as a second sequence with the first `tokens` processed tokens
  /// of `source`, on its replica. They share the pages; a last page that is not
  /// full is copied when one of the two is about to write to it. The context of
  /// the new request has skipped `tokens`; its scope and retention are the
  /// source's. Errors: claims' and the engine's.
  Expected<void> fork(RequestId source, RequestId id, int64_t tokens);
  /// Takes back all but the first `tokens` processed tokens of a request, and
  /// the pages behind them. Its context must be rewound. Errors: not claimed,
  /// more tokens than processed.
  Expected<void> truncate(RequestId id, int64_t tokens);
  /// Whether each page of a request would be a hit, and if not, why; on the
  /// replica where it is or would be claimed. A diagnosis: allocates.
  std::vector<CacheEngine::Reason>
  explain(const TextGenerationContext &context) const;
  /// It is so late, by any clock that never goes back: priorities whose
  /// duration is over end. Who uses durations calls it, before each step, say.
  /// Error: before the last.
  Expected<void> setTime(int64_t nanoseconds);
  /// The devices are done with every step.
  void synchronize();

  int32_t
  getOrRecommendReplica(const TextGenerationContext &context) const override;
  Expected<std::span<const int32_t>> getReqBlocks(RequestId id) const override;

  std::expected<Allocation, AllocationError>
  alloc(TextGenerationContext &context, int32_t steps = 1) override;
  Expected<AllocationPlan> probe(const TextGenerationContext &context,
                                 int32_t steps = 1) const override;

  int64_t blocksFor(int64_t tokens) const override {
    return sizes.blocksFor(tokens);
  }
  int64_t numPagesPerReplica() const override { return numPages; }
  using KVCacheManager::numFreeBlocks;
  int64_t numFreeBlocks(int32_t replica) const override;

  KVCacheMetrics metrics() const override;
  void resetMetrics() override;
  void resetPrefixCache() override;
  Expected<void> check() const override;

  //===--------------------------------------------------------------------===//
  // Sizes. Memory is that of all devices together, and is divided evenly among
  // the replicas; pages are usable ones. The null page, the tables and the
  // lengths are in the memory, too: nothing is taken beyond it.
  //===--------------------------------------------------------------------===//

  /// Pages of a replica: as many as its memory holds, but no more than its
  /// share of `maxBatchSize` sequences of `maxSeqLen` tokens needs. Errors:
  /// parameters that are not of paged collections; the memory holds no page;
  /// fewer sequences than replicas.
  static Expected<int64_t> numBlocks(const MultiKVCacheParams &params,
                                     int64_t maxBatchSize, int64_t maxSeqLen,
                                     int64_t availableCacheMemory,
                                     const StepLimits &limits = {});
  /// Bytes that a manager with those pages holds on all devices, its
  /// poolBytes(); at most the memory. Same errors.
  static Expected<int64_t> estimatedMemorySize(const MultiKVCacheParams &params,
                                               int64_t maxBatchSize,
                                               int64_t maxSeqLen,
                                               int64_t availableCacheMemory,
                                               const StepLimits &limits = {});
  /// The batch that serving starts with where none is asked for: pages are
  /// taken as requests grow, so memory does not bound it beforehand. Errors:
  /// parameters that are not of paged collections, a length that is none,
  /// negative memory.
  static Expected<int64_t>
  inferOptimalBatchSize(const MultiKVCacheParams &params, int64_t maxSeqLen,
                        int64_t availableCacheMemory);
  /// Tokens of the longest request that a manager with one slot a replica and
  /// this memory accepts, drafts and tables counted; 0: none.
  static int64_t maxSupportedSequenceLength(const MultiKVCacheParams &params,
                                            int64_t availableCacheMemory,
                                            const StepLimits &limits = {});

protected:
  void look(std::span<const Place> places, Extent *extents) const override;
  Expected<void> beginStep(int32_t buffer) override;
  void writeRows(int32_t replica, int32_t buffer,
                 std::span<const Place> places) override;
  Expected<void> commit(ContextBatch batch,
                        std::span<const Place> places) override;
  void free(Place place) override;

private:
  struct Replica;
  struct Slot {
    /// Opened by the first reservation, since only then the request's scope is
    /// known.
    Sequence sequence;
    int64_t joined = 0; // the last step that it took part in
  };

  PagedKVCacheManager(Common common, const Options &options, int64_t pages);
  static Expected<std::unique_ptr<PagedKVCacheManager>>
  make(const MultiKVCacheParams &params, const Options &options);
  Expected<void> createReplicas();
  /// Whether the pages hold what the options say that there will be.
  Expected<void> checkCapacity() const;
  CacheEngine::Demand demand(const TextGenerationContext &context,
                             int32_t steps) const;
  Sequence &sequence(Place place) { return slots[index(place)].sequence; }
  const Sequence &sequence(Place place) const {
    return slots[index(place)].sequence;
  }
  CacheEngineImpl &engine(Place place) const;
  Extent extent(Place place) const;
  /// Tokens in the cache of a request that is claimed.
  std::optional<int64_t> held(const Place *place) const {
    if (!place)
      return std::nullopt;
    const Sequence &own = sequence(*place);
    return own ? own.processedTokens() : 0;
  }
  /// The part of alloc that takes pages.
  std::expected<Allocation, AllocationError>
  reserve(TextGenerationContext &context, int32_t steps, Place place);
  AllocationError explainRefusal(const TextGenerationContext &context,
                                 int32_t steps, Place place,
                                 const CacheEngine::Plan &plan) const;
  /// Those of the batch are over.
  void endStep(std::span<const Place> places);
  /// What a reservation of an unopened sequence would take. Errors: it cannot
  /// be opened.
  Expected<CacheEngine::Plan> planFresh(int32_t replica,
                                        const TextGenerationContext &context,
                                        int32_t steps) const;
  void runPageOps(int32_t replica, std::span<const PageOp> ops);
  /// The device is idle: page operations that wait for a step are run, and all
  /// steps are over.
  void settle(int32_t replica);

  /// Tokens and drafts are numbered in 32 bits.
  static int64_t longestSequence(const MultiKVCacheParams &params) {
    return INT32_MAX - params.draftSlots();
  }
  std::optional<AllocationError>
  checkChunk(const TextGenerationContext &context) const;

  Options options;
  PagedSizes sizes;
  int64_t numPages;
  int64_t drafts;       // slots of a reservation
  int32_t mainGroup;    // that getReqBlocks() looks at
  int64_t numSteps = 0; // begun so far
  std::vector<std::unique_ptr<Replica>> replicas;
  std::vector<Slot> slots; // by index(); ends before the engines
};

} // namespace kv

#endif // KV_RUNTIME_MANAGER_PAGEDKVCACHEMANAGER_H
