//===- VectorizeMatmul.h - Products as tiled loops --------------*- C++ -*-===//

#ifndef KV_PASSES_CPU_PRODUCTS_VECTORIZEMATMUL_H
#define KV_PASSES_CPU_PRODUCTS_VECTORIZEMATMUL_H

#include "IntegerDot.h"
#include "kv/Dialect/KV.h"

namespace kv {

/// The register tiles of a level of a CPU.
struct MatmulTiling {
  int64_t rows;   // of a tile of f32 or bf16 weights
  int64_t blocks; // vectors of 16 outputs of such a tile
  DotKind dot;    // what multiplies quantised weights
  bool matrix;    // rows hold bf16, and AMX multiplies them with such weights
};

/// Each emits the loops of `op`, which stands on buffers, before it; its
/// weights are packed.
void vectorizeMatmul(mlir::OpBuilder &b, MatmulOp op,
                     const MatmulTiling &tiling);
void vectorizeExpertMatmul(mlir::OpBuilder &b, ExpertMatmulOp op,
                           const MatmulTiling &tiling);

} // namespace kv

#endif // KV_PASSES_CPU_PRODUCTS_VECTORIZEMATMUL_H
