//===- MatchLaunches.h - Computations that kernels do -----------*- C++ -*-===//
//
// By structure, not by name: a front end's functions are inlined by then. What
// is computed element by element on the way may be several operations or one.
//
//===----------------------------------------------------------------------===//

#ifndef KV_PASSES_MATCHLAUNCHES_H
#define KV_PASSES_MATCHLAUNCHES_H

#include "kv/ABI/Context.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace kv {

/// What a linalg.generic computes, as a row of Symbols.def.
struct LaunchMatch {
  enum Kind { Matmul, Norm, Pair, Embedding, Cast, Argmax } kind;
  /// The tensors of the row, in its order. A pair's second may be of rank 1.
  llvm::SmallVector<mlir::Value> tensors;
  double epsilon = 0, offset = 0; // of a norm
  KvPair function = KV_PAIR_ADD;  // of a pair
  unsigned result = 0;            // which result of the generic it is
};

/// Nothing when it is none of them.
std::optional<LaunchMatch> matchLaunch(mlir::linalg::GenericOp op);

} // namespace kv

#endif // KV_PASSES_MATCHLAUNCHES_H
