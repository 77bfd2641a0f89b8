//===- Elements.h - An element of a tensor as an expression -----*- C++ -*-===//
//
// Symbolic execution of a graph for one element: the element of a tensor at
// given indices as an expression of the query's position q, the key's position
// k and the length T.
//
//===----------------------------------------------------------------------===//

#ifndef KV_PASSES_RAISE_ANALYSIS_ELEMENTS_H
#define KV_PASSES_RAISE_ANALYSIS_ELEMENTS_H

#include "Sizes.h"

#include <array>
#include <compare>
#include <deque>
#include <map>

namespace kv {

/// constant + q * coefficients[0] + k * coefficients[1] + T * coefficients[2] +
/// n * coefficients[3], where n is any number from 0 on, such as a head's.
struct Linear {
  int64_t constant = 0;
  std::array<int64_t, 4> coefficients = {0, 0, 0, 0};

  bool isConstant() const {
    return coefficients == std::array<int64_t, 4>{0, 0, 0, 0};
  }
  auto operator<=>(const Linear &) const = default;
};

/// Whether it is at least 0 for all 0 <= q, k < T, T >= 1 and n >= 0; nothing
/// where it is so for some of them.
std::optional<bool> isNonNegative(const Linear &linear);

Linear difference(const Linear &a, const Linear &b);
Linear sum(const Linear &a, const Linear &b);
Linear scaled(Linear linear, int64_t factor);

/// c + n * T, if a size is that.
std::optional<Linear> linearSize(const std::optional<Size> &size);

/// A place among the expressions of an `Elements`; children come before their
/// parents.
using ExprId = unsigned;

/// An expression: an integer that is linear in the positions, a floating-point
/// constant, or a scalar operation on other expressions.
struct Expr {
  enum class Kind { Integer, Float, Operation } kind;
  Linear linear = {};
  llvm::APFloat value = llvm::APFloat(0.0);
  mlir::Operation *op = nullptr;
  llvm::SmallVector<ExprId, 3> operands = {};
  /// The tensor of a leaf, which `operands` index.
  mlir::Value tensor = {};
  /// Whether `op` combines the first operand for all k, beginning with the
  /// second one, and then those that follow, which are beyond the sequence.
  bool isReduction = false;
};

/// Why an element has no expression: the operation that ends it.
struct Obstacle {
  mlir::Operation *op = nullptr;
  std::string reason;
};

class Elements {
public:
  /// With `keepsLeaves`, an element that depends on more than positions is an
  /// expression of its own, which equals only those of the same tensor and
  /// index. Sums and maxima over the sequence are then expressions, too.
  explicit Elements(const Graph &graph, bool keepsLeaves = false)
      : sizes(graph), keepsLeaves(keepsLeaves) {}

  /// The element of `tensor` at `index`; nothing and `obstacle` if it depends
  /// on anything but positions.
  std::optional<ExprId> element(mlir::Value tensor,
                                llvm::ArrayRef<ExprId> index);
  ExprId integer(Linear linear);

  /// A scalar inside of an operation whose loops are at `loops`, as far as
  /// these are known.
  std::optional<ExprId> within(mlir::linalg::LinalgOp op, mlir::Value scalar,
                               llvm::ArrayRef<std::optional<ExprId>> loops);

  const std::deque<Expr> &expressions() const { return all; }

  /// An expression that is an `Op` of others, or null.
  template <typename Op> const Expr *application(ExprId id) const {
    const Expr &expr = all[id];
    bool matches = expr.kind == Expr::Kind::Operation && expr.op &&
                   !expr.isReduction && mlir::isa<Op>(expr.op);
    return matches ? &expr : nullptr;
  }

  Obstacle obstacle;

private:
  using Index = llvm::SmallVector<ExprId>;
  std::optional<ExprId> compute(mlir::Value tensor,
                                llvm::ArrayRef<ExprId> index);
  std::optional<ExprId> ofLinalg(mlir::OpResult result,
                                 llvm::ArrayRef<ExprId> index);
  std::optional<ExprId> scalar(mlir::Value value, mlir::linalg::LinalgOp within,
                               llvm::ArrayRef<std::optional<ExprId>> loops,
                               llvm::DenseMap<mlir::Value, ExprId> &known);
  std::optional<ExprId>
  ofReduction(mlir::OpResult result,
              llvm::MutableArrayRef<std::optional<ExprId>> loops);
  std::optional<int64_t> lengthBeyond(mlir::linalg::LinalgOp op, unsigned loop);
  std::optional<ExprId> apply(mlir::Operation *op,
                              llvm::ArrayRef<ExprId> operands);
  std::optional<ExprId> constant(mlir::Operation *op, mlir::TypedAttr value);
  std::optional<Index>
  throughGroups(mlir::Operation *op, llvm::ArrayRef<ExprId> index,
                llvm::ArrayRef<mlir::ReassociationIndices> groups,
                mlir::RankedTensorType wide, bool expands);
  std::optional<ExprId> ofConcat(mlir::Operation *op,
                                 llvm::ArrayRef<ExprId> index);
  std::optional<ExprId> fold(mlir::Operation *op,
                             llvm::ArrayRef<ExprId> operands);
  std::optional<ExprId> foldBits(mlir::Operation *op,
                                 llvm::ArrayRef<ExprId> operands);
  std::optional<ExprId> foldChoice(llvm::ArrayRef<ExprId> operands) const;
  std::nullopt_t stop(mlir::Operation *op, llvm::StringRef reason);
  bool isConstant(ExprId id) const {
    return all[id].kind == Expr::Kind::Integer && all[id].linear.isConstant();
  }

  Sizes sizes;
  bool keepsLeaves;
  llvm::DenseMap<mlir::Operation *, bool> loopsAgree;
  std::deque<Expr> all;
  std::map<std::pair<const void *, uint64_t>, ExprId> floats;
  std::map<Linear, ExprId> integers;
  std::map<std::pair<void *, std::vector<ExprId>>, ExprId> elements, operations,
      reductions;
};

} // namespace kv

#endif // KV_PASSES_RAISE_ANALYSIS_ELEMENTS_H
