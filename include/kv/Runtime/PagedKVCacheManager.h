//===- PagedKVCacheManager.h - Pages for a batch of requests ----*- C++ -*-===//
//
// The cache manager of paged collections, with data and tensor parallelism: a
// pool of pages and a prefix index a replica, whose pages all of its devices
// hold. Several collections share page ids, tables and one admission. After
// construction, calls that succeed allocate no memory.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_PAGEDKVCACHEMANAGER_H
#define KV_RUNTIME_PAGEDKVCACHEMANAGER_H

#include "kv/Runtime/ReplicatedKVCacheManager.h"

#include <memory>

namespace kv {

class PagedKVCacheManager : public ReplicatedKVCacheManager {
public:
  struct Options {
    /// As many as the parameters say; none: cpu:0, cpu:1 ...
    std::vector<Device> devices = {};
    int32_t maxBatchSize = 16; // requests tracked at a time, on all replicas
    int64_t maxSeqLen = 0;     // tokens of one request
    /// Usable pages of a replica. 0: what numBlocks() makes of the memory.
    int64_t numPages = 0;
    int64_t availableCacheMemory = 0; // bytes on all devices, without numPages
    int32_t maxSteps = 1; // largest `steps` of alloc and runtimeInputs
    /// Whether a new request is sent to the replica that has most of its
    /// prefix, the pages in use there taken off; otherwise to the replica with
    /// the fewest requests.
    bool prefixAffinity = true;
    bool enableRuntimeChecks = false; // all invariants after every call: slow
    uint64_t key = 0;                 // of the prefix index's tags
  };

  /// Allocates the blocks, (pages + 1) * params.bytesPerPage() bytes a device.
  /// Errors: parameters that do not validate, an option out of range, no
  /// memory.
  static Expected<std::unique_ptr<PagedKVCacheManager>>
  create(const MultiKVCacheParams &params, const Options &options);
  ~PagedKVCacheManager() override;

  /// Entries of a lookup table's row: the pages of the longest request, rounded
  /// up to 8, and 16 of slack for wide reads.
  static int64_t tablePitch(int64_t maxPages) {
    return (maxPages + 7) / 8 * 8 + 16;
  }

  int32_t
  getOrRecommendReplica(const TextGenerationContext &context) const override;
  Expected<std::span<const int32_t>> getReqBlocks(RequestId id) const override;

  std::expected<Allocation, AllocationError>
  alloc(TextGenerationContext &context, int32_t steps = 1) override;
  Expected<AllocationPlan> probe(const TextGenerationContext &context,
                                 int32_t steps = 1) const override;

  int64_t blocksFor(int64_t tokens) const override {
    return params().pagesFor(tokens);
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
  // the replicas; pages are usable ones, without the null page.
  //===--------------------------------------------------------------------===//

  /// Pages of a replica: as many as its memory holds, but no more than its
  /// share of `maxBatchSize` sequences of `maxSeqLen` tokens needs. Errors: the
  /// memory holds no page; fewer sequences than replicas.
  static Expected<int64_t> numBlocks(const MultiKVCacheParams &params,
                                     int64_t maxBatchSize, int64_t maxSeqLen,
                                     int64_t availableCacheMemory);
  /// Bytes of those pages on all devices. Same errors.
  static Expected<int64_t> estimatedMemorySize(const MultiKVCacheParams &params,
                                               int64_t maxBatchSize,
                                               int64_t maxSeqLen,
                                               int64_t availableCacheMemory);
  /// The batch that serving starts with where none is asked for: pages are
  /// taken as requests grow, so memory does not bound it beforehand.
  static int64_t inferOptimalBatchSize(const MultiKVCacheParams &params,
                                       int64_t maxSeqLen,
                                       int64_t availableCacheMemory);
  /// Tokens of the longest sequence that a replica's share of the memory holds
  /// alone: a multiple of the page size.
  static int64_t maxSupportedSequenceLength(const MultiKVCacheParams &params,
                                            int64_t availableCacheMemory);

protected:
  int64_t cachedTokens(Place place) const override;
  int64_t room(Place place) const override;
  void writeRow(Place place, int64_t length, int32_t *row) override;
  Expected<void> beginStep(int32_t replica,
                           std::span<const Place> places) override;
  void commit(const TextGenerationContext &context, Place place) override;
  void free(Place place) override;

private:
  struct Replica;

  PagedKVCacheManager(Common common, const Options &options, int64_t pages);

  Options options;
  int64_t numPages;
  int64_t pitch;
  int64_t drafts; // slots of a reservation
  std::vector<std::unique_ptr<Replica>> replicas;
};

} // namespace kv

#endif // KV_RUNTIME_PAGEDKVCACHEMANAGER_H
