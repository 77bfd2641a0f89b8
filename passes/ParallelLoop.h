//===- ParallelLoop.h - Loops that threads share ----------------*- C++ -*-===//

#ifndef KV_PASSES_PARALLELLOOP_H
#define KV_PASSES_PARALLELLOOP_H

#include "mlir/IR/Builders.h"

namespace kv {

/// An scf.forall over [0, count) whose body `build` fills. A thread gets at
/// least `grain` iterations.
void buildForall(
    mlir::OpBuilder &b, mlir::Location loc, mlir::Value count, int64_t grain,
    llvm::function_ref<void(mlir::OpBuilder &, mlir::Value)> build);

} // namespace kv

#endif // KV_PASSES_PARALLELLOOP_H
