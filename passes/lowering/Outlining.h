//===- Outlining.h - Values that an outlined body uses ----------*- C++ -*-===//

#ifndef KV_PASSES_LOWERING_OUTLINING_H
#define KV_PASSES_LOWERING_OUTLINING_H

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

namespace kv {

/// The values from outside that a body uses: those that must be passed to it,
/// and constants, which are cloned instead.
struct Captures {
  explicit Captures(const llvm::SetVector<mlir::Value> &used) {
    for (mlir::Value value : used) {
      mlir::Operation *definition = value.getDefiningOp();
      if (definition && mlir::matchPattern(definition, mlir::m_Constant()))
        constants.push_back(definition);
      else
        values.push_back(value);
    }
  }

  /// Passes `value`, which is used, even if it is a constant.
  void pass(mlir::Value value) {
    if (llvm::is_contained(values, value))
      return;
    llvm::erase(constants, value.getDefiningOp());
    values.push_back(value);
  }

  /// Maps the values to `inside`, their counterparts in the outlined body, and
  /// the constants to clones that are created at `b`.
  void enter(mlir::OpBuilder &b, mlir::ValueRange inside,
             mlir::IRMapping &mapping) const {
    mapping.map(values, inside);
    for (mlir::Operation *constant : constants)
      b.clone(*constant, mapping);
  }

  llvm::SmallVector<mlir::Value> values;
  llvm::SmallVector<mlir::Operation *> constants;
};

} // namespace kv

#endif // KV_PASSES_LOWERING_OUTLINING_H
