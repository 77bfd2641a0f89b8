//===- MatrixLeaf.h - A leaf of keys by a matrix unit -----------*- C++ -*-===//

#ifndef KV_PASSES_CPU_ATTENTION_MATRIXLEAF_H
#define KV_PASSES_CPU_ATTENTION_MATRIXLEAF_H

#include "PackedLeaf.h"
#include "passes/cpu/vector/PartsProduct.h"

namespace kv {

/// Computes a tile leaf by leaf, as AttentionLeaf does but for the order of
/// sums: a matrix unit makes scores and sums of values.
class MatrixLeaf {
public:
  MatrixLeaf(VectorEmitter &b, const AttentionShape &shape,
             const AttentionOperands &operands);

  void enter(VectorEmitter &b, const QueryRows &rows);
  void compute(VectorEmitter &b, mlir::Value leaf, const PartialSoftmax &into);

private:
  void forTiles(VectorEmitter &b, mlir::Value first,
                llvm::function_ref<void(VectorEmitter &, int64_t)> body);
  void forChunks(
      VectorEmitter &b,
      llvm::function_ref<void(VectorEmitter &, LeafKeys, mlir::Value)> body);
  void score(VectorEmitter &b, mlir::Value first);
  void weigh(VectorEmitter &b, mlir::Value first, const PartialSoftmax &into);
  void addValues(VectorEmitter &b, mlir::Value first,
                 const PartialSoftmax &into);
  void addRowByRow(VectorEmitter &b, mlir::Value first,
                   const PartialSoftmax &into);
  void addProducts(VectorEmitter &b, int64_t tiles, mlir::Value row,
                   mlir::Value outRow, LeafKeys some, mlir::Value base,
                   mlir::Value goesOn, const PartialSoftmax &into);
  void configure(VectorEmitter &b);
  mlir::Value rowsDiffer(VectorEmitter &b);
  mlir::Value endOf(VectorEmitter &b, mlir::Value first);

  const AttentionShape &shape;
  const AttentionOperands &operands;
  RowKeys rowKeys;
  PackedLeaf packed;
  MatrixUnit unit;
  // On the stack.
  mlir::Value queries; // i16 [tileRows, dim / 32, parts, 32]
  mlir::Value scores;  // f32 [32, leaf]
  mlir::Value weights; // i16 [32, leaf / 32, parts, 32]
  mlir::Value apart;   // i1 [1]
  // Members of the tile.
  QueryRows rows;
  // Members of the leaf.
  mlir::Value start;
  LeafKeys keys; // that some row sees
  mlir::Value differ, chunk;
};

} // namespace kv

#endif // KV_PASSES_CPU_ATTENTION_MATRIXLEAF_H
