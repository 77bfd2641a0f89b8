//===- Metrics.h - What the cache engine counts -----------------*- C++ -*-===//
//
// Written by the engine's thread, readable by any other: relaxed, never locked.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_ENGINE_METRICS_H
#define KV_RUNTIME_ENGINE_METRICS_H

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

namespace kv {

/// A count with one writer.
class Counter {
public:
  Counter &operator+=(int64_t more) {
    value.store(value.load(std::memory_order_relaxed) + more,
                std::memory_order_relaxed);
    return *this;
  }
  Counter &operator++() { return *this += 1; }
  operator int64_t() const { return value.load(std::memory_order_relaxed); }

private:
  std::atomic<int64_t> value = 0;
};

/// Counts by powers of two: bucket 0 holds 0, bucket b holds [2^(b-1), 2^b).
class Histogram {
public:
  static constexpr int32_t NumBuckets = 32;

  void add(uint64_t value) {
    int32_t bucket = std::bit_width(value);
    ++buckets[bucket < NumBuckets ? bucket : NumBuckets - 1];
  }
  int64_t operator[](int32_t bucket) const { return buckets[bucket]; }

private:
  std::array<Counter, NumBuckets> buckets;
};

/// Since construction. Only refusals count calls that changed nothing.
struct EngineMetrics {
  Counter promptPages;  // full pages looked up by reservations that fitted
  Counter hitPages;     // of those, reused
  Counter newPages;     // taken blank or evicted, all groups
  Counter evictedPages; // cached pages given up for new content
  Counter committedPages;
  Counter twinPages;        // computed, and found to be in the index already
  Counter uncommittedPages; // computed, full, and not indexed: no room for it
  Counter copiedPages;
  Counter zeroedPages;
  Counter refusedWait, refusedFull, refusedNever;
  Histogram hitLength;   // pages a hit, one entry a hit
  Histogram evictedIdle; // steps between last use and eviction
};

} // namespace kv

#endif // KV_RUNTIME_ENGINE_METRICS_H
