//===- VectorizeRecurrence.h - Convolutions and scans in parallel *- C++
//-*-===//

#ifndef KV_PASSES_CPU_VECTORIZERECURRENCE_H
#define KV_PASSES_CPU_VECTORIZERECURRENCE_H

#include "kv/Dialect/KV.h"

namespace kv {

/// Why kv-vectorize has no kernel for them; nothing if it has one.
std::optional<std::string> whyNotVectorized(StateConvolutionOp op);
std::optional<std::string> whyNotVectorized(StateScanOp op);

/// Replaces an operation on buffers by a parallel loop over pieces of the
/// states of its sequences, whose numbers do not depend on each other. Fails
/// with an error where whyNotVectorized() says why.
llvm::LogicalResult vectorizeConvolution(mlir::RewriterBase &rewriter,
                                         StateConvolutionOp op);
llvm::LogicalResult vectorizeScan(mlir::RewriterBase &rewriter, StateScanOp op);

} // namespace kv

#endif // KV_PASSES_CPU_VECTORIZERECURRENCE_H
