//===- PagedSizes.h - What a paged cache needs and takes --------*- C++ -*-===//
//
// The one place that computes how many pages requests need and how many bytes
// pages take. All figures are exact: a manager allocates bytesFor() bytes,
// neither more nor less, and with blocksForAll() pages it never refuses a
// request.
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

/// The largest arguments of one reservation, which bound the pages that a
/// request holds.
struct StepLimits {
  int64_t maxSteps = KVCacheManager::DefaultMaxSteps; // steps at once
  /// Tokens of one chunk; 0: the whole prompt. Pages that a window has passed
  /// are released between chunks only, so shorter chunks take fewer pages.
  int64_t maxChunkTokens = 0;
  /// States of recurrent collections that are kept for later requests, in
  /// addition to two for each request; -1: as many as those.
  int64_t snapshots = -1;

  bool operator==(const StepLimits &) const = default;
};

class PagedSizes {
public:
  /// Sizes for at most `slots` requests a replica, of at most `maxSeqLen`
  /// tokens each. `params` are of paged caches.
  PagedSizes(const MultiKVCacheParams &params, int64_t slots, int64_t maxSeqLen,
             const StepLimits &limits = {});

  /// Most tokens of a sequence: positions, those of drafts included, have 32
  /// bits.
  static int64_t longestSequence(const MultiKVCacheParams &params) {
    return INT32_MAX - params.draftSlots();
  }

  const PoolLayout &layout() const { return pool; }
  std::span<const CacheGroup> groups() const { return kinds; }

  /// Most pages that a request holds at any moment while it grows to `tokens`
  /// tokens, draft tokens included.
  int64_t blocksFor(int64_t tokens) const;
  /// Pages with which `slots` requests of maxSeqLen tokens are never refused.
  __int128 blocksForAll() const { return __int128(slots) * blocksFor(longest); }

  /// Entries of a segment, one band's part of a lookup table's row, where the
  /// pool has `pages` pages: the pages of the longest request that fits,
  /// rounded up to a multiple of 8, and 16 more so that kernels may read beyond
  /// the end.
  int64_t segment(int64_t pages) const;
  /// The engine's Options::snapshots, and usable states of a replica; 0 without
  /// recurrent collections.
  int64_t snapshots() const;
  int64_t states() const;
  /// Bytes on all devices of a replica with `pages` usable pages: blocks and
  /// scales of these pages and of the null page, all states, and the tables and
  /// lengths of two steps.
  __int128 bytesFor(int64_t pages) const;
  /// The largest number of pages for which bytesFor() is at most `bytes`; 0 if
  /// one page already takes more.
  int64_t pagesIn(int64_t bytes) const;
  /// Slots of host memory in addition to `pages` usable pages of each replica:
  /// as many as the devices have pages and states, but no more than fit into
  /// `mostBytes`; a page and a state at least.
  int64_t hostPages(int64_t pages, int64_t mostBytes) const;

private:
  PoolLayout pool;
  std::vector<CacheGroup> kinds;
  int64_t pageSize, shards, replicas, drafts;
  int64_t slots, longest;
  StepLimits limits;
};

} // namespace kv

#endif // KV_RUNTIME_MANAGER_PAGEDSIZES_H
