//===- AttentionOperands.cpp - What tiles of an attention share -----------===//

#include "AttentionOperands.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/common/Trees.h"
#include "passes/common/VisibleKeys.h"

using namespace mlir;
using namespace kv;

/// Makes the result of kv.plan for an attention whose keys have rows of their
/// own.
static Value makePlan(VectorEmitter &b, AttentionOp op) {
  Value queries = op.getRowOffsets(), keys = op.getKvRowOffsets();
  if (!keys)
    keys = queries;
  Value lengths = cast<CacheOpInterface>(*op).getCacheLengths();
  auto type =
      MemRefType::get({ShapedType::kDynamic, kPlanWidth}, b.getI32Type());
  Value numRows = b.extent(op.getQ(), 0);
  Value plan = memref::AllocOp::create(b, type, ValueRange{numRows});
  auto added = [](VectorEmitter &b, Value offsets, Value sequence) {
    Value end = b.loadIndex(offsets, b.add(sequence, 1));
    return b.sub(end, b.loadIndex(offsets, sequence));
  };
  b.forEach(b.index(0), b.extent(lengths, 0), 1,
            [&](VectorEmitter &b, Value sequence) {
              Value cached = b.loadIndex(lengths, sequence);
              Value length = b.add(cached, added(b, keys, sequence));
              Value first = b.loadIndex(queries, sequence);
              Value end = b.add(first, added(b, queries, sequence));
              b.forEach(first, end, 1, [&](VectorEmitter &b, Value row) {
                Value position = b.add(cached, b.sub(row, first));
                auto [from, to] = plannedKeys(
                    b, op.getMask(), position, length,
                    op.getAncestors()
                        ? treeBase(b, {sequence, first, end, cached})
                        : Value());
                // A query may have a position after all keys.
                Value seen = b.minimum(to, length);
                Value facts[] = {sequence, position, from, seen};
                for (auto [i, fact] : llvm::enumerate(facts)) {
                  Value column = b.index(static_cast<int64_t>(i));
                  b.storeScalar(b.asI32(fact), plan, {row, column});
                }
              });
            });
  return plan;
}

FlatBlocks::FlatBlocks(VectorEmitter &b, Value buffer, Layout layout) {
  auto type = cast<MemRefType>(buffer.getType());
  auto metadata = memref::ExtractStridedMetadataOp::create(b, buffer);
  std::array<int, 6> order = blockOrder(static_cast<CacheLayout>(layout));
  for (auto [place, dim] : llvm::enumerate(order))
    strides[dim] = metadata.getStrides()[place];
  Value size = b.mul(metadata.getSizes()[0], metadata.getStrides()[0]);
  auto flat = MemRefType::get(
      {ShapedType::kDynamic}, type.getElementType(),
      StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, {1}));
  elements = memref::ReinterpretCastOp::create(
      b, flat, metadata.getBaseBuffer(), OpFoldResult(metadata.getOffset()),
      ArrayRef<OpFoldResult>{size}, ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
}

AttentionOperands::AttentionOperands(VectorEmitter &b, AttentionOp op)
    : q(op.getQ()), out(op.getOut()), lse(op.getOutLse()), sinks(op.getSinks()),
      rowOffsets(op.getRowOffsets()), ancestors(op.getAncestors()),
      mask(op.getMask()), plan(op.getPlan()),
      scale(op.getScale().convertToDouble()) {
  auto cache = cast<CacheOpInterface>(op.getOperation());
  CollectionType type = cache.getCollectionType();
  cacheLengths = cache.getCacheLengths();
  table = cache.getLookupTable();
  blocks = FlatBlocks(b, cache.getBlocks(), type.getLayout());
  if (cache.getScales())
    scales = FlatBlocks(b, cache.getScales(), type.getLayout());
  // The first dimension of blocks is that of pages in every layout.
  lastPage = b.add(b.extent(cache.getBlocks(), 0), -1);
  if (type.getGeometry().isPaged())
    lastEntry = b.add(b.extent(table, 1), -1);
  layer = op.getLayer();
  plan = op.getPlan() ? op.getPlan() : makePlan(b, op);
  if (op.getSoftcap())
    softcap = op.getSoftcap()->convertToDouble();
}
