//===- Sizes.cpp - Sizes as polynomials in the length ---------------------===//

#include "Sizes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace kv;

static Size trimmed(Size size) {
  while (!size.coefficients.empty() && size.coefficients.back() == 0)
    size.coefficients.pop_back();
  return size;
}

/// Nothing where a coefficient would not fit.
static std::optional<Size> sum(const Size &a, const Size &b, int64_t sign) {
  Size result;
  result.coefficients.assign(
      std::max(a.coefficients.size(), b.coefficients.size()), 0);
  llvm::copy(a.coefficients, result.coefficients.begin());
  for (auto [i, coefficient] : llvm::enumerate(b.coefficients)) {
    int64_t &to = result.coefficients[i], term;
    if (__builtin_mul_overflow(coefficient, sign, &term) ||
        __builtin_add_overflow(to, term, &to))
      return std::nullopt;
  }
  return trimmed(result);
}

static std::optional<Size> product(const Size &a, const Size &b) {
  Size result;
  if (a.coefficients.empty() || b.coefficients.empty())
    return result;
  result.coefficients.assign(a.coefficients.size() + b.coefficients.size() - 1,
                             0);
  for (auto [i, x] : llvm::enumerate(a.coefficients))
    for (auto [j, y] : llvm::enumerate(b.coefficients)) {
      int64_t &to = result.coefficients[i + j], term;
      if (__builtin_mul_overflow(x, y, &term) ||
          __builtin_add_overflow(to, term, &to))
        return std::nullopt;
    }
  return trimmed(result);
}

/// a / b where that leaves no remainder for any T: b has one term.
static std::optional<Size> quotient(const Size &a, const Size &b) {
  if (b.coefficients.empty())
    return std::nullopt;
  size_t degree = b.coefficients.size() - 1;
  for (size_t i = 0; i < degree; ++i)
    if (b.coefficients[i] != 0)
      return std::nullopt;
  Size result;
  for (auto [i, coefficient] : llvm::enumerate(a.coefficients)) {
    if (i < degree ? coefficient != 0
                   : coefficient % b.coefficients.back() != 0)
      return std::nullopt;
    if (i >= degree)
      result.coefficients.push_back(coefficient / b.coefficients.back());
  }
  return trimmed(result);
}

std::string Size::text() const {
  if (coefficients.empty())
    return "0";
  std::string text;
  for (size_t i = coefficients.size(); i-- > 0;) {
    if (coefficients[i] == 0)
      continue;
    text += text.empty() ? "" : " + ";
    if (i == 0 || coefficients[i] != 1)
      text += std::to_string(coefficients[i]) + (i ? " * " : "");
    if (i)
      text += i == 1 ? "T" : "T^" + std::to_string(i);
  }
  return text;
}

/// For polynomials that do not grow, or do not fall, the first or last value
/// decides for all T.
std::optional<bool> Sizes::isNegative(const Size &size) const {
  auto at = [&](double t) {
    double value = 0;
    for (size_t i = size.coefficients.size(); i-- > 0;)
      value = value * t + size.coefficients[i];
    return value;
  };
  ArrayRef<int64_t> grows = size.coefficients;
  grows = grows.empty() ? grows : grows.drop_front();
  bool rises = llvm::all_of(grows, [](int64_t c) { return c >= 0; });
  bool falls = llvm::all_of(grows, [](int64_t c) { return c <= 0; });
  if (!rises && !falls)
    return std::nullopt;
  double least = at(rises ? 1 : graph.maxLength);
  double most = at(rises ? graph.maxLength : 1);
  // Numbers this large are not exact.
  if (std::max(std::abs(least), std::abs(most)) > 0x1p52)
    return std::nullopt;
  if (most < 0)
    return true;
  return least >= 0 ? std::optional(false) : std::nullopt;
}

/// An affine expression of sizes.
static std::optional<Size> evaluate(AffineExpr expr, ArrayRef<Size> operands,
                                    unsigned numDims) {
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return Size(number.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return operands[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return operands[numDims + symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  std::optional<Size> a = evaluate(binary.getLHS(), operands, numDims);
  std::optional<Size> b = evaluate(binary.getRHS(), operands, numDims);
  if (!a || !b)
    return std::nullopt;
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return sum(*a, *b, 1);
  case AffineExprKind::Mul:
    return product(*a, *b);
  case AffineExprKind::FloorDiv:
  case AffineExprKind::CeilDiv:
    return quotient(*a, *b);
  case AffineExprKind::Mod:
    return quotient(*a, *b) ? std::optional(Size(0)) : std::nullopt;
  default:
    return std::nullopt;
  }
}

std::optional<Size> Sizes::scalar(Value value) {
  auto found = scalars.find(value);
  if (found != scalars.end())
    return found->second;
  std::optional<Size> size = compute(value);
  scalars[value] = size;
  return size;
}

std::optional<Size> Sizes::dim(Value tensor, int64_t d) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(d))
    return Size(type.getDimSize(d));
  auto found = dims.find({tensor, d});
  if (found != dims.end())
    return found->second;
  std::optional<Size> size = computeDim(tensor, d);
  dims[{tensor, d}] = size;
  return size;
}

bool Sizes::loopsAgree(linalg::LinalgOp op) {
  SmallVector<std::optional<Size>> lengths(op.getNumLoops());
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [d, expr] : llvm::enumerate(map.getResults())) {
      auto loop = dyn_cast<AffineDimExpr>(expr);
      if (!loop)
        continue;
      std::optional<Size> size = dim(operand.get(), d);
      std::optional<Size> &known = lengths[loop.getPosition()];
      if (known && size && !(*known == *size))
        return false;
      if (!known)
        known = size;
    }
  }
  return true;
}

std::optional<Size> Sizes::fold(OpFoldResult size) {
  if (auto value = dyn_cast<Value>(size))
    return scalar(value);
  return Size(cast<IntegerAttr>(cast<Attribute>(size)).getInt());
}

/// An element of a shape, which exporters cut and join as a tensor.
std::optional<Size> Sizes::element(Value tensor, ArrayRef<int64_t> index) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  Operation *op = tensor.getDefiningOp();
  if (!op || !type || !type.hasStaticShape())
    return std::nullopt;
  int64_t linear = 0;
  for (auto [at, size] : llvm::zip(index, type.getShape())) {
    if (at < 0 || at >= size)
      return std::nullopt;
    linear = linear * size + at;
  }
  DenseIntElementsAttr dense;
  if (matchPattern(tensor, m_Constant(&dense)))
    return Size(dense.getValues<APInt>()[linear].getSExtValue());
  if (auto elements = dyn_cast<tensor::FromElementsOp>(op))
    return scalar(elements.getElements()[linear]);
  if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op)) {
    auto source = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
    if (!source || !source.hasStaticShape())
      return std::nullopt;
    SmallVector<int64_t> from(source.getRank());
    for (int64_t d = source.getRank(); d-- > 0;) {
      from[d] = linear % source.getDimSize(d);
      linear /= source.getDimSize(d);
    }
    return element(op->getOperand(0), from);
  }
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    SmallVector<int64_t> from;
    for (size_t d = 0, i = 0; d < dropped.size(); ++d) {
      std::optional<int64_t> offset =
          getConstantIntValue(slice.getMixedOffsets()[d]);
      std::optional<int64_t> stride =
          getConstantIntValue(slice.getMixedStrides()[d]);
      if (!offset || !stride)
        return std::nullopt;
      from.push_back(*offset + (dropped.test(d) ? 0 : index[i++] * *stride));
    }
    return element(slice.getSource(), from);
  }
  return std::nullopt;
}

std::optional<Size> Sizes::compute(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !value.getType().isIntOrIndex())
    return std::nullopt;
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return Size(value.getType().isInteger(1) ? constant.getZExtValue()
                                             : constant.getSExtValue());
  if (auto dimOp = dyn_cast<tensor::DimOp>(op)) {
    std::optional<int64_t> index = dimOp.getConstantIndex();
    auto type = dyn_cast<RankedTensorType>(dimOp.getSource().getType());
    if (!index || !type || *index < 0 || *index >= type.getRank())
      return std::nullopt;
    return dim(dimOp.getSource(), *index);
  }
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    SmallVector<int64_t> index;
    for (Value each : extract.getIndices()) {
      std::optional<int64_t> at = getConstantIntValue(each);
      if (!at)
        return std::nullopt;
      index.push_back(*at);
    }
    return element(extract.getTensor(), index);
  }
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    std::optional<Size> condition = scalar(select.getCondition());
    if (!condition)
      return std::nullopt;
    return scalar(condition->constant() ? select.getTrueValue()
                                        : select.getFalseValue());
  }
  auto apply = dyn_cast<affine::AffineApplyOp>(op);
  if (!apply && !isa<arith::ArithDialect>(op->getDialect()))
    return std::nullopt;
  SmallVector<Size, 2> in;
  for (Value operand : op->getOperands()) {
    std::optional<Size> each = scalar(operand);
    if (!each)
      return std::nullopt;
    in.push_back(*each);
  }
  if (apply) {
    AffineMap map = apply.getAffineMap();
    return evaluate(map.getResult(0), in, map.getNumDims());
  }
  return isa<arith::CmpIOp, arith::MaxSIOp, arith::MinSIOp>(op)
             ? ordered(op, in)
             : combined(op, in);
}

std::optional<Size> Sizes::combined(Operation *op, ArrayRef<Size> in) const {
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtUIOp>(op))
    return in[0];
  // A truth value is no sign; lengths fit 31 bits, other sizes may not.
  if (isa<arith::ExtSIOp>(op))
    return op->getOperand(0).getType().isInteger(1) ? std::nullopt
                                                    : std::optional(in[0]);
  if (isa<arith::TruncIOp>(op))
    return (in[0].isLength() &&
            op->getResult(0).getType().getIntOrFloatBitWidth() >= 32)
               ? std::optional(in[0])
               : std::nullopt;
  if (isa<arith::AddIOp>(op))
    return sum(in[0], in[1], 1);
  if (isa<arith::SubIOp>(op))
    return sum(in[0], in[1], -1);
  if (isa<arith::MulIOp>(op))
    return product(in[0], in[1]);
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp,
          arith::CeilDivSIOp>(op))
    return quotient(in[0], in[1]);
  if (isa<arith::RemSIOp, arith::RemUIOp>(op))
    return quotient(in[0], in[1]) ? std::optional(Size(0)) : std::nullopt;
  bool truth = op->getResult(0).getType().isInteger(1);
  if (truth && isa<arith::AndIOp>(op))
    return Size(in[0].constant() & in[1].constant());
  if (truth && isa<arith::OrIOp>(op))
    return Size(in[0].constant() | in[1].constant());
  if (truth && isa<arith::XOrIOp>(op))
    return Size(in[0].constant() ^ in[1].constant());
  return std::nullopt;
}

/// Smallest, largest and comparisons.
std::optional<Size> Sizes::ordered(Operation *op, ArrayRef<Size> in) const {
  auto below = [&](const Size &a, const Size &b) -> std::optional<bool> {
    std::optional<Size> difference = sum(a, b, -1);
    return difference ? isNegative(*difference) : std::nullopt;
  };
  auto as = [](std::optional<bool> fact, bool wanted) -> std::optional<Size> {
    if (!fact)
      return std::nullopt;
    return Size(*fact == wanted);
  };
  if (isa<arith::MaxSIOp, arith::MinSIOp>(op)) {
    std::optional<bool> less = below(in[0], in[1]);
    if (!less)
      return std::nullopt;
    return *less == isa<arith::MaxSIOp>(op) ? in[1] : in[0];
  }
  auto compare = cast<arith::CmpIOp>(op);
  switch (compare.getPredicate()) {
  case arith::CmpIPredicate::eq:
  case arith::CmpIPredicate::ne: {
    bool wantEqual = compare.getPredicate() == arith::CmpIPredicate::eq;
    if (in[0] == in[1])
      return Size(wantEqual);
    if (below(in[0], in[1]) == true || below(in[1], in[0]) == true)
      return Size(!wantEqual);
    return std::nullopt;
  }
  case arith::CmpIPredicate::slt:
    return as(below(in[0], in[1]), true);
  case arith::CmpIPredicate::sge:
    return as(below(in[0], in[1]), false);
  case arith::CmpIPredicate::sgt:
    return as(below(in[1], in[0]), true);
  case arith::CmpIPredicate::sle:
    return as(below(in[1], in[0]), false);
  default:
    return std::nullopt;
  }
}

std::optional<Size> Sizes::computeDim(Value tensor, int64_t d) {
  if (tensor == graph.tokens)
    return Size::length();
  Operation *op = tensor.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (auto empty = dyn_cast<tensor::EmptyOp>(op))
    return scalar(empty.getDynamicSize(d));
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return dim(
        linalgOp.getDpsInitOperand(cast<OpResult>(tensor).getResultNumber())
            ->get(),
        d);
  if (isAttention(op))
    return dim(AttentionForm(op).init, d);
  if (isScan(op) || isSort(op))
    return dim(
        op->getOperands().take_back(
            op->getNumResults())[cast<OpResult>(tensor).getResultNumber()],
        d);
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return fold(expand.getMixedOutputShape()[d]);
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    std::optional<Size> size = Size(1);
    ReassociationIndices group = collapse.getReassociationIndices()[d];
    for (int64_t from : group) {
      std::optional<Size> each = dim(collapse.getSrc(), from);
      size = size && each ? product(*size, *each) : std::nullopt;
    }
    return size;
  }
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    int64_t kept = -1;
    for (auto [from, size] : llvm::enumerate(slice.getMixedSizes()))
      if (!dropped.test(from) && ++kept == d)
        return fold(size);
    return std::nullopt;
  }
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return dim(insert.getDest(), d);
  if (auto cast = dyn_cast<tensor::CastOp>(op))
    return isa<RankedTensorType>(cast.getSource().getType())
               ? dim(cast.getSource(), d)
               : std::nullopt;
  if (auto concat = dyn_cast<tensor::ConcatOp>(op)) {
    if (static_cast<int64_t>(concat.getDim()) != d)
      return dim(concat.getInputs().front(), d);
    std::optional<Size> size = Size(0);
    for (Value input : concat.getInputs()) {
      std::optional<Size> each = dim(input, d);
      size = size && each ? sum(*size, *each, 1) : std::nullopt;
    }
    return size;
  }
  if (auto reshape = dyn_cast<tensor::ReshapeOp>(op)) {
    auto shape = reshape.getShape().getDefiningOp<tensor::FromElementsOp>();
    return shape ? scalar(shape.getElements()[d]) : std::nullopt;
  }
  if (auto generate = dyn_cast<tensor::GenerateOp>(op)) {
    auto type = cast<RankedTensorType>(tensor.getType());
    return scalar(generate.getDynamicExtents()[type.getDynamicDimIndex(d)]);
  }
  return std::nullopt;
}
