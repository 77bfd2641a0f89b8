//===- CacheCalls.h - Calls of functions on caches --------------*- C++ -*-===//
//
// The arguments of the functions of Symbols.def that a CPU and a device both
// have for operations on caches.
//
//===----------------------------------------------------------------------===//

#ifndef KV_PASSES_COMMON_CACHECALLS_H
#define KV_PASSES_COMMON_CACHECALLS_H

#include "Emitter.h"

namespace kv {

/// A function, and what stands for its parameters behind the context: null
/// where a view is absent.
struct FunctionCall {
  RuntimeFunction callee;
  llvm::SmallVector<mlir::Value> parameters;
};

/// What every function on a cache begins with: blocks and scales in logical
/// order, cache lengths, lookup table.
llvm::SmallVector<mlir::Value> cacheParameters(Emitter &b, CacheOpInterface op);

FunctionCall callOf(Emitter &b, StoreOp op);

/// With a plan the function is a device's. lse may be null.
FunctionCall callOf(Emitter &b, AttentionOp op, mlir::Value out,
                    mlir::Value lse);

/// What GatherOp does with x of any type.
FunctionCall callOf(Emitter &b, GatherOp op, mlir::Value out);

} // namespace kv

#endif // KV_PASSES_COMMON_CACHECALLS_H
