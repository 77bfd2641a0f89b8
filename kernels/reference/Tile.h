//===- Tile.h - The inner loops of attention --------------------*- C++ -*-===//
//
// A tile is up to a few dozen query rows of one KV head of one sequence. Its
// keys are taken in blocks of 32 consecutive absolute positions, aligned to 32.
// A block is widened to double once and then used by every row. A row is
// updated block by block (running maximum, sum, weighted values), each step in
// an order that absolute positions fix. A block in which a row sees nothing
// does not touch it.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_REFERENCE_TILE_H
#define KV_KERNELS_REFERENCE_TILE_H

#include "Scales.h"
#include "kv/Kernels/Reference.h"

namespace kv::reference {

/// Doubles of a value row are padded to a multiple of this.
constexpr int64_t ValuePadding = 8;
constexpr int64_t KeyBlock = 32;

/// The key positions that a query sees: [first, last).
struct Visible {
  int64_t first;
  int64_t last;
};

/// One query row and its running softmax.
struct Row {
  Visible keys;
  double maximum;
  double sum;
  /// A row sees the keys from `tree` on for which `path` has a bit.
  int64_t tree;
  uint64_t path;

  bool sees(int64_t key) const {
    return key < tree || (path >> (key - tree) & 1);
  }
};

/// Working memory of one tile, aligned to 64 bytes each.
struct Tile {
  int64_t rowCount;
  int64_t dim;          // D
  int64_t valueStride;  // Dv, padded
  Visible keys;         // what any row sees
  Row *rows;            // [rowCount]
  double *queries;      // [rowCount][D]
  double *accumulators; // [rowCount][valueStride]
  double *keysT;        // [D][KeyBlock]: the key block, transposed
  double *values;       // [KeyBlock][valueStride]
};

/// Where a tile's keys are.
struct KeySource {
  LayerBlocks cache;
  LayerScales scales;
  const KvTensorView &table;
  int64_t sequence;
  int64_t head;
  int64_t valueDim;

  int64_t page(int64_t position) const {
    return pageOf(table, sequence, position, cache.pageSize());
  }
  int64_t slot(int64_t position) const { return position % cache.pageSize(); }
};

/// Takes all rows of a tile over all their keys, with vectors of `lanes`
/// doubles: 2, 4 (x86-64-v3) or 8 (x86-64-v4). The bits are the same.
void runTile(const Tile &tile, const KeySource &source, double scale,
             double softcap, int lanes);

/// The widest vectors that this machine has.
int machineLanes();

/// kv::reference::attention with vectors of `lanes` doubles, for tests.
void attentionWithLanes(const AttentionArguments &args, int64_t lo, int64_t hi,
                        int lanes);

} // namespace kv::reference

#endif // KV_KERNELS_REFERENCE_TILE_H
