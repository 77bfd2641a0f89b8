//===- ShardLookups.cpp - Rows of a table that ranks share ----------------===//

#include "ShardLookups.h"

#include "ShardedValues.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace kv;

/// The results of all ranks side by side: the last dimension is `ranks` times
/// as long.
static Value besideEachOther(Emitter &b, Value mine, int64_t ranks) {
  auto type = cast<RankedTensorType>(mine.getType());
  int64_t last = type.getRank() - 1, width = type.getDimSize(last);
  SmallVector<int64_t> shape(type.getShape());
  shape[last] *= ranks;
  return GatherOp::create(b, type.clone(shape), mine, /*out=*/Value(), last,
                          width, width * ranks, ranks, /*copies=*/1)
      .getResult();
}

/// The index of `column` of the rank that has `row`, among what was gathered.
static Value columnOf(Emitter &b, Value row, Value column, int64_t width,
                      const Sharding &table) {
  Value owner = b.div(row, b.index(table.shard));
  return b.add(b.mul(owner, b.index(width)), column);
}

void kv::shardLookup(DequantizeOp op, const Sharding &table, int64_t ranks) {
  Emitter b(op);
  Value rows = op.getRows();
  auto numbers = cast<RankedTensorType>(rows.getType());
  auto result = cast<RankedTensorType>(op.getResult().getType());
  Value first = b.asI32(ShardedValues::firstOf(b, table));
  auto emptyLike = [&](RankedTensorType type) -> Value {
    SmallVector<Value> sizes;
    if (type.isDynamicDim(0))
      sizes.push_back(b.dim(rows, 0));
    return tensor::EmptyOp::create(b, type, sizes);
  };
  using utils::IteratorType;
  // A number outside of the shard stands for a row that is not taken.
  Value own = linalg::GenericOp::create(
                  b, numbers, rows, emptyLike(numbers),
                  {b.getMultiDimIdentityMap(1), b.getMultiDimIdentityMap(1)},
                  {IteratorType::parallel},
                  [&](OpBuilder &inner, Location loc, ValueRange args) {
                    Value moved =
                        arith::SubIOp::create(inner, loc, args[0], first);
                    linalg::YieldOp::create(inner, loc, moved);
                  })
                  .getResult(0);
  Value mine = DequantizeOp::create(b, result, op.getWeight(), own,
                                    /*out=*/Value(), op.getFormatAttr())
                   .getResult();
  Value all = besideEachOther(b, mine, ranks);
  AffineMap byRow = AffineMap::get(2, 0, b.getAffineDimExpr(0));
  auto taken = linalg::GenericOp::create(
      b, result, rows, emptyLike(result), {byRow, b.getMultiDimIdentityMap(2)},
      {IteratorType::parallel, IteratorType::parallel},
      [&](OpBuilder &inner, Location loc, ValueRange args) {
        Emitter e(loc, inner);
        Value row = e.nearestIndex(args[0], table.size);
        Value t = linalg::IndexOp::create(e, 0);
        Value column = columnOf(e, row, linalg::IndexOp::create(e, 1),
                                result.getDimSize(1), table);
        linalg::YieldOp::create(
            e, tensor::ExtractOp::create(e, all, ValueRange{t, column})
                   .getResult());
      });
  op.getResult().replaceAllUsesWith(taken.getResult(0));
  op.erase();
}

void kv::shardLookup(linalg::GenericOp op, OpOperand &use,
                     const Sharding &table, int64_t ranks) {
  Emitter b(op);
  auto lookup = cast<tensor::ExtractOp>(use.getOwner());
  auto result = cast<RankedTensorType>(op.getResult(0).getType());
  auto rawType = RankedTensorType::get(
      result.getShape(),
      cast<ShapedType>(use.get().getType()).getElementType());
  int64_t last = result.getRank() - 1, width = result.getDimSize(last);
  Value first = ShardedValues::firstOf(b, table);
  SmallVector<Value> sizes;
  for (int64_t d = 0; d < result.getRank(); ++d)
    if (result.isDynamicDim(d))
      sizes.push_back(b.dim(op.getDpsInits()[0], d));
  Value empty = tensor::EmptyOp::create(b, rawType, sizes);
  auto raw = linalg::GenericOp::create(
      b, rawType, op.getInputs(), empty, op.getIndexingMapsArray(),
      op.getIteratorTypesArray(),
      [&](OpBuilder &inner, Location loc, ValueRange args) {
        // Clones the operations that lead to the row's number, and not those
        // that use the element.
        IRMapping mapping;
        mapping.map(op.getBody()->getArguments(), args);
        for (Operation &step : *op.getBody()) {
          if (&step == lookup)
            break;
          inner.clone(step, mapping);
        }
        Emitter e(loc, inner);
        SmallVector<Value> at;
        for (Value index : lookup.getIndices())
          at.push_back(mapping.lookupOrDefault(index));
        // A row of another rank is read as row 0, which is not taken.
        Value row = e.sub(at[0], first);
        Value known = e.less(row, e.index(table.shard));
        at[0] = e.select(known, row, e.index(0));
        linalg::YieldOp::create(
            e, tensor::ExtractOp::create(e, use.get(), at).getResult());
      });
  Value all = besideEachOther(b, raw.getResult(0), ranks);
  Emitter e(lookup.getLoc(), b);
  e.setInsertionPoint(lookup);
  SmallVector<Value> at;
  for (int64_t d = 0; d <= last; ++d)
    at.push_back(linalg::IndexOp::create(e, d));
  at[last] = columnOf(e, lookup.getIndices()[0], at[last], width, table);
  lookup.replaceAllUsesWith(tensor::ExtractOp::create(e, all, at).getResult());
  lookup.erase();
}
