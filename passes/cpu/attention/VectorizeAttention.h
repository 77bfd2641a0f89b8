//===- VectorizeAttention.h - kv.attention as vector code -------*- C++ -*-===//

#ifndef KV_PASSES_CPU_ATTENTION_VECTORIZEATTENTION_H
#define KV_PASSES_CPU_ATTENTION_VECTORIZEATTENTION_H

#include "kv/Dialect/KV.h"

namespace kv {

/// Replaces an attention on buffers by two parallel loops. See AttentionShape
/// for `wide` and `matrix`. Fails with an error where whyNotVectorized() says
/// why.
llvm::LogicalResult vectorizeAttention(mlir::RewriterBase &rewriter,
                                       AttentionOp op, bool wide, bool matrix);

} // namespace kv

#endif // KV_PASSES_CPU_ATTENTION_VECTORIZEATTENTION_H
