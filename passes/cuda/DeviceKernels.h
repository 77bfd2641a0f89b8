//===- DeviceKernels.h - What a GPU has kernels for -------------*- C++ -*-===//
//
// DeviceKernels.def in terms of types and operations: matching, casts and
// errors ask here.
//
//===----------------------------------------------------------------------===//

#ifndef KV_PASSES_CUDA_DEVICEKERNELS_H
#define KV_PASSES_CUDA_DEVICEKERNELS_H

#include "kv/ABI/DeviceKernels.h"
#include "kv/Dialect/KV.h"

namespace kv {

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

/// Whether `op` is one of those below: on rows or states of a cache, and with
/// the kernel `cuda` a function of the device's runtime.
bool isOnRowsOrStates(mlir::Operation *op);

/// Whether there is a kernel for such an operation; else an error that says
/// what there are kernels for.
llvm::LogicalResult checkRowsOrStates(mlir::Operation *op);

/// The names of the device code of an attention.
llvm::SmallVector<llvm::StringRef> attentionImages(AttentionOp op);

} // namespace kv

#endif // KV_PASSES_CUDA_DEVICEKERNELS_H
