//===- VectorizeMatrix.h - Products by a matrix unit ------------*- C++ -*-===//

#ifndef KV_PASSES_CPU_PRODUCTS_VECTORIZEMATRIX_H
#define KV_PASSES_CPU_PRODUCTS_VECTORIZEMATRIX_H

#include "kv/Dialect/KV.h"

namespace kv {

/// Rows of bf16 in tiles: [T / 16 rounded up, K / 32, 16, 32]; rows of the last
/// tiles after row T are undefined.
struct MatrixRows {
  mlir::Value tiles; // i16, the bits
  mlir::Value count; // T
};

/// Whether the matrix unit multiplies rows of x with `weight`, [N / 16, K, 16].
bool fitsMatrixUnit(mlir::Value weight);

/// Emits the loops that bring the rows `x`, a buffer f32 [T, K] whose elements
/// bf16 holds, into tiles.
MatrixRows tileMatrixRows(mlir::OpBuilder &b, mlir::Location loc,
                          mlir::Value x);

/// One weight with its product, and the rows.
struct MatrixProduct {
  mlir::Value weight; // bf16 [N / 16, K, 16]
  mlir::Value out;    // f32 [T, N]
  MatrixRows x;
};

/// Emits the columns of the `width` blocks from `first` on, at most four, of
/// the product, for all rows.
void buildMatrixTile(mlir::OpBuilder &b, mlir::Location loc,
                     const MatrixProduct &product, mlir::Value first,
                     int64_t width);

} // namespace kv

#endif // KV_PASSES_CPU_PRODUCTS_VECTORIZEMATRIX_H
