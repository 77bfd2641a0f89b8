//===- WeightProduct.h - Products with a weight -----------------*- C++ -*-===//

#ifndef KV_PASSES_WEIGHTS_WEIGHTPRODUCT_H
#define KV_PASSES_WEIGHTS_WEIGHTPRODUCT_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace kv {

/// Whether `op` computes x * transpose(w) + 0 in f32, where `use` is w.
bool isWeightProduct(mlir::linalg::MatmulOp op, mlir::OpOperand &use);

} // namespace kv

#endif // KV_PASSES_WEIGHTS_WEIGHTPRODUCT_H
