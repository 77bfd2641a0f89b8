//===- MaskAtoms.h - How a mask looks at positions --------------*- C++ -*-===//

#ifndef KV_PASSES_RAISE_ANALYSIS_MASKATOMS_H
#define KV_PASSES_RAISE_ANALYSIS_MASKATOMS_H

#include "Elements.h"

#include <set>

namespace kv {

/// A function of one number, as `op` computes it.
std::optional<double> unary(mlir::Operation *op, double x);

/// Whether `op` is the same number in another type.
bool isConversion(mlir::Operation *op);

/// The thresholds of an expression's comparisons; nothing if it looks at
/// positions in other ways.
class Atoms {
public:
  explicit Atoms(const std::deque<Expr> &all) : all(all) {}

  /// Adds those of an expression; false and why in `obstacle`.
  bool collect(ExprId root, Obstacle &obstacle);

  /// The constants with their neighbours, and the negatives of these: where a
  /// comparison, or that of a mask which is like it, changes.
  std::set<int64_t> constants = {-1, 0, 1};
  /// How long the chunks are that it compares; 0 if it does not.
  int64_t chunk = 0;
  bool comparesLength = false;

private:
  bool compare(const Linear &a, const Linear &b);
  struct Quotient;
  std::optional<Quotient> quotientOf(ExprId id) const;
  bool compareChunks(const std::optional<Quotient> &a,
                     const std::optional<Quotient> &b, const Expr &other);
  void insertNear(int64_t constant);

  const std::deque<Expr> &all;
  /// Whether what was looked at computes with positions.
  llvm::DenseMap<ExprId, bool> varies;
};

} // namespace kv

#endif // KV_PASSES_RAISE_ANALYSIS_MASKATOMS_H
