//===- OpParsing.h - Checks and syntax that operations share ----*- C++ -*-===//

#ifndef KV_DIALECT_OPPARSING_H
#define KV_DIALECT_OPPARSING_H

#include "kv/Dialect/KV.h"
#include "mlir/IR/TypeUtilities.h"

namespace kv {

/// An operation stands on tensors and has a result, or on buffers and has
/// `out`. Its first shaped operand that is no cache tells which, and the others
/// agree; the blocks of a cache are a buffer in either form.
llvm::LogicalResult verifyForm(mlir::Operation *op, mlir::Value out,
                               mlir::Value result);

/// The same of an operation that makes nothing.
llvm::LogicalResult verifyOneForm(mlir::Operation *op);

/// The type of what the operation makes, in either form.
mlir::Type formType(mlir::Value out, mlir::Value result);

/// Two operands with the same number of rows (dimension 0), where static.
llvm::LogicalResult verifySameRows(mlir::Operation *op, llvm::StringRef nameA,
                                   mlir::Type a, llvm::StringRef nameB,
                                   mlir::Type b);

/// `x, positions, freqs` or `x, positions, freqs outs out`: the result has the
/// type of x.
mlir::ParseResult parseValueTypes(mlir::OpAsmParser &parser, mlir::Type &x,
                                  mlir::Type &positions, mlir::Type &freqs,
                                  mlir::Type &out, mlir::Type &result);
void printValueTypes(mlir::OpAsmPrinter &p, mlir::Operation *op, mlir::Type x,
                     mlir::Type positions, mlir::Type freqs, mlir::Type out,
                     mlir::Type result);

} // namespace kv

#endif // KV_DIALECT_OPPARSING_H
