//===- HostSizes.h - Sizes that host code knows -----------------*- C++ -*-===//
//
// Host code of a device sees the sizes of tensors and none of their elements.
// So a number of rows that the IR reads from row_offsets must come from a
// tensor with as many rows.
//
//===----------------------------------------------------------------------===//

#ifndef KV_PASSES_COMMON_HOSTSIZES_H
#define KV_PASSES_COMMON_HOSTSIZES_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

namespace kv {

/// A number, a dimension of a tensor or buffer, or an index.
struct HostSize {
  static constexpr int64_t Itself = -1;

  mlir::Value value;  // null: `number` is the size
  int64_t number = 0; // else it is the dimension; Itself: `value` is the size

  bool isConstant() const { return !value; }
  bool isItself() const { return value && number == Itself; }
  mlir::Value materialize(mlir::OpBuilder &b, mlir::Location loc) const;
};

/// The dimension of which a tensor.dim or memref.dim asks the size, when it is
/// a constant. Nothing for one that the tensor does not have: such IR is valid,
/// and kv-form-entries refuses it.
std::optional<int64_t> dimensionOf(mlir::tensor::DimOp op);
std::optional<int64_t> dimensionOf(mlir::memref::DimOp op);

/// Where a dimension comes from: followed through operations, calls and loops
/// that keep it, as far as an argument.
HostSize traceSize(mlir::Value shaped, int64_t dim);

/// All sizes of a tensor, each from where it comes: they do not keep what has
/// the same sizes alive.
llvm::SmallVector<mlir::OpFoldResult>
hostSizes(mlir::OpBuilder &b, mlir::Location loc, mlir::Value tensor);

/// Sizes become those of where they come from, so that a tensor of which only a
/// size is used need not be computed.
void foldSizes(mlir::Operation *root);

/// How many rows the users of `positions` have, as a size of the function where
/// it is; nothing when none tells.
std::optional<HostSize> rowsOfUsers(mlir::Value positions);

} // namespace kv

#endif // KV_PASSES_COMMON_HOSTSIZES_H
