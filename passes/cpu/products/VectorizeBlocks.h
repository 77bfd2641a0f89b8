//===- VectorizeBlocks.h - Products with packed blocks ----------*- C++ -*-===//

#ifndef KV_PASSES_CPU_PRODUCTS_VECTORIZEBLOCKS_H
#define KV_PASSES_CPU_PRODUCTS_VECTORIZEBLOCKS_H

#include "IntegerDot.h"
#include "TileRows.h"

namespace kv {

/// T rows, of any leading dimensions, rounded to i8 as kv.matmul's description
/// says.
struct QuantizedRows {
  mlir::Value values; // i8 [T, K]
  mlir::Value scales; // f32 [T, K / 32]
  mlir::Value sums;   // i32 [T, K / 16]: of each 16 values
  // The sum of each 32 values, i32 [T, K / 32], and that sum times the scale,
  // f32.
  mlir::Value groupSums, scaledSums;
};

/// Emits the loops that round the rows `x`, a buffer f32 [..., K].
QuantizedRows quantizeRows(mlir::OpBuilder &b, mlir::Location loc,
                           mlir::Value x);

/// One weight with its product, and the rounded rows.
struct BlockProduct {
  QuantFormat format;
  DotKind dot;
  mlir::Value weight; // i8 [N / 16, K / group, bytes]
  mlir::Value out;    // f32 [..., N]
  QuantizedRows x;
};

/// Emits the 16 columns of block `column` of the product, which are those of
/// block `block` of the weight, for `rows`.
void buildBlockTile(mlir::OpBuilder &b, mlir::Location loc,
                    const BlockProduct &product, mlir::Value block,
                    mlir::Value column, const TileRows &rows);

} // namespace kv

#endif // KV_PASSES_CPU_PRODUCTS_VECTORIZEBLOCKS_H
