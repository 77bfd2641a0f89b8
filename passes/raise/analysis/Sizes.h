//===- Sizes.h - Sizes as polynomials in the length -------------*- C++ -*-===//

#ifndef KV_PASSES_RAISE_ANALYSIS_SIZES_H
#define KV_PASSES_RAISE_ANALYSIS_SIZES_H

#include "Graph.h"
#include "llvm/ADT/DenseMap.h"

namespace kv {

/// A polynomial in T, the length of the sequence. Coefficients are those of
/// T^0, T^1, …, without zeros at the end; a truth value is 0 or 1.
struct Size {
  llvm::SmallVector<int64_t, 3> coefficients;

  Size() = default;
  explicit Size(int64_t constant) {
    if (constant)
      coefficients = {constant};
  }
  static Size length() {
    Size size;
    size.coefficients = {0, 1};
    return size;
  }

  bool isConstant() const { return coefficients.size() <= 1; }
  int64_t constant() const {
    return coefficients.empty() ? 0 : coefficients[0];
  }
  bool isLength() const { return *this == length(); }
  bool operator==(const Size &other) const {
    return coefficients == other.coefficients;
  }
  std::string text() const;
};

/// Facts about the scalars and shapes of a graph that hold for every T from 1
/// to the maximum.
class Sizes {
public:
  explicit Sizes(const Graph &graph) : graph(graph) {}

  /// The value of an integer, index or i1; nothing if it is not such a
  /// polynomial.
  std::optional<Size> scalar(mlir::Value value);

  /// The size of a dimension.
  std::optional<Size> dim(mlir::Value tensor, int64_t dim);

  /// Whether all tensors along a loop of the operation have its length: MLIR
  /// checks this of static sizes alone.
  bool loopsAgree(mlir::linalg::LinalgOp op);

private:
  std::optional<Size> compute(mlir::Value value);
  std::optional<Size> combined(mlir::Operation *op,
                               llvm::ArrayRef<Size> in) const;
  std::optional<Size> ordered(mlir::Operation *op,
                              llvm::ArrayRef<Size> in) const;
  std::optional<Size> element(mlir::Value tensor,
                              llvm::ArrayRef<int64_t> index);
  std::optional<Size> computeDim(mlir::Value tensor, int64_t dim);
  std::optional<Size> fold(mlir::OpFoldResult size);
  std::optional<bool> isNegative(const Size &size) const;

  const Graph &graph;
  llvm::DenseMap<mlir::Value, std::optional<Size>> scalars;
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, std::optional<Size>> dims;
};

} // namespace kv

#endif // KV_PASSES_RAISE_ANALYSIS_SIZES_H
