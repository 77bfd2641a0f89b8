//===- AttentionItems.h - How an attention's work is shared out -*- C++ -*-===//
//
// An item is all leaves of a tile, or a piece of them: a leaf or a leaf group.
// A tile whose items are pieces is a split; a merge folds its pieces. The
// splits depend on the step's lengths alone, not on the threads, and no bit
// depends on them.
//
//===----------------------------------------------------------------------===//

#ifndef KV_PASSES_CPU_ATTENTION_ATTENTIONITEMS_H
#define KV_PASSES_CPU_ATTENTION_ATTENTIONITEMS_H

#include "AttentionOperands.h"
#include "AttentionState.h"

namespace kv {

/// One row of the table of items or splits.
struct AttentionItem {
  mlir::Value sequence;
  mlir::Value firstRow, numRows; // packed rows of the step
  mlir::Value leafBegin, leafEnd;
  /// Where the pieces' partial softmaxes are, the first of a split; -1 of an
  /// item that is no piece.
  mlir::Value slot;
  mlir::Value pieceLeaves; // most leaves of a piece
};

/// The tables, made by one thread where the kernel begins.
class AttentionItems {
public:
  AttentionItems(VectorEmitter &b, const AttentionShape &shape,
                 const AttentionOperands &operands);

  mlir::Value numItems, numSplits, numSlots;
  mlir::Value mostRows; // of a tile of this step
  /// Items, each with all KV heads counted, that are worth a thread.
  mlir::Value chunk;

  AttentionItem item(VectorEmitter &b, mlir::Value number) const {
    return read(b, items, number);
  }
  AttentionItem split(VectorEmitter &b, mlir::Value number) const {
    return read(b, splits, number);
  }
  /// Number of pieces of a split, and the leaves of piece `number`.
  static mlir::Value numPieces(VectorEmitter &b, const AttentionItem &split);
  static mlir::Value pieceBegin(VectorEmitter &b, const AttentionItem &split,
                                mlir::Value number);
  static mlir::Value pieceEnd(VectorEmitter &b, const AttentionItem &split,
                              mlir::Value number);

private:
  /// A tile of the step and the leaves that its rows see.
  struct ItemTile {
    mlir::Value sequence, firstRow, numRows, keys, leafBegin, leafEnd;
  };
  using TileBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      VectorEmitter &, const ItemTile &, mlir::ValueRange)>;

  llvm::SmallVector<mlir::Value>
  forEachTile(VectorEmitter &b, mlir::ValueRange initial, TileBody body) const;
  mlir::Value largestPage(VectorEmitter &b, mlir::Value sequence,
                          mlir::Value first, mlir::Value end,
                          mlir::Value largest) const;
  void checkPages(VectorEmitter &b) const;
  static AttentionItem read(VectorEmitter &b, mlir::Value table,
                            mlir::Value number);
  static void write(VectorEmitter &b, mlir::Value table, mlir::Value number,
                    const AttentionItem &item);

  const AttentionShape &shape;
  const AttentionOperands &operands;
  mlir::Value items, splits; // [n, 7]
};

} // namespace kv

#endif // KV_PASSES_CPU_ATTENTION_ATTENTIONITEMS_H
