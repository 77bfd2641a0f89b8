//===- DecomposeQuantized.h - Products with quantised weights ---*- C++ -*-===//

#ifndef KV_PASSES_DECOMPOSE_DECOMPOSEQUANTIZED_H
#define KV_PASSES_DECOMPOSE_DECOMPOSEQUANTIZED_H

#include "Decompositions.h"

namespace kv {

/// Rows f32 [T, K] rounded to i8, as kv.matmul's description says.
struct RoundedRows {
  mlir::Value values; // i8 [T, K]
  mlir::Value scales; // f32 [T, K / 32]
};
RoundedRows roundRows(Emitter &b, mlir::Value x);

/// The rows times one packed weight, into `empty`: `rowsOf` gives the row of x
/// and the row of the weight whose product an element is.
mlir::Value multiplyBlocks(
    Emitter &b, const RoundedRows &x, mlir::Value weight, QuantFormat format,
    mlir::Value empty,
    llvm::function_ref<std::pair<mlir::Value, mlir::Value>(Emitter &,
                                                           mlir::ValueRange)>
        rowsOf);

} // namespace kv

#endif // KV_PASSES_DECOMPOSE_DECOMPOSEQUANTIZED_H
