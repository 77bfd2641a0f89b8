//===- DeviceKernels.h - What a GPU has kernels for -------------*- C++ -*-===//
//
// The one place that knows it: matching, casts and errors ask here.
//
// | kernel | types |
// | --- | --- |
// | norm, pair, embedding, cast, rope | f32, bf16, f16, each tensor its own |
// | argmax | of the same, to i32 |
// | matmul | x and weight of one 16-bit type, to it or to f32 |
// | store | rows of f32, bf16, f16, to bf16, f16 and f8E4M3FN caches |
// | attention | q and cache of one 16-bit type, or bf16 and f8E4M3FN |
//
//===----------------------------------------------------------------------===//

#ifndef KV_PASSES_DEVICEKERNELS_H
#define KV_PASSES_DEVICEKERNELS_H

#include "kv/Dialect/KV.h"

namespace kv {

/// Rows are read in chunks of so many elements.
constexpr int64_t kRowChunk = 8;
/// Angles of a rotation are handled in chunks.
constexpr int64_t kRopeChunk = 16;

/// Whether kernels that move rows read and write this element type.
bool isMoved(mlir::Type element);

/// Whether rows are multiplied with weights of this element type; they must
/// have it too.
bool isMultiplied(mlir::Type element);

/// The element type of queries over a cache of `element`; null where no kernel
/// attends over such a cache.
mlir::Type queryType(mlir::Type element);

/// Whether there are kernels for a cache; else an error on `op` that says what
/// there are kernels for.
llvm::LogicalResult checkCache(mlir::Operation *op, CollectionType type);

/// checkCache, and what attention does not do.
llvm::LogicalResult checkAttention(AttentionOp op);

/// The names of the device code that attends over a cache.
llvm::SmallVector<std::string> attentionImages(CollectionType type);

/// The device code of everything else.
constexpr llvm::StringLiteral kMoversImage = "kv_movers";

} // namespace kv

#endif // KV_PASSES_DEVICEKERNELS_H
