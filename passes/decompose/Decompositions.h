//===- Decompositions.h - Operations that have a plain meaning --*- C++ -*-===//
//
// An operation is decomposable when upstream's AggregatedOpInterface is
// attached to it: a function emits what stands for its results, and
// kv-decompose finds it by the interface.
//
//===----------------------------------------------------------------------===//

#ifndef KV_PASSES_DECOMPOSE_DECOMPOSITIONS_H
#define KV_PASSES_DECOMPOSE_DECOMPOSITIONS_H

#include "passes/common/Emitter.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace kv {

/// The plain meaning of `Op`: `emit` writes it in front of the operation and
/// returns one value a result.
template <typename Op, llvm::SmallVector<mlir::Value> (*emit)(Emitter &, Op)>
struct Decomposition : mlir::linalg::AggregatedOpInterface::ExternalModel<
                           Decomposition<Op, emit>, Op> {
  llvm::FailureOr<llvm::SmallVector<mlir::Value>>
  decomposeOperation(mlir::Operation *op, mlir::OpBuilder &b) const {
    Emitter emitter(op->getLoc(), b);
    return emit(emitter, llvm::cast<Op>(op));
  }
};

/// A linalg.generic with one output; loops that the output does not have are
/// reductions. `body` makes the element.
mlir::Value
generic(Emitter &b, mlir::ValueRange inputs,
        llvm::ArrayRef<llvm::SmallVector<mlir::AffineExpr>> inputMaps,
        mlir::Value output, llvm::ArrayRef<mlir::AffineExpr> outputMap,
        unsigned loops,
        llvm::function_ref<mlir::Value(Emitter &, mlir::ValueRange)> body);

/// Attaches all decompositions as soon as the dialect is loaded.
void addDecompositions(mlir::DialectRegistry &registry);

/// Each attaches the decompositions of its file.
void attachAttentionDecompositions(mlir::MLIRContext *context);
void attachCacheDecompositions(mlir::MLIRContext *context);
void attachExpertDecompositions(mlir::MLIRContext *context);
void attachMergeDecomposition(mlir::MLIRContext *context);
void attachPlanDecomposition(mlir::MLIRContext *context);
void attachQuantizedDecompositions(mlir::MLIRContext *context);
void attachRecurrenceDecompositions(mlir::MLIRContext *context);
void attachStateDecompositions(mlir::MLIRContext *context);
void attachUpdateDecomposition(mlir::MLIRContext *context);
void attachValueDecompositions(mlir::MLIRContext *context);

} // namespace kv

#endif // KV_PASSES_DECOMPOSE_DECOMPOSITIONS_H
