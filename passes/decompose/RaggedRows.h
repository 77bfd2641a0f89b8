//===- RaggedRows.h - Where a step's rows stand, without loops --*- C++ -*-===//
//
// Compilers that split a graph into parallel parts run a loop over rows one row
// at a time. These computations are linalg operations instead.
//
//===----------------------------------------------------------------------===//

#ifndef KV_PASSES_DECOMPOSE_RAGGEDROWS_H
#define KV_PASSES_DECOMPOSE_RAGGEDROWS_H

#include "Decompositions.h"

namespace kv {

/// A row of a step: its sequence, its number among the sequence's rows of this
/// step, and its position in the sequence.
struct RaggedRow {
  mlir::Value valid; // false for rows of no sequence
  mlir::Value sequence, index, position;
};

/// Which rows of a step belong to which sequence, and where they stand in it.
class RaggedRows {
public:
  /// Emits the sequence of each of `count` rows; `count` may be static.
  RaggedRows(Emitter &b, mlir::Value offsets, mlir::Value cacheLengths,
             mlir::OpFoldResult count);

  /// Row `index` of the step, in a body whose input is its element of
  /// sequences().
  RaggedRow row(Emitter &b, mlir::Value sequence, mlir::Value index) const;

  /// i32, the number of sequences for rows of none.
  mlir::Value sequences() const { return numbers; }

private:
  mlir::Value offsets, cacheLengths, batch, numbers;
};

/// A tensor without contents; a size that is an attribute is static.
mlir::Value emptyTensor(Emitter &b, llvm::ArrayRef<mlir::OpFoldResult> sizes,
                        mlir::Type element);

/// The rows of a store, of keys and, if there are any, of values, with elements
/// of the cache's type.
llvm::SmallVector<mlir::Value> storedRows(Emitter &b, StoreOp op);

/// Whose attention over dense keys and values: iree_linalg_ext's, tm_tensor's.
enum class DenseForm { Iree, TorchMlir };

/// Attention as that operation. The cache's blocks are a tensor.
mlir::Value attendDensely(Emitter &b, AttentionOp op, DenseForm form);

/// The blocks after a store into blocks that are a tensor, by IREE's scatter.
mlir::Value scatterRows(Emitter &b, StoreOp op);

} // namespace kv

#endif // KV_PASSES_DECOMPOSE_RAGGEDROWS_H
