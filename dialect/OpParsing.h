//===- OpParsing.h - Checks and syntax that operations share ----*- C++ -*-===//

#ifndef KV_DIALECT_OPPARSING_H
#define KV_DIALECT_OPPARSING_H

#include "kv/Dialect/KV.h"
#include "mlir/IR/TypeUtilities.h"

namespace kv {

/// An operation stands on tensors and has results, or on buffers and has
/// `outs`. Its first shaped operand that is no cache tells which, and the
/// others agree; the blocks of a cache are a buffer in either form. The first
/// `required` of either form must be there, the others may be null.
llvm::LogicalResult verifyForm(mlir::Operation *op, mlir::ValueRange outs,
                               mlir::ValueRange results, size_t required = 1);

/// The same of an operation that makes nothing.
llvm::LogicalResult verifyOneForm(mlir::Operation *op);

/// The type of what the operation makes, in either form.
mlir::Type formType(mlir::Value out, mlir::Value result);

/// Two operands with the same number of rows (dimension 0), where static.
llvm::LogicalResult verifySameRows(mlir::Operation *op, llvm::StringRef nameA,
                                   mlir::Type a, llvm::StringRef nameB,
                                   mlir::Type b);

/// Components, in kv.fetch's order, are those that the type asks for.
llvm::LogicalResult verifyComponents(mlir::Operation *op, mlir::TypeRange given,
                                     CollectionType type);

/// A constant layer is one of the collection's.
llvm::LogicalResult verifyLayer(mlir::Operation *op, mlir::Value layer,
                                CollectionType type);

/// A cache is named by one handle, or by the components of `collection`.
llvm::LogicalResult verifyCache(CacheOpInterface op,
                                std::optional<mlir::Type> collection);

/// The type of the collection that an operation names: its handle's, or `given`
/// with components.
CollectionType collectionOf(mlir::OperandRange cache,
                            std::optional<mlir::Type> given);

/// [layer, part] stands with components and not with a handle, and constants
/// name a layer and a part.
llvm::LogicalResult verifyPlace(CacheOpInterface op, mlir::OperandRange place);

/// Rows are [T, heads, dim]; heads may be unknown.
llvm::LogicalResult verifyRowShape(mlir::Operation *op, llvm::StringRef name,
                                   mlir::Type type, int64_t heads, int64_t dim);

/// A mask over a collection with a window sees no further back than that.
llvm::LogicalResult verifyWindow(mlir::Operation *op, MaskAttr mask,
                                 CollectionType type);

/// The plan of an attention is one for its rows, of its mask where that is
/// known, and its kernel takes it.
llvm::LogicalResult verifyPlanned(AttentionOp op);

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

#endif // KV_DIALECT_OPPARSING_H
