//===- LeafRows.h - The keys and values of a leaf ---------------*- C++ -*-===//

#ifndef KV_PASSES_CPU_ATTENTION_LEAFROWS_H
#define KV_PASSES_CPU_ATTENTION_LEAFROWS_H

#include "RowKeys.h"

namespace kv {

/// Keys that all rows of a tile take before the next: their rows stay in the
/// innermost cache.
constexpr int64_t kKeyBlock = 32;

/// Where rows are read: keys (plane 0) or values (plane 1) in the cache, or,
/// where `block` is set, what was widened from that key on.
struct RowSource {
  int64_t plane;
  mlir::Value block;
};

/// Where a row begins, in elements of its source.
struct LeafRow {
  mlir::Value place;
  mlir::Value scalePlace; // null where there are no scales to apply
};

/// Finds and reads the rows of one leaf, with scratch memory on the stack.
class LeafRows {
public:
  LeafRows(VectorEmitter &b, const AttentionShape &shape,
           const AttentionOperands &operands);

  /// Looks up where the keys of a leaf that begins at `start` are. Scores are
  /// computed for vectors of keys: lanes before the first key and from the end
  /// on get the place of the first.
  void find(VectorEmitter &b, const QueryRows &rows, mlir::Value start,
            LeafKeys keys);
  /// The rows of at most kKeyBlock keys in scratch memory, as f32.
  RowSource widen(VectorEmitter &b, LeafKeys keys, int64_t plane);
  LeafRow row(VectorEmitter &b, const RowSource &source, mlir::Value key);
  /// `count` elements from `d` on, a multiple of the lanes, as f32; zeros in
  /// the other lanes.
  mlir::Value load(VectorEmitter &b, const RowSource &source,
                   const LeafRow &row, mlir::Value d, int64_t count,
                   int64_t lanes = kLanes);
  /// The row of the cache to prefetch while `key` is read: as far ahead as the
  /// memory's latency takes, at most the leaf's last.
  LeafRow rowAhead(VectorEmitter &b, int64_t plane, mlir::Value key);
  /// Asks for it.
  void ask(VectorEmitter &b, int64_t plane, mlir::Value key);

private:
  void find(VectorEmitter &b, const QueryRows &rows, mlir::Value start,
            LeafKeys keys, const FlatBlocks &blocks, mlir::Value places);
  int64_t bytesOfRow(int64_t plane) const;
  mlir::Value scaleOf(VectorEmitter &b, mlir::Value place, mlir::Value d,
                      int64_t count, int64_t lanes);

  const AttentionShape &shape;
  const AttentionOperands &operands;
  mlir::Value places;      // [leaf], of the keys' rows in blocks
  mlir::Value scalePlaces; // the same in scales, or null
  mlir::Value wide;        // [block * row], or null
  mlir::Value lastKey;     // of the leaf
};

} // namespace kv

#endif // KV_PASSES_CPU_ATTENTION_LEAFROWS_H
