//===- PagedSizes.h - What a paged cache needs and takes --------*- C++ -*-===//
//
// The one place that knows how many pages requests need and how many bytes
// pages take. Everything is exact: a manager holds to the byte what is said
// here, and never refuses requests that it has the pages of.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_MANAGER_PAGEDSIZES_H
#define KV_RUNTIME_MANAGER_PAGEDSIZES_H

#include "kv/Runtime/Engine/Groups.h"
#include "kv/Runtime/Manager/KVCacheManager.h"
#include "kv/Runtime/Manager/PoolLayout.h"

#include <cstdint>
#include <vector>

namespace kv {

/// How a request's pages are asked for: the most of each that a call gives.
struct StepLimits {
  int64_t maxSteps = KVCacheManager::DefaultMaxSteps; // of one reservation
  /// Tokens that a request computes at once; 0: its whole prompt. Windows give
  /// pages back between chunks only, so shorter chunks take fewer pages.
  int64_t maxChunkTokens = 0;

  bool operator==(const StepLimits &) const = default;
};

class PagedSizes {
public:
  /// `slots` requests of a replica, of at most `maxSeqLen` tokens each.
  PagedSizes(const MultiKVCacheParams &params, int64_t slots, int64_t maxSeqLen,
             const StepLimits &limits = {});

  const PoolLayout &layout() const { return pool; }
  std::span<const CacheGroup> groups() const { return kinds; }

  /// Pages that a request holds at most at any moment on its way to `tokens`
  /// tokens, drafts included.
  int64_t blocksFor(int64_t tokens) const;
  /// Pages with which `slots` requests of maxSeqLen tokens are never refused.
  __int128 blocksForAll() const { return __int128(slots) * blocksFor(longest); }

  /// Entries of one band of a lookup table's row in a pool of `pages` pages:
  /// those of the longest request that it can hold, rounded up to 8, and 16 of
  /// slack for wide reads.
  int64_t segment(int64_t pages) const;
  /// Bytes on all devices of a replica with `pages` pages: blocks and scales of
  /// these and of the null page, and the tables and lengths of two steps.
  __int128 bytesFor(int64_t pages) const;
  /// Most pages that take no more than `bytes` on all devices of a replica; 0:
  /// not even one does.
  int64_t pagesIn(int64_t bytes) const;

private:
  PoolLayout pool;
  std::vector<CacheGroup> kinds;
  int64_t pageSize, shards, drafts;
  int64_t slots, longest;
  StepLimits limits;
};

} // namespace kv

#endif // KV_RUNTIME_MANAGER_PAGEDSIZES_H
