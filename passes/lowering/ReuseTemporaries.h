//===- ReuseTemporaries.h - One buffer for several temporaries --*- C++ -*-===//

#ifndef KV_PASSES_LOWERING_REUSETEMPORARIES_H
#define KV_PASSES_LOWERING_REUSETEMPORARIES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace kv {

/// Lets an allocation of a function's block take the buffer of an earlier one
/// with the same type and sizes that nothing uses any more. Returns how many
/// allocations are gone.
unsigned reuseTemporaries(mlir::func::FuncOp function);

} // namespace kv

#endif // KV_PASSES_LOWERING_REUSETEMPORARIES_H
