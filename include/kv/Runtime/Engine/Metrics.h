//===- Metrics.h - What the cache engine counts -----------------*- C++ -*-===//
//
// Written by the engine's thread and readable by any thread, without locks: a
// reader may see one counter earlier than another.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_ENGINE_METRICS_H
#define KV_RUNTIME_ENGINE_METRICS_H

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

namespace kv {

/// A count that one thread writes and any thread reads.
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

/// A number of things that there are, which one thread writes and any thread
/// reads.
class Gauge {
public:
  Gauge &operator=(int32_t now) {
    value.store(now, std::memory_order_relaxed);
    return *this;
  }
  Gauge &operator+=(int32_t more) { return *this = *this + more; }
  Gauge &operator++() { return *this = *this + 1; }
  Gauge &operator--() { return *this = *this - 1; }
  operator int32_t() const { return value.load(std::memory_order_relaxed); }

private:
  std::atomic<int32_t> value = 0;
};

/// Counts values by powers of two: bucket 0 counts zeros, bucket b the values
/// in [2^(b-1), 2^b), and the last bucket also all larger ones.
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

/// Figures of an engine since its creation. Calls that changed nothing are
/// counted by the three `refused` counters only.
struct EngineMetrics {
  Counter promptPages;    // pages looked up by reservations that fitted
  Counter hitPages;       // of those, taken over from the cache
  Counter newPages;       // blank or evicted pages taken, in all groups
  Counter evictedPages;   // cached pages given up for new content
  Counter committedPages; // positions made findable: one for all groups
  Counter twinPages;      // positions replaced by an equal committed page
  /// Computed full pages that could not be committed, because the index or the
  /// table of scopes was full, or the prefix had been evicted.
  Counter uncommittedPages;
  Counter copiedPages; // copies queued, one in each group
  Counter zeroedPages; // zero fills queued
  Counter refusedWait, refusedFull, refusedNever; // reservations by Verdict
  /// By CacheEngine::Reason: the pages that new sequences looked for, each page
  /// of a prompt once, the last token's not. Only with Options::explainMisses.
  std::array<Counter, 7> lookedUp;
  Histogram hitLength;   // pages of each hit
  Histogram evictedIdle; // steps between a page's last use and its eviction
};

} // namespace kv

#endif // KV_RUNTIME_ENGINE_METRICS_H
