//===- LeafRows.cpp - The keys and values of a leaf -----------------------===//

#include "LeafRows.h"

#include "kv/Definition/Plan.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/common/KernelLoops.h"

using namespace mlir;
using namespace kv;

constexpr int64_t kLeaf = plan::CpuLeaf;

LeafRows::LeafRows(VectorEmitter &b, const AttentionShape &shape,
                   const AttentionOperands &operands)
    : shape(shape), operands(operands) {
  places = b.stack({kLeaf}, b.getIndexType());
  if (operands.scales.elements)
    scalePlaces = b.stack({kLeaf}, b.getIndexType());
  if (shape.widens())
    wide = b.stack({kKeyBlock * shape.paddedDim}, b.getF32Type());
}

//===----------------------------------------------------------------------===//
// Where they are
//===----------------------------------------------------------------------===//

void LeafRows::find(VectorEmitter &b, const QueryRows &rows, Value start,
                    LeafKeys keys) {
  lastKey = b.add(keys.end, -1);
  find(b, rows, start, keys, operands.blocks, places);
  if (scalePlaces)
    find(b, rows, start, keys, operands.scales, scalePlaces);
}

/// Looks up each page once.
void LeafRows::find(VectorEmitter &b, const QueryRows &rows, Value start,
                    LeafKeys keys, const FlatBlocks &blocks, Value places) {
  Value inLayer = b.mul(operands.layer, blocks.strides[2]);
  Value base = b.add(inLayer, b.mul(rows.head, blocks.strides[4]));
  auto findPage = [&](VectorEmitter &b, ValueRange entry, Value origin,
                      Value first, Value end) {
    Value page =
        b.minimum(b.loadIndex(operands.table, entry), operands.lastPage);
    Value pageBase = b.add(base, b.mul(page, blocks.strides[0]));
    b.forEach(first, end, 1, [&](VectorEmitter &b, Value position) {
      Value slot = b.mul(b.sub(position, origin), blocks.strides[3]);
      Value place = b.add(pageBase, slot);
      b.storeScalar(place, places, b.sub(position, start));
    });
  };
  Value first = b.add(start, keys.first), end = b.add(start, keys.end);
  if (!shape.geometry.isPaged()) {
    findPage(b, rows.sequence, b.index(0), first, end);
  } else {
    int64_t size = shape.geometry.page;
    Value firstPage = b.div(first, b.index(size));
    b.forEach(firstPage, b.divideUp(end, size), 1,
              [&](VectorEmitter &b, Value number) {
                Value origin = b.mul(number, b.index(size));
                Value from = b.maximum(origin, first);
                Value to = b.minimum(b.add(origin, size), end);
                Value entry = b.minimum(number, operands.lastEntry);
                findPage(b, {rows.sequence, entry}, origin, from, to);
              });
  }
  Value spare = b.loadScalar(places, keys.first);
  auto fill = [&](VectorEmitter &b, Value key) {
    b.storeScalar(spare, places, key);
  };
  b.forEach(b.roundDown(keys.first, kLanes), keys.first, 1, fill);
  b.forEach(keys.end, b.roundUp(keys.end, kLanes), 1, fill);
}

/// Element 0 of a row of `plane`.
static Value planeOf(VectorEmitter &b, const FlatBlocks &blocks, Value place,
                     int64_t plane) {
  return plane == 0 ? place : b.add(place, blocks.strides[1]);
}

LeafRow LeafRows::row(VectorEmitter &b, const RowSource &source, Value key) {
  if (source.block)
    return {b.mul(b.sub(key, source.block), b.index(shape.paddedDim)), Value()};
  Value place = b.loadScalar(places, key), scalePlace;
  if (scalePlaces)
    scalePlace = planeOf(b, operands.scales, b.loadScalar(scalePlaces, key),
                         source.plane);
  return {planeOf(b, operands.blocks, place, source.plane), scalePlace};
}

//===----------------------------------------------------------------------===//
// What they hold
//===----------------------------------------------------------------------===//

/// The scale of each of `count` elements from `d` on, which is a multiple of
/// the lanes.
Value LeafRows::scaleOf(VectorEmitter &b, Value place, Value d, int64_t count,
                        int64_t lanes) {
  int64_t group = shape.geometry.scaleGroup;
  Value at =
      group == shape.dim ? place : b.add(place, b.div(d, b.index(group)));
  Value loaded = b.loadLanes(operands.scales.elements, at,
                             llvm::divideCeil(count, group), lanes);
  SmallVector<int64_t> from;
  for (int64_t i = 0; i < lanes; ++i)
    from.push_back(i / group);
  return vector::ShuffleOp::create(b, loaded, loaded, from);
}

Value LeafRows::load(VectorEmitter &b, const RowSource &source,
                     const LeafRow &row, Value d, int64_t count,
                     int64_t lanes) {
  Value from = source.block ? wide : operands.blocks.elements;
  Value elements = b.loadLanes(from, b.add(row.place, d), count, lanes);
  if (row.scalePlace)
    elements = b.times(elements, scaleOf(b, row.scalePlace, d, count, lanes));
  return elements;
}

RowSource LeafRows::widen(VectorEmitter &b, LeafKeys keys, int64_t plane) {
  RowSource from{plane, Value()}, to{plane, keys.first};
  int64_t dim = plane == 0 ? shape.dim : shape.valueDim;
  b.forEach(keys.first, keys.end, 1, [&](VectorEmitter &b, Value key) {
    LeafRow source = row(b, from, key), target = row(b, to, key);
    auto copy = [&](VectorEmitter &b, Value d, int64_t count) {
      b.storeLanes(load(b, from, source, d, count), wide,
                   b.add(target.place, d));
    };
    int64_t whole = dim / kLanes * kLanes;
    b.forEach(b.index(0), b.index(whole), kLanes,
              [&](VectorEmitter &b, Value d) { copy(b, d, kLanes); });
    if (whole < dim)
      copy(b, b.index(whole), dim - whole);
  });
  return to;
}

LeafRow LeafRows::rowAhead(VectorEmitter &b, int64_t plane, Value key) {
  int64_t ahead = llvm::divideCeil(prefetchDistance(1), bytesOfRow(plane));
  return row(b, {plane, Value()}, b.minimum(b.add(key, ahead), lastKey));
}

void LeafRows::ask(VectorEmitter &b, int64_t plane, Value key) {
  prefetch(b, b.getLoc(), operands.blocks.elements,
           rowAhead(b, plane, key).place, /*ahead=*/0, bytesOfRow(plane));
}

int64_t LeafRows::bytesOfRow(int64_t plane) const {
  int64_t dim = plane == 0 ? shape.dim : shape.valueDim;
  return dim *
         getElementTypeOrSelf(operands.blocks.elements)
             .getIntOrFloatBitWidth() /
         8;
}
