//===- PagedSizes.cpp - What a paged cache needs and takes ----------------===//

#include "kv/Runtime/Manager/PagedSizes.h"
#include "kv/Runtime/Manager/PagedKVCacheManager.h"

#include <algorithm>

using namespace kv;

/// The largest value in [first, last] for which `holds` is true, found by
/// bisection; first - 1 if there is none. `holds` must be true up to some value
/// and false beyond it.
template <class Holds>
static int64_t lastThat(int64_t first, int64_t last, Holds &&holds) {
  while (first <= last) {
    int64_t middle = first + (last - first) / 2;
    if (holds(middle))
      first = middle + 1;
    else
      last = middle - 1;
  }
  return last;
}

PagedSizes::PagedSizes(const MultiKVCacheParams &params, int64_t slots,
                       int64_t maxSeqLen, const StepLimits &limits)
    : pool(PoolLayout::of(params)), pageSize(params.pageSize()),
      shards(params.tensorParallelDegree()),
      replicas(params.dataParallelDegree()), drafts(params.draftSlots()),
      slots(slots), longest(maxSeqLen), limits(limits) {
  for (const PoolLayout::Group &group : pool.groups)
    kinds.push_back({.window = group.window});
}

int64_t PagedSizes::blocksFor(int64_t tokens) const {
  // A reservation for several steps covers the tokens of all of them.
  int64_t chunk = limits.maxChunkTokens
                      ? limits.maxChunkTokens + limits.maxSteps - 1
                      : std::max<int64_t>(tokens, 1);
  return mostPages(kinds, pageSize, tokens, chunk, drafts);
}

int64_t PagedSizes::segment(int64_t pages) const {
  int64_t most = (longest + drafts + pageSize - 1) / pageSize;
  // Where all groups have windows, rows are still as long as the sequence,
  // though most entries are the null page; so the pool does not bound them.
  if (pool.hasFullGroup())
    most = std::min(most, pages);
  return PagedKVCacheManager::tablePitch(most);
}

int64_t PagedSizes::snapshots() const {
  if (!pool.hasStates())
    return 0;
  return limits.snapshots < 0 ? 2 * slots : limits.snapshots;
}

int64_t PagedSizes::states() const {
  // An engine has a sequence more than there are slots.
  return pool.hasStates() ? 2 * (slots + 1) + snapshots() : 0;
}

int64_t PagedSizes::hostPages(int64_t pages, int64_t mostBytes) const {
  int64_t parts = pool.stateParts(), least = 1 + parts;
  int64_t most = std::max(least, replicas * (pages + parts * states()));
  return std::clamp(mostBytes / pool.recordBytes(), least, most);
}

__int128 PagedSizes::bytesFor(int64_t pages) const {
  // Entries of one request: its length before each step, and its rows of page
  // ids.
  int64_t entries = limits.maxSteps;
  for (const PoolLayout::Table &table : pool.tables)
    entries += table.bands * segment(pages);
  if (pool.hasStates())
    entries += 2;
  __int128 tables =
      __int128(CacheMemory::NumBuffers) * slots * entries * sizeof(int32_t);
  return shards * ((pages + 1) * pool.bytesPerPage() +
                   (states() + 1) * pool.bytesPerState() + tables);
}

int64_t PagedSizes::pagesIn(int64_t bytes) const {
  return lastThat(1, CacheEngine::MostPages,
                  [&](int64_t pages) { return bytesFor(pages) <= bytes; });
}

//===----------------------------------------------------------------------===//
// Estimators
//===----------------------------------------------------------------------===//

Expected<int64_t> PagedKVCacheManager::numBlocks(
    const MultiKVCacheParams &params, int64_t maxBatchSize, int64_t maxSeqLen,
    int64_t availableCacheMemory, const StepLimits &limits) {
  if (Expected<void> valid = params.validate(CacheStrategy::Paged); !valid)
    return std::unexpected(valid.error());
  int64_t replicas = params.dataParallelDegree();
  if (maxBatchSize < replicas)
    return makeError(KV_STATUS_INVALID_ARGUMENT, "max_batch_size is ",
                     maxBatchSize, ", allowed: at least one for each of ",
                     replicas, " replicas");
  if (int64_t most = PagedSizes::longestSequence(params);
      maxSeqLen < 1 || maxSeqLen > most)
    return makeError(KV_STATUS_INVALID_ARGUMENT, "max_seq_len is ", maxSeqLen,
                     ", allowed: 1 to ", most);
  PagedSizes sizes(params, maxBatchSize / replicas, maxSeqLen, limits);
  int64_t holds = sizes.pagesIn(availableCacheMemory / replicas);
  if (holds < 1) {
    __int128 one = std::min<__int128>(sizes.bytesFor(1), INT64_MAX);
    return makeError(KV_STATUS_OUT_OF_MEMORY, "available_cache_memory is ",
                     availableCacheMemory, " bytes for ", replicas,
                     replicas == 1 ? " replica" : " replicas",
                     ", one page, the null page and the tables of a replica "
                     "take ",
                     static_cast<int64_t>(one));
  }
  return static_cast<int64_t>(std::min<__int128>(holds, sizes.blocksForAll()));
}

Expected<int64_t> PagedKVCacheManager::estimatedMemorySize(
    const MultiKVCacheParams &params, int64_t maxBatchSize, int64_t maxSeqLen,
    int64_t availableCacheMemory, const StepLimits &limits) {
  Expected<int64_t> pages =
      numBlocks(params, maxBatchSize, maxSeqLen, availableCacheMemory, limits);
  if (!pages)
    return pages;
  int64_t replicas = params.dataParallelDegree();
  PagedSizes sizes(params, maxBatchSize / replicas, maxSeqLen, limits);
  // At most availableCacheMemory, so the product fits into 64 bits.
  return static_cast<int64_t>(sizes.bytesFor(*pages) * replicas);
}

Expected<int64_t>
PagedKVCacheManager::inferOptimalBatchSize(const MultiKVCacheParams &params,
                                           int64_t maxSeqLen,
                                           int64_t availableCacheMemory) {
  if (Expected<void> valid = params.validate(CacheStrategy::Paged); !valid)
    return std::unexpected(valid.error());
  if (maxSeqLen < 1 || maxSeqLen > INT32_MAX)
    return makeError(KV_STATUS_INVALID_ARGUMENT, "max_seq_len is ", maxSeqLen,
                     ", allowed: 1 to ", INT32_MAX);
  if (availableCacheMemory < 0)
    return makeError(KV_STATUS_INVALID_ARGUMENT, "available_cache_memory is ",
                     availableCacheMemory, " bytes, allowed: 0 or more");
  return 512;
}

int64_t PagedKVCacheManager::maxSupportedSequenceLength(
    const MultiKVCacheParams &params, int64_t availableCacheMemory,
    const StepLimits &limits) {
  int64_t bytes = availableCacheMemory / params.dataParallelDegree();
  int64_t most =
      lastThat(1, PagedSizes::longestSequence(params), [&](int64_t tokens) {
        PagedSizes sizes(params, 1, tokens, limits);
        int64_t pages = sizes.blocksFor(tokens);
        return pages <= CacheEngine::MostPages &&
               sizes.bytesFor(pages) <= bytes;
      });
  return most - most % params.pageSize();
}
