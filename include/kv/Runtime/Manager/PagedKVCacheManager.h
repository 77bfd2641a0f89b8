//===- PagedKVCacheManager.h - Pages for a batch of requests ----*- C++ -*-===//
//
// The cache manager of paged collections, with data and tensor parallelism.
// Each replica has a pool of pages and a prefix index; every device of the
// replica holds its shard of each page. Several collections share one pool, and
// collections with the same window share page ids and tables, too. A facade of
// CacheEngine. After construction, calls that succeed allocate no memory,
// unless their comment says so.
//
// The sizes keep a promise: with slots * blocksFor(maxSeqLen) pages per
// replica, `slots` requests of maxSeqLen tokens on each replica are never
// refused, whatever the order of their chunks and steps. The promise does not
// cover forks and truncations: a last page that they leave in the prefix index
// is copied before it is written. The copy takes one more page per group until
// its step.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_MANAGER_PAGEDKVCACHEMANAGER_H
#define KV_RUNTIME_MANAGER_PAGEDKVCACHEMANAGER_H

#include "kv/Runtime/Engine/CacheEngine.h"
#include "kv/Runtime/Manager/PagedOptions.h"
#include "kv/Runtime/Manager/PagedSizes.h"
#include "kv/Runtime/Manager/ReplicatedKVCacheManager.h"

#include <memory>

namespace kv {

/// The interface; create() returns the one implementation, which is in
/// runtime/manager/PagedManager.h.
class PagedKVCacheManager : public ReplicatedKVCacheManager {
public:
  using TierOptions = PagedTierOptions;
  using Options = PagedOptions;

  /// Allocates PagedSizes::bytesFor() bytes on the devices of each replica.
  /// Errors: parameters that do not validate, an option out of range, both or
  /// neither of numPages and availableCacheMemory, an availableCacheMemory that
  /// does not hold one sequence of maxSeqLen tokens, no memory.
  static Expected<std::unique_ptr<PagedKVCacheManager>>
  create(const MultiKVCacheParams &params, const Options &options);

  /// Entries of one segment of a lookup table's row for requests of at most
  /// `maxPages` pages: rounded up to a multiple of 8, and 16 more so that
  /// kernels may read beyond the end.
  static int64_t tablePitch(int64_t maxPages) {
    return (maxPages + 7) / 8 * 8 + 16;
  }

  /// Claims `id` on the replica of `source`, as a second sequence that has the
  /// first `tokens` processed tokens of `source`. Both requests share the
  /// pages; a last page that is not full is copied when one of the two is about
  /// to write to it. The caller makes the context of the new request, which
  /// must have skipped `tokens` tokens; scope and retention are those of
  /// `source`. Errors: `source` is not claimed; more tokens than it has
  /// processed; those of claim() and of CacheEngine::fork().
  virtual Expected<void> fork(RequestId source, RequestId id,
                              int64_t tokens) = 0;
  /// Keeps the first `tokens` processed tokens of a request, and releases the
  /// pages after them. The caller must rewind the request's context. Errors:
  /// the request is not claimed; more tokens than it has processed; those of
  /// CacheEngine::truncate().
  virtual Expected<void> truncate(RequestId id, int64_t tokens) = 0;
  /// For each page of a request: Hit, or why it would not be a hit, on the
  /// replica where the request is claimed or would be. For diagnosis: allocates
  /// memory.
  virtual std::vector<CacheEngine::Reason>
  explain(const TextGenerationContext &context) const = 0;
  /// The caller states that the devices have finished every step: all released
  /// pages become available.
  virtual void synchronize() = 0;
  /// Does what was asked for on the reset socket, if anything was. For callers
  /// that sleep between two steps, until resetDescriptor() is readable; -1:
  /// there is no socket.
  virtual void serveResets() = 0;
  virtual int resetDescriptor() const = 0;

  /// Brings the cached prefix of a request that is not claimed, as far as it
  /// lies in tiers, to the devices of the replica that suits it best: for the
  /// next turn of a conversation. Waits for the disk. Returns the tokens of the
  /// prefix that are on the devices then; 0 without tiers. Errors: the request
  /// is claimed, or those of claim().
  virtual Expected<int64_t> prefetch(const TextGenerationContext &context) = 0;
  /// Figures of host memory and disk; null without them. Any thread may read
  /// them.
  virtual const TierMetrics *tierMetrics() const = 0;
  /// Whether there is a store that machines share.
  virtual bool hasStore() const = 0;

  /// Figures of a replica that any thread may read at any time. Figures only
  /// grow; resetMetrics() does not change them.
  struct Figures {
    Counter promptTokens;   // of requests, at their first reservation
    Counter inputTokens;    // KVCacheMetrics
    Counter cachedTokens;   // KVCacheMetrics
    Counter refusals;       // KVCacheMetrics
    Counter resets;         // resetPrefixCache()
    Counter loadedPages;    // KVCacheMetrics
    Counter abandonedPages; // that were found in a tier, and then computed
  };
  virtual const Figures &figures(int32_t replica) const = 0;
  /// The same for the engine of a replica.
  virtual const EngineMetrics &engineMetrics(int32_t replica) const = 0;
  virtual CacheEngine::PageCounts pageCounts(int32_t replica) const = 0;

  //===--------------------------------------------------------------------===//
  // Sizes. `availableCacheMemory` is in bytes of all devices together, and is
  // divided evenly among the replicas. The memory has to hold everything that a
  // manager allocates on devices: the pages, the null page, the tables and the
  // lengths. Returned pages are usable ones, without the null page.
  //===--------------------------------------------------------------------===//

  /// Pages of a replica: as many as its share of the memory holds, but no more
  /// than its share of `maxBatchSize` sequences of `maxSeqLen` tokens needs.
  /// Errors: a length out of range; parameters that are not of paged
  /// collections; the memory holds no page; fewer sequences than replicas.
  static Expected<int64_t> numBlocks(const MultiKVCacheParams &params,
                                     int64_t maxBatchSize, int64_t maxSeqLen,
                                     int64_t availableCacheMemory,
                                     const StepLimits &limits = {});
  /// Bytes on all devices that a manager with numBlocks() pages allocates,
  /// which is its poolBytes(); at most `availableCacheMemory`. Errors: those of
  /// numBlocks().
  static Expected<int64_t> estimatedMemorySize(const MultiKVCacheParams &params,
                                               int64_t maxBatchSize,
                                               int64_t maxSeqLen,
                                               int64_t availableCacheMemory,
                                               const StepLimits &limits = {});
  /// The batch size that serving uses where none is asked for: 512. Memory does
  /// not bound it, since requests take pages only as they grow. Errors:
  /// parameters that are not of paged collections; a length out of range;
  /// negative memory.
  static Expected<int64_t>
  inferOptimalBatchSize(const MultiKVCacheParams &params, int64_t maxSeqLen,
                        int64_t availableCacheMemory);
  /// Tokens of the longest request that a manager with one slot a replica
  /// accepts in this memory, which also has to hold draft tokens and tables; 0:
  /// no request fits.
  static int64_t maxSupportedSequenceLength(const MultiKVCacheParams &params,
                                            int64_t availableCacheMemory,
                                            const StepLimits &limits = {});

protected:
  using ReplicatedKVCacheManager::ReplicatedKVCacheManager;
};

} // namespace kv

#endif // KV_RUNTIME_MANAGER_PAGEDKVCACHEMANAGER_H
