//===- ContextArgument.h - Where a function has the context -----*- C++ -*-===//

#ifndef KV_PASSES_CONTEXTARGUMENT_H
#define KV_PASSES_CONTEXTARGUMENT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"

namespace kv {

/// The KvContext where `op` stands: the first argument of its function, once
/// kv-thread-context has run. Null, with an error, where it has not.
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

#endif // KV_PASSES_CONTEXTARGUMENT_H
