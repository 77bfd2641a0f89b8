//===- MatchLaunches.h - Recognises what kernels compute --------*- C++ -*-===//
//
// Computations are recognised by their arithmetic, not by names: functions of
// the front end have been inlined. Elementwise steps of a computation may be
// one operation or several.
//
//===----------------------------------------------------------------------===//

#ifndef KV_PASSES_CUDA_MATCHLAUNCHES_H
#define KV_PASSES_CUDA_MATCHLAUNCHES_H

#include "kv/ABI/Context.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace kv {

/// The computation of a linalg.generic, as a function of Symbols.def.
struct LaunchMatch {
  enum Kind {
    Matmul,
    Norm,
    Pair,
    Embedding,
    Cast,
    Argmax,
    SumChoices,
    GateRows,
    ExpertBias
  } kind;
  /// The function's tensor arguments, in order, without `out`. The second of a
  /// pair may have rank 1, and of a norm 2, or it is missing: the norm's offset
  /// is its factor. Of a bias that a row's expert has: x, the experts,
  /// the biases.
  llvm::SmallVector<mlir::Value> tensors;
  double epsilon = 0, offset = 0; // of a norm
  double scale = 1;               // of a sum over choices
  KvPair function = KV_PAIR_ADD;  // of a pair
  unsigned result = 0;            // which result of the generic it is
};

/// nullopt if no function computes this.
std::optional<LaunchMatch> matchLaunch(mlir::linalg::GenericOp op);

} // namespace kv

#endif // KV_PASSES_CUDA_MATCHLAUNCHES_H
