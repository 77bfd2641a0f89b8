//===- PartsProduct.h - Products of f32 by a matrix unit --------*- C++ -*-===//
//
// The unit takes bf16. A number of f32 is the sum of two such numbers but for
// 2^-17 of it, so that two multiplications give nearly what one of f32 would.
//
//===----------------------------------------------------------------------===//

#ifndef KV_PASSES_CPU_VECTOR_PARTSPRODUCT_H
#define KV_PASSES_CPU_VECTOR_PARTSPRODUCT_H

#include "MatrixUnit.h"

namespace kv {

/// Numbers of bf16 that stand for one of f32.
constexpr int64_t kParts = 2;

/// Stores 32 numbers, two vectors of them, in parts: to[row, step]. Of what is
/// no number the upper half must say so.
void storeParts(VectorEmitter &b, mlir::ValueRange numbers, mlir::Value to,
                mlir::Value row, mlir::Value step);

/// Steps, each of 32 elements of a row, or blocks of 16 columns.
struct TileRange {
  mlir::Value first, end;
};

/// A product, or the part of it for which there are weights.
struct PartsProduct {
  mlir::Value rows; // i16 [rows, steps, parts, 32], as storeParts() leaves it
  mlir::Value weights; // i16 [columns / 16, steps, 16, 32]
  mlir::Value out;     // f32 [rows, columns]
  /// Column and step of the first weight.
  mlir::Value firstColumn, firstStep;

  /// Emits the blocks of `columns` of `tiles` tiles of rows, one or two, from
  /// `row` on, which become those from `outRow` on: a sum over `steps` and in
  /// each over the parts. Where `goesOn` holds it is added to what is there.
  /// `width` columns, whose number it divides, are taken together: 2, or of one
  /// tile 4. The unit is configured.
  void multiply(VectorEmitter &b, int64_t tiles, int64_t width, mlir::Value row,
                mlir::Value outRow, TileRange columns, TileRange steps,
                mlir::Value goesOn) const;
};

} // namespace kv

#endif // KV_PASSES_CPU_VECTOR_PARTSPRODUCT_H
