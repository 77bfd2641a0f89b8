//===- MaskProof.h - What a mask is, for all positions ----------*- C++ -*-===//

#ifndef KV_PASSES_RAISE_MASKPROOF_H
#define KV_PASSES_RAISE_MASKPROOF_H

#include "Graph.h"
#include "kv/Dialect/KV.h"

namespace kv {

/// What a mask shows, and what it adds to the score of a key that it shows: its
/// position times the head's number. Nothing is added where there are none.
struct MaskFacts {
  MaskAttr shown;
  llvm::SmallVector<double> slopes = {};
};

/// Proves what the mask [heads, T, T] of an attention shows, for every query,
/// key and length. True shows a key and false hides it; of numbers, those below
/// -1e30 hide it, and all others are, for one query, a multiple of the key's
/// position and a number that is the same for all keys, which a softmax does
/// not see. Otherwise emits an error at `attention` with a position that the
/// nearest mask has wrong, or with the operation that ends the proof.
llvm::FailureOr<MaskFacts>
proveMask(const Graph &graph, mlir::Operation *attention, mlir::Value mask);

} // namespace kv

#endif // KV_PASSES_RAISE_MASKPROOF_H
