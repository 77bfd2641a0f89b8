//===- CacheMemory.h - The tensors of one replica ---------------*- C++ -*-===//

#ifndef KV_RUNTIME_MANAGER_CACHEMEMORY_H
#define KV_RUNTIME_MANAGER_CACHEMEMORY_H

#include "kv/Runtime/Engine/Groups.h"
#include "kv/Runtime/Engine/PageOps.h"
#include "kv/Runtime/Engine/States.h"
#include "kv/Runtime/Manager/KVCacheManager.h"
#include "kv/Runtime/Manager/PoolLayout.h"

#include <array>
#include <vector>

namespace kv {

/// The memory of one replica on all of its devices, the shards. The pool's
/// slabs (PoolLayout.h) hold the blocks and scales of the collections. Lengths,
/// lookup tables and tables of states exist for two steps, so that one step can
/// be prepared while the other runs. Every shard has tables of its own with the
/// same entries. Where the host cannot write a device's memory, it writes
/// pinned memory, and publish() queues a copy to the device. Owns all of this
/// memory.
class CacheMemory {
public:
  static constexpr int32_t NumBuffers = 2; // steps that have tables

  struct Shape {
    int64_t count = 0;    // usable pages, or slots
    int64_t maxBatch = 0; // rows of a table, each of one request
    /// Entries of a segment, the part of a table's row that belongs to one
    /// band. 0: tables have rank 1, one slot per row (continuous caches).
    int64_t segment = 0;
    int64_t maxSteps = 1; // steps of one multi-step loop
    int64_t states = 0;   // usable states, of recurrent collections
  };

  /// Allocates on each of `shards`, the replica's devices. All memory is zero,
  /// the null pages' too. Errors: those of the devices; no memory.
  static Expected<CacheMemory> create(const MultiKVCacheParams &params,
                                      const PoolLayout &layout,
                                      std::span<const Device> shards,
                                      const Shape &shape);

  int32_t numShards() const { return static_cast<int32_t>(shards.size()); }
  int32_t numGroups() const { return layout.numGroups(); }
  /// Bytes on the devices: slabs, tables and lengths.
  int64_t poolBytes() const;
  /// Bytes of host memory: the pinned copies of tables and lengths, and
  /// max_lengths.
  int64_t hostBytes() const;

  /// Waits until the copies of the last step that used `buffer` are done.
  /// Called before the next step is written to this buffer. Errors: the
  /// device's.
  Expected<void> reuse(int32_t buffer);

  /// Where the host writes one table of a step: page ids [maxBatch, pitch], or
  /// slots [maxBatch] where tables have rank 1. Here and below `buffer` is one
  /// of NumBuffers.
  int32_t *table(int32_t buffer, int32_t shard, int32_t table) {
    return shards[shard].steps[buffer].tables[table].host();
  }
  /// Entries of a row of `table`: a segment for each band.
  int64_t pitch(int32_t table) const {
    return layout.tables[table].bands * segment;
  }
  /// Where the host writes the states of a step, [maxBatch, 2]: what each
  /// request reads and what it writes. Null without recurrent collections.
  int32_t *states(int32_t buffer, int32_t shard) {
    return layout.hasStates() ? shards[shard].steps[buffer].states.host()
                              : nullptr;
  }
  /// Where the host writes max_lengths: [steps, 2], shared by all shards.
  int32_t *maxima(int32_t buffer) { return maxLengths[buffer].as<int32_t>(); }
  /// Where the host writes the lengths before each step of a multi-step loop,
  /// [steps, rows] without gaps. The memory is shard 0's; publish() copies it
  /// to all shards.
  int32_t *lengths(int32_t buffer) {
    return shards[0].steps[buffer].lengths.host();
  }
  /// Queues copies to every shard: of the first `rows` rows of all tables, and
  /// of the lengths of `steps` steps.
  void publish(int32_t buffer, int64_t rows, int64_t steps);
  /// Queues a copy of the lengths of the steps [first, steps), which the caller
  /// has overwritten. Does not wait. An earlier copy may still read the pinned
  /// memory and carry either the old or the new lengths. No step before `first`
  /// reads these lengths, and this copy comes later in the queue.
  void publishLengths(int32_t buffer, int64_t rows, int64_t first,
                      int64_t steps);

  /// Writes the inputs of the first of `steps` steps of `rows` requests: views
  /// of this memory, shard by shard and within a shard one for each collection.
  void fill(std::span<RaggedKVCacheInputs> inputs, int32_t buffer, int64_t rows,
            int64_t steps) const;

  /// Queues the copy or the zero fill of one page on every shard: of its row in
  /// each slab of the group. `source` and `target` are page ids.
  void copyPage(int32_t group, int64_t source, int64_t target);
  void zeroPage(int32_t group, int64_t target);

  /// Queues the copy of one token's rows, of all layers that a page of the
  /// collection has, on every shard. Places are of different tokens.
  struct TokenPlace {
    PageId page;
    int64_t token; // in the page, or slot
  };
  void copyToken(int32_t collection, TokenPlace source, TokenPlace target);

  /// A copy of one page of every group outside of the devices: row after row,
  /// by shard, group and slab. Rows that all shards hold alike are there once,
  /// among the first shard's. A record may also hold part of a state:
  /// recordBytes() bytes of the shards' slabs of states, laid end to end, from
  /// byte part * recordBytes() on; the last part may be shorter.
  struct Record {
    std::byte *data;                                  // recordBytes(), pinned
    std::array<PageId, CacheGroups::Most> pages = {}; // by group
    StateId state = NullState;
    int32_t part = 0; // below stateParts()
  };
  int64_t recordBytes() const { return layout.recordBytes(); }
  int32_t stateParts() const {
    return static_cast<int32_t>(layout.stateParts());
  }
  /// Queues copies between records and the pages of all shards, on the devices'
  /// second queues, after everything that is queued now. Work that is queued
  /// later waits for copies to devices. Such work waits for copies from devices
  /// only after followCopies(), which is called before their pages are written
  /// again.
  void copyRecords(std::span<const Record> records, bool toDevices);
  void followCopies();
  /// Whether the copies are done; does not wait.
  bool areCopiesDone() const;
  /// Waits for them. Error: a device's.
  Expected<void> finishCopies();
  /// The first failure of a device so far, without waiting.
  Expected<void> status() const;

private:
  /// Integers that the host writes and the device reads.
  struct Staged {
    Buffer device;
    Memory staging; // empty where the host writes the device's memory

    static Expected<Staged> create(const Device &device,
                                   std::span<const int64_t> shape);
    int32_t *host() const {
      return staging.data() ? staging.as<int32_t>() : device.as<int32_t>();
    }
    /// Queues a copy of the elements [first, end) to the device, if they are
    /// staged.
    void upload(DeviceBackend &backend, int64_t first, int64_t end) const;
  };
  struct Step {
    Staged lengths;
    std::vector<Staged> tables;
    Staged states;
    uint64_t uploaded = 0; // mark in the queue after the last upload
  };
  struct Shard {
    DeviceBackend *backend = nullptr;
    std::vector<Memory> slabs, stateSlabs;
    std::vector<KvTensorView> blocks; // by collection, into the slabs
    std::vector<KvTensorView> scales; // by collection; empty without scales
    std::array<Step, NumBuffers> steps;
    uint64_t copied = 0; // mark of the last copyRecords()
  };

  template <class Fn> void forEachRow(int32_t group, Fn &&fn);
  template <class Fn>
  void forEachPiece(size_t index, const Record &record, Fn &&fn) const;

  std::vector<Shard> shards;
  std::vector<MemoryCopy> copies;            // scratch of copyRecords()
  std::array<Memory, NumBuffers> maxLengths; // on the host, for all shards
  std::vector<CacheLayout> layouts;          // of the collections' blocks
  PoolLayout layout;
  int64_t segment = 0;
};

} // namespace kv

#endif // KV_RUNTIME_MANAGER_CACHEMEMORY_H
