//===- Elements.cpp - An element of a tensor as an expression -------------===//

#include "Elements.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace kv;

/// Divided by a number that every part is a multiple of.
static std::optional<Linear> divided(Linear linear, int64_t by) {
  if (linear.constant % by)
    return std::nullopt;
  linear.constant /= by;
  for (int64_t &coefficient : linear.coefficients) {
    if (coefficient % by)
      return std::nullopt;
    coefficient /= by;
  }
  return linear;
}

std::nullopt_t Elements::stop(Operation *op, StringRef reason) {
  if (!obstacle.op)
    obstacle = {op, reason.str()};
  return std::nullopt;
}

ExprId Elements::integer(Linear linear) {
  auto [found, isNew] = integers.try_emplace(linear, all.size());
  if (isNew) {
    Expr expr{Expr::Kind::Integer};
    expr.linear = linear;
    all.push_back(expr);
  }
  return found->second;
}

std::optional<ExprId> Elements::element(Value tensor, ArrayRef<ExprId> index) {
  std::pair<void *, std::vector<ExprId>> key{tensor.getAsOpaquePointer(),
                                             index.vec()};
  auto found = elements.find(key);
  if (found != elements.end())
    return found->second;
  std::optional<ExprId> id = compute(tensor, index);
  if (!id && keepsLeaves) {
    id = all.size();
    Expr leaf{Expr::Kind::Operation};
    leaf.operands.assign(index.begin(), index.end());
    leaf.tensor = tensor;
    all.push_back(leaf);
  }
  if (id)
    elements[key] = *id;
  return id;
}

std::optional<ExprId> Elements::constant(Operation *op, TypedAttr value) {
  if (auto number = dyn_cast<IntegerAttr>(value))
    return integer({number.getType().isInteger(1)
                        ? static_cast<int64_t>(number.getValue().getZExtValue())
                        : number.getValue().getSExtValue()});
  auto number = dyn_cast<FloatAttr>(value);
  if (!number)
    return stop(op, "is no number");
  APInt bits = number.getValue().bitcastToAPInt();
  auto [found, isNew] = floats.try_emplace(
      {number.getType().getAsOpaquePointer(), bits.getZExtValue()}, all.size());
  if (isNew) {
    Expr expr{Expr::Kind::Float};
    expr.value = number.getValue();
    all.push_back(expr);
  }
  return found->second;
}

/// The indices on the other side of a reshape. In a group of several dimensions
/// that are not 1 they must be numbers, all but the first size known.
std::optional<Elements::Index>
Elements::throughGroups(Operation *op, ArrayRef<ExprId> index,
                        ArrayRef<ReassociationIndices> groups,
                        RankedTensorType wide, bool expands) {
  Index other(expands ? groups.size() : wide.getRank(), integer({0}));
  for (auto [g, group] : llvm::enumerate(groups)) {
    SmallVector<int64_t> large;
    for (int64_t d : group)
      if (wide.getDimSize(d) != 1)
        large.push_back(d);
    if (large.size() == 1) {
      other[expands ? g : large[0]] = index[expands ? large[0] : g];
      continue;
    }
    if (large.empty())
      continue;
    bool isKnown = llvm::all_of(ArrayRef(large).drop_front(), [&](int64_t d) {
      return !wide.isDynamicDim(d);
    });
    if (expands) {
      Linear linear;
      for (int64_t d : large) {
        if (!isKnown || all[index[d]].kind != Expr::Kind::Integer)
          return stop(op, "mixes positions with other indices");
        int64_t size = d == large[0] ? 1 : wide.getDimSize(d);
        linear = sum(scaled(linear, size), all[index[d]].linear);
      }
      other[g] = integer(linear);
      continue;
    }
    if (!isKnown || all[index[g]].kind != Expr::Kind::Integer)
      return stop(op, "mixes positions with other indices");
    Linear linear = all[index[g]].linear;
    for (int64_t d : llvm::reverse(ArrayRef(large).drop_front())) {
      int64_t size = wide.getDimSize(d),
              rest = llvm::mod(linear.constant, size);
      linear.constant -= rest;
      std::optional<Linear> quotient = divided(linear, size);
      if (!quotient)
        return stop(op, "mixes positions with other indices");
      other[d] = integer({rest});
      linear = *quotient;
    }
    other[large[0]] = integer(linear);
  }
  return other;
}

std::optional<ExprId> Elements::compute(Value tensor, ArrayRef<ExprId> index) {
  Operation *op = tensor.getDefiningOp();
  if (!op)
    return stop(cast<BlockArgument>(tensor).getOwner()->getParentOp(),
                "it reads argument " +
                    std::to_string(cast<BlockArgument>(tensor).getArgNumber()) +
                    ", tokens or a weight");
  // Indices are inside: k is one of 0 to T - 1, which a shorter tensor has not.
  for (int64_t d : rowDims(tensor.getType())) {
    std::optional<Linear> size = linearSize(sizes.dim(tensor, d));
    if (!size || all[index[d]].kind != Expr::Kind::Integer ||
        isNonNegative(
            difference(difference(*size, all[index[d]].linear), {1})) != true)
      return stop(op, "a dynamic size of it is not the length");
  }
  DenseElementsAttr dense;
  if (matchPattern(tensor, m_Constant(&dense))) {
    if (dense.isSplat())
      return constant(op, cast<TypedAttr>(dense.getSplatValue<Attribute>()));
    int64_t at = 0;
    for (auto [i, size] : llvm::zip(index, dense.getType().getShape())) {
      if (!isConstant(i) || all[i].linear.constant < 0 ||
          all[i].linear.constant >= size)
        return stop(op, "a table is read at a position");
      at = at * size + all[i].linear.constant;
    }
    return constant(op, cast<TypedAttr>(dense.getValues<Attribute>()[at]));
  }
  if (isa<linalg::LinalgOp>(op))
    return ofLinalg(cast<OpResult>(tensor), index);
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    auto other = throughGroups(op, index, expand.getReassociationIndices(),
                               expand.getResultType(), true);
    return other ? element(expand.getSrc(), *other) : std::nullopt;
  }
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    auto other = throughGroups(op, index, collapse.getReassociationIndices(),
                               collapse.getSrcType(), false);
    return other ? element(collapse.getSrc(), *other) : std::nullopt;
  }
  if (auto cast = dyn_cast<tensor::CastOp>(op)) {
    if (rowDims(cast.getSource().getType()) != rowDims(cast.getType()))
      return stop(op, "is true of one length alone");
    return element(cast.getSource(), index);
  }
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    Index other;
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    for (size_t d = 0, i = 0; d < slice.getMixedOffsets().size(); ++d) {
      OpFoldResult from = slice.getMixedOffsets()[d];
      std::optional<Linear> offset =
          linearSize(isa<Value>(from) ? sizes.scalar(cast<Value>(from))
                                      : Size(*getConstantIntValue(from)));
      std::optional<int64_t> stride =
          getConstantIntValue(slice.getMixedStrides()[d]);
      if (!offset || !stride)
        return stop(op, "its offset is not known");
      Linear linear;
      if (!dropped.test(d)) {
        const Expr &at = all[index[i++]];
        if (at.kind != Expr::Kind::Integer)
          return stop(op, "its index is no position");
        linear = scaled(at.linear, *stride);
      }
      other.push_back(integer(sum(linear, *offset)));
    }
    return element(slice.getSource(), other);
  }
  if (isa<tensor::ConcatOp>(op))
    return ofConcat(op, index);
  return stop(op, "is not known of a mask");
}

/// An element of the part that has it, for all positions.
std::optional<ExprId> Elements::ofConcat(Operation *op,
                                         ArrayRef<ExprId> index) {
  auto concat = cast<tensor::ConcatOp>(op);
  size_t dim = concat.getDim();
  Index inner(index);
  for (Value input : concat.getInputs()) {
    std::optional<Linear> size = linearSize(sizes.dim(input, dim));
    const Expr &at = all[inner[dim]];
    std::optional<bool> isBeyond;
    if (size && at.kind == Expr::Kind::Integer)
      isBeyond = isNonNegative(difference(at.linear, *size));
    if (!isBeyond)
      break;
    if (!*isBeyond)
      return element(input, inner);
    inner[dim] = integer(difference(at.linear, *size));
  }
  return stop(op, "joins what cannot be told apart");
}

std::optional<ExprId> Elements::within(linalg::LinalgOp op, Value value,
                                       ArrayRef<std::optional<ExprId>> loops) {
  llvm::DenseMap<Value, ExprId> known;
  return scalar(value, op, loops, known);
}

std::optional<ExprId> Elements::ofLinalg(OpResult result,
                                         ArrayRef<ExprId> index) {
  auto op = cast<linalg::LinalgOp>(result.getOwner());
  auto [agrees, isNew] = loopsAgree.try_emplace(op, false);
  if (isNew)
    agrees->second = sizes.loopsAgree(op);
  if (!agrees->second)
    return stop(op, "its operands have different sizes along a loop");
  OpOperand *init = op.getDpsInitOperand(result.getResultNumber());
  AffineMap map = op.getMatchingIndexingMap(init);
  SmallVector<std::optional<ExprId>> loops(op.getNumLoops());
  for (auto [expr, at] : llvm::zip(map.getResults(), index)) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    auto number = dyn_cast<AffineConstantExpr>(expr);
    if (dim)
      loops[dim.getPosition()] = at;
    else if (!number || at != integer({number.getValue()}))
      return stop(op, "its result is no plain map of its loops");
  }
  if (op.getNumReductionLoops())
    return ofReduction(result, loops);
  llvm::DenseMap<Value, ExprId> known;
  auto yield = cast<linalg::YieldOp>(op.getBlock()->getTerminator());
  return scalar(yield.getOperand(result.getResultNumber()), op, loops, known);
}

/// How many more iterations than the sequence has tokens a loop does, up to 4.
std::optional<int64_t> Elements::lengthBeyond(linalg::LinalgOp op,
                                              unsigned loop) {
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (int64_t d : rowDims(operand.get().getType())) {
      if (map.getResult(d) != getAffineDimExpr(loop, op.getContext()))
        continue;
      std::optional<Linear> size = linearSize(sizes.dim(operand.get(), d));
      if (!size || size->coefficients[2] != 1 || size->constant < 0 ||
          size->constant > 4)
        return std::nullopt;
      return size->constant;
    }
  }
  return std::nullopt;
}

std::optional<ExprId>
Elements::ofReduction(OpResult result,
                      MutableArrayRef<std::optional<ExprId>> loops) {
  auto op = cast<linalg::LinalgOp>(result.getOwner());
  SmallVector<unsigned> reduced;
  op.getReductionDims(reduced);
  auto yield = cast<linalg::YieldOp>(op.getBlock()->getTerminator());
  Value yielded = yield.getOperand(result.getResultNumber());
  Operation *combiner = yielded.getDefiningOp();
  OpOperand *init = op.getDpsInitOperand(result.getResultNumber());
  BlockArgument sum = op.getMatchingBlockArgument(init);
  bool counts = isa_and_nonnull<arith::AddIOp>(combiner);
  bool isKnown =
      (counts ||
       (keepsLeaves &&
        isa_and_nonnull<arith::AddFOp, arith::MaximumFOp, arith::MaxNumFOp>(
            combiner))) &&
      llvm::is_contained(combiner->getOperands(), Value(sum));
  // k is what is combined over: it must not stand for anything else here.
  for (std::optional<ExprId> loop : loops)
    isKnown &= !loop || (all[*loop].kind == Expr::Kind::Integer &&
                         all[*loop].linear.coefficients[1] == 0);
  if (reduced.size() != 1 || !isKnown ||
      !llvm::is_contained(rowLoops(op), reduced[0]))
    return stop(op, "sums over something");
  SmallVector<ExprId> initIndex;
  for (AffineExpr expr : op.getMatchingIndexingMap(init).getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    initIndex.push_back(
        dim ? *loops[dim.getPosition()]
            : integer({cast<AffineConstantExpr>(expr).getValue()}));
  }
  std::optional<ExprId> start = element(init->get(), initIndex);
  std::optional<int64_t> beyond = lengthBeyond(op, reduced[0]);
  Value term =
      combiner->getOperand(combiner->getOperand(0) == Value(sum) ? 1 : 0);
  if (!start || !beyond || term == Value(sum))
    return stop(op, "sums over something");
  Expr expr{Expr::Kind::Operation};
  expr.op = combiner;
  expr.isReduction = true;
  for (int64_t at = -1; at < *beyond; ++at) {
    loops[reduced[0]] =
        integer(at < 0 ? Linear{0, {0, 1, 0}} : Linear{at, {0, 0, 1}});
    std::optional<ExprId> body = within(op, term, loops);
    if (!body)
      return std::nullopt;
    // A count of what never happens.
    if (counts && *beyond == 0 && *body == integer({0}))
      return start;
    if (counts)
      return stop(op, "sums over something");
    expr.operands.push_back(*body);
    if (at < 0)
      expr.operands.push_back(*start);
  }
  std::pair<void *, std::vector<ExprId>> key{
      combiner, {expr.operands.begin(), expr.operands.end()}};
  auto [found, isNew] = reductions.try_emplace(key, all.size());
  if (isNew)
    all.push_back(expr);
  return found->second;
}

std::optional<ExprId> Elements::scalar(Value value, linalg::LinalgOp within,
                                       ArrayRef<std::optional<ExprId>> loops,
                                       llvm::DenseMap<Value, ExprId> &known) {
  auto found = known.find(value);
  if (found != known.end())
    return found->second;
  std::optional<ExprId> id;
  Operation *op = value.getDefiningOp();
  TypedAttr attribute;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() != within.getBlock())
      return stop(within, "reads an argument of the graph");
    OpOperand *operand = within.getMatchingOpOperand(argument);
    if (!isa<RankedTensorType>(operand->get().getType()))
      return scalar(operand->get(), within, loops, known);
    Index index;
    for (AffineExpr expr :
         within.getMatchingIndexingMap(operand).getResults()) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      auto number = dyn_cast<AffineConstantExpr>(expr);
      if (dim && loops[dim.getPosition()])
        index.push_back(*loops[dim.getPosition()]);
      else if (number)
        index.push_back(integer({number.getValue()}));
      else
        return stop(within, "reads at computed indices");
    }
    id = element(operand->get(), index);
  } else if (matchPattern(value, m_Constant(&attribute))) {
    id = constant(op, attribute);
  } else if (auto loop = dyn_cast<linalg::IndexOp>(op)) {
    id = loops[loop.getDim()];
  } else if (op->getParentOp() != within.getOperation()) {
    std::optional<Linear> linear = linearSize(sizes.scalar(value));
    if (!linear)
      return stop(op, "is no size");
    id = integer(*linear);
  } else {
    bool isExtract = isa<tensor::ExtractOp>(op);
    Index operands;
    for (Value operand : op->getOperands().drop_front(isExtract)) {
      std::optional<ExprId> each = scalar(operand, within, loops, known);
      if (!each)
        return std::nullopt;
      operands.push_back(*each);
    }
    id = isExtract ? element(op->getOperand(0), operands) : apply(op, operands);
  }
  if (id)
    known[value] = *id;
  return id;
}
