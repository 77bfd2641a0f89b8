//===- CacheCalls.h - Calls of functions on caches --------------*- C++ -*-===//
//
// The arguments of the functions of Symbols.def that a CPU and a device both
// have for operations on caches.
//
//===----------------------------------------------------------------------===//

#ifndef KV_PASSES_COMMON_CACHECALLS_H
#define KV_PASSES_COMMON_CACHECALLS_H

#include "kv/Dialect/KV.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace kv {

/// A function, and what stands for its parameters behind the context: null
/// where a view is absent.
struct FunctionCall {
  RuntimeFunction callee;
  llvm::SmallVector<mlir::Value> parameters;
};

/// What every function on a cache begins with: blocks and scales in logical
/// order, cache lengths, lookup table.
llvm::SmallVector<mlir::Value> cacheParameters(mlir::ImplicitLocOpBuilder &b,
                                               CacheOpInterface op);

/// Numbers as constants.
mlir::Value constantI32(mlir::ImplicitLocOpBuilder &b, int64_t value);
mlir::Value constantI64(mlir::ImplicitLocOpBuilder &b, int64_t value);
mlir::Value constantF32(mlir::ImplicitLocOpBuilder &b, double value);
/// An index as an i64.
mlir::Value indexAsI64(mlir::ImplicitLocOpBuilder &b, mlir::Value index);

FunctionCall callOf(mlir::ImplicitLocOpBuilder &b, StoreOp op);

/// With a plan the function is a device's. lse may be null.
FunctionCall callOf(mlir::ImplicitLocOpBuilder &b, AttentionOp op,
                    mlir::Value out, mlir::Value lse);

/// What GatherOp does with x of any type.
FunctionCall callOf(mlir::ImplicitLocOpBuilder &b, GatherOp op,
                    mlir::Value out);

} // namespace kv

#endif // KV_PASSES_COMMON_CACHECALLS_H
