//===- CacheMemory.h - The tensors of one replica ---------------*- C++ -*-===//

#ifndef KV_RUNTIME_CACHEMEMORY_H
#define KV_RUNTIME_CACHEMEMORY_H

#include "kv/Runtime/KVCacheManager.h"

#include <vector>

namespace kv {

/// What a replica's devices hold: blocks and scales of every collection, and
/// one table, written once and given to every shard.
class CacheMemory {
public:
  struct Shape {
    int64_t count = 0;    // usable pages, or slots
    int64_t maxBatch = 0; // rows
    int64_t pitch = 0;    // entries of a row; 0: the table has rank 1
    int64_t maxSteps = 1;
  };

  /// Allocates on each of the replica's devices. Zeroed, null pages with them.
  static Expected<CacheMemory> create(const MultiKVCacheParams &params,
                                      std::span<const Device> shards,
                                      const Shape &shape);

  int32_t numShards() const { return static_cast<int32_t>(shards.size()); }
  int64_t poolBytes() const;

  /// Where the host writes a step; publish() shows it to all shards.
  int32_t *lengths() { return shards[0].lengths.as<int32_t>(); }
  int32_t *tableRow(int64_t row) {
    return shards[0].table.as<int32_t>() + row * std::max<int64_t>(pitch, 1);
  }
  int32_t *maxima() { return maxLengths.as<int32_t>(); }

  /// Gives every shard the first `rows` rows.
  void publish(int64_t rows);

  /// Views for a step: collections of shard 0, of shard 1 ...
  void fill(std::span<RaggedKVCacheInputs> inputs, int64_t rows,
            int64_t steps) const;

  /// On every shard and in every collection; whole pages.
  void copyPage(int64_t source, int64_t target);
  void zeroPage(int64_t target);

private:
  struct Shard {
    std::vector<Buffer> blocks; // by collection
    std::vector<Buffer> scales;
    Buffer lengths, table;
  };

  template <class Fn> void forEachPaged(Fn &&fn);

  std::vector<Shard> shards;
  Buffer maxLengths; // on the host, for all
  int64_t pitch = 0;
};

} // namespace kv

#endif // KV_RUNTIME_CACHEMEMORY_H
