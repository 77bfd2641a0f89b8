//===- ExpertLaunches.h - Launches for mixtures of experts ------*- C++ -*-===//

#ifndef KV_PASSES_CUDA_EXPERTLAUNCHES_H
#define KV_PASSES_CUDA_EXPERTLAUNCHES_H

#include "kv/Dialect/KV.h"
#include "passes/common/Emitter.h"

namespace kv {

/// The experts and their shares.
std::pair<mlir::Value, mlir::Value> launchRoute(Emitter &b, RouteOp op);

/// Rows of which the best groups are kept; there are at most 32.
mlir::Value launchKeepGroups(Emitter &b, KeepGroupsOp op);

/// Orders of choices, each made once for all products that take it.
class ExpertOrders {
public:
  /// The order of choices i32 [T, C] by their experts, of which there are
  /// `count`.
  mlir::Value orderOf(mlir::Value experts, int64_t count);

private:
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, mlir::Value> made;
};

/// Product `i` of rows that have its weight's type or, where it is quantised,
/// are rounded.
mlir::Value launchExpertProduct(Emitter &b, ExpertMatmulOp op, size_t i,
                                mlir::Value rows, mlir::Value order);

/// x [T, C, N], to each choice's row of which the bias of its expert is added,
/// a row of `biases`, as `element`.
mlir::Value launchExpertBias(Emitter &b, mlir::Value x, mlir::Value experts,
                             mlir::Value biases, mlir::Type element);

} // namespace kv

#endif // KV_PASSES_CUDA_EXPERTLAUNCHES_H
