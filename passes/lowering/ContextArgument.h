//===- ContextArgument.h - The context argument of a function ---*- C++ -*-===//

#ifndef KV_PASSES_LOWERING_CONTEXTARGUMENT_H
#define KV_PASSES_LOWERING_CONTEXTARGUMENT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"

namespace kv {

/// The KvContext of the function that contains `op`: its first argument, once
/// kv-thread-context has run. Emits an error and returns null if the function
/// has none.
inline mlir::Value getContextArgument(mlir::Operation *op) {
  auto function = op->getParentOfType<mlir::func::FuncOp>();
  if (function && function.getNumArguments() != 0 &&
      llvm::isa<mlir::LLVM::LLVMPointerType>(function.getArgumentTypes()[0]))
    return function.getArgument(0);
  op->emitOpError("is in a function without the context: run "
                  "kv-thread-context before");
  return {};
}

} // namespace kv

#endif // KV_PASSES_LOWERING_CONTEXTARGUMENT_H
