//===- FoldCasts.h - Casts become part of other launches --------*- C++ -*-===//

#ifndef KV_PASSES_CUDA_FOLDCASTS_H
#define KV_PASSES_CUDA_FOLDCASTS_H

#include "mlir/IR/BuiltinOps.h"

namespace kv {

/// Moves each launch of `cast` through views towards the launch that computes
/// its operand, and makes it part of that launch if its kernel can write the
/// type. Casts that remain get operands of the form [rows, width]; returns how
/// many there are.
llvm::FailureOr<int64_t> foldCasts(mlir::ModuleOp module);

} // namespace kv

#endif // KV_PASSES_CUDA_FOLDCASTS_H
