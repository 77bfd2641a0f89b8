//===- ElementPrograms.h - Elementwise arithmetic as programs ---*- C++ -*-===//

#ifndef KV_PASSES_CUDA_ELEMENTPROGRAMS_H
#define KV_PASSES_CUDA_ELEMENTPROGRAMS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>
#include <string>

namespace kv {

/// A program of ElementOps.def.
struct ElementProgram {
  std::string text;
  /// `a`, which has the result's shape, and `b`, if it is used: of that shape
  /// too, or of rank 1, one row for all.
  llvm::SmallVector<mlir::Value> tensors;
};

/// The program that computes the generic's result, together with what others
/// compute for it alone; nullopt if there is none, as for more than two
/// tensors.
std::optional<ElementProgram> matchElementwise(mlir::linalg::GenericOp op);

} // namespace kv

#endif // KV_PASSES_CUDA_ELEMENTPROGRAMS_H
