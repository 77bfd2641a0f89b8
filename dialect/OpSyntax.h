//===- OpSyntax.h - Syntax that generated code calls ------------*- C++ -*-===//

#ifndef KV_DIALECT_OPSYNTAX_H
#define KV_DIALECT_OPSYNTAX_H

#include "kv/Dialect/KV.h"

namespace kv {

/// The name of a function of Symbols.def, in quotes.
mlir::ParseResult parseCallee(mlir::OpAsmParser &parser,
                              RuntimeFunctionAttr &callee);
void printCallee(mlir::OpAsmPrinter &p, mlir::Operation *op,
                 RuntimeFunctionAttr callee);

/// `x, positions, freqs` or `x, positions, freqs outs out`: the result has the
/// type of x.
mlir::ParseResult parseValueTypes(mlir::OpAsmParser &parser, mlir::Type &x,
                                  mlir::Type &positions, mlir::Type &freqs,
                                  mlir::Type &out, mlir::Type &result);
void printValueTypes(mlir::OpAsmPrinter &p, mlir::Operation *op, mlir::Type x,
                     mlir::Type positions, mlir::Type freqs, mlir::Type out,
                     mlir::Type result);

/// `a, a_lse` when both sides have the same types, else `a, a_lse and b,
/// b_lse`; then `outs out, out_lse`, or the results have the types of the first
/// side.
mlir::ParseResult parseMergeTypes(mlir::OpAsmParser &parser, mlir::Type &a,
                                  mlir::Type &aLse, mlir::Type &b,
                                  mlir::Type &bLse, mlir::Type &out,
                                  mlir::Type &outLse, mlir::Type &result,
                                  mlir::Type &lse);
void printMergeTypes(mlir::OpAsmPrinter &p, mlir::Operation *op, mlir::Type a,
                     mlir::Type aLse, mlir::Type b, mlir::Type bLse,
                     mlir::Type out, mlir::Type outLse, mlir::Type result,
                     mlir::Type lse);

} // namespace kv

#endif // KV_DIALECT_OPSYNTAX_H
