//===- AttentionState.cpp - Partial softmaxes of a tile -------------------===//

#include "AttentionState.h"

#include "kv/Definition/Fold.h"
#include "kv/Definition/Plan.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace kv;

QueryPlace kv::queryOf(VectorEmitter &b, const AttentionShape &shape,
                       const QueryRows &rows, Value row) {
  Value group = b.index(shape.group);
  Value packed = b.add(rows.first, row);
  Value token = b.div(packed, group);
  Value firstHead = b.mul(rows.head, group);
  return {token, b.add(firstHead, b.rem(packed, group))};
}

/// The number that is subtracted from scores: 0 where no key has been seen.
static Value scoreBase(VectorEmitter &b, Value maximum) {
  Value nothing = b.isEqual(maximum, -INFINITY);
  return b.select(nothing, b.like(maximum, 0), maximum);
}

AttentionFold::AttentionFold(VectorEmitter &b, const AttentionShape &shape)
    : shape(shape), left(b.stack({shape.paddedRows}, b.getF32Type())),
      right(b.stack({shape.paddedRows}, b.getF32Type())) {}

PartialSoftmax AttentionFold::allocate(VectorEmitter &b) const {
  Type f32 = b.getF32Type();
  Value maxima = b.stack({shape.paddedRows}, f32);
  Value sums = b.stack({shape.paddedRows}, f32);
  return {maxima, sums, b.stack({shape.tileRows, shape.paddedValueDim}, f32)};
}

void AttentionFold::clear(VectorEmitter &b, const PartialSoftmax &partial,
                          Value rows) const {
  Value nothing = b.splat(-INFINITY), zero = b.splat(0.0);
  for (int64_t r = 0; r < shape.paddedRows; r += kLanes) {
    Value at = b.index(r);
    b.storeLanes(nothing, partial.maxima, at);
    b.storeLanes(zero, partial.sums, at);
  }
  b.forEach(b.index(0), rows, 1, [&](VectorEmitter &b, Value row) {
    for (int64_t d = 0; d < shape.paddedValueDim; d += kLanes)
      b.storeLanes(zero, partial.values, {row, b.index(d)});
  });
}

void AttentionFold::fold(VectorEmitter &b, const PartialSoftmax &into,
                         const PartialSoftmax &from, Value rows) const {
  b.forEach(b.index(0), rows, kLanes, [&](VectorEmitter &b, Value at) {
    Value maximum = b.loadLanes(into.maxima, at);
    Value other = b.loadLanes(from.maxima, at);
    Value larger = b.greaterOf(maximum, other);
    Value base = scoreBase(b, larger);
    Value weight = b.powerOfTwo(b.minus(maximum, base));
    Value otherWeight = b.powerOfTwo(b.minus(other, base));
    Value sum = b.loadLanes(into.sums, at);
    Value added = b.times(b.loadLanes(from.sums, at), otherWeight);
    b.storeLanes(b.fma(sum, weight, added), into.sums, at);
    b.storeLanes(larger, into.maxima, at);
    b.storeLanes(weight, left, at);
    b.storeLanes(otherWeight, right, at);
  });
  b.forEach(b.index(0), rows, 1, [&](VectorEmitter &b, Value row) {
    Value weight = b.splat(b.loadScalar(left, row));
    Value otherWeight = b.splat(b.loadScalar(right, row));
    b.forEach(b.index(0), b.index(shape.paddedValueDim), kLanes,
              [&](VectorEmitter &b, Value d) {
                Value at[] = {row, d};
                Value value = b.loadLanes(into.values, at);
                Value added =
                    b.times(b.loadLanes(from.values, at), otherWeight);
                b.storeLanes(b.fma(value, weight, added), into.values, at);
              });
  });
}

void AttentionFold::foldPiece(VectorEmitter &b, const PartialSoftmax &total,
                              const PartialSoftmax &group,
                              const PartialSoftmax &piece, Value leafEnd,
                              Value last, Value rows) const {
  fold(b, group, piece, rows);
  Value place = b.rem(leafEnd, b.index(plan::LeavesPerGroup));
  Value endsGroup =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, place, b.index(0));
  Value endsAll =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, leafEnd, last);
  b.when(arith::OrIOp::create(b, endsGroup, endsAll), [&](VectorEmitter &b) {
    fold(b, total, group, rows);
    clear(b, group, rows);
  });
}

void kv::finishRows(VectorEmitter &b, const AttentionShape &shape,
                    const QueryRows &rows, const PartialSoftmax &total,
                    Value sinks, Value out, Value lse) {
  b.forEach(b.index(0), rows.count, 1, [&](VectorEmitter &b, Value row) {
    auto [token, head] = queryOf(b, shape, rows, row);
    Value maximum = b.loadScalar(total.maxima, row);
    Value sum = b.loadScalar(total.sums, row);
    Value weight;
    if (sinks) {
      Value log2E = b.constant(b.getF32Type(), plan::Log2E);
      Value sink = b.times(b.loadScalar(sinks, head), log2E);
      Value larger = b.greaterOf(maximum, sink);
      Value base = scoreBase(b, larger);
      weight = b.powerOfTwo(b.minus(maximum, base));
      Value added = b.powerOfTwo(b.minus(sink, base));
      sum = b.fma(sum, weight, added);
      maximum = larger;
    }
    Value isNothing = b.isEqual(sum, 0);
    Value inverse =
        arith::DivFOp::create(b, b.constant(b.getF32Type(), 1), sum);
    inverse = b.select(isNothing, b.constant(b.getF32Type(), 0), inverse);
    Value factors[] = {weight ? b.splat(weight) : Value(), b.splat(inverse)};
    Value zero = b.splat(0.0);
    auto finish = [&](VectorEmitter &b, Value d, int64_t count) {
      Value value = b.loadLanes(total.values, {row, d});
      for (Value factor : factors)
        if (factor)
          value = b.times(value, factor);
      // How often -0 has become 0 on the way depends on how keys were shared
      // out: it always does.
      b.storeLanes(b.plus(value, zero), out, {token, head, d}, count);
    };
    int64_t whole = shape.valueDim / kLanes * kLanes;
    b.forEach(b.index(0), b.index(whole), kLanes,
              [&](VectorEmitter &b, Value d) { finish(b, d, kLanes); });
    if (whole < shape.valueDim)
      finish(b, b.index(whole), shape.valueDim - whole);
    if (!lse)
      return;
    Value log = math::LogOp::create(b, sum);
    Value result = b.fma(maximum, b.constant(b.getF32Type(), plan::Ln2), log);
    Value nothing = b.constant(b.getF32Type(), -INFINITY);
    b.storeScalar(b.select(isNothing, nothing, result), lse, {token, head});
  });
}
