//===- Launches.h - Creates launches on tensors -----------------*- C++ -*-===//
//
// Each launch writes a new tensor, whose sizes the host knows without reading
// device memory.
//
//===----------------------------------------------------------------------===//

#ifndef KV_PASSES_CUDA_LAUNCHES_H
#define KV_PASSES_CUDA_LAUNCHES_H

#include "passes/common/Emitter.h"

namespace kv {

/// Launches the function `callee` of Symbols.def, with its arguments in their
/// order there. The result has the shape of `like` and the type `element`.
mlir::Value launch(Emitter &b, llvm::StringRef callee,
                   mlir::ValueRange arguments, mlir::Value like,
                   mlir::Type element);

/// The tensor with elements of the type `element`: itself, or a launch of
/// "cast".
mlir::Value castTo(Emitter &b, mlir::Value tensor, mlir::Type element);

/// The tensor as [rows, width], the form that kernels take: all dimensions but
/// the last are collapsed into one.
mlir::Value toRows(Emitter &b, mlir::Value tensor);

/// The inverse of toRows(): `rows` in the shape of `like`.
mlir::Value fromRows(Emitter &b, mlir::Value rows, mlir::Value like);

} // namespace kv

#endif // KV_PASSES_CUDA_LAUNCHES_H
