//===- PackedLeaf.h - A leaf as a matrix unit's weights ---------*- C++ -*-===//

#ifndef KV_PASSES_CPU_ATTENTION_PACKEDLEAF_H
#define KV_PASSES_CPU_ATTENTION_PACKEDLEAF_H

#include "LeafRows.h"
#include "passes/cpu/vector/MatrixUnit.h"

namespace kv {

/// The keys and values of one leaf of bf16 in tiles of weights, on the stack:
/// pairs of summed elements stand side by side. Scores sum over the elements of
/// a head, values over keys. With `base`, a multiple of 32, the keys from
/// `base` on take the first tiles.
class PackedLeaf {
public:
  PackedLeaf(VectorEmitter &b, const AttentionShape &shape,
             const AttentionOperands &operands);

  /// Looks up where the keys of a leaf that begins at `start` are.
  void find(VectorEmitter &b, const QueryRows &rows, mlir::Value start,
            LeafKeys keys) {
    leafRows.find(b, rows, start, keys);
  }
  /// Packs the tiles that have a key of `keys`. The rest of such a tile is some
  /// other key.
  void packKeys(VectorEmitter &b, LeafKeys keys, mlir::Value base);
  /// Packs the tiles that have a value of `keys`. The rest of such a tile is 0.
  void packValues(VectorEmitter &b, LeafKeys keys, mlir::Value base);
  /// Whether one of the packed values is an infinity or no number.
  mlir::Value hasNonFinite(VectorEmitter &b, LeafKeys keys, mlir::Value base);

  mlir::Value keys;   // i16 [leaf / 16, dim / 32, 16, 32]
  mlir::Value values; // i16 [dim / 16, leaf / 32, 16, 32]

private:
  mlir::Value loadValues(VectorEmitter &b, const LeafRow &row, mlir::Value d);
  void packPair(
      VectorEmitter &b, mlir::Value key, mlir::Value base,
      llvm::function_ref<mlir::Value(VectorEmitter &, mlir::Value, mlir::Value)>
          load);

  const AttentionShape &shape;
  const AttentionOperands &operands;
  LeafRows leafRows;
};

} // namespace kv

#endif // KV_PASSES_CPU_ATTENTION_PACKEDLEAF_H
