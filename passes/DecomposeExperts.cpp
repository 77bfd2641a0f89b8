//===- DecomposeExperts.cpp - The plain meaning of mixtures of experts ----===//

#include "DecomposeQuantized.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace kv;

using Kind = utils::IteratorType;

//===----------------------------------------------------------------------===//
// kv.route
//===----------------------------------------------------------------------===//

namespace {
/// The logits of one row, in the order of the choice: the greater first, and of
/// equal ones that of the lower number.
struct RowOfLogits {
  Value logits, row;

  /// What counts for the choice.
  Value at(Emitter &b, Value expert) const {
    Value logit = tensor::ExtractOp::create(b, logits, ValueRange{row, expert});
    Value isNan =
        arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, logit, logit);
    return b.select(isNan, b.constant(b.getF32Type(), -INFINITY), logit);
  }

  /// The first behind `logit` of number `expert`.
  SmallVector<Value> behind(Emitter &b, Value logit, Value expert,
                            int64_t count) const {
    Value none = b.index(count);
    auto loop = scf::ForOp::create(
        b, b.index(0), b.index(count), b.index(1),
        ValueRange{b.constant(b.getF32Type(), -INFINITY), none},
        [&](OpBuilder &nested, Location loc, Value e, ValueRange best) {
          Emitter b(loc, nested);
          using Predicate = arith::CmpFPredicate;
          Value own = at(b, e);
          // Behind: less, or equal and later. Better: greater, or the first.
          Value less = arith::CmpFOp::create(b, Predicate::OLT, own, logit);
          Value equal = arith::CmpFOp::create(b, Predicate::OEQ, own, logit);
          Value later =
              arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, e, expert);
          Value eligible = arith::OrIOp::create(b, less, b.both(equal, later));
          Value greater =
              arith::CmpFOp::create(b, Predicate::OGT, own, best[0]);
          Value first =
              arith::CmpIOp::create(b, arith::CmpIPredicate::eq, best[1], none);
          Value takes =
              b.both(eligible, arith::OrIOp::create(b, greater, first));
          scf::YieldOp::create(b, ValueRange{b.select(takes, own, best[0]),
                                             b.select(takes, e, best[1])});
        });
    return loop.getResults();
  }
};
} // namespace

/// [T, C]: that of choice c is found by c + 1 searches, so that no element
/// depends on another.
static Value chooseExperts(Emitter &b, RouteOp op, Value empty) {
  int64_t count = cast<ShapedType>(op.getLogits().getType()).getDimSize(1);
  return linalg::GenericOp::create(
             b, empty.getType(), ValueRange(), empty,
             b.getMultiDimIdentityMap(2), SmallVector<Kind>(2, Kind::parallel),
             [&](OpBuilder &nested, Location loc, ValueRange) {
               Emitter b(loc, nested);
               RowOfLogits row{op.getLogits(), linalg::IndexOp::create(b, 0)};
               Value choice = linalg::IndexOp::create(b, 1);
               Value before = b.index(-1);
               auto loop = scf::ForOp::create(
                   b, b.index(0), b.add(choice, b.index(1)), b.index(1),
                   ValueRange{b.constant(b.getF32Type(), INFINITY), before},
                   [&](OpBuilder &nested, Location loc, Value,
                       ValueRange last) {
                     Emitter b(loc, nested);
                     scf::YieldOp::create(
                         b, row.behind(b, last[0], last[1], count));
                   });
               linalg::YieldOp::create(b, b.asI32(loop.getResult(1)));
             })
      .getResult(0);
}

/// exp(logit - that of the row's first choice): `expertAt` gives the number of
/// element [t, i].
static Value
exponentials(Emitter &b, RouteOp op, Value experts, Value empty,
             llvm::function_ref<Value(Emitter &, Value, Value)> expertAt) {
  return linalg::GenericOp::create(
             b, empty.getType(), ValueRange(), empty,
             b.getMultiDimIdentityMap(2), SmallVector<Kind>(2, Kind::parallel),
             [&](OpBuilder &nested, Location loc, ValueRange) {
               Emitter b(loc, nested);
               Value t = linalg::IndexOp::create(b, 0);
               auto logitOf = [&](Value expert) -> Value {
                 return tensor::ExtractOp::create(b, op.getLogits(),
                                                  ValueRange{t, expert});
               };
               Value own =
                   logitOf(expertAt(b, t, linalg::IndexOp::create(b, 1)));
               Value first = b.extractIndex(experts, {t, b.index(0)});
               Value below = arith::SubFOp::create(b, own, logitOf(first));
               linalg::YieldOp::create(
                   b, math::ExpOp::create(b, below).getResult());
             })
      .getResult(0);
}

static SmallVector<Value> decompose(Emitter &b, RouteOp op) {
  auto expertsType = op.getExperts().getType();
  auto sharesType = op.getShares().getType();
  auto logits = cast<RankedTensorType>(op.getLogits().getType());
  Type f32 = b.getF32Type();
  auto emptyOf = [&](RankedTensorType type) -> Value {
    SmallVector<Value> sizes;
    if (type.isDynamicDim(0))
      sizes.push_back(b.dim(op.getLogits(), 0));
    return tensor::EmptyOp::create(b, type, sizes);
  };
  Value experts = chooseExperts(b, op, emptyOf(expertsType));
  Value parts = exponentials(b, op, experts, emptyOf(sharesType),
                             [&](Emitter &b, Value t, Value c) {
                               return b.extractIndex(experts, {t, c});
                             });
  Value summed = parts;
  if (!op.getNormalised())
    summed = exponentials(b, op, experts, emptyOf(logits),
                          [](Emitter &, Value, Value e) { return e; });
  auto perRow = RankedTensorType::get({sharesType.getDimSize(0)}, f32);
  Value zeros = linalg::FillOp::create(b, b.constant(f32, 0), emptyOf(perRow))
                    .getResult(0);
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
  RouteOp::attachInterface<Decomposition<RouteOp, decompose>>(*context);
  ExpertMatmulOp::attachInterface<Decomposition<ExpertMatmulOp, decompose>>(
      *context);
}
