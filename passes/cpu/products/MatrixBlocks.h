//===- MatrixBlocks.h - Packed blocks by a matrix unit ----------*- C++ -*-===//

#ifndef KV_PASSES_CPU_PRODUCTS_MATRIXBLOCKS_H
#define KV_PASSES_CPU_PRODUCTS_MATRIXBLOCKS_H

#include "VectorizeBlocks.h"

namespace kv {

/// Emits what buildBlockTile() does, with its bits, by tiles of bytes, for the
/// rows from `begin` on; they stand in x as in the product. Returns the first
/// row before `end` that is left for vectors: of all rows if there are fewer
/// than 16, else of the few after the last whole tile.
mlir::Value buildMatrixBlocks(mlir::OpBuilder &b, mlir::Location loc,
                              const BlockProduct &product, mlir::Value block,
                              mlir::Value column, mlir::Value begin,
                              mlir::Value end);

} // namespace kv

#endif // KV_PASSES_CPU_PRODUCTS_MATRIXBLOCKS_H
