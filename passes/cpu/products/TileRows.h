//===- TileRows.h - Which rows a tile multiplies ----------------*- C++ -*-===//

#ifndef KV_PASSES_CPU_PRODUCTS_TILEROWS_H
#define KV_PASSES_CPU_PRODUCTS_TILEROWS_H

#include "kv/Dialect/KV.h"

namespace kv {

/// A row of x as leading indices: of x, of what x was rounded to, which has one
/// index, and of the product.
struct TileRow {
  llvm::SmallVector<mlir::Value> x, product;
  mlir::Value rounded;
};

/// The rows [begin, end) of x, or, with an order, of those that rows and their
/// choices have in it.
struct TileRows {
  mlir::Value begin, end;
  mlir::Value order = {}; // i32: t * choices + c
  int64_t choices = 1;    // of a row
  bool ownRows = false;   // x is [T, C, K]

  TileRow at(mlir::OpBuilder &b, mlir::Location loc, mlir::Value i) const;

  /// Calls `build` with `height` and a row for whole tiles of each of the
  /// heights, which descend to 1, and yields what is left to the next.
  void forEachTile(
      mlir::OpBuilder &b, mlir::Location loc, llvm::ArrayRef<int64_t> heights,
      llvm::function_ref<void(mlir::OpBuilder &, int64_t, mlir::Value)> build)
      const;
};

/// The indices of row `i` of `x`, whose rows are all dimensions but the last.
llvm::SmallVector<mlir::Value> rowIndices(mlir::OpBuilder &b,
                                          mlir::Location loc, mlir::Value x,
                                          mlir::Value i);

/// The choices of all rows, ordered by expert and among those of one by row.
struct ExpertOrder {
  mlir::Value order;  // i32 [T * C]
  mlir::Value bounds; // i32 [E + 1]: those of expert e are [e] .. [e + 1]
  mlir::Value chosen; // i32: the experts that some row has chosen, ascending
  mlir::Value count;  // how many those are
};

/// Emits the loops that order `experts`, a buffer i32 [T, C]. A number outside
/// stands for the nearest expert.
ExpertOrder orderByExpert(mlir::OpBuilder &b, mlir::Location loc,
                          mlir::Value experts, int64_t numExperts);

} // namespace kv

#endif // KV_PASSES_CPU_PRODUCTS_TILEROWS_H
