//===- Verification.h - Checks that operations share ------------*- C++ -*-===//

#ifndef KV_DIALECT_VERIFICATION_H
#define KV_DIALECT_VERIFICATION_H

#include "kv/Dialect/KV.h"
#include "mlir/IR/TypeUtilities.h"

namespace kv {

/// An operation stands on tensors and has results, or on buffers and has
/// `outs`. Its first shaped operand that is no cache tells which, and the
/// others agree; the blocks of a cache are a buffer in either form. The first
/// `required` of either form must be there, the others may be null.
llvm::LogicalResult verifyForm(mlir::Operation *op, mlir::ValueRange outs,
                               mlir::ValueRange results, size_t required = 1);

/// Verifies the form of an operation that makes nothing.
llvm::LogicalResult verifyOneForm(mlir::Operation *op);

/// The type of what the operation makes, in either form.
mlir::Type formType(mlir::Value out, mlir::Value result);

/// The static row counts of an operation that makes one row per token. A
/// dynamic number of rows follows from the offsets; a static one must agree
/// with them.
llvm::SmallVector<mlir::Value, 2> staticRows(mlir::Value out,
                                             mlir::Value result);

/// Two operands with the same number of rows (dimension 0), where static.
llvm::LogicalResult verifySameRows(mlir::Operation *op, llvm::StringRef nameA,
                                   mlir::Type a, llvm::StringRef nameB,
                                   mlir::Type b);

/// Component `i` is like the one that the type asks for. One other than the
/// blocks may be a tensor or, once bufferized, a memref.
llvm::LogicalResult verifyComponent(mlir::Operation *op, size_t i,
                                    mlir::Type have, CollectionType type);

/// Components, in kv.fetch's order, are those that the type asks for.
llvm::LogicalResult verifyComponents(mlir::Operation *op, mlir::TypeRange given,
                                     CollectionType type);

/// A constant layer is one of the collection's.
llvm::LogicalResult verifyLayer(mlir::Operation *op, mlir::Value layer,
                                CollectionType type);

/// A cache is named by one handle, or by the components of `collection`.
llvm::LogicalResult verifyCache(CacheOpInterface op,
                                std::optional<mlir::Type> collection);

/// [layer, plane] stands with components and not with a handle, and constants
/// name a layer and a plane.
llvm::LogicalResult verifyPlace(CacheOpInterface op, mlir::OperandRange place);

/// The signs that a number may have.
enum class Sign { Positive, NotNegative, Any };

/// A number is finite and has such a sign as the f32 that is computed with.
llvm::LogicalResult verifyNumber(mlir::Operation *op, llvm::StringRef name,
                                 llvm::APFloat value, Sign sign);

/// How messages print a number of heads, which may be unknown.
struct HeadCount {
  int64_t heads;
  friend mlir::Diagnostic &operator<<(mlir::Diagnostic &diagnostic,
                                      HeadCount count) {
    if (mlir::ShapedType::isDynamic(count.heads))
      return diagnostic << "?";
    return diagnostic << count.heads;
  }
};

/// Rows are [T, heads, dim]; heads may be unknown.
llvm::LogicalResult verifyRowShape(mlir::Operation *op, llvm::StringRef name,
                                   mlir::Type type, int64_t heads, int64_t dim);

/// A mask over a collection with a window sees no further back than that.
llvm::LogicalResult verifyWindow(mlir::Operation *op, MaskAttr mask,
                                 CollectionType type);

/// A row of a tree sees tokens of its path only, and those before the tree.
llvm::LogicalResult verifyTreeMask(mlir::Operation *op, MaskAttr mask);

/// The tree of an attention, if it has one, is one of its own rows.
llvm::LogicalResult verifyTree(AttentionOp op);

/// The plan of an attention is one for its rows, of its mask where that is
/// known, and its kernel takes it.
llvm::LogicalResult verifyPlanned(AttentionOp op);

} // namespace kv

#endif // KV_DIALECT_VERIFICATION_H
