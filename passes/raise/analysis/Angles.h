//===- Angles.h - What positions and weights alone decide -------*- C++ -*-===//
//
// An expression of a position and of weights is known for each position before
// a model runs. Such expressions become columns of a table, a weight that says
// in `kv.computed` how it is computed.
//
//===----------------------------------------------------------------------===//

#ifndef KV_PASSES_RAISE_ANALYSIS_ANGLES_H
#define KV_PASSES_RAISE_ANALYSIS_ANGLES_H

#include "Elements.h"

namespace kv {

class Angles {
public:
  /// Of an entry with `positions` of its rows; no value where it has none.
  Angles(const Elements &elements, mlir::func::FuncOp function,
         mlir::Value positions, int64_t longest)
      : elements(elements), function(function), rowPositions(positions),
        longest(longest) {}

  /// Whether it is an expression of the position of row q and of weights, by
  /// operations that a file's writer knows.
  bool isAngle(ExprId id);

  /// f32 [rows, columns] of `columns`, where those with even numbers are one
  /// expression but for its numbers, and those with odd ones. Null if they are
  /// not.
  mlir::Value table(llvm::ArrayRef<ExprId> columns, int64_t rows);

  /// As many rows as there are positions; 0 if nobody knows.
  int64_t length() const { return longest; }
  mlir::Value positions() const { return rowPositions; }

private:
  mlir::Attribute tree(llvm::ArrayRef<ExprId> columns) const;

  const Elements &elements;
  mutable mlir::func::FuncOp function;
  mlir::Value rowPositions;
  int64_t longest;
  llvm::DenseMap<ExprId, bool> known;
  std::map<std::vector<ExprId>, mlir::Value> tables;
};

} // namespace kv

#endif // KV_PASSES_RAISE_ANALYSIS_ANGLES_H
