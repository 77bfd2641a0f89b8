//===- DecomposeCache.cpp - The plain meaning of load and its like --------===//
//
// Reads of the blocks are memref.loads, ordered with the stores; no index
// leaves the table or the blocks, whatever the table holds.
//
//===----------------------------------------------------------------------===//

#include "Decompositions.h"
#include "passes/common/CacheAccess.h"

#include "kv/ABI/Context.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace kv;

/// How many keys a sequence has: cached ones and this step's.
static Value numKeys(Emitter &b, CacheOpInterface cache, Value offsets,
                     Value sequence) {
  Value first = b.extractIndex(offsets, sequence);
  Value end = b.extractIndex(offsets, b.add(sequence, b.index(1)));
  return b.add(b.extractIndex(cache.getCacheLengths(), sequence),
               b.sub(end, first));
}

static Value asI32(Emitter &b, Value index) {
  return arith::IndexCastUIOp::create(b, b.getI32Type(), index);
}

/// result[0] = 0; result[b + 1] = result[b] + keys of b
static SmallVector<Value> decompose(Emitter &b, RowOffsetsOp op) {
  auto cache = cast<CacheOpInterface>(*op);
  Value zero = b.index(0), one = b.index(1);
  auto type = op.getResult().getType();
  SmallVector<Value> sizes;
  if (type.isDynamicDim(0))
    sizes.push_back(b.dim(op.getRowOffsets(), 0));
  Value empty = tensor::EmptyOp::create(b, type, sizes);
  Value initial = tensor::InsertOp::create(b, asI32(b, zero), empty, zero);
  auto loop = scf::ForOp::create(
      b, zero, b.dim(cache.getCacheLengths(), 0), one,
      ValueRange{initial, zero},
      [&](OpBuilder &nested, Location loc, Value sequence, ValueRange carried) {
        Emitter b(loc, nested);
        Value end =
            b.add(carried[1], numKeys(b, cache, op.getRowOffsets(), sequence));
        Value next = tensor::InsertOp::create(b, asI32(b, end), carried[0],
                                              b.add(sequence, one));
        scf::YieldOp::create(b, ValueRange{next, end});
      });
  return {loop.getResult(0)};
}

/// lengths[b] = keys of b
static Value makeLengths(Emitter &b, LoadOp op) {
  auto cache = cast<CacheOpInterface>(*op);
  auto type = op.getLengths().getType();
  Value batch = b.dim(cache.getCacheLengths(), 0);
  SmallVector<Value> sizes;
  if (type.isDynamicDim(0))
    sizes.push_back(batch);
  Value empty = tensor::EmptyOp::create(b, type, sizes);
  auto loop = scf::ForOp::create(
      b, b.index(0), batch, b.index(1), empty,
      [&](OpBuilder &nested, Location loc, Value sequence, ValueRange carried) {
        Emitter b(loc, nested);
        Value keys = numKeys(b, cache, op.getRowOffsets(), sequence);
        Value next = tensor::InsertOp::create(b, asI32(b, keys),
                                              carried.front(), sequence);
        scf::YieldOp::create(b, next);
      });
  return loop.getResult(0);
}

/// result[b, s, h, d] = seen(b, s) ? blocks[page, plane, layer, slot, h, d] : 0
/// where s < lengths[b], and with a window also s + window > cache_lengths[b].
static SmallVector<Value> decompose(Emitter &b, LoadOp op) {
  CacheAccess cache(b, op);
  Value lengths = makeLengths(b, op);
  Value layer = cache.checkLayer(b, op.getPlace()[0]);
  Value plane = cache.checkPlane(b, op.getPlace()[1]);

  auto type = op.getResult().getType();
  SmallVector<Value> sizes;
  if (type.isDynamicDim(0))
    sizes.push_back(cache.numSequences(b));
  if (type.isDynamicDim(1))
    sizes.push_back(b.extractIndex(cast<CacheOpInterface>(*op).getMaxLengths(),
                                   ValueRange{b.index(0), b.index(1)}));
  Value empty = tensor::EmptyOp::create(b, type, sizes);
  AffineMap element = AffineMap::getMultiDimIdentityMap(4, op.getContext());
  AffineMap sequence = element.getMajorSubMap(1);
  int64_t window = cache.getType().getWindow();
  SmallVector<Value> inputs = {lengths};
  SmallVector<AffineMap> maps = {sequence, element};
  if (window) {
    inputs.push_back(cast<CacheOpInterface>(*op).getCacheLengths());
    maps.insert(maps.begin(), sequence);
  }
  auto dense = linalg::GenericOp::create(
      b, type, inputs, empty, maps,
      SmallVector<utils::IteratorType>(4, utils::IteratorType::parallel),
      [&](OpBuilder &nested, Location loc, ValueRange args) {
        Emitter b(loc, nested);
        SmallVector<Value> at;
        for (unsigned i = 0; i < 4; ++i)
          at.push_back(linalg::IndexOp::create(b, i));
        auto asIndex = [&](Value value) -> Value {
          return arith::IndexCastUIOp::create(b, b.getIndexType(), value);
        };
        Value seen = b.less(at[1], asIndex(args[0]));
        if (window) {
          Value cached = asIndex(args[1]);
          Value end = b.add(at[1], b.index(window));
          seen = b.both(seen, b.less(cached, end));
        }
        Value loaded = cache.load(b, cache.readPlace(b, at[0], at[1]), plane,
                                  layer, at[2], at[3]);
        Value nothing = b.constant(b.getF32Type(), 0);
        Value row = b.select(seen, loaded, nothing);
        linalg::YieldOp::create(b, b.fromF32(row, type.getElementType()));
      });
  return {dense.getResult(0), lengths};
}

/// for i: blocks[destination[i]] = blocks[source[i]]
static SmallVector<Value> decompose(Emitter &b, CopyPagesOp op) {
  Value blocks = inLogicalOrder(b, op.getLoc(), op.getBlocks(), op.getLayout());
  Value zero = b.index(0), one = b.index(1);
  SmallVector<Value> sizes;
  for (int64_t i = 0; i < 6; ++i)
    sizes.push_back(b.createOrFold<memref::DimOp>(blocks, i));
  Value low = zero, high = sizes[2], layerOk;
  if (op.getLayer()) {
    low = op.getLayer();
    layerOk = b.less(low, high);
    AssertOp::create(b, layerOk, KV_STATUS_OUT_OF_RANGE,
                     "the layer is outside the blocks' layers");
    high = b.add(low, one);
  }
  forEach(b, zero, b.dim(op.getSource(), 0), [&](Emitter &b, Value i) {
    Value from = b.extractIndex(op.getSource(), i);
    Value to = b.extractIndex(op.getDestination(), i);
    Value ok = b.both(b.both(b.less(from, sizes[0]), b.less(to, sizes[0])),
                      b.less(zero, to));
    if (layerOk)
      ok = b.both(ok, layerOk);
    when(b, ok, [&](Emitter &b) {
      forEach(b, zero, sizes[1], [&](Emitter &b, Value plane) {
        forEach(b, low, high, [&](Emitter &b, Value layer) {
          forEach(b, zero, sizes[3], [&](Emitter &b, Value slot) {
            forEach(b, zero, sizes[4], [&](Emitter &b, Value head) {
              forEach(b, zero, sizes[5], [&](Emitter &b, Value d) {
                Value element = memref::LoadOp::create(
                    b, blocks, ValueRange{from, plane, layer, slot, head, d});
                memref::StoreOp::create(
                    b, element, blocks,
                    ValueRange{to, plane, layer, slot, head, d});
              });
            });
          });
        });
      });
    });
  });
  return {};
}

void kv::attachCacheDecompositions(MLIRContext *context) {
  RowOffsetsOp::attachInterface<Decomposition<RowOffsetsOp, decompose>>(
      *context);
  LoadOp::attachInterface<Decomposition<LoadOp, decompose>>(*context);
  CopyPagesOp::attachInterface<Decomposition<CopyPagesOp, decompose>>(*context);
}
