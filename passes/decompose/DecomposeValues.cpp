//===- DecomposeValues.cpp - Positions, rotations and products ------------===//

#include "DecomposeQuantized.h"
#include "passes/common/Trees.h"

#include "kv/ABI/Context.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace kv;

/// for b: for t in sequence b: result[t] = cache_lengths[b] + t -
/// row_offsets[b]
static SmallVector<Value> decompose(Emitter &b, PositionsOp op) {
  Value offsets = op.getRowOffsets();
  Value lengths = cast<CacheOpInterface>(*op).getCacheLengths();
  auto type = op.getResult().getType();
  SmallVector<Value> sizes;
  if (type.isDynamicDim(0))
    sizes.push_back(b.extractIndex(offsets, b.dim(lengths, 0)));
  Value empty = tensor::EmptyOp::create(b, type, sizes);
  return forEachRow(
      b, offsets, lengths, empty, [](Emitter &, const StepSequence &) {},
      [&](Emitter &b, const StepRow &row) -> SmallVector<Value> {
        Value position = row.position;
        if (Value tree = op.getAncestors()) {
          Value word = tensor::ExtractOp::create(b, tree, row.index);
          position = placeInTree(b, row.sequence, row.index, word).position;
        }
        return {tensor::InsertOp::create(b, b.asI32(position),
                                         row.carried.front(), row.index)};
      });
}

/// Records an error when a position is beyond the table of angles.
static void checkPositions(Emitter &b, Value positions, Value last) {
  auto check = [&](Emitter &b, ValueRange at) {
    Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::ule,
                                         b.extractIndex(positions, at), last);
    AssertOp::create(b, inside, KV_STATUS_OUT_OF_RANGE,
                     "kv.rope: a position is outside freqs");
  };
  bool perAngle = cast<ShapedType>(positions.getType()).getRank() == 2;
  forEach(b, b.index(0), b.dim(positions, 0), [&](Emitter &b, Value i) {
    if (!perAngle)
      return check(b, i);
    forEach(b, b.index(0), b.dim(positions, 1),
            [&](Emitter &b, Value t) { check(b, ValueRange{i, t}); });
  });
}

/// Whether no earlier rotation of this block has these positions and angles:
/// they are checked once, not in every layer.
static bool isFirst(RopeOp op) {
  return llvm::none_of(op.getPositions().getUsers(), [&](Operation *user) {
    auto other = dyn_cast<RopeOp>(user);
    return other && other != op && other->getBlock() == op->getBlock() &&
           other.getFreqs() == op.getFreqs() && other->isBeforeInBlock(op);
  });
}

static SmallVector<Value> decompose(Emitter &b, RopeOp op) {
  auto type = op.getResult().getType();
  int64_t width = cast<ShapedType>(op.getFreqs().getType()).getDimSize(1);
  int64_t dim = type.getDimSize(2);
  SmallVector<Value> sizes;
  for (int64_t i = 0; i < 3; ++i)
    if (type.isDynamicDim(i))
      sizes.push_back(b.dim(op.getX(), i));
  Value empty = tensor::EmptyOp::create(b, type, sizes);

  AffineExpr t, h, d;
  bindDims(op.getContext(), t, h, d);
  AffineMap element = AffineMap::get(3, 0, {t, h, d}, op.getContext());
  AffineMap token = AffineMap::get(3, 0, {t}, op.getContext());
  SmallVector<utils::IteratorType> parallel(3, utils::IteratorType::parallel);
  Value half = b.index(width / 2), two = b.index(2), one = b.index(1),
        zero = b.index(0);
  Value lastRow = b.sub(b.dim(op.getFreqs(), 0), one);

  if (isFirst(op))
    checkPositions(b, op.getPositions(), lastRow);
  // One position per token, or one an angle and token, which the body looks up.
  bool perAngle = cast<ShapedType>(op.getPositions().getType()).getRank() == 2;
  SmallVector<Value> inputs = {op.getX()};
  SmallVector<AffineMap> maps = {element};
  if (!perAngle) {
    inputs.push_back(op.getPositions());
    maps.push_back(token);
  }
  maps.push_back(element);
  auto generic = linalg::GenericOp::create(
      b, type, inputs, empty, maps, parallel,
      [&](OpBuilder &nested, Location loc, ValueRange args) {
        Emitter b(loc, nested);
        Value tt = linalg::IndexOp::create(b, 0);
        Value hh = linalg::IndexOp::create(b, 1);
        Value dd = linalg::IndexOp::create(b, 2);
        // The pair of element d is angle i; a head's tail beyond the rotated
        // width computes a pair of element 0 and drops it.
        Value inside = b.less(dd, b.index(width));
        Value e = width == dim ? dd : b.select(inside, dd, zero);
        Value angle, first, partner;
        if (op.getInterleaved()) {
          angle = b.div(e, two);
          first = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                        b.rem(e, two), zero);
          partner = b.select(first, b.add(e, one), b.sub(e, one));
        } else {
          angle = b.rem(e, half);
          first = b.less(e, half);
          partner = b.select(first, b.add(e, half), b.sub(e, half));
        }
        Value position =
            perAngle
                ? b.extractIndex(op.getPositions(), ValueRange{angle, tt})
                : arith::IndexCastUIOp::create(b, b.getIndexType(), args[1])
                      .getResult();
        // Stays inside the table whatever the lengths say.
        position = arith::MinUIOp::create(b, position, lastRow);
        Value column = b.mul(angle, two);
        Value cos = tensor::ExtractOp::create(b, op.getFreqs(),
                                              ValueRange{position, column});
        Value sin = tensor::ExtractOp::create(
            b, op.getFreqs(), ValueRange{position, b.add(column, one)});
        Value other = b.toF32(tensor::ExtractOp::create(
            b, op.getX(), ValueRange{tt, hh, partner}));
        Value own = b.toF32(args[0]);
        Value turned = arith::MulFOp::create(b, own, cos);
        Value cross = arith::MulFOp::create(b, other, sin);
        Value result = b.select(first, arith::SubFOp::create(b, turned, cross),
                                arith::AddFOp::create(b, turned, cross));
        result = b.fromF32(result, type.getElementType());
        if (width != dim)
          result = b.select(inside, result, args[0]);
        linalg::YieldOp::create(b, result);
      });
  return {generic.getResult(0)};
}

/// x times one weight: one chain of fused multiply-adds an element, k
/// ascending, from 0; then the blocks of 16 columns become columns.
static Value multiply(Emitter &b, Value x, Value weightValue, Type product) {
  auto type = cast<RankedTensorType>(product);
  auto weight = cast<RankedTensorType>(weightValue.getType());
  auto blocked = RankedTensorType::get(
      {type.getDimSize(0), weight.getDimSize(0), kPackedRows}, b.getF32Type());
  SmallVector<Value> sizes;
  if (blocked.isDynamicDim(0))
    sizes.push_back(b.dim(x, 0));
  Value empty = tensor::EmptyOp::create(b, blocked, sizes);
  Value zero = b.constant(b.getF32Type(), 0);
  Value initial = linalg::FillOp::create(b, zero, empty).getResult(0);

  AffineExpr t, block, lane, k;
  bindDims(b.getContext(), t, block, lane, k);
  auto map = [&](ArrayRef<AffineExpr> at) {
    return AffineMap::get(4, 0, at, b.getContext());
  };
  SmallVector<utils::IteratorType> iterators(4, utils::IteratorType::parallel);
  iterators.back() = utils::IteratorType::reduction;
  auto generic = linalg::GenericOp::create(
      b, blocked, ValueRange{x, weightValue}, initial,
      ArrayRef<AffineMap>{map({t, k}), map({block, k, lane}),
                          map({t, block, lane})},
      iterators, [&](OpBuilder &nested, Location loc, ValueRange args) {
        Emitter b(loc, nested);
        Value sum = math::FmaOp::create(b, args[0], b.toF32(args[1]), args[2]);
        linalg::YieldOp::create(b, sum);
      });
  return tensor::CollapseShapeOp::create(
      b, type, generic.getResult(0),
      ArrayRef<ReassociationIndices>{{0}, {1, 2}});
}

static SmallVector<Value> decompose(Emitter &b, MatmulOp op) {
  SmallVector<Value> products;
  std::optional<RoundedRows> rounded;
  for (auto [i, weight, product] :
       llvm::enumerate(op.getWeights(), op.getProducts())) {
    std::optional<QuantFormat> format = op.getFormat(i);
    if (!format) {
      products.push_back(multiply(b, op.getX(), weight, product.getType()));
      continue;
    }
    if (!rounded)
      rounded = roundRows(b, op.getX());
    auto type = cast<RankedTensorType>(product.getType());
    SmallVector<Value> sizes;
    if (type.isDynamicDim(0))
      sizes.push_back(b.dim(op.getX(), 0));
    Value empty = tensor::EmptyOp::create(b, type, sizes);
    products.push_back(multiplyBlocks(
        b, *rounded, weight, *format, empty,
        [](Emitter &, ValueRange at) { return std::pair(at[0], at[1]); }));
  }
  return products;
}

/// Sums of squares, then the factor of each row, then the rows.
static SmallVector<Value> decompose(Emitter &b, RmsNormOp op) {
  auto type = op.getResult().getType();
  int64_t rank = type.getRank(), width = type.getShape().back();
  Type f32 = b.getF32Type();
  SmallVector<Value> sizes;
  for (int64_t i = 0; i < rank; ++i)
    if (type.isDynamicDim(i))
      sizes.push_back(b.dim(op.getX(), i));
  auto perRow = RankedTensorType::get(type.getShape().drop_back(), f32);
  AffineMap element = AffineMap::getMultiDimIdentityMap(rank, op.getContext());
  AffineMap row = element.getMajorSubMap(rank - 1);
  AffineMap column = element.getMinorSubMap(1);
  AffineMap ofRow =
      AffineMap::getMultiDimIdentityMap(rank - 1, op.getContext());
  SmallVector<utils::IteratorType> parallel(rank,
                                            utils::IteratorType::parallel);
  SmallVector<utils::IteratorType> reduction = parallel;
  reduction.back() = utils::IteratorType::reduction;

  Value empty = tensor::EmptyOp::create(b, perRow, sizes);
  Value zero =
      linalg::FillOp::create(b, b.constant(f32, 0), empty).getResult(0);
  auto squares = linalg::GenericOp::create(
      b, perRow, op.getX(), zero, ArrayRef<AffineMap>{element, row}, reduction,
      [&](OpBuilder &nested, Location loc, ValueRange args) {
        Emitter b(loc, nested);
        Value x = b.toF32(args[0]);
        Value square = arith::MulFOp::create(b, x, x);
        Value sum = arith::AddFOp::create(b, args[1], square);
        linalg::YieldOp::create(b, sum);
      });
  auto factors = linalg::GenericOp::create(
      b, perRow, squares.getResults(), empty, ArrayRef<AffineMap>{ofRow, ofRow},
      ArrayRef(parallel).drop_back(),
      [&](OpBuilder &nested, Location loc, ValueRange args) {
        Emitter b(loc, nested);
        Value mean = arith::DivFOp::create(b, args[0], b.constant(f32, width));
        Value shifted = arith::AddFOp::create(
            b, mean, b.constant(f32, op.getEps().convertToDouble()));
        Value factor = math::RsqrtOp::create(b, shifted);
        linalg::YieldOp::create(b, factor);
      });
  auto normal = linalg::GenericOp::create(
      b, type, ValueRange{op.getX(), factors.getResult(0), op.getWeight()},
      tensor::EmptyOp::create(b, type, sizes).getResult(),
      ArrayRef<AffineMap>{element, row, column, element}, parallel,
      [&](OpBuilder &nested, Location loc, ValueRange args) {
        Emitter b(loc, nested);
        Value weight = b.toF32(args[2]);
        if (!op.getOffset().isZero())
          weight = arith::AddFOp::create(
              b, weight, b.constant(f32, op.getOffset().convertToDouble()));
        Value scaled = arith::MulFOp::create(b, b.toF32(args[0]), args[1]);
        Value weighted = arith::MulFOp::create(b, scaled, weight);
        linalg::YieldOp::create(b, b.fromF32(weighted, type.getElementType()));
      });
  return {normal.getResult(0)};
}

void kv::attachValueDecompositions(MLIRContext *context) {
  PositionsOp::attachInterface<Decomposition<PositionsOp, decompose>>(*context);
  RopeOp::attachInterface<Decomposition<RopeOp, decompose>>(*context);
  MatmulOp::attachInterface<Decomposition<MatmulOp, decompose>>(*context);
  RmsNormOp::attachInterface<Decomposition<RmsNormOp, decompose>>(*context);
}
