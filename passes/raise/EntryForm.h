//===- EntryForm.h - A graph's function becomes an entry --------*- C++ -*-===//

#ifndef KV_PASSES_RAISE_ENTRYFORM_H
#define KV_PASSES_RAISE_ENTRYFORM_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace kv {

/// Adds the argument `logit_rows` i32 [R].
mlir::Value addLogitRows(mlir::func::FuncOp function);

/// Makes an entry of a graph: `tokens` i32 [T], weights with names, and
/// `logits` f32 [rows, vocabulary], where `rows` is the name of that dimension.
llvm::LogicalResult formEntry(mlir::func::FuncOp function,
                              llvm::StringRef rows);

} // namespace kv

#endif // KV_PASSES_RAISE_ENTRYFORM_H
