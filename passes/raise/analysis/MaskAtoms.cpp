//===- MaskAtoms.cpp - How a mask looks at positions ----------------------===//

#include "MaskAtoms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace kv;

std::optional<double> kv::unary(Operation *op, double x) {
  return llvm::TypeSwitch<Operation *, std::optional<double>>(op)
      .Case([&](math::ExpOp) { return std::exp(x); })
      .Case([&](math::Exp2Op) { return std::exp2(x); })
      .Case([&](math::LogOp) { return std::log(x); })
      .Case([&](math::Log2Op) { return std::log2(x); })
      .Case([&](math::SqrtOp) { return std::sqrt(x); })
      .Case([&](math::FloorOp) { return std::floor(x); })
      .Case([&](math::CeilOp) { return std::ceil(x); })
      .Default([](Operation *) { return std::nullopt; });
}

bool kv::isConversion(Operation *op) {
  return isa<arith::ExtUIOp, arith::ExtSIOp, arith::UIToFPOp, arith::SIToFPOp,
             arith::ExtFOp, arith::TruncFOp, arith::TruncIOp,
             arith::IndexCastOp>(op);
}

/// x div W of a position x.
struct Atoms::Quotient {
  Linear position;
  int64_t divisor;
};

/// Whether an expression is that: by a division of integers, or rounded down
/// from one of doubles, which are exact enough for positions below 2^31.
std::optional<Atoms::Quotient> Atoms::quotientOf(ExprId id) const {
  auto of = [&](ExprId each, size_t i) { return all[each].operands[i]; };
  Operation *op = all[id].op;
  bool isInteger =
      isa_and_nonnull<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp>(op);
  if (isa_and_nonnull<arith::FPToSIOp>(op)) {
    ExprId rounded = of(id, 0);
    if (!isa_and_nonnull<math::FloorOp>(all[rounded].op))
      return std::nullopt;
    id = of(rounded, 0);
    op = all[id].op;
    if (!isa_and_nonnull<arith::DivFOp>(op) ||
        !op->getResult(0).getType().isF64())
      return std::nullopt;
  } else if (!isInteger) {
    return std::nullopt;
  }
  auto integerAt = [&](size_t i) -> std::optional<Linear> {
    const Expr *expr = &all[of(id, i)];
    if (!isInteger && isa_and_nonnull<arith::SIToFPOp>(expr->op) &&
        !expr->op->getOperand(0).getType().isInteger(1))
      expr = &all[expr->operands[0]];
    if (expr->kind == Expr::Kind::Integer)
      return expr->linear;
    double value =
        expr->kind == Expr::Kind::Float ? expr->value.convertToDouble() : 0;
    if (!(value >= 1 && value < double(INT32_MAX)) ||
        value != std::floor(value))
      return std::nullopt;
    return Linear{static_cast<int64_t>(value)};
  };
  std::optional<Linear> position = integerAt(0), divisor = integerAt(1);
  if (!position || !divisor || !divisor->isConstant() ||
      divisor->constant < 1 || divisor->constant >= INT32_MAX ||
      (*position != Linear{0, {1, 0, 0}} && *position != Linear{0, {0, 1, 0}}))
    return std::nullopt;
  return Quotient{*position, divisor->constant};
}

/// Whether an operation that computes with positions is linear in them.
static bool isLinear(Operation *op, ArrayRef<bool> varies) {
  if (isa<arith::SelectOp>(op))
    return !varies[0];
  if (isa<arith::MulFOp, arith::MulIOp>(op))
    return !varies[0] || !varies[1];
  if (isa<arith::DivFOp>(op))
    return !varies[1];
  // Narrow numbers are too coarse for positions.
  Type type = op->getResult(0).getType();
  if (type.isIntOrFloat() && type.getIntOrFloatBitWidth() < 32)
    return false;
  return isa<arith::AddFOp, arith::SubFOp, arith::AddIOp, arith::SubIOp,
             arith::NegFOp, arith::SIToFPOp, arith::ExtFOp, arith::TruncFOp,
             arith::ExtSIOp, arith::TruncIOp, arith::IndexCastOp>(op);
}

bool Atoms::collect(ExprId root, Obstacle &obstacle) {
  auto [found, isNew] = varies.try_emplace(root, false);
  if (!isNew)
    return true;
  const Expr &expr = all[root];
  if (expr.kind == Expr::Kind::Float)
    return true;
  if (expr.kind == Expr::Kind::Integer) {
    found->second = !expr.linear.isConstant();
    return true;
  }
  Operation *op = expr.op;
  auto fails = [&](StringRef reason) {
    obstacle = {op, reason.str()};
    return false;
  };
  bool isIntegers = llvm::all_of(expr.operands, [&](ExprId each) {
    return all[each].kind == Expr::Kind::Integer;
  });
  auto comparison = dyn_cast<arith::CmpIOp>(op);
  if (comparison && comparison.getPredicate() >= arith::CmpIPredicate::ult)
    return fails("compares positions without their sign");
  if (comparison) {
    std::optional<Quotient> a = quotientOf(expr.operands[0]),
                            b = quotientOf(expr.operands[1]);
    if (a || b)
      return compareChunks(a, b, all[expr.operands[a ? 1 : 0]])
                 ? true
                 : fails("compares chunks of positions other than by their "
                         "difference");
  }
  if (comparison && isIntegers)
    return compare(all[expr.operands[0]].linear, all[expr.operands[1]].linear)
               ? true
               : fails("compares positions other than by their difference");
  if (!isConversion(op) && !unary(op, 1) &&
      !isa<arith::CmpIOp, arith::CmpFOp, arith::SelectOp, arith::AndIOp,
           arith::OrIOp, arith::XOrIOp, arith::AddFOp, arith::SubFOp,
           arith::MulFOp, arith::DivFOp, arith::NegFOp, arith::MaximumFOp,
           arith::MinimumFOp, arith::AddIOp, arith::SubIOp, arith::MulIOp,
           math::PowFOp>(op))
    return fails("is not known of a mask");
  SmallVector<bool> in;
  for (ExprId each : expr.operands) {
    if (!collect(each, obstacle))
      return false;
    in.push_back(varies.lookup(each));
  }
  bool any = llvm::is_contained(in, true);
  if (any && !isLinear(op, in))
    return fails("computes with positions other than linearly");
  varies[root] = any;
  return true;
}

bool Atoms::compare(const Linear &a, const Linear &b) {
  int64_t ones = 0, minusOnes = 0;
  for (size_t i = 0; i < 3; ++i) {
    int64_t coefficient = a.coefficients[i] - b.coefficients[i];
    if (coefficient > 1 || coefficient < -1)
      return false;
    ones += coefficient == 1;
    minusOnes += coefficient == -1;
  }
  if (ones > 1 || minusOnes > 1)
    return false;
  comparesLength |= a.coefficients[2] != b.coefficients[2];
  int64_t constant = b.constant - a.constant;
  if (std::abs(constant) > (int64_t(1) << 40))
    return false;
  insertNear(constant);
  return true;
}

/// Quotients, or one and `other`, which is a number.
bool Atoms::compareChunks(const std::optional<Quotient> &a,
                          const std::optional<Quotient> &b, const Expr &other) {
  int64_t divisor = a ? a->divisor : b->divisor, number = 0;
  if (!a || !b) {
    if (other.kind != Expr::Kind::Integer || !other.linear.isConstant() ||
        std::abs(other.linear.constant) > (1 << 20))
      return false;
    number = other.linear.constant;
  } else if (a->divisor != b->divisor) {
    return false;
  }
  if (chunk && chunk != divisor)
    return false;
  chunk = divisor;
  for (int64_t near : {number - 1, number, number + 1})
    insertNear(near * divisor);
  insertNear(divisor - 1);
  return true;
}

void Atoms::insertNear(int64_t constant) {
  for (int64_t near : {constant - 1, constant, constant + 1}) {
    constants.insert(near);
    constants.insert(-near);
  }
}
