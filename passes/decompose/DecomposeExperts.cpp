//===- DecomposeExperts.cpp - The plain meaning of mixtures of experts ----===//

#include "DecomposeQuantized.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace kv;

using Kind = utils::IteratorType;

//===----------------------------------------------------------------------===//
// kv.route, kv.keep_groups
//===----------------------------------------------------------------------===//

namespace {
/// The elements of one row, in the order of the choice: the greater first, and
/// of equal ones that of the lower number.
struct OrderedRow {
  Value elements, row;

  /// The logit of a column, by which experts are chosen.
  Value at(Emitter &b, Value column) const {
    Value own = tensor::ExtractOp::create(b, elements, ValueRange{row, column});
    Value isNan = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, own, own);
    return b.select(isNan, b.constant(b.getF32Type(), -INFINITY), own);
  }

  /// Whether `a` of number `i` comes before `c` of number `k`.
  static Value isBefore(Emitter &b, Value a, Value i, Value c, Value k) {
    using Predicate = arith::CmpFPredicate;
    Value greater = arith::CmpFOp::create(b, Predicate::OGT, a, c);
    Value equal = arith::CmpFOp::create(b, Predicate::OEQ, a, c);
    Value earlier = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, i, k);
    return arith::OrIOp::create(b, greater, b.both(equal, earlier));
  }

  /// The first column from `begin` to `end` that comes after `last` in order,
  /// as {element, number}; {-inf, end} if there is none.
  SmallVector<Value> behind(Emitter &b, ValueRange last, Value begin,
                            Value end) const {
    auto loop = scf::ForOp::create(
        b, begin, end, b.index(1),
        ValueRange{b.constant(b.getF32Type(), -INFINITY), end},
        [&](OpBuilder &nested, Location loc, Value e, ValueRange best) {
          Emitter b(loc, nested);
          Value own = at(b, e);
          Value eligible = isBefore(b, last[0], last[1], own, e);
          // Among equal logits, the one that was found first stays.
          Value greater =
              arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, own, best[0]);
          Value first =
              arith::CmpIOp::create(b, arith::CmpIPredicate::eq, best[1], end);
          Value takes =
              b.both(eligible, arith::OrIOp::create(b, greater, first));
          scf::YieldOp::create(b, ValueRange{b.select(takes, own, best[0]),
                                             b.select(takes, e, best[1])});
        });
    return loop.getResults();
  }

  /// An {element, number} that comes before all elements.
  static SmallVector<Value> beforeAll(Emitter &b) {
    return {b.constant(b.getF32Type(), INFINITY), b.index(-1)};
  }
};
} // namespace

/// A tensor [T, N] of which `element` makes each element alone.
static Value
makeElements(Emitter &b, Value empty,
             llvm::function_ref<Value(Emitter &, Value, Value)> element) {
  return linalg::GenericOp::create(
             b, empty.getType(), ValueRange(), empty,
             b.getMultiDimIdentityMap(2), SmallVector<Kind>(2, Kind::parallel),
             [&](OpBuilder &nested, Location loc, ValueRange) {
               Emitter b(loc, nested);
               Value row = linalg::IndexOp::create(b, 0);
               Value column = linalg::IndexOp::create(b, 1);
               linalg::YieldOp::create(b, element(b, row, column));
             })
      .getResult(0);
}

/// An empty tensor with as many rows as `like`.
static Value emptyRows(Emitter &b, RankedTensorType type, Value like) {
  SmallVector<Value> sizes;
  if (type.isDynamicDim(0))
    sizes.push_back(b.dim(like, 0));
  return tensor::EmptyOp::create(b, type, sizes);
}

/// [T, C]: that of choice c is found by c + 1 searches, so that no element
/// depends on another.
static Value chooseExperts(Emitter &b, RouteOp op, Value empty) {
  int64_t count = cast<ShapedType>(op.getLogits().getType()).getDimSize(1);
  return makeElements(b, empty, [&](Emitter &b, Value t, Value choice) {
    OrderedRow row{op.getBy() ? op.getBy() : op.getLogits(), t};
    auto loop = scf::ForOp::create(
        b, b.index(0), b.add(choice, b.index(1)), b.index(1),
        OrderedRow::beforeAll(b),
        [&](OpBuilder &nested, Location loc, Value, ValueRange last) {
          Emitter b(loc, nested);
          scf::YieldOp::create(b,
                               row.behind(b, last, b.index(0), b.index(count)));
        });
    return b.asI32(loop.getResult(1));
  });
}

/// The weight of each expert that `expertAt` names, before it is divided by a
/// sum: exp(logit - that of the row's first choice) or, when `sigmoid`, 1 / (1
/// + exp(-logit)).
static Value
weightExperts(Emitter &b, RouteOp op, Value experts, Value empty,
              llvm::function_ref<Value(Emitter &, Value, Value)> expertAt) {
  return makeElements(b, empty, [&](Emitter &b, Value t, Value i) -> Value {
    auto logitOf = [&](Value expert) -> Value {
      return tensor::ExtractOp::create(b, op.getLogits(),
                                       ValueRange{t, expert});
    };
    Value own = logitOf(expertAt(b, t, i));
    if (op.getSigmoid()) {
      Value one = b.constant(b.getF32Type(), 1);
      Value power = math::ExpOp::create(b, arith::NegFOp::create(b, own));
      return arith::DivFOp::create(b, one,
                                   arith::AddFOp::create(b, one, power));
    }
    Value first = logitOf(b.extractIndex(experts, {t, b.index(0)}));
    return math::ExpOp::create(b, arith::SubFOp::create(b, own, first));
  });
}

static SmallVector<Value> decompose(Emitter &b, RouteOp op) {
  auto sharesType = op.getShares().getType();
  Type f32 = b.getF32Type();
  auto emptyOf = [&](RankedTensorType type) {
    return emptyRows(b, type, op.getLogits());
  };
  Value experts = chooseExperts(b, op, emptyOf(op.getExperts().getType()));
  Value parts = weightExperts(b, op, experts, emptyOf(sharesType),
                              [&](Emitter &b, Value t, Value c) {
                                return b.extractIndex(experts, {t, c});
                              });
  if (op.getSigmoid() && !op.getNormalised())
    return {experts, parts};
  Value summed = parts;
  if (!op.getNormalised())
    summed =
        weightExperts(b, op, experts,
                      emptyOf(cast<RankedTensorType>(op.getLogits().getType())),
                      [](Emitter &, Value, Value e) { return e; });
  auto perRow = RankedTensorType::get({sharesType.getDimSize(0)}, f32);
  // A sum of logistic functions may be 0.
  Value initial = b.constant(f32, op.getSigmoid() ? 1e-20 : 0);
  Value zeros =
      linalg::FillOp::create(b, initial, emptyOf(perRow)).getResult(0);
  AffineMap element = b.getMultiDimIdentityMap(2);
  AffineMap row = element.getMajorSubMap(1);
  auto sums = linalg::GenericOp::create(
      b, perRow, summed, zeros, ArrayRef<AffineMap>{element, row},
      ArrayRef<Kind>{Kind::parallel, Kind::reduction},
      [&](OpBuilder &nested, Location loc, ValueRange args) {
        Value sum = arith::AddFOp::create(nested, loc, args[1], args[0]);
        linalg::YieldOp::create(nested, loc, sum);
      });
  auto shares = linalg::GenericOp::create(
      b, sharesType, ValueRange{parts, sums.getResult(0)}, emptyOf(sharesType),
      ArrayRef<AffineMap>{element, row, element},
      SmallVector<Kind>(2, Kind::parallel),
      [&](OpBuilder &nested, Location loc, ValueRange args) {
        Value share = arith::DivFOp::create(nested, loc, args[0], args[1]);
        linalg::YieldOp::create(nested, loc, share);
      });
  return {experts, shares.getResult(0)};
}

static SmallVector<Value> decompose(Emitter &b, KeepGroupsOp op) {
  auto type = op.getResult().getType();
  int64_t groups = op.getGroups(), size = type.getDimSize(1) / groups;
  auto perGroup = [&](Type element) {
    return emptyRows(
        b, RankedTensorType::get({type.getDimSize(0), groups}, element),
        op.getX());
  };
  Value scores = makeElements(
      b, perGroup(b.getF32Type()), [&](Emitter &b, Value t, Value group) {
        OrderedRow row{op.getX(), t};
        Value begin = b.mul(group, b.index(size));
        Value end = b.add(begin, b.index(size)), score;
        SmallVector<Value> last = OrderedRow::beforeAll(b);
        for (uint64_t i = 0; i < op.getBest(); ++i) {
          last = row.behind(b, last, begin, end);
          score = i ? arith::AddFOp::create(b, score, last[0]).getResult()
                    : last[0];
        }
        return score;
      });
  // How many groups come before each.
  Value places = makeElements(
      b, perGroup(b.getI32Type()), [&](Emitter &b, Value t, Value group) {
        OrderedRow row{scores, t};
        Value own = row.at(b, group);
        auto loop = scf::ForOp::create(
            b, b.index(0), b.index(groups), b.index(1), b.index(0),
            [&](OpBuilder &nested, Location loc, Value other,
                ValueRange count) {
              Emitter b(loc, nested);
              Value before =
                  OrderedRow::isBefore(b, row.at(b, other), other, own, group);
              Value more = b.add(count[0], b.index(1));
              scf::YieldOp::create(b, b.select(before, more, count[0]));
            });
        return b.asI32(loop.getResult(0));
      });
  return {makeElements(
      b, emptyRows(b, type, op.getX()), [&](Emitter &b, Value t, Value column) {
        Value group = b.div(column, b.index(size));
        Value place = b.extractIndex(places, {t, group});
        Value kept = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, place,
                                           b.index(op.getKeep()));
        Value own =
            tensor::ExtractOp::create(b, op.getX(), ValueRange{t, column});
        return b.select(kept, own, b.constant(b.getF32Type(), -INFINITY));
      })};
}

//===----------------------------------------------------------------------===//
// kv.expert_matmul
//===----------------------------------------------------------------------===//

namespace {
/// One product of a kv.expert_matmul.
struct ExpertProduct {
  mutable ExpertMatmulOp op; // whose methods are not const
  Value weight;
  RankedTensorType type; // [T, C, N]

  Value empty(Emitter &b) const {
    SmallVector<Value> sizes;
    if (type.isDynamicDim(0))
      sizes.push_back(b.dim(op.getX(), 0));
    return tensor::EmptyOp::create(b, type, sizes);
  }

  /// The row of the weight that makes column `n` for a choice.
  Value rowOf(Emitter &b, Value choice, Value n) const {
    Value expert = b.nearestIndex(choice, op.getNumExperts());
    return b.add(b.mul(expert, b.index(type.getDimSize(2))), n);
  }
};
} // namespace

/// One chain of fused multiply-adds an element, k ascending, from 0.
static Value multiply(Emitter &b, const ExpertProduct &product) {
  ExpertMatmulOp op = product.op;
  Value zero = b.constant(b.getF32Type(), 0);
  Value initial =
      linalg::FillOp::create(b, zero, product.empty(b)).getResult(0);
  AffineExpr t, c, n, k;
  bindDims(b.getContext(), t, c, n, k);
  auto map = [&](ArrayRef<AffineExpr> at) {
    return AffineMap::get(4, 0, at, b.getContext());
  };
  bool ownRows = cast<ShapedType>(op.getX().getType()).getRank() == 3;
  bool packed = cast<ShapedType>(product.weight.getType()).getRank() == 3;
  SmallVector<Kind> iterators(4, Kind::parallel);
  iterators.back() = Kind::reduction;
  auto generic = linalg::GenericOp::create(
      b, product.type, ValueRange{op.getX(), op.getExperts()}, initial,
      ArrayRef<AffineMap>{ownRows ? map({t, c, k}) : map({t, k}), map({t, c}),
                          map({t, c, n})},
      iterators, [&](OpBuilder &nested, Location loc, ValueRange args) {
        Emitter b(loc, nested);
        Value row = product.rowOf(b, args[1], linalg::IndexOp::create(b, 2));
        Value column = linalg::IndexOp::create(b, 3);
        SmallVector<Value> at{row, column};
        Value lanes = b.index(kPackedRows);
        if (packed)
          at = {b.div(row, lanes), column, b.rem(row, lanes)};
        Value weight = tensor::ExtractOp::create(b, product.weight, at);
        Value sum = math::FmaOp::create(b, args[0], b.toF32(weight), args[2]);
        linalg::YieldOp::create(b, sum);
      });
  return generic.getResult(0);
}

static SmallVector<Value> decompose(Emitter &b, ExpertMatmulOp op) {
  bool ownRows = cast<ShapedType>(op.getX().getType()).getRank() == 3;
  std::optional<RoundedRows> rounded;
  SmallVector<Value> products;
  for (auto [i, weight, made] :
       llvm::enumerate(op.getWeights(), op.getProducts())) {
    ExpertProduct product{op, weight, cast<RankedTensorType>(made.getType())};
    std::optional<QuantFormat> format = op.getFormat(i);
    if (!format) {
      products.push_back(multiply(b, product));
      continue;
    }
    if (!rounded) {
      Value rows = op.getX();
      if (ownRows)
        rows = tensor::CollapseShapeOp::create(
            b, rows, ArrayRef<ReassociationIndices>{{0, 1}, {2}});
      rounded = roundRows(b, rows);
    }
    products.push_back(multiplyBlocks(
        b, *rounded, weight, *format, product.empty(b),
        [&](Emitter &b, ValueRange at) -> std::pair<Value, Value> {
          Value choice =
              tensor::ExtractOp::create(b, op.getExperts(), at.take_front(2));
          Value t = at[0];
          if (ownRows)
            t = b.add(b.mul(t, b.index(op.getChoices())), at[1]);
          return {t, product.rowOf(b, choice, at[2])};
        }));
  }
  return products;
}

void kv::attachExpertDecompositions(MLIRContext *context) {
  KeepGroupsOp::attachInterface<Decomposition<KeepGroupsOp, decompose>>(
      *context);
  RouteOp::attachInterface<Decomposition<RouteOp, decompose>>(*context);
  ExpertMatmulOp::attachInterface<Decomposition<ExpertMatmulOp, decompose>>(
      *context);
}
