//===- Trees.cpp - What a row of a tree sees, as code ---------------------===//

#include "Trees.h"

#include "VisibleKeys.h"

#include "kv/ABI/Trees.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace kv;

static Value constantI64(Emitter &b, int64_t value) {
  return arith::ConstantIntOp::create(b, value, 64);
}

/// How many rows of a sequence stand before its tree.
static Value rowsBefore(Emitter &b, const StepSequence &sequence) {
  Value rows = b.sub(sequence.end, sequence.first);
  return b.sub(rows, b.minimum(rows, b.index(KV_TREE_ROWS)));
}

Value kv::treeBase(Emitter &b, const StepSequence &sequence) {
  return b.add(sequence.cached, rowsBefore(b, sequence));
}

TreePlace kv::placeInTree(Emitter &b, const StepSequence &sequence, Value row,
                          Value word) {
  Value before = rowsBefore(b, sequence);
  Value number = b.sub(row, sequence.first);
  Value isNode = b.lessOrEqual(before, number);
  Value node = b.select(isNode, b.sub(number, before), b.index(0));
  Value base = b.add(sequence.cached, before);
  Value key = b.add(sequence.cached, number);

  Value shift = arith::IndexCastUIOp::create(b, b.getI64Type(), node);
  Value own = arith::ShLIOp::create(b, constantI64(b, 1), shift);
  Value ancestors = b.both(word, b.sub(own, constantI64(b, 1)));
  Value depth = arith::IndexCastUIOp::create(
      b, b.getIndexType(), math::CtPopOp::create(b, ancestors).getResult());
  Value position = b.select(isNode, b.add(base, depth), key);
  Value path = arith::OrIOp::create(b, ancestors, own);
  return {base, position, key, path};
}

TreeKeys kv::treeKeys(Emitter &b, MaskAttr mask, const TreePlace &place) {
  Value one = b.index(1);
  Value first =
      visibleKeys(b, mask, place.position, b.add(place.position, one)).first;
  Value end = b.add(place.key, one);
  if (mask.getKind() == MaskKind::Causal)
    return {first, end, place.base, place.path};
  // The oldest tokens of the path may be out of sight as well.
  Value inTree = b.sub(first, b.minimum(first, place.base));
  auto path = scf::ForOp::create(
      b, b.index(0), inTree, one, place.path,
      [&](OpBuilder &nested, Location loc, Value, ValueRange carried) {
        Emitter b(loc, nested);
        Value path = carried.front();
        Value rest = b.both(path, b.sub(path, constantI64(b, 1)));
        scf::YieldOp::create(b, rest);
      });
  return {b.minimum(first, place.base), end, place.base, path.getResult(0)};
}

Value kv::isOnPath(Emitter &b, Value path, Value distance) {
  Type type = path.getType();
  Value shift;
  if (isa<VectorType>(distance.getType()))
    shift = arith::ExtUIOp::create(b, type, distance);
  else
    shift = arith::IndexCastUIOp::create(b, type, distance);
  Value moved = arith::ShRUIOp::create(b, path, shift);
  Type bit = b.getI1Type();
  if (auto vector = dyn_cast<VectorType>(type))
    bit = VectorType::get(vector.getShape(), bit);
  return arith::TruncIOp::create(b, bit, moved);
}
