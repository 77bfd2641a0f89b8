//===- MaskProof.h - What a mask is, for all positions ----------*- C++ -*-===//

#ifndef KV_PASSES_RAISE_ANALYSIS_MASKPROOF_H
#define KV_PASSES_RAISE_ANALYSIS_MASKPROOF_H

#include "Graph.h"
#include "kv/Dialect/KV.h"

namespace kv {

/// What a mask adds to the score of a key that it shows: multiples of the
/// positions of the key and the query and of the length, and a number.
struct AddedNumber {
  double key = 0, query = 0, length = 0, rest = 0;
};

/// What a mask shows, and what it adds in each head; nothing where that is 0.
struct MaskFacts {
  MaskAttr shown;
  llvm::SmallVector<AddedNumber> added = {};
};

/// Proves what the mask [heads, T, T] of an attention shows, for every query,
/// key and length. True shows a key and false hides it; of numbers, those below
/// -1e30 hide it, and all others are linear in the positions. Otherwise emits
/// an error at `attention` with a position that the nearest mask has wrong, or
/// with the operation that ends the proof.
llvm::FailureOr<MaskFacts>
proveMask(const Graph &graph, mlir::Operation *attention, mlir::Value mask);

} // namespace kv

#endif // KV_PASSES_RAISE_ANALYSIS_MASKPROOF_H
