//===- AttentionLeaf.h - Attention over one leaf of keys --------*- C++ -*-===//

#ifndef KV_PASSES_ATTENTIONLEAF_H
#define KV_PASSES_ATTENTIONLEAF_H

#include "AttentionOperands.h"
#include "AttentionState.h"

namespace kv {

/// Computes a tile leaf by leaf, with scratch memory on the stack.
class AttentionLeaf {
public:
  AttentionLeaf(VectorEmitter &b, const AttentionShape &shape,
                const AttentionOperands &operands);

  /// Begins a tile: its queries, and what its rows see.
  void enter(VectorEmitter &b, const TileRows &rows);
  /// Sets the rows of `into` to the partial softmax over leaf number `leaf`,
  /// which at least one row must see.
  void compute(VectorEmitter &b, mlir::Value leaf, const PartialSoftmax &into);

private:
  /// Memory of the cache, and how far each key's row is from its beginning.
  struct Rows {
    mlir::Value elements, places;
  };
  /// Keys of the leaf, counted from its first.
  struct Keys {
    mlir::Value first, end;
  };

  Keys keysOf(VectorEmitter &b, mlir::Value row);
  void findRows(VectorEmitter &b, Keys keys);
  void findRows(VectorEmitter &b, Keys keys, const FlatBlocks &blocks,
                mlir::Value places);
  Rows widened(VectorEmitter &b, Keys keys, int64_t part);
  mlir::Value scaleOf(VectorEmitter &b, mlir::Value place, mlir::Value d,
                      int64_t count);
  void forRegisterTiles(VectorEmitter &b,
                        llvm::function_ref<void(VectorEmitter &, mlir::Value,
                                                const RegisterTile &)>
                            body);
  void score(VectorEmitter &b, Keys keys, const Rows &source);
  void scoreTile(VectorEmitter &b, mlir::Value row, mlir::Value key,
                 const RegisterTile &tile, const Rows &source);
  void weigh(VectorEmitter &b, const PartialSoftmax &into);
  void addValues(VectorEmitter &b, const PartialSoftmax &into, Keys keys,
                 const Rows &source);
  void addValues(VectorEmitter &b, const PartialSoftmax &into,
                 const Rows &source, mlir::Value row, const RegisterTile &tile,
                 Keys block);
  void addProducts(VectorEmitter &b, const PartialSoftmax &into,
                   const Rows &source, mlir::Value row,
                   const RegisterTile &tile, Keys keys);

  const AttentionShape &shape;
  const AttentionOperands &operands;
  // On the stack.
  mlir::Value queries;            // [tileRows, paddedDim]
  mlir::Value firstKeys, endKeys; // [tileRows], what each row sees
  mlir::Value scores;             // [tileRows, leaf]; then weights
  mlir::Value places;             // [leaf], of the keys' rows in blocks
  mlir::Value scalePlaces;        // the same in scales, or null
  mlir::Value wide;               // [leaf * row], or null
  // Of the tile.
  TileRows rows;
  mlir::Value firstKey, endKey;
  // Of the leaf.
  mlir::Value start;
};

} // namespace kv

#endif // KV_PASSES_ATTENTIONLEAF_H
