//===- ElementFolds.cpp - Scalar operations on expressions ----------------===//
//
// Sums of positions are linear, comparisons that have one result for all
// positions are constants, and what follows from these.
//
//===----------------------------------------------------------------------===//

#include "Elements.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace kv;

Linear kv::difference(const Linear &a, const Linear &b) {
  Linear result{a.constant - b.constant};
  for (size_t i = 0; i < 4; ++i)
    result.coefficients[i] = a.coefficients[i] - b.coefficients[i];
  return result;
}

Linear kv::sum(const Linear &a, const Linear &b) {
  return difference(a, difference({0}, b));
}

Linear kv::scaled(Linear linear, int64_t factor) {
  linear.constant *= factor;
  for (int64_t &coefficient : linear.coefficients)
    coefficient *= factor;
  return linear;
}

std::optional<bool> kv::isNonNegative(const Linear &linear) {
  // At its least q and k are 0 or T - 1, and then T is 1 or grows.
  auto holds = [](const Linear &least) {
    int64_t atOne = least.constant, slope = least.coefficients[2];
    for (size_t i = 0; i < 2; ++i) {
      int64_t falls = std::min<int64_t>(least.coefficients[i], 0);
      slope += falls;
      atOne -= falls;
    }
    return slope >= 0 && atOne + slope >= 0 && least.coefficients[3] >= 0;
  };
  if (holds(linear))
    return true;
  if (holds(difference({-1}, linear)))
    return false;
  return std::nullopt;
}

std::optional<Linear> kv::linearSize(const std::optional<Size> &size) {
  if (!size || size->coefficients.size() > 2)
    return std::nullopt;
  Linear linear{size->constant()};
  if (size->coefficients.size() == 2)
    linear.coefficients[2] = size->coefficients[1];
  return linear;
}

std::optional<ExprId> Elements::apply(Operation *op,
                                      ArrayRef<ExprId> operands) {
  auto linear = [&](size_t i) -> std::optional<Linear> {
    const Expr &expr = all[operands[i]];
    if (expr.kind != Expr::Kind::Integer)
      return std::nullopt;
    return expr.linear;
  };
  if (isa<arith::IndexCastOp, arith::ExtSIOp>(op) && linear(0) &&
      !op->getOperand(0).getType().isInteger(1))
    return operands[0];
  // Positions are small, and not negative.
  if (isa<arith::TruncIOp>(op) && linear(0) &&
      op->getResult(0).getType().getIntOrFloatBitWidth() >= 32)
    return operands[0];
  if (isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op) && linear(0) &&
      linear(1) && !op->getResult(0).getType().isInteger(1)) {
    Linear a = *linear(0), b = *linear(1);
    if (isa<arith::MulIOp>(op)) {
      if (a.isConstant())
        std::swap(a, b);
      if (!b.isConstant())
        return stop(op, "multiplies positions");
      return integer(scaled(a, b.constant));
    }
    return integer(isa<arith::AddIOp>(op) ? sum(a, b) : difference(a, b));
  }
  if (std::optional<ExprId> folded = fold(op, operands))
    return folded;
  std::pair<void *, std::vector<ExprId>> key{op, operands.vec()};
  auto [found, isNew] = operations.try_emplace(key, all.size());
  if (isNew) {
    Expr expr{Expr::Kind::Operation};
    expr.op = op;
    expr.operands.assign(operands.begin(), operands.end());
    all.push_back(expr);
  }
  return found->second;
}

/// Folds operations on constants, and on conditions that exclude each other: x
/// == 0 and x rem W != 0.
std::optional<ExprId> Elements::foldBits(Operation *op,
                                         ArrayRef<ExprId> operands) {
  bool isAnd = isa<arith::AndIOp>(op);
  if (isConstant(operands[0]) && isConstant(operands[1])) {
    int64_t a = all[operands[0]].linear.constant,
            b = all[operands[1]].linear.constant;
    return integer({isAnd ? a & b : a | b});
  }
  if (!isAnd || !op->getResult(0).getType().isInteger(1))
    return std::nullopt;
  // The left side of a comparison with 0.
  auto beside0 = [&](ExprId id, arith::CmpIPredicate wanted) -> const Expr * {
    auto compare = dyn_cast_or_null<arith::CmpIOp>(all[id].op);
    bool isThis = compare && compare.getPredicate() == wanted &&
                  all[id].operands[1] == integer({0});
    return isThis ? &all[all[id].operands[0]] : nullptr;
  };
  for (size_t i : {0, 1}) {
    const Expr *x = beside0(operands[i], arith::CmpIPredicate::eq),
               *rest = beside0(operands[1 - i], arith::CmpIPredicate::ne);
    if (x && rest && isa_and_nonnull<arith::RemSIOp>(rest->op) &&
        &all[rest->operands[0]] == x)
      return integer({0});
  }
  return std::nullopt;
}

/// Whether c ? a : b differs from b, of constants a and b, is c.
std::optional<ExprId> Elements::foldChoice(ArrayRef<ExprId> operands) const {
  const Expr &choice = all[operands[0]];
  if (!isa_and_nonnull<arith::SelectOp>(choice.op) ||
      choice.operands[2] != operands[1] || !isConstant(operands[1]) ||
      !isConstant(choice.operands[1]) ||
      choice.operands[1] == choice.operands[2])
    return std::nullopt;
  return choice.operands[0];
}

/// Comparisons that have one result for all positions, and what follows.
std::optional<ExprId> Elements::fold(Operation *op, ArrayRef<ExprId> operands) {
  auto truth = [&](size_t i) -> std::optional<bool> {
    if (!isConstant(operands[i]))
      return std::nullopt;
    return all[operands[i]].linear.constant != 0;
  };
  if (isa<arith::SelectOp>(op)) {
    std::optional<bool> condition = truth(0);
    return condition ? std::optional(operands[*condition ? 1 : 2])
                     : std::nullopt;
  }
  if (isa<arith::ExtUIOp>(op) && isConstant(operands[0]))
    return operands[0];
  if (isa<arith::AndIOp, arith::OrIOp>(op))
    if (std::optional<ExprId> folded = foldBits(op, operands))
      return folded;
  // The sign of what is not negative.
  if (isa<arith::ShRSIOp>(op) && isConstant(operands[1]) &&
      all[operands[1]].linear.constant >= 31 &&
      all[operands[0]].kind == Expr::Kind::Integer &&
      isNonNegative(all[operands[0]].linear) == true)
    return integer({0});
  auto compare = dyn_cast<arith::CmpIOp>(op);
  if (compare && compare.getPredicate() == arith::CmpIPredicate::ne)
    if (std::optional<ExprId> choice = foldChoice(operands))
      return choice;
  if (!compare || compare.getLhs().getType().isInteger(1) ||
      all[operands[0]].kind != Expr::Kind::Integer ||
      all[operands[1]].kind != Expr::Kind::Integer)
    return std::nullopt;
  const Linear &a = all[operands[0]].linear, &b = all[operands[1]].linear;
  std::optional<bool> less = isNonNegative(difference(difference(b, a), {1}));
  std::optional<bool> more = isNonNegative(difference(difference(a, b), {1}));
  std::optional<bool> fact;
  switch (compare.getPredicate()) {
  case arith::CmpIPredicate::eq:
  case arith::CmpIPredicate::ne:
    if (a == b || less == true || more == true)
      fact = (a == b) == (compare.getPredicate() == arith::CmpIPredicate::eq);
    break;
  case arith::CmpIPredicate::slt:
    fact = less;
    break;
  case arith::CmpIPredicate::sgt:
    fact = more;
    break;
  case arith::CmpIPredicate::sle:
    if (more)
      fact = !*more;
    break;
  case arith::CmpIPredicate::sge:
    if (less)
      fact = !*less;
    break;
  default:
    break;
  }
  return fact ? std::optional(integer({*fact})) : std::nullopt;
}
