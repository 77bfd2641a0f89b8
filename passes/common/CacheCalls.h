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

/// A function and the values of its parameters after the context. A view that
/// is absent is null.
struct FunctionCall {
  RuntimeFunction callee;
  llvm::SmallVector<mlir::Value> parameters;
};

/// The first parameters of every function on a cache: blocks and scales in
/// logical order, cache lengths, lookup table.
llvm::SmallVector<mlir::Value> cacheParameters(Emitter &b, CacheOpInterface op);

FunctionCall callOf(Emitter &b, StoreOp op);

/// With a plan the function is a device's. lse may be null.
FunctionCall callOf(Emitter &b, AttentionOp op, mlir::Value out,
                    mlir::Value lse);

/// The call of a GatherOp whose x may have any type.
FunctionCall callOf(Emitter &b, GatherOp op, mlir::Value out);

} // namespace kv

#endif // KV_PASSES_COMMON_CACHECALLS_H
