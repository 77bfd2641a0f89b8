//===- Launches.h - How launches are made -----------------------*- C++ -*-===//
//
// On tensors. A launch writes memory of its own, whose sizes the host knows.
//
//===----------------------------------------------------------------------===//

#ifndef KV_PASSES_LAUNCHES_H
#define KV_PASSES_LAUNCHES_H

#include "Emitter.h"

namespace kv {

/// A launch of a row of Symbols.def, with its arguments in that order, whose
/// result has the shape of `like`.
mlir::Value launch(Emitter &b, llvm::StringRef callee,
                   mlir::ValueRange arguments, mlir::Value like,
                   mlir::Type element);

/// The tensor with these elements, by a launch if it has others.
mlir::Value castTo(Emitter &b, mlir::Value tensor, mlir::Type element);

/// The tensor as [rows, width], which is what kernels take: all dimensions but
/// the last are one.
mlir::Value toRows(Emitter &b, mlir::Value tensor);

/// The inverse, in the shape of `like`.
mlir::Value fromRows(Emitter &b, mlir::Value rows, mlir::Value like);

} // namespace kv

#endif // KV_PASSES_LAUNCHES_H
