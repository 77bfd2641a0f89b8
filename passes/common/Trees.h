//===- Trees.h - What a row of a tree sees, as code -------------*- C++ -*-===//
//
// The last rows of a sequence may be nodes of a tree (kv.attention says what
// that means). A row then sees no interval of keys: those before the tree that
// its mask shows, and of the tree's keys those that its path has bits for.
//
//===----------------------------------------------------------------------===//

#ifndef KV_PASSES_COMMON_TREES_H
#define KV_PASSES_COMMON_TREES_H

#include "Emitter.h"

namespace kv {

/// A row among those of its sequence, all of them indices but for the path.
struct TreePlace {
  mlir::Value base;     // the position of the tree's first row: its key's too
  mlir::Value position; // of the row: as if its path stood alone
  mlir::Value key;      // where its own key lies
  mlir::Value path;     // i64: bit j is the key base + j, its own included
};

/// The place of `row`, one of the sequence's rows, whose word of ancestors is
/// `word`, an i64.
TreePlace placeInTree(Emitter &b, const StepSequence &sequence, mlir::Value row,
                      mlir::Value word);

/// The first position of a tree's rows.
mlir::Value treeBase(Emitter &b, const StepSequence &sequence);

/// The keys that a row sees: of [first, end), all before `base`, and from there
/// on those with a bit in the path.
struct TreeKeys {
  mlir::Value first, end, base, path;
};
TreeKeys treeKeys(Emitter &b, MaskAttr mask, const TreePlace &place);

/// Whether a path has a bit for a key. `distance` from the path's first key is
/// an index or a vector of i32, below 64.
mlir::Value isOnPath(Emitter &b, mlir::Value path, mlir::Value distance);

} // namespace kv

#endif // KV_PASSES_COMMON_TREES_H
