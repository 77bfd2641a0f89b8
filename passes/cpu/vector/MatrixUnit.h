//===- MatrixUnit.h - Tiles of AMX ------------------------------*- C++ -*-===//
//
// The instructions of a machine that multiplies small matrices: eight tiles of
// at most 16 rows of 64 bytes, which a thread configures before it uses them.
// Their numbers are fixed here, not by a register allocator: 0 to 3 are sums,
// 4 and 5 rows of x, 6 and 7 weights.
//
//===----------------------------------------------------------------------===//

#ifndef KV_PASSES_CPU_VECTOR_MATRIXUNIT_H
#define KV_PASSES_CPU_VECTOR_MATRIXUNIT_H

#include "VectorEmitter.h"

namespace kv {

class MatrixUnit {
public:
  static constexpr int64_t numSums = 4, firstRows = 4, firstWeights = 6;
  /// Rows of a tile, and 16-bit elements of one.
  static constexpr int64_t tileRows = 16, tileDepth = 32;

  /// Must be built where it is executed once per call, because it takes some
  /// stack.
  explicit MatrixUnit(VectorEmitter &b);

  /// From here on sums and rows of x have `rows` rows, 1 to 16, and rows of x
  /// `bytes` bytes each; what the tiles hold is lost.
  void configure(VectorEmitter &b, mlir::Value rows, int64_t bytes = 64);
  /// No tile is in use any more: the system need not keep them.
  static void release(VectorEmitter &b);

  static void zero(VectorEmitter &b, int64_t tile);
  /// Rows of a buffer, of as many bytes as the tile has, the first at `at`,
  /// each `stride` bytes after the one before.
  static void load(VectorEmitter &b, int64_t tile, mlir::Value buffer,
                   mlir::ValueRange at, int64_t stride);
  static void store(VectorEmitter &b, int64_t tile, mlir::Value buffer,
                    mlir::ValueRange at, int64_t stride);
  /// sum[m, n] += even + odd, all of bf16. `even` adds the products of rows[m,
  /// 2i] and weights[i, n, 0] in f32, by fma from 0 with i ascending; `odd`
  /// those of rows[m, 2i + 1] and weights[i, n, 1]. Numbers below 2^-126 count
  /// as 0.
  static void multiply(VectorEmitter &b, int64_t sum, int64_t rows,
                       int64_t weights);
  /// sum[m, n] += the products of rows[m, 4i + q] and weights[i, n, q], signed
  /// bytes and sums of i32.
  static void multiplyBytes(VectorEmitter &b, int64_t sum, int64_t rows,
                            int64_t weights);

private:
  mlir::Value configuration; // i8 [64]
};

} // namespace kv

#endif // KV_PASSES_CPU_VECTOR_MATRIXUNIT_H
