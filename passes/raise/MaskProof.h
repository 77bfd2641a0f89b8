//===- MaskProof.h - What a mask is, for all positions ----------*- C++ -*-===//

#ifndef KV_PASSES_RAISE_MASKPROOF_H
#define KV_PASSES_RAISE_MASKPROOF_H

#include "Graph.h"
#include "kv/Dialect/KV.h"

namespace kv {

/// Proves what the mask [heads, T, T] of an attention shows, for every query,
/// key and length; true or 0 shows a key, false, -inf or a number below -1e30
/// hides it. Otherwise emits an error at `attention` with a position that the
/// nearest mask has wrong, or with the operation that ends the proof.
llvm::FailureOr<MaskAttr>
proveMask(const Graph &graph, mlir::Operation *attention, mlir::Value mask);

} // namespace kv

#endif // KV_PASSES_RAISE_MASKPROOF_H
