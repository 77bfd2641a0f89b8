//===- MaskProof.h - What a mask is, for all positions ----------*- C++ -*-===//

#ifndef KV_PASSES_RAISE_ANALYSIS_MASKPROOF_H
#define KV_PASSES_RAISE_ANALYSIS_MASKPROOF_H

#include "Graph.h"
#include "kv/Dialect/KV.h"

namespace kv {

/// The number that a mask adds to the score of a key that it shows: multiples
/// of the key's position, of the query's and of the length, plus a constant.
struct AddedNumber {
  double key = 0, query = 0, length = 0, rest = 0;
};

/// The keys that a mask shows, and the number that it adds in each head; none
/// where that is 0.
struct MaskFacts {
  MaskAttr shown;
  llvm::SmallVector<AddedNumber> added = {};
};

/// Proves what the mask [heads, T, T] of an attention shows, for every query,
/// key and length. True shows a key and false hides it; of numbers, those below
/// -1e30 hide it, and all others are linear in the positions. On failure, emits
/// an error at `attention` with a position that the nearest mask has wrong, or
/// with the operation that ends the proof.
llvm::FailureOr<MaskFacts>
proveMask(const Graph &graph, mlir::Operation *attention, mlir::Value mask);

} // namespace kv

#endif // KV_PASSES_RAISE_ANALYSIS_MASKPROOF_H
