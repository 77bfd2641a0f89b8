//===- MatchLaunches.cpp - Computations that kernels do -------------------===//

#include "MatchLaunches.h"

#include "Scalars.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace kv;
using linalg::GenericOp;

namespace {
/// A fraction: the product of `over` divided by the product of `under`.
struct LaunchProduct {
  SmallVector<Scalar> over, under;
};
} // namespace

static bool isConstant(Scalar scalar, double wanted) {
  std::optional<double> value = constantOf(scalar);
  return value && *value == wanted;
}

static void factor(Scalar scalar, bool under, LaunchProduct &product) {
  if (auto factors = operandsOf<arith::MulFOp>(scalar)) {
    factor((*factors)[0], under, product);
    factor((*factors)[1], under, product);
  } else if (auto parts = operandsOf<arith::DivFOp>(scalar)) {
    factor((*parts)[0], under, product);
    factor((*parts)[1], !under, product);
  } else if (!isConstant(scalar, 1)) {
    (under ? product.under : product.over).push_back(trace(scalar));
  }
}

static LaunchProduct factor(Scalar scalar) {
  LaunchProduct product;
  factor(scalar, /*under=*/false, product);
  return product;
}

/// The summand of each iteration of a reduction, if the reduction is a sum that
/// starts at zero.
static std::optional<Scalar> summand(GenericOp op) {
  auto fill = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  if (!fill || !matchPattern(fill.getInputs()[0], m_AnyZeroFloat()))
    return std::nullopt;
  auto terms = operandsOf<arith::AddFOp>(
      {op.getBody()->getTerminator()->getOperand(0), Maps(op).identity});
  if (!terms)
    return std::nullopt;
  Value sum = op.getRegionOutputArgs()[0];
  for (int i : {0, 1})
    if ((*terms)[i].value == sum)
      return (*terms)[1 - i];
  return std::nullopt;
}

/// out[m, n] = sum over k of x[m, k] * weight[n, k]; or for each head h: out[m,
/// h, n] = sum over k of x[m, h, k] * weight[h, n, k].
static std::optional<LaunchMatch> matchMatmul(GenericOp op) {
  unsigned loops = op.getNumLoops();
  if ((loops != 3 && loops != 4) || op.getNumResults() != 1 ||
      op.getNumReductionLoops() != 1)
    return std::nullopt;
  bool heads = loops == 4;
  AffineExpr m, h, n, k;
  if (heads)
    bindDims(op.getContext(), m, h, n, k);
  else
    bindDims(op.getContext(), m, n, k);
  auto rows = [&](AffineExpr last) {
    return heads ? AffineMap::get(4, 0, {m, h, last}, op.getContext())
                 : AffineMap::get(3, 0, {m, last}, op.getContext());
  };
  AffineMap weights = heads ? AffineMap::get(4, 0, {h, n, k}, op.getContext())
                            : AffineMap::get(3, 0, {n, k}, op.getContext());
  std::optional<Scalar> term = summand(op);
  if (!term || op.getIndexingMapsArray().back() != rows(n))
    return std::nullopt;
  LaunchProduct product = factor(*term);
  if (product.over.size() != 2 || !product.under.empty())
    return std::nullopt;
  Value x, weight;
  for (Scalar each : product.over) {
    std::optional<Element> element = elementOf(each);
    if (element && element->map == rows(k))
      x = element->tensor;
    else if (element && element->map == weights)
      weight = element->tensor;
  }
  if (!x || !weight)
    return std::nullopt;
  return LaunchMatch{LaunchMatch::Matmul, {x, weight}};
}

/// Whether the elements of `sums` at `map`, which maps the loops of a generic,
/// are the sums of the squares of the rows of `x`, whose elements the loops
/// are.
static bool isSumOfSquares(Element sums, Value x) {
  auto op = sums.tensor.getDefiningOp<GenericOp>();
  unsigned rank = sums.map.getNumDims();
  if (!op || op.getNumResults() != 1 || op.getNumLoops() != rank ||
      op.getNumReductionLoops() != 1)
    return false;
  AffineMap out = op.getIndexingMapsArray().back();
  if (!out.isProjectedPermutation() || out.getNumResults() + 1 != rank)
    return false;
  // The loops of the sum as those of the generic, the last of which is summed.
  SmallVector<AffineExpr> loops(rank,
                                getAffineDimExpr(rank - 1, op.getContext()));
  for (auto [loop, at] : llvm::zip(out.getResults(), sums.map.getResults()))
    loops[cast<AffineDimExpr>(loop).getPosition()] = at;
  AffineMap asMatched = AffineMap::get(rank, 0, loops, op.getContext());
  std::optional<Scalar> term = summand(op);
  if (!term)
    return false;
  LaunchProduct square = factor(*term);
  return square.over.size() == 2 && square.under.empty() &&
         llvm::all_of(square.over, [&](Scalar each) {
           std::optional<Element> element = elementOf(each);
           return element && element->tensor == x &&
                  element->map.compose(asMatched).isIdentity();
         });
}

namespace {
/// factor * (mean(x^2) + epsilon)
struct MeanSquare {
  double factor, epsilon;
};
} // namespace

static std::optional<MeanSquare> matchMeanSquare(Scalar scalar, Value x) {
  auto terms = operandsOf<arith::AddFOp>(scalar);
  if (!terms)
    return std::nullopt;
  if (constantOf(terms->front()))
    std::swap((*terms)[0], (*terms)[1]);
  std::optional<double> epsilon = constantOf((*terms)[1]);
  if (!epsilon)
    return std::nullopt;
  LaunchProduct mean = factor((*terms)[0]);
  double scale = 1;
  std::optional<Element> sums;
  for (Scalar each : mean.over) {
    if (std::optional<double> number = constantOf(each))
      scale *= *number;
    else if (sums || !(sums = elementOf(each)))
      return std::nullopt;
  }
  for (Scalar each : mean.under) {
    std::optional<double> number = constantOf(each);
    if (!number)
      return std::nullopt;
    scale /= *number;
  }
  int64_t width = cast<ShapedType>(x.getType()).getShape().back();
  if (!sums || ShapedType::isDynamic(width) || !(scale > 0) ||
      !isSumOfSquares(*sums, x))
    return std::nullopt;
  double factor = scale * double(width);
  if (std::abs(factor - 1) <= 1e-6)
    factor = 1;
  return MeanSquare{factor, *epsilon / factor};
}

/// x / sqrt(mean(x^2) + epsilon) * (weight + offset), or a number in place of
/// the weight: then there is no such tensor, and the offset is the number.
static std::optional<LaunchMatch> matchNorm(GenericOp op) {
  Maps maps(op);
  LaunchProduct product = factor(yielded(op));
  LaunchMatch match{LaunchMatch::Norm, {}};
  Value x, weight;
  std::optional<double> number;
  std::optional<Scalar> square;
  auto takeRoot = [&](std::optional<SmallVector<Scalar>> operands) {
    if (!operands || square)
      return false;
    square = operands->front();
    return true;
  };
  auto takeWeight = [&](Scalar scalar) {
    std::optional<Element> element = elementOf(scalar);
    // Each row may have its own weight, in turn.
    if (weight || !element ||
        (element->map != maps.last &&
         (op.getNumLoops() < 3 ||
          element->map != maps.identity.getMinorSubMap(2))))
      return false;
    weight = element->tensor;
    return true;
  };
  for (Scalar each : product.over) {
    if (takeRoot(operandsOf<math::RsqrtOp>(each)) || takeWeight(each))
      continue;
    if (std::optional<double> constant = constantOf(each)) {
      number = number.value_or(1) * *constant;
      continue;
    }
    if (auto terms = operandsOf<arith::AddFOp>(each)) {
      if (constantOf(terms->front()))
        std::swap((*terms)[0], (*terms)[1]);
      std::optional<double> offset = constantOf((*terms)[1]);
      if (!offset || !takeWeight((*terms)[0]))
        return std::nullopt;
      match.offset = *offset;
      continue;
    }
    std::optional<Element> element = elementOf(each);
    if (x || !element || element->map != maps.identity)
      return std::nullopt;
    x = element->tensor;
  }
  for (Scalar each : product.under)
    if (!takeRoot(operandsOf<math::SqrtOp>(each)))
      return std::nullopt;
  if (!x || !square || (weight && number))
    return std::nullopt;
  std::optional<MeanSquare> mean = matchMeanSquare(*square, x);
  if (!mean || (weight && mean->factor != 1))
    return std::nullopt;
  match.epsilon = mean->epsilon;
  match.tensors = {x};
  if (weight)
    match.tensors.push_back(weight);
  else
    match.offset = number.value_or(1) / std::sqrt(mean->factor);
  return match;
}

/// The tensor whose elements these are, one to one, or by this map.
static Value wholeTensor(Scalar scalar, AffineMap map) {
  std::optional<Element> element = elementOf(scalar);
  return element && element->map == map ? element->tensor : Value();
}

/// a + b, where b may be one row for all, a bias
static std::optional<LaunchMatch> matchSum(GenericOp op) {
  auto terms = operandsOf<arith::AddFOp>(yielded(op));
  if (!terms)
    return std::nullopt;
  Maps maps(op);
  if (!wholeTensor((*terms)[0], maps.identity))
    std::swap((*terms)[0], (*terms)[1]);
  Value a = wholeTensor((*terms)[0], maps.identity);
  Value b = wholeTensor((*terms)[1], maps.identity);
  if (!b)
    b = wholeTensor((*terms)[1], maps.last);
  if (!a || !b)
    return std::nullopt;
  LaunchMatch match{LaunchMatch::Pair, {a, b}};
  match.function = KV_PAIR_ADD;
  return match;
}

/// Matches 1 + exp(-x) and returns x, whose elements are read by `map`.
static Value matchLogisticDenominator(Scalar scalar, AffineMap map) {
  auto terms = operandsOf<arith::AddFOp>(scalar);
  if (!terms)
    return {};
  if (isConstant((*terms)[0], 1))
    std::swap((*terms)[0], (*terms)[1]);
  if (!isConstant((*terms)[1], 1))
    return {};
  auto exponent = operandsOf<math::ExpOp>((*terms)[0]);
  if (!exponent)
    return {};
  if (auto negated = operandsOf<arith::NegFOp>(exponent->front()))
    return wholeTensor(negated->front(), map);
  auto difference = operandsOf<arith::SubFOp>(exponent->front());
  return difference && isConstant((*difference)[0], 0)
             ? wholeTensor((*difference)[1], map)
             : Value();
}

/// a / (1 + exp(-a)) * b
static std::optional<LaunchMatch> matchSiluMul(GenericOp op) {
  AffineMap identity = Maps(op).identity;
  LaunchProduct product = factor(yielded(op));
  if (product.over.size() != 2 || product.under.size() != 1)
    return std::nullopt;
  Value a = matchLogisticDenominator(product.under[0], identity);
  Value first = wholeTensor(product.over[0], identity);
  Value second = wholeTensor(product.over[1], identity);
  if (!a || !first || !second || (a != first && a != second))
    return std::nullopt;
  LaunchMatch match{LaunchMatch::Pair, {a, a == first ? second : first}};
  match.function = KV_PAIR_SILU_MUL;
  return match;
}

/// x / (1 + exp(-g)), where g[i] = sum over k of m[i, k] * weight[k]
static std::optional<LaunchMatch> matchGateRows(GenericOp op) {
  Maps maps(op);
  LaunchProduct product = factor(yielded(op));
  if (op.getNumLoops() != 2 || product.over.size() != 1 ||
      product.under.size() != 1)
    return std::nullopt;
  Value x = wholeTensor(product.over[0], maps.identity);
  Value gates = matchLogisticDenominator(product.under[0], maps.rows);
  auto made = gates ? gates.getDefiningOp<GenericOp>() : GenericOp();
  if (!x || !made || made.getNumResults() != 1 || made.getNumLoops() != 2 ||
      made.getNumReductionLoops() != 1)
    return std::nullopt;
  Maps inner(made);
  std::optional<Scalar> term = summand(made);
  if (!term || made.getIndexingMapsArray().back() != inner.rows)
    return std::nullopt;
  LaunchProduct parts = factor(*term);
  if (parts.over.size() != 2 || !parts.under.empty())
    return std::nullopt;
  for (int i : {0, 1}) {
    Value m = wholeTensor(parts.over[i], inner.identity);
    Value weight = wholeTensor(parts.over[1 - i], inner.last);
    if (m && weight)
      return LaunchMatch{LaunchMatch::GateRows, {x, m, weight}};
  }
  return std::nullopt;
}

/// x, in another type
static std::optional<LaunchMatch> matchCast(GenericOp op) {
  Value x = wholeTensor(yielded(op), Maps(op).identity);
  if (!x)
    return std::nullopt;
  return LaunchMatch{LaunchMatch::Cast, {x}};
}

/// table[ids[...], j] for each column j of a generic's last loop; `ids` has the
/// other ones.
static std::optional<std::pair<Value, Value>> matchLookup(GenericOp op,
                                                          Scalar scalar) {
  scalar = trace(scalar);
  auto extract = scalar.value.getDefiningOp<tensor::ExtractOp>();
  if (op.getNumLoops() < 2 || !extract || extract.getIndices().size() != 2 ||
      extract->getParentOp() != op)
    return std::nullopt;
  auto column = extract.getIndices()[1].getDefiningOp<linalg::IndexOp>();
  Operation *row = extract.getIndices()[0].getDefiningOp();
  if (!column || column.getDim() + 1 != op.getNumLoops() || !row ||
      !isa<arith::IndexCastOp, arith::IndexCastUIOp>(row))
    return std::nullopt;
  std::optional<Element> id = elementOf({row->getOperand(0), scalar.at});
  Value table = extract.getTensor();
  auto out = cast<ShapedType>(op.getResult(0).getType());
  if (!id || id->map != Maps(op).rows ||
      !getElementTypeOrSelf(id->tensor).isInteger(32) ||
      cast<ShapedType>(table.getType()).getDimSize(1) != out.getShape().back())
    return std::nullopt;
  return std::pair(id->tensor, table);
}

/// table[ids[i], j]
static std::optional<LaunchMatch> matchEmbedding(GenericOp op) {
  auto found = matchLookup(op, yielded(op));
  if (!found || op.getNumLoops() != 2)
    return std::nullopt;
  return LaunchMatch{LaunchMatch::Embedding, {found->first, found->second}};
}

/// x[t, c, n] + table[experts[t, c], n]
static std::optional<LaunchMatch> matchExpertBias(GenericOp op) {
  auto terms = operandsOf<arith::AddFOp>(yielded(op));
  if (!terms)
    return std::nullopt;
  for (int i : {0, 1}) {
    auto found = matchLookup(op, (*terms)[1 - i]);
    Value x = wholeTensor((*terms)[i], Maps(op).identity);
    if (found && x)
      return LaunchMatch{LaunchMatch::ExpertBias,
                         {x, found->first, found->second}};
  }
  return std::nullopt;
}

/// out[t, n] = sum over c of x[t, c, n] * shares[t, c] * a number
static std::optional<LaunchMatch> matchSumChoices(GenericOp op) {
  if (op.getNumLoops() != 3 || op.getNumResults() != 1 ||
      op.getNumReductionLoops() != 1)
    return std::nullopt;
  AffineExpr t, n, c;
  bindDims(op.getContext(), t, n, c);
  auto map = [&](ArrayRef<AffineExpr> at) {
    return AffineMap::get(3, 0, at, op.getContext());
  };
  std::optional<Scalar> term = summand(op);
  if (!term || op.getIndexingMapsArray().back() != map({t, n}))
    return std::nullopt;
  LaunchProduct product = factor(*term);
  LaunchMatch match{LaunchMatch::SumChoices, {Value(), Value()}};
  for (Scalar each : product.over) {
    if (std::optional<double> number = constantOf(each)) {
      match.scale *= *number;
      continue;
    }
    std::optional<Element> element = elementOf(each);
    int which = element && element->map == map({t, c, n}) ? 0
                : element && element->map == map({t, c})  ? 1
                                                          : -1;
    if (which < 0 || match.tensors[which])
      return std::nullopt;
    match.tensors[which] = element->tensor;
  }
  if (!product.under.empty() || !match.tensors[0] || !match.tensors[1] ||
      !getElementTypeOrSelf(match.tensors[1]).isF32())
    return std::nullopt;
  return match;
}

/// The column of the first of the largest elements of each row, as a reduction
/// that carries the best value and its place, and replaces both if
/// `value > best`.
static std::optional<LaunchMatch> matchArgmax(GenericOp op) {
  Maps maps(op);
  if (op.getNumResults() != 2 || op.getNumDpsInputs() != 1 ||
      op.getNumLoops() != 2 || op.getNumReductionLoops() != 1 ||
      op.getIteratorTypesArray().back() != utils::IteratorType::reduction ||
      op.getIndexingMapsArray() !=
          SmallVector<AffineMap>{maps.identity, maps.rows, maps.rows} ||
      !getElementTypeOrSelf(op.getResult(1)).isInteger(32) ||
      !op.getResult(0).use_empty())
    return std::nullopt;
  Block *body = op.getBody();
  Value value = body->getArgument(0), best = body->getArgument(1),
        place = body->getArgument(2);
  Operation *yield = body->getTerminator();
  auto chosen = yield->getOperand(0).getDefiningOp<arith::SelectOp>();
  auto where = yield->getOperand(1).getDefiningOp<arith::SelectOp>();
  if (!chosen || !where || chosen.getCondition() != where.getCondition() ||
      chosen.getTrueValue() != value || chosen.getFalseValue() != best ||
      where.getFalseValue() != place)
    return std::nullopt;
  auto larger = chosen.getCondition().getDefiningOp<arith::CmpFOp>();
  auto cast = where.getTrueValue().getDefiningOp<arith::IndexCastOp>();
  auto column =
      cast ? cast.getIn().getDefiningOp<linalg::IndexOp>() : linalg::IndexOp();
  if (!larger || larger.getPredicate() != arith::CmpFPredicate::OGT ||
      larger.getLhs() != value || larger.getRhs() != best || !column ||
      column.getDim() != 1)
    return std::nullopt;
  // The reduction starts with -infinity and column 0.
  auto least = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  auto first = op.getDpsInits()[1].getDefiningOp<linalg::FillOp>();
  if (!least || !first ||
      !matchPattern(least.getInputs()[0], m_NegInfFloat()) ||
      !matchPattern(first.getInputs()[0], m_Zero()))
    return std::nullopt;
  LaunchMatch match{LaunchMatch::Argmax, {op.getDpsInputs()[0]}};
  match.result = 1;
  return match;
}

std::optional<LaunchMatch> kv::matchLaunch(GenericOp op) {
  if (!op.hasPureTensorSemantics())
    return std::nullopt;
  if (op.getNumResults() == 1 && op.getNumLoops() > 0 && isElementwise(op, 0)) {
    for (auto *match : {matchEmbedding, matchNorm, matchSiluMul, matchGateRows,
                        matchSum, matchExpertBias, matchCast})
      if (std::optional<LaunchMatch> found = match(op))
        return found;
    return std::nullopt;
  }
  for (auto *match : {matchMatmul, matchSumChoices, matchArgmax})
    if (std::optional<LaunchMatch> found = match(op))
      return found;
  return std::nullopt;
}
