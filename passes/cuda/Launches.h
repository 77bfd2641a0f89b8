//===- Launches.h - Creates launches on tensors -----------------*- C++ -*-===//
//
// Each launch writes a new tensor, whose sizes the host knows without reading
// device memory.
//
//===----------------------------------------------------------------------===//

#ifndef KV_PASSES_CUDA_LAUNCHES_H
#define KV_PASSES_CUDA_LAUNCHES_H

#include "passes/common/CacheCalls.h"
#include "passes/common/Emitter.h"

namespace kv {

/// Launches a function that writes one view, with its arguments in their order
/// in Symbols.def. The result has the shape of `like` and the type `element`.
mlir::Value launch(Emitter &b, RuntimeFunction callee,
                   mlir::ValueRange arguments, mlir::Value like,
                   mlir::Type element);

/// Makes a launch with a result of these sizes.
mlir::Value launch(Emitter &b, RuntimeFunction callee,
                   mlir::ValueRange arguments,
                   llvm::ArrayRef<mlir::OpFoldResult> sizes,
                   mlir::Type element);

/// The launch of a call whose parameters, those that it writes among them, are
/// all given.
LaunchOp launch(Emitter &b, const FunctionCall &call);

/// The launch that makes the tensor, if it is one of this function.
LaunchOp launchOf(mlir::Value tensor, RuntimeFunction callee);

/// The tensor with elements of the type `element`: itself, or a launch of
/// `cast`.
mlir::Value castTo(Emitter &b, mlir::Value tensor, mlir::Type element);

/// The tensor as [rows, width], the form that kernels take: all dimensions but
/// the last are collapsed into one.
mlir::Value toRows(Emitter &b, mlir::Value tensor);

/// The inverse of toRows(): `rows` in the shape of `like`.
mlir::Value fromRows(Emitter &b, mlir::Value rows, mlir::Value like);

} // namespace kv

#endif // KV_PASSES_CUDA_LAUNCHES_H
