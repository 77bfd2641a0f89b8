//===- ShardedValues.cpp - Values of which a rank holds a shard -----------===//

#include "ShardedValues.h"

using namespace mlir;
using namespace kv;

Value ShardedValues::whole(Value value) {
  auto found = shards.find(value);
  if (found == shards.end())
    return value;
  ValueShard &shard = found->second;
  if (!shard.gathered) {
    OpBuilder b(value.getContext());
    b.setInsertionPointAfterValue(shard.local);
    const Sharding &how = shard.sharding;
    shard.gathered =
        GatherOp::create(b, value.getLoc(), value.getType(), shard.local,
                         /*out=*/Value(), how.dim, how.shard, how.size, ranks,
                         how.copies)
            .getResult();
    ++numGathers;
  }
  return shard.gathered;
}

Value ShardedValues::localSize(Emitter &b, Value size,
                               const Sharding &sharding) {
  return b.mul(b.div(size, b.index(sharding.size)), b.index(sharding.shard));
}

Value ShardedValues::sizeOf(Emitter &b, Value value, int64_t dimension) {
  const ValueShard &shard = shards.at(value);
  const Sharding &how = shard.sharding;
  auto type = cast<RankedTensorType>(value.getType());
  if (!type.isDynamicDim(dimension))
    return b.index(type.getDimSize(dimension));
  Value size = b.dim(shard.local, dimension);
  if (dimension != how.dim)
    return size;
  return b.mul(b.div(size, b.index(how.shard)), b.index(how.size));
}

Value ShardedValues::firstOf(Emitter &b, const Sharding &sharding) {
  Value rank = RankOp::create(b, b.getIndexType());
  if (sharding.copies != 1)
    rank = b.div(rank, b.index(sharding.copies));
  return b.mul(rank, b.index(sharding.shard));
}

bool ShardedValues::isCheap(Value value) {
  if (isa<BlockArgument>(value))
    return cast<ShapedType>(value.getType()).getRank() == 1;
  Operation *op = value.getDefiningOp();
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return isa<SplatElementsAttr>(constant.getValue());
  return isa<tensor::EmptyOp, linalg::FillOp>(op);
}

Value ShardedValues::local(Emitter &b, Value value, const Sharding &sharding) {
  auto found = shards.find(value);
  if (found != shards.end() && found->second.sharding == sharding)
    return found->second.local;
  RankedTensorType type = sharding.localType(value.getType());
  if (auto empty = value.getDefiningOp<tensor::EmptyOp>()) {
    SmallVector<Value> sizes;
    auto dynamic = empty.getDynamicSizes().begin();
    for (int64_t d = 0; d < type.getRank(); ++d)
      if (type.isDynamicDim(d)) {
        Value size = *dynamic++;
        sizes.push_back(d == sharding.dim ? localSize(b, size, sharding)
                                          : size);
      }
    return tensor::EmptyOp::create(b, type, sizes);
  }
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    return linalg::FillOp::create(b, fill.getInputs()[0],
                                  local(b, fill.getOutputs()[0], sharding))
        .getResult(0);
  if (auto constant = value.getDefiningOp<arith::ConstantOp>())
    if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValue()))
      return arith::ConstantOp::create(b, splat.resizeSplat(type));
  return slice(b, whole(value), sharding);
}

/// slice() where all ranks have equally many elements, of one run. Heads are
/// cut out of the rows that they were made of, and before they are rotated:
/// kernels take rows at equal distances.
Value ShardedValues::view(Emitter &b, Value value, const Sharding &sharding) {
  Operation *maker = value.getDefiningOp();
  auto ofLocal = [&](const Sharding &from) {
    SmallVector<Value> operands(maker->getOperands());
    operands[0] = local(b, operands[0], from);
    Type type = sharding.localType(value.getType());
    return mlir::clone(b, maker, type, operands);
  };
  if (isa_and_nonnull<RopeOp>(maker) && sharding.dim == 1)
    return ofLocal(sharding)->getResult(0);
  if (auto expand = dyn_cast_or_null<tensor::ExpandShapeOp>(maker))
    if (auto from = sharding.collapsed(expand.getReassociationIndices(),
                                       expand.getType())) {
      auto made = cast<tensor::ExpandShapeOp>(ofLocal(*from));
      // A size that is static is an attribute.
      made.setStaticOutputShape(made.getType().getShape());
      return made;
    }
  auto whole = cast<RankedTensorType>(value.getType());
  RankedTensorType type = sharding.localType(whole);
  if (whole.getDimSize(sharding.dim) != sharding.size ||
      !sharding.isEqual(ranks)) {
    emitError(b.getLoc()) << ranks << " ranks on GPUs would cut "
                          << sharding.shard
                          << " elements each out of dimension " << sharding.dim
                          << " of " << whole
                          << ": they take equal parts of the whole dimension";
    hasFailed = true;
  }
  SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)),
      strides(type.getRank(), b.getIndexAttr(1)), sizes;
  offsets[sharding.dim] = firstOf(b, sharding);
  for (int64_t d = 0; d < type.getRank(); ++d)
    sizes.push_back(type.isDynamicDim(d)
                        ? OpFoldResult(b.dim(value, d))
                        : OpFoldResult(b.getIndexAttr(type.getDimSize(d))));
  return tensor::ExtractSliceOp::create(b, type, value, offsets, sizes,
                                        strides);
}

/// This rank's elements of a value that every rank has; zeros beyond its size.
Value ShardedValues::slice(Emitter &b, Value value, const Sharding &sharding) {
  ++numSlices;
  if (forDevice)
    return view(b, value, sharding);
  RankedTensorType type = sharding.localType(value.getType());
  SmallVector<Value> sizes;
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (type.isDynamicDim(d)) {
      Value size = b.dim(value, d);
      sizes.push_back(d == sharding.dim ? localSize(b, size, sharding) : size);
    }
  Value first = firstOf(b, sharding);
  Value empty = tensor::EmptyOp::create(b, type, sizes);
  AffineMap identity = b.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> parallel(type.getRank(),
                                            utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      b, type, ValueRange(), empty, identity, parallel,
      [&](OpBuilder &inner, Location loc, ValueRange) {
        Emitter e(loc, inner);
        SmallVector<Value> at;
        for (int64_t d = 0; d < type.getRank(); ++d)
          at.push_back(linalg::IndexOp::create(e, d));
        Value place = at[sharding.dim];
        Value size = e.index(sharding.size), shard = e.index(sharding.shard);
        Value inRun = e.add(e.rem(place, shard), first);
        Value inside = e.less(inRun, size);
        Value known = e.select(inside, inRun, e.index(0));
        at[sharding.dim] = e.add(e.mul(e.div(place, shard), size), known);
        Value element = tensor::ExtractOp::create(e, value, at);
        Value zero =
            arith::ConstantOp::create(e, e.getZeroAttr(type.getElementType()));
        linalg::YieldOp::create(e, e.select(inside, element, zero));
      });
  return generic.getResult(0);
}
