//===- RowKeys.h - What the rows of a tile see ------------------*- C++ -*-===//

#ifndef KV_PASSES_CPU_ATTENTION_ROWKEYS_H
#define KV_PASSES_CPU_ATTENTION_ROWKEYS_H

#include "AttentionOperands.h"
#include "AttentionState.h"
#include "passes/common/Trees.h"

namespace kv {

/// Keys of a leaf, counted from its first; none where the end is not after the
/// first.
struct LeafKeys {
  mlir::Value first, end;
};

/// The keys of a tree, from `first` on, that a row sees: bit j of the path is
/// the key first + j. Null without a tree.
struct LeafPath {
  mlir::Value first, path;
};

/// The keys that each row of a tile sees, on the stack.
class RowKeys {
public:
  RowKeys(VectorEmitter &b, const AttentionShape &shape,
          const AttentionOperands &operands);

  /// Begins a tile: takes from the plan what its rows see.
  void enter(VectorEmitter &b, const QueryRows &rows);
  /// The keys of the leaf at `start` that at least one row sees, and those that
  /// a given row of the tile sees.
  LeafKeys ofTile(VectorEmitter &b, mlir::Value start) const;
  LeafKeys ofRow(VectorEmitter &b, mlir::Value row, mlir::Value start) const;
  /// Which of the row's keys it sees after all.
  LeafPath pathOfRow(VectorEmitter &b, mlir::Value row,
                     mlir::Value start) const;

private:
  TreeKeys inTree(VectorEmitter &b, mlir::Value token) const;

  const AttentionShape &shape;
  const AttentionOperands &operands;
  mlir::Value firstKeys, endKeys; // [tileRows]
  mlir::Value firstKey, endKey;   // of the tile
  mlir::Value paths;              // i64 [tileRows], of trees
  StepSequence sequence;          // of trees
};

} // namespace kv

#endif // KV_PASSES_CPU_ATTENTION_ROWKEYS_H
