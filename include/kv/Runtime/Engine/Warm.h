//===- Warm.h - Reads ahead -------------------------------------*- C++ -*-===//
//
// The engine's records are in random order in memory, but which of them come
// next is known. Reading a batch of them, independently of each other, overlaps
// their cache misses. Plain loads, since prefetch instructions may be dropped
// where the address is not in the TLB either, and that is the usual case here:
// with them an eviction took more than twice as long (docs/performance.md).
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_ENGINE_WARM_H
#define KV_RUNTIME_ENGINE_WARM_H

#include <cstdint>

namespace kv {

/// Takes any field of what is to be in the cache.
class Warm {
public:
  /// Records that are read together.
  static constexpr int32_t Batch = 64;

  void operator()(uint64_t field) { sum += field; }
  ~Warm() { asm volatile("" : : "r"(sum)); } // the loads are not for nothing

private:
  uint64_t sum = 0;
};

} // namespace kv

#endif // KV_RUNTIME_ENGINE_WARM_H
