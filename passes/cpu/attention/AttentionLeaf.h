//===- AttentionLeaf.h - Attention over one leaf of keys --------*- C++ -*-===//

#ifndef KV_PASSES_CPU_ATTENTION_ATTENTIONLEAF_H
#define KV_PASSES_CPU_ATTENTION_ATTENTIONLEAF_H

#include "LeafRows.h"

namespace kv {

/// Computes a tile leaf by leaf, with scratch memory on the stack.
class AttentionLeaf {
public:
  AttentionLeaf(VectorEmitter &b, const AttentionShape &shape,
                const AttentionOperands &operands);

  /// Begins a tile: its queries, and what its rows see.
  void enter(VectorEmitter &b, const QueryRows &rows);
  /// Sets the rows of `into` to the partial softmax over leaf number `leaf`,
  /// which at least one row must see.
  void compute(VectorEmitter &b, mlir::Value leaf, const PartialSoftmax &into);

private:
  void whereRowsAre(VectorEmitter &b,
                    llvm::function_ref<void(VectorEmitter &, bool)> body);
  void forRegisterTiles(VectorEmitter &b,
                        llvm::function_ref<void(VectorEmitter &, mlir::Value,
                                                const RegisterTile &)>
                            body);
  void score(VectorEmitter &b, LeafKeys keys, bool widened);
  void scoreTile(VectorEmitter &b, mlir::Value row, mlir::Value key,
                 const RegisterTile &tile, const RowSource &source);
  void weigh(VectorEmitter &b, const PartialSoftmax &into);
  void addValues(VectorEmitter &b, const PartialSoftmax &into, LeafKeys keys,
                 bool widened);
  void addValues(VectorEmitter &b, const PartialSoftmax &into,
                 const RowSource &source, mlir::Value row,
                 const RegisterTile &tile, LeafKeys block);
  void addProducts(VectorEmitter &b, const PartialSoftmax &into,
                   const RowSource &source, mlir::Value row,
                   const RegisterTile &tile, LeafKeys keys);

  const AttentionShape &shape;
  const AttentionOperands &operands;
  // On the stack.
  mlir::Value queries; // [tileRows, paddedDim]
  RowKeys rowKeys;
  mlir::Value scores; // [tileRows, leaf]; then weights
  LeafRows leafRows;
  // Members of the tile.
  QueryRows rows;
  // Members of the leaf.
  mlir::Value start;
};

} // namespace kv

#endif // KV_PASSES_CPU_ATTENTION_ATTENTIONLEAF_H
