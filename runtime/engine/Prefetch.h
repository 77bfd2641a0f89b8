//===- Prefetch.h - Asks for memory ahead -----------------------*- C++ -*-===//
//
// The engine's records are in random order in memory, but which of them come
// next is known. Asked for some dozens at a time, before the first of them is
// looked at, their cache misses overlap.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_ENGINE_PREFETCH_H
#define KV_RUNTIME_ENGINE_PREFETCH_H

#include <cstdint>

namespace kv {

/// Records that are asked for together: a cache miss takes as long as the work
/// on about ten, and their lines stay in the first level.
constexpr int32_t PrefetchBatch = 64;
/// The same, where each step asks for one more: records in between.
constexpr int32_t PrefetchAhead = 32;

inline void prefetch(const void *address) {
  __builtin_prefetch(address);
  // GCC takes a function that does nothing else for one without effects, and
  // drops the calls.
  asm volatile("");
}

} // namespace kv

#endif // KV_RUNTIME_ENGINE_PREFETCH_H
