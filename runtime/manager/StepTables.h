//===- StepTables.h - The tables of a replica's steps -----------*- C++ -*-===//

#ifndef KV_RUNTIME_MANAGER_STEPTABLES_H
#define KV_RUNTIME_MANAGER_STEPTABLES_H

#include "kv/Runtime/Manager/CacheMemory.h"
#include "runtime/engine/CacheEngineImpl.h"
#include "runtime/engine/structures/LookupTable.h"

#include <deque>

namespace kv {

/// Writes what a step reads of its requests, in row i what belongs to request
/// i of the batch: page ids in the lookup tables of every shard, and places of
/// states. A table knows its group, so no order of tables has to be kept.
class StepTables {
public:
  /// Makes writers of all tables of `memory`, which outlives them. False: no
  /// memory for the bookkeeping.
  [[nodiscard]] bool create(CacheMemory &memory, const PoolLayout &layout,
                            int64_t rows);

  /// Writes the first `rows` rows of one buffer; `sequenceOf` returns the
  /// sequence of a row.
  template <class SequenceOf>
  void write(int32_t buffer, const CacheEngineImpl &engine, size_t rows,
             SequenceOf &&sequenceOf) {
    TableBuffer &own = buffers[buffer];
    for (int32_t *states : own.states)
      for (size_t row = 0; row < rows; ++row) {
        StatePlaces places = engine.statePlaces(sequenceOf(row));
        states[2 * row] = places.read;
        states[2 * row + 1] = places.write;
      }
    for (StepTable &table : own.tables)
      for (size_t row = 0; row < rows; ++row)
        table.entries.update(static_cast<int64_t>(row), sequenceOf(row),
                             table.group);
  }

private:
  /// The page ids of one group on one shard.
  struct StepTable {
    LookupTable entries;
    int32_t group = 0;
  };
  struct TableBuffer {
    std::deque<StepTable> tables;  // which cannot move
    std::vector<int32_t *> states; // by shard; empty without states
  };
  std::array<TableBuffer, CacheMemory::NumBuffers> buffers;
};

} // namespace kv

#endif // KV_RUNTIME_MANAGER_STEPTABLES_H
