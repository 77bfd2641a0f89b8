//===- Scalars.h - What a linalg.generic computes with ----------*- C++ -*-===//
//
// Scalars in the bodies of generics, followed through elementwise generics to
// the elements of tensors that they are made of.
//
//===----------------------------------------------------------------------===//

#ifndef KV_PASSES_CUDA_SCALARS_H
#define KV_PASSES_CUDA_SCALARS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace kv {

/// A scalar in the body of a generic, which may be another than the matched
/// one; `at` maps the loops of the matched generic to those of this one.
struct Scalar {
  mlir::Value value;
  mlir::AffineMap at;
};

/// An element of a tensor; `map` maps the loops of the matched generic to its
/// indices.
struct Element {
  mlir::Value tensor;
  mlir::AffineMap map;
};

/// Maps from the r loops of a generic: all loops, the first r - 1, the last.
struct Maps {
  explicit Maps(mlir::linalg::GenericOp op)
      : identity(mlir::AffineMap::getMultiDimIdentityMap(op.getNumLoops(),
                                                         op.getContext())) {
    if (op.getNumLoops() == 0)
      return;
    rows = identity.getMajorSubMap(op.getNumLoops() - 1);
    last = identity.getMinorSubMap(1);
  }
  mlir::AffineMap identity, rows, last;
};

/// Whether result `i` is computed element by element.
bool isElementwise(mlir::linalg::GenericOp op, unsigned i);

/// The generics into whose bodies a scalar is followed: all elementwise ones,
/// those whose result has no other use, or none.
enum class Through { All, UsedOnce, None };

/// Follows a scalar to the operation that computes it: through extensions,
/// which are exact, and into the bodies of elementwise generics.
Scalar trace(Scalar scalar, Through through = Through::All);

/// The element that the scalar is, if it is one of a generic's input.
std::optional<Element> elementOf(Scalar scalar, Through through = Through::All);

/// The floating-point number that it is, if it is one.
std::optional<double> constantOf(Scalar scalar, Through through = Through::All);

/// The operands of the operation that computes `scalar`, if it is an Op.
template <typename Op>
std::optional<llvm::SmallVector<Scalar>> operandsOf(Scalar scalar) {
  scalar = trace(scalar);
  auto op = scalar.value.getDefiningOp<Op>();
  if (!op)
    return std::nullopt;
  return llvm::map_to_vector(op->getOperands(), [&](mlir::Value operand) {
    return Scalar{operand, scalar.at};
  });
}

/// The value that a generic with one result yields, without the final rounding
/// to the result's type.
Scalar yielded(mlir::linalg::GenericOp op);

} // namespace kv

#endif // KV_PASSES_CUDA_SCALARS_H
