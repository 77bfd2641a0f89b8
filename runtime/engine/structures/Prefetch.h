//===- Prefetch.h - Overlaps cache misses -----------------------*- C++ -*-===//
//
// The engine reads records in random order, but knows which ones come next.
// When some dozens are prefetched before the first of them is read, their cache
// misses overlap.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_ENGINE_STRUCTURES_PREFETCH_H
#define KV_RUNTIME_ENGINE_STRUCTURES_PREFETCH_H

#include <cstdint>

namespace kv {

/// Records that are prefetched together. A cache miss takes as long as the work
/// on about ten records, and this many cache lines stay in the first level.
constexpr int32_t PrefetchBatch = 64;
/// Where each iteration of a loop prefetches one record: how many iterations
/// before it is read.
constexpr int32_t PrefetchAhead = 32;

inline void prefetch(const void *address) {
  __builtin_prefetch(address);
  // GCC treats a function that only prefetches as one without effects and drops
  // the calls.
  asm volatile("");
}

} // namespace kv

#endif // KV_RUNTIME_ENGINE_STRUCTURES_PREFETCH_H
