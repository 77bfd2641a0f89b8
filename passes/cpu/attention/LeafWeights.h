//===- LeafWeights.h - Scores of a leaf become weights ----------*- C++ -*-===//

#ifndef KV_PASSES_CPU_ATTENTION_LEAFWEIGHTS_H
#define KV_PASSES_CPU_ATTENTION_LEAFWEIGHTS_H

#include "RowKeys.h"

namespace kv {

/// One row of a leaf: `dots[row]`, products of the query and keys, become
/// scores, which are logarithms to base 2, and those weights.
struct LeafRowScores {
  mlir::Value dots, row;
  /// The row sees the keys `seen`. Scores and weights are computed for `all`,
  /// whose ends are multiples of `step`, which is a multiple of the lanes.
  LeafKeys seen, all;
  int64_t step;
  LeafPath path = {};
};

/// The factor of products of queries and keys.
double dotFactor(const AttentionOperands &operands);

/// Replaces the row by its scores, -inf where the row does not see the key, and
/// returns the largest. `factor` is dotFactor(), or 1 where queries have it.
mlir::Value scoreRow(VectorEmitter &b, const AttentionOperands &operands,
                     const LeafRowScores &row, double factor);

/// Calls `store` with each key and the weights from it on, vectors of a whole
/// step: 2^(score - maximum), and exactly 0 where the row does not see the key.
/// Returns their sum.
mlir::Value weighRow(
    VectorEmitter &b, const LeafRowScores &row, mlir::Value maximum,
    llvm::function_ref<void(VectorEmitter &, mlir::Value, mlir::ValueRange)>
        store);

} // namespace kv

#endif // KV_PASSES_CPU_ATTENTION_LEAFWEIGHTS_H
