//===- FoldCasts.h - Casts become part of what is cast ----------*- C++ -*-===//

#ifndef KV_PASSES_FOLDCASTS_H
#define KV_PASSES_FOLDCASTS_H

#include "mlir/IR/BuiltinOps.h"

namespace kv {

/// Launches "cast" go as far up as they can, and into the launch that makes
/// what they cast; those that stay, whose number this is, are of rows.
llvm::FailureOr<int64_t> foldCasts(mlir::ModuleOp module);

} // namespace kv

#endif // KV_PASSES_FOLDCASTS_H
