//===- DecomposeMerge.cpp - The plain meaning of merge --------------------===//

#include "Decompositions.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace kv;

/// An empty tensor of `type`, whose dynamic sizes are those of `source`.
static Value emptyLike(Emitter &b, RankedTensorType type, Value source) {
  SmallVector<Value> sizes;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (type.isDynamicDim(i))
      sizes.push_back(b.dim(source, i));
  return tensor::EmptyOp::create(b, type, sizes);
}

/// One generic computes, for each row, the weights of its two sides, which add
/// up to 1, and the logarithm of the common denominator; a second one computes
/// the rows. A side without keys has the weight 0, and a row of weight 0 is
/// replaced before it is multiplied, since it may hold anything.
static SmallVector<Value> decompose(Emitter &b, MergeOp op) {
  Type f32 = b.getF32Type();
  auto lseType = op.getLse().getType();
  auto type = op.getResult().getType();
  AffineMap perRow = AffineMap::getMultiDimIdentityMap(2, op.getContext());
  Value rows = emptyLike(b, lseType, op.getALse());
  auto weights = linalg::GenericOp::create(
      b, TypeRange{lseType, lseType, lseType},
      ValueRange{op.getALse(), op.getBLse()}, ValueRange{rows, rows, rows},
      SmallVector<AffineMap>(5, perRow),
      SmallVector<utils::IteratorType>(2, utils::IteratorType::parallel),
      [&](OpBuilder &nested, Location loc, ValueRange args) {
        Emitter b(loc, nested);
        Value zero = b.constant(f32, 0);
        Value larger = arith::MaximumFOp::create(b, args[0], args[1]);
        auto raise = [&](Value lse) -> Value {
          Value below = arith::SubFOp::create(b, lse, larger);
          return b.select(b.isNothing(lse), zero,
                          math::ExpOp::create(b, below));
        };
        Value first = raise(args[0]), second = raise(args[1]);
        Value sum = arith::AddFOp::create(b, first, second);
        Value nothing = b.isNothing(larger);
        auto share = [&](Value weight) {
          return b.select(nothing, zero, arith::DivFOp::create(b, weight, sum));
        };
        Value log =
            arith::AddFOp::create(b, larger, math::LogOp::create(b, sum));
        Value lse = b.select(nothing, larger, log);
        linalg::YieldOp::create(b,
                                ValueRange{share(first), share(second), lse});
      });

  AffineMap element = AffineMap::getMultiDimIdentityMap(3, op.getContext());
  AffineMap row = element.getMajorSubMap(2);
  auto merged = linalg::GenericOp::create(
      b, type,
      ValueRange{op.getA(), op.getB(), weights.getResult(0),
                 weights.getResult(1)},
      emptyLike(b, type, op.getA()),
      ArrayRef<AffineMap>{element, element, row, row, element},
      SmallVector<utils::IteratorType>(3, utils::IteratorType::parallel),
      [&](OpBuilder &nested, Location loc, ValueRange args) {
        Emitter b(loc, nested);
        Value zero = b.constant(f32, 0);
        auto part = [&](Value x, Value weight) {
          Value none =
              arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, weight, zero);
          return b.select(none, zero, arith::MulFOp::create(b, x, weight));
        };
        Value sum = arith::AddFOp::create(b, part(args[0], args[2]),
                                          part(args[1], args[3]));
        linalg::YieldOp::create(b, sum);
      });
  return {merged.getResult(0), weights.getResult(2)};
}

void kv::attachMergeDecomposition(MLIRContext *context) {
  MergeOp::attachInterface<Decomposition<MergeOp, decompose>>(*context);
}
