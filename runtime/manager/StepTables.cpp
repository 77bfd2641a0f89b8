//===- StepTables.cpp - The tables of a replica's steps -------------------===//

#include "StepTables.h"

using namespace kv;

bool StepTables::create(CacheMemory &memory, const PoolLayout &layout,
                        int64_t rows) {
  for (int32_t at = 0; at < CacheMemory::NumBuffers; ++at)
    for (int32_t shard = 0; shard < memory.numShards(); ++shard) {
      if (int32_t *states = memory.states(at, shard))
        buffers[at].states.push_back(states);
      for (int32_t index = 0; index < std::ssize(layout.tables); ++index) {
        const PoolLayout::Table &made = layout.tables[index];
        int64_t pitch = memory.pitch(index), segment = pitch / made.bands;
        for (int32_t band = 0; band < made.bands; ++band) {
          StepTable &table = buffers[at].tables.emplace_back();
          table.group = made.firstGroup + band;
          int32_t *entries = memory.table(at, shard, index) + band * segment;
          if (!table.entries.create(entries, rows, pitch))
            return false;
        }
      }
    }
  return true;
}
