//===- CacheMemory.h - The tensors of one replica ---------------*- C++ -*-===//

#ifndef KV_RUNTIME_MANAGER_CACHEMEMORY_H
#define KV_RUNTIME_MANAGER_CACHEMEMORY_H

#include "kv/Runtime/Manager/KVCacheManager.h"
#include "kv/Runtime/Manager/PoolLayout.h"

#include <array>
#include <vector>

namespace kv {

/// What a replica's devices hold: the pool's slabs, in which blocks and scales
/// of the collections lie, and the lengths and tables of two steps, so that one
/// can be prepared while the other runs. Every shard has tables of its own with
/// the same entries. Where the host cannot write a device's memory it writes
/// pinned memory, of which publish() queues a copy.
class CacheMemory {
public:
  static constexpr int32_t NumBuffers = 2; // steps whose tables stand

  struct Shape {
    int64_t count = 0;    // usable pages, or slots
    int64_t maxBatch = 0; // rows
    /// Entries of one band of a table's row; 0: tables have rank 1.
    int64_t segment = 0;
    int64_t maxSteps = 1;
  };

  /// Allocates on each of the replica's devices. Zeroed, null pages with them.
  static Expected<CacheMemory> create(const MultiKVCacheParams &params,
                                      const PoolLayout &layout,
                                      std::span<const Device> shards,
                                      const Shape &shape);

  int32_t numShards() const { return static_cast<int32_t>(shards.size()); }
  /// Bytes on the devices: slabs, tables and lengths.
  int64_t poolBytes() const;
  /// Bytes of host memory beside them: pinned memory, and max_lengths.
  int64_t hostBytes() const;

  /// Before a step is written: waits until the copies of the step that had this
  /// buffer are done. Errors: the device's.
  Expected<void> reuse(int32_t buffer);

  /// Where the host writes the tables of a step: [maxBatch, pitch(table)].
  int32_t *table(int32_t buffer, int32_t shard, int32_t table) {
    return shards[shard].steps[buffer].tables[table].host();
  }
  int64_t pitch(int32_t table) const {
    return layout.tables[table].bands * segment;
  }
  int32_t *maxima(int32_t buffer) { return maxLengths[buffer].as<int32_t>(); }
  /// The lengths before each step of a multi-step loop, [steps, rows] without
  /// gaps; of shard 0, for all.
  int32_t *lengths(int32_t buffer) {
    return shards[0].steps[buffer].lengths.host();
  }
  /// Queues copies of the tables' first `rows` rows and of the lengths of
  /// `steps` steps.
  void publish(int32_t buffer, int64_t rows, int64_t steps);
  /// Queues a copy of the lengths of steps `first` to `steps`, which were
  /// written anew. Nothing waits: no step before `first` reads them, and this
  /// copy lies behind the one that may still be reading what was overwritten.
  void publishLengths(int32_t buffer, int64_t rows, int64_t first,
                      int64_t steps);

  /// Views for the first of `steps` steps: collections of shard 0, of shard 1
  /// ...
  void fill(std::span<RaggedKVCacheInputs> inputs, int32_t buffer, int64_t rows,
            int64_t steps) const;

  /// On every shard, in the slabs of the group; whole rows.
  void copyPage(int32_t group, int64_t source, int64_t target);
  void zeroPage(int32_t group, int64_t target);

private:
  /// Written by the host, read by the device.
  struct Staged {
    Buffer device;
    Memory staging; // empty where the host writes the device's memory

    static Expected<Staged> create(const Device &device,
                                   std::span<const int64_t> shape);
    int32_t *host() const {
      return staging.data() ? staging.as<int32_t>() : device.as<int32_t>();
    }
    /// Queues a copy of the elements from `first` to `end`.
    void upload(DeviceBackend &backend, int64_t first, int64_t end) const;
  };
  struct Step {
    Staged lengths;
    std::vector<Staged> tables;
    uint64_t uploaded = 0; // a mark of the device's queue
  };
  struct Shard {
    DeviceBackend *backend = nullptr;
    std::vector<Memory> slabs;
    std::vector<KvTensorView> blocks; // by collection, into the slabs
    std::vector<KvTensorView> scales;
    std::array<Step, NumBuffers> steps;
  };

  template <class Fn> void forEachRow(int32_t group, Fn &&fn);

  std::vector<Shard> shards;
  std::array<Memory, NumBuffers> maxLengths; // on the host, for all shards
  PoolLayout layout;
  int64_t segment = 0;
};

} // namespace kv

#endif // KV_RUNTIME_MANAGER_CACHEMEMORY_H
