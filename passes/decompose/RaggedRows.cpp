//===- RaggedRows.cpp - Where a step's rows stand, without loops ----------===//

#include "RaggedRows.h"

using namespace mlir;
using namespace kv;

Value kv::emptyTensor(Emitter &b, ArrayRef<OpFoldResult> sizes, Type element) {
  return tensor::EmptyOp::create(b, sizes, element);
}

RaggedRows::RaggedRows(Emitter &b, Value offsets, Value cacheLengths,
                       OpFoldResult count)
    : offsets(offsets), cacheLengths(cacheLengths),
      batch(b.dim(cacheLengths, 0)) {
  // A row's sequence is the number of sequences that end before it.
  OpFoldResult one = b.getIndexAttr(1);
  Value ends = tensor::ExtractSliceOp::create(
      b, RankedTensorType::get({ShapedType::kDynamic}, b.getI32Type()), offsets,
      ArrayRef(one), ArrayRef<OpFoldResult>(batch), ArrayRef(one));
  Value none =
      linalg::FillOp::create(b, b.i32(0), emptyTensor(b, count, b.getI32Type()))
          .getResult(0);
  AffineExpr t, s;
  bindDims(b.getContext(), t, s);
  numbers = generic(
      b, ends, {{s}}, none, {t}, 2, [](Emitter &b, ValueRange args) -> Value {
        Value row = b.asI32(linalg::IndexOp::create(b, 0));
        Value ended = b.lessOrEqual(args[0], row);
        return b.add(args[1], arith::ExtUIOp::create(b, b.getI32Type(), ended));
      });
}

RaggedRow RaggedRows::row(Emitter &b, Value sequence, Value index) const {
  RaggedRow row;
  Value number =
      arith::IndexCastUIOp::create(b, b.getIndexType(), sequence).getResult();
  row.valid = b.less(number, batch);
  row.sequence = b.minimum(number, b.sub(batch, b.index(1)));
  row.index = b.sub(index, b.extractIndex(offsets, row.sequence));
  row.position = b.add(b.extractIndex(cacheLengths, row.sequence), row.index);
  return row;
}

SmallVector<Value> kv::storedRows(Emitter &b, StoreOp op) {
  Type element =
      cast<CacheOpInterface>(*op).getCollectionType().getElementType();
  AffineExpr t, h, d;
  bindDims(b.getContext(), t, h, d);
  SmallVector<Value> planes;
  for (Value rows : {Value(op.getK()), Value(op.getV())}) {
    if (!rows)
      continue;
    if (getElementTypeOrSelf(rows.getType()) != element)
      rows = generic(
          b, rows, {{t, h, d}},
          emptyTensor(b, tensor::getMixedSizes(b, b.getLoc(), rows), element),
          {t, h, d}, 3, [&](Emitter &b, ValueRange args) -> Value {
            return b.fromF32(b.toF32(args[0]), element);
          });
    planes.push_back(rows);
  }
  return planes;
}
