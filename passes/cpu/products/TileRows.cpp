//===- TileRows.cpp - Which rows a tile multiplies ------------------------===//

#include "TileRows.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/cpu/vector/VectorEmitter.h"

using namespace mlir;
using namespace kv;

SmallVector<Value> kv::rowIndices(OpBuilder &builder, Location loc, Value x,
                                  Value i) {
  auto type = cast<MemRefType>(x.getType());
  if (type.getRank() == 2)
    return {i};
  Emitter b(loc, builder);
  Value each = b.index(type.getDimSize(1));
  return {b.div(i, each), b.rem(i, each)};
}

TileRow TileRows::at(OpBuilder &builder, Location loc, Value i) const {
  if (!order)
    return {{i}, {i}, i};
  VectorEmitter b(loc, builder);
  Value choice = b.loadIndex(order, i), each = b.index(choices);
  Value t = b.div(choice, each), c = b.rem(choice, each);
  if (ownRows)
    return {{t, c}, {t, c}, choice};
  return {{t}, {t, c}, t};
}

void TileRows::forEachTile(
    OpBuilder &builder, Location loc, ArrayRef<int64_t> heights,
    llvm::function_ref<void(OpBuilder &, int64_t, Value)> build) const {
  Emitter b(loc, builder);
  Value done = begin;
  for (int64_t height : heights) {
    Value step = b.index(height);
    Value rest = b.rem(b.sub(end, done), step);
    Value last = b.sub(end, rest);
    scf::ForOp::create(
        b, done, last, step, ValueRange(),
        [&](OpBuilder &nested, Location loc, Value row, ValueRange) {
          build(nested, height, row);
          scf::YieldOp::create(nested, loc);
        });
    done = last;
  }
}

ExpertOrder kv::orderByExpert(OpBuilder &builder, Location loc, Value experts,
                              int64_t numExperts) {
  VectorEmitter b(loc, builder);
  auto buffer = [&](int64_t size, ValueRange sizes = {}) -> Value {
    auto type = MemRefType::get({size}, b.getI32Type());
    return memref::AllocOp::create(b, type, sizes);
  };
  Value zero = b.index(0), one = b.index(1), all = b.index(numExperts);
  Value total = b.mul(b.extent(experts, 0), b.extent(experts, 1));
  ExpertOrder made{buffer(ShapedType::kDynamic, total),
                   buffer(numExperts + 1),
                   buffer(numExperts),
                   {}};
  auto store = [](VectorEmitter &b, Value index, Value to, Value at) {
    b.storeScalar(b.asI32(index), to, at);
  };
  auto expertOf = [&](VectorEmitter &b, Value choice) -> Value {
    Value each = b.extent(experts, 1);
    Value number = b.loadScalar(
        experts, ValueRange{b.div(choice, each), b.rem(choice, each)});
    return b.nearestIndex(number, numExperts);
  };
  // How many choices each expert has, one place further.
  b.forEach(zero, b.add(all, one), 1,
            [&](VectorEmitter &b, Value e) { store(b, zero, made.bounds, e); });
  b.forEach(zero, total, 1, [&](VectorEmitter &b, Value choice) {
    Value place = b.add(expertOf(b, choice), one);
    store(b, b.add(b.loadIndex(made.bounds, place), one), made.bounds, place);
  });
  // Then the beginnings of the experts' choices, one place further. Placing
  // choices moves a beginning to their end, where those of the next expert
  // begin.
  made.count = b.loop(zero, all, 1, {zero, zero},
                      [&](VectorEmitter &b, Value e,
                          ValueRange carried) -> SmallVector<Value> {
                        Value count = carried[0], first = carried[1];
                        Value place = b.add(e, one);
                        Value own = b.loadIndex(made.bounds, place);
                        store(b, first, made.bounds, place);
                        store(b, e, made.chosen, count);
                        Value more = b.select(b.less(zero, own), one, zero);
                        return {b.add(count, more), b.add(first, own)};
                      })
                   .front();
  b.forEach(zero, total, 1, [&](VectorEmitter &b, Value choice) {
    Value place = b.add(expertOf(b, choice), one);
    Value at = b.loadIndex(made.bounds, place);
    store(b, choice, made.order, at);
    store(b, b.add(at, one), made.bounds, place);
  });
  return made;
}
