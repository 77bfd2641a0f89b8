//===- ExpandFloat8.h - Conversions of 8-bit floats -------------*- C++ -*-===//

#ifndef KV_PASSES_LOWERING_EXPANDFLOAT8_H
#define KV_PASSES_LOWERING_EXPANDFLOAT8_H

namespace mlir {
class RewritePatternSet;
}

namespace kv {

/// arith.extf and arith.truncf between f32 and f8E4M3FN or f8E5M2 become
/// integer arithmetic.
void populateExpandFloat8Patterns(mlir::RewritePatternSet &patterns);

} // namespace kv

#endif // KV_PASSES_LOWERING_EXPANDFLOAT8_H
