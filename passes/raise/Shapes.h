//===- Shapes.h - Other sizes for the dimensions of a graph -----*- C++ -*-===//
//
// Writes what is computed from a value anew, after some of its dimensions have
// got other sizes: static ones become the sequence, a batch one member.
//
//===----------------------------------------------------------------------===//

#ifndef KV_PASSES_RAISE_SHAPES_H
#define KV_PASSES_RAISE_SHAPES_H

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "passes/raise/analysis/Graph.h"

#include <map>

namespace kv {

/// The role of a dimension of the graph: one of the batch's members first, then
/// the tokens and `beyond` more, or neither.
struct ShapeRole {
  bool batch = false, rows = false;
  int64_t beyond = 0;

  bool isPlain() const { return !batch && !rows; }
  auto operator<=>(const ShapeRole &) const = default;
};
using Roles = llvm::SmallVector<ShapeRole>;

inline bool arePlain(llvm::ArrayRef<ShapeRole> roles) {
  return llvm::all_of(roles,
                      [](const ShapeRole &role) { return role.isPlain(); });
}

/// A value of the new graph, and what its dimensions are.
struct Made {
  mlir::Value value;
  Roles roles;
};

/// The function of a graph whose dimensions change: they were static, `batch`
/// and `rows`, and become 1 and `length`.
class Shapes {
public:
  /// `where` begins the sentences of errors.
  Shapes(mlir::func::FuncOp function, int64_t batch, int64_t rows,
         mlir::Value length, std::string where)
      : function(function), batch(batch), rows(rows), where(std::move(where)),
        b(function.getContext()), length(length) {}

  /// A value that has its new dimensions already.
  void replace(mlir::Value old, mlir::Value fresh, Roles roles) {
    made[old] = {fresh, std::move(roles)};
  }

  /// Writes operations that depend on replaced values anew, at the function's
  /// end, and drops the old ones. On failure, emits an error that names the
  /// operation.
  llvm::LogicalResult run();

  mlir::RankedTensorType newType(mlir::RankedTensorType from,
                                 llvm::ArrayRef<ShapeRole> roles) const;

private:
  /// The values that an operation and its regions take from outside.
  static llvm::SetVector<mlir::Value> taken(mlir::Operation *op);

  llvm::LogicalResult refuse(mlir::Operation *op, const llvm::Twine &reason);

  mlir::OpFoldResult sizeOf(int64_t size, const ShapeRole &role);

  llvm::SmallVector<mlir::OpFoldResult>
  sizesOf(mlir::RankedTensorType from, llvm::ArrayRef<ShapeRole> roles);

  /// The role of one dimension made of several: the batch comes first, and
  /// dimensions other than the tokens are 1.
  std::optional<ShapeRole> joined(llvm::ArrayRef<int64_t> sizes,
                                  llvm::ArrayRef<ShapeRole> roles);

  /// Several dimensions for one.
  std::optional<Roles> split(llvm::ArrayRef<int64_t> sizes, ShapeRole role);

  /// The roles of a reshape's other side.
  std::optional<Roles>
  through(llvm::ArrayRef<mlir::ReassociationIndices> groups,
          mlir::RankedTensorType wide, llvm::ArrayRef<ShapeRole> roles,
          bool joins);

  llvm::LogicalResult write(mlir::Operation *op);

  llvm::LogicalResult writeLinalg(mlir::linalg::LinalgOp op);

  /// An operation with loops of these roles.
  llvm::LogicalResult writeLoops(mlir::linalg::LinalgOp op,
                                 llvm::ArrayRef<ShapeRole> loops);

  /// Values that the body of an operation takes from outside, and its numbers
  /// of loops.
  llvm::LogicalResult takeInside(mlir::linalg::LinalgOp op,
                                 llvm::ArrayRef<ShapeRole> loops,
                                 mlir::IRMapping &mapping);

  template <typename Reshape> llvm::LogicalResult writeReshape(Reshape op);

  mlir::Value reshaped(mlir::Operation *op, mlir::Value from,
                       llvm::ArrayRef<mlir::ReassociationIndices> groups,
                       llvm::ArrayRef<ShapeRole> roles);

  /// All of the batch; all of the tokens, or the last one.
  llvm::LogicalResult writeSlice(mlir::tensor::ExtractSliceOp op);

  llvm::LogicalResult writeInsert(mlir::tensor::InsertSliceOp op);

  llvm::LogicalResult writeConcat(mlir::tensor::ConcatOp op);

  /// Attention, and what keeps the shape of its first operand.
  llvm::LogicalResult writeOther(mlir::Operation *op);

  /// A value as `user` needs it. A value that the tokens do not reach can have
  /// any roles that its operations allow.
  llvm::FailureOr<mlir::Value> demand(mlir::Operation *user, mlir::Value value,
                                      llvm::ArrayRef<ShapeRole> roles);

  /// Makes a value that the tokens do not reach, with dimensions of its own.
  llvm::FailureOr<mlir::Value> makeFree(mlir::Operation *user,
                                        mlir::Value value,
                                        llvm::ArrayRef<ShapeRole> roles);

  /// The first rows of a table. Members of a batch have none of their own.
  llvm::FailureOr<mlir::Value> firsts(mlir::Operation *user, mlir::Value value,
                                      llvm::ArrayRef<ShapeRole> roles,
                                      mlir::DenseElementsAttr constant);

  /// A row for each token.
  mlir::Value repeated(mlir::Operation *user, mlir::Value value,
                       llvm::ArrayRef<ShapeRole> roles);

  /// Whether a constant has the same elements for each member of the batch.
  bool repeats(mlir::DenseElementsAttr constant, int64_t dim) const;

  mlir::func::FuncOp function;
  int64_t batch, rows;
  std::string where;
  mlir::OpBuilder b;
  mlir::Value length;
  llvm::DenseMap<mlir::Value, Made> made;
  std::map<std::pair<void *, std::vector<ShapeRole>>, mlir::Value> free;
};

} // namespace kv

#endif // KV_PASSES_RAISE_SHAPES_H
