//===- PagedReplica.h - One replica of a paged manager ----------*- C++ -*-===//

#ifndef KV_RUNTIME_MANAGER_PAGEDREPLICA_H
#define KV_RUNTIME_MANAGER_PAGEDREPLICA_H

#include "kv/Runtime/Manager/PagedKVCacheManager.h"

#include "runtime/engine/CacheEngineImpl.h"
#include "runtime/engine/structures/LookupTable.h"

namespace kv {

/// The engine of one replica, and the writers of its lookup tables.
struct PagedKVCacheManager::Replica {
  std::unique_ptr<CacheEngineImpl> engine;
  /// One for each buffer, shard, table and band, in this order.
  std::vector<std::unique_ptr<LookupTable>> tables;
  /// For each buffer the step that uses its tables; number 0: no open step.
  struct Step {
    int64_t number = 0;
    Ticket ticket = 0;
  };
  std::array<Step, CacheMemory::NumBuffers> steps;
  Figures counters;
  Gauge peakUsedPages;
  KVCacheMetrics before; // the counters at the last resetMetrics()
};

// Inline, since every alloc() of a decode step asks.
inline CacheEngineImpl &PagedKVCacheManager::engine(Place place) const {
  return *replicas[place.replica]->engine;
}

} // namespace kv

#endif // KV_RUNTIME_MANAGER_PAGEDREPLICA_H
