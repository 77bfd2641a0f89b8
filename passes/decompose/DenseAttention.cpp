//===- DenseAttention.cpp - Store and attention as IREE's operations ------===//
//
// iree_linalg_ext.attention takes dense keys and values, and a mask. Pages are
// gathered into [sequences, keys, heads, elements], and the ragged queries into
// [sequences, KV heads, query heads, rows, elements]. What no row may see is
// replaced by 0 there, since memory that a sequence does not own may hold NaN.
//
// IREE's operations are written by their names: the compiler does not link
// IREE.
//
//===----------------------------------------------------------------------===//

#include "RaggedRows.h"
#include "passes/common/CacheAccess.h"
#include "passes/common/VisibleKeys.h"

using namespace mlir;
using namespace kv;

/// An operation of IREE's dialect with a region that yields its first argument.
static Value ireeOperation(Emitter &b, StringRef name, ValueRange operands,
                           Type result, ArrayRef<NamedAttribute> attributes,
                           TypeRange arguments) {
  OperationState state(b.getLoc(), ("iree_linalg_ext." + name).str());
  state.addOperands(operands);
  state.addTypes(result);
  state.addAttributes(attributes);
  Block &body = state.addRegion()->emplaceBlock();
  for (Type type : arguments)
    body.addArgument(type, b.getLoc());
  Operation *op = b.create(state);
  OpBuilder inside = OpBuilder::atBlockEnd(&body);
  OperationState yield(b.getLoc(), "iree_linalg_ext.yield");
  yield.addOperands(body.getArgument(0));
  inside.create(yield);
  return op->getResult(0);
}

static OpFoldResult sizeOfRows(Emitter &b, Value rows) {
  return tensor::getMixedSize(b, b.getLoc(), rows, 0);
}

static Value indexOf(Emitter &b, unsigned loop) {
  return linalg::IndexOp::create(b, loop);
}

namespace {
class DenseAttention {
public:
  DenseAttention(Emitter &b, AttentionOp op)
      : op(op), b(b), cache(b, op), type(cache.getType()),
        lengths(cast<CacheOpInterface>(*op).getCacheLengths()),
        layer(cache.checkLayer(b, op.getLayer())), f32(b.getF32Type()) {
    Value longest = cast<CacheOpInterface>(*op).getMaxLengths();
    batch = cache.numSequences(b);
    rows = b.extractIndex(longest, ValueRange{b.index(0), b.index(0)});
    keys = b.extractIndex(longest, ValueRange{b.index(0), b.index(1)});
    group =
        cast<ShapedType>(op.getQ().getType()).getDimSize(1) / type.getHeads();
    heads = b.getIndexAttr(type.getHeads());
    perHead = b.getIndexAttr(group);
    for (unsigned i = 0; i < 6; ++i)
      d.push_back(b.getAffineDimExpr(i));
  }

  Value run() {
    // Sequence, KV head, query head of it, row, key, element of a key, of a
    // value.
    auto map = [&](ArrayRef<unsigned> dims) -> Attribute {
      SmallVector<AffineExpr> at = llvm::map_to_vector(
          dims, [&](unsigned i) { return b.getAffineDimExpr(i); });
      return AffineMapAttr::get(AffineMap::get(7, 0, at, b.getContext()));
    };
    NamedAttribute attributes[] = {
        {b.getStringAttr("indexing_maps"),
         b.getArrayAttr({map({0, 1, 2, 3, 5}), map({0, 4, 1, 5}),
                         map({0, 4, 1, 6}), map({}), map({0, 3, 4}),
                         map({0, 1, 2, 3, 6})})},
        {b.getStringAttr("operandSegmentSizes"),
         b.getDenseI32ArrayAttr({1, 1, 1, 1, 1, 1})}};
    Value out = emptyTensor(
        b, {batch, heads, perHead, rows, b.getIndexAttr(type.getValueDim())},
        f32);
    Value scale = b.constant(f32, op.getScale().convertToDouble());
    // A latent row is its own value.
    Value values = gather(type.isLatent() ? 0 : 1, type.getValueDim());
    Value attended = ireeOperation(
        b, "attention",
        {queries(), gather(0, type.getDim()), values, scale, mask(), out},
        out.getType(), attributes, f32);
    return raggedResult(attended);
  }

private:
  Value queries() {
    Value offsets = op.getRowOffsets();
    Value last = b.sub(b.dim(op.getQ(), 0), b.index(1));
    Value out = emptyTensor(
        b, {batch, heads, perHead, rows, b.getIndexAttr(type.getDim())}, f32);
    return generic(b, {}, {}, out, ArrayRef(d).take_front(5), 5,
                   [&](Emitter &b, ValueRange) -> Value {
                     StepSequence sequence =
                         stepSequence(b, offsets, lengths, indexOf(b, 0));
                     Value row = b.add(sequence.first, indexOf(b, 3));
                     Value head = b.add(b.mul(indexOf(b, 1), b.index(group)),
                                        indexOf(b, 2));
                     Value element = tensor::ExtractOp::create(
                         b, op.getQ(),
                         ValueRange{b.minimum(row, last), head, indexOf(b, 4)});
                     return b.select(b.less(row, sequence.end),
                                     b.toF32(element), b.constant(f32, 0));
                   });
  }

  /// [sequences, keys, heads, elements] of a plane; 0 where no row sees it.
  Value gather(int64_t plane, int64_t elements) {
    Value out =
        emptyTensor(b, {batch, keys, heads, b.getIndexAttr(elements)}, f32);
    return generic(
        b, {}, {}, out, ArrayRef(d).take_front(4), 4,
        [&](Emitter &b, ValueRange) -> Value {
          StepSequence sequence =
              stepSequence(b, op.getRowOffsets(), lengths, indexOf(b, 0));
          Value key = indexOf(b, 1);
          Value seen = b.less(key, sequence.length(b));
          if (int64_t window = type.getWindow())
            seen = b.both(seen,
                          b.less(sequence.cached, b.add(key, b.index(window))));
          Value element =
              cache.load(b, cache.readPlace(b, sequence.index, key),
                         b.index(plane), layer, indexOf(b, 2), indexOf(b, 3));
          return b.select(seen, element, b.constant(f32, 0));
        });
  }

  /// Whether a row sees a key, [sequences, rows, keys].
  Value mask() {
    Value out = emptyTensor(b, {batch, rows, keys}, b.getI1Type());
    return generic(b, {}, {}, out, ArrayRef(d).take_front(3), 3,
                   [&](Emitter &b, ValueRange) -> Value {
                     StepSequence sequence = stepSequence(
                         b, op.getRowOffsets(), lengths, indexOf(b, 0));
                     Value key = indexOf(b, 2);
                     auto [first, end] = visibleKeys(
                         b, op.getMask(), b.add(sequence.cached, indexOf(b, 1)),
                         sequence.length(b));
                     return b.both(b.lessOrEqual(first, key), b.less(key, end));
                   });
  }

  /// The rows as the operation has them; 0 for those of no sequence.
  Value raggedResult(Value attended) {
    auto type = cast<RankedTensorType>(op.getResult().getType());
    OpFoldResult count = sizeOfRows(b, op.getQ());
    RaggedRows ragged(b, op.getRowOffsets(), lengths, count);
    Value out = emptyTensor(b,
                            {count, b.getIndexAttr(type.getDimSize(1)),
                             b.getIndexAttr(type.getDimSize(2))},
                            type.getElementType());
    Value result =
        generic(b, ragged.sequences(), {{d[0]}}, out, ArrayRef(d).take_front(3),
                3, [&](Emitter &b, ValueRange args) -> Value {
                  RaggedRow row = ragged.row(b, args[0], indexOf(b, 0));
                  Value head = indexOf(b, 1), size = b.index(group);
                  Value place = b.select(row.valid, row.index, b.index(0));
                  Value element = tensor::ExtractOp::create(
                      b, attended,
                      ValueRange{row.sequence, b.div(head, size),
                                 b.rem(head, size), place, indexOf(b, 2)});
                  Value shown =
                      b.select(row.valid, element, b.constant(f32, 0));
                  return b.fromF32(shown, type.getElementType());
                });
    return b.createOrFold<tensor::CastOp>(type, result);
  }

  AttentionOp op;
  Emitter &b;
  CacheAccess cache;
  CollectionType type;
  Value lengths, layer;
  Type f32;
  Value batch, rows, keys; // sizes; rows and keys of the longest sequence
  int64_t group;
  OpFoldResult heads, perHead;
  SmallVector<AffineExpr> d;
};
} // namespace

Value kv::attendDensely(Emitter &b, AttentionOp op) {
  return DenseAttention(b, op).run();
}

/// Where each row of a plane lies in the blocks: i32 [T, 4]. Rows that may not
/// be written go to the null page, which nothing reads.
static Value placesOfRows(Emitter &b, StoreOp op, int64_t plane) {
  CacheAccess cache(b, op);
  Value layer = cache.checkLayer(b, op.getLayer());
  OpFoldResult count = sizeOfRows(b, op.getK());
  RaggedRows ragged(b, op.getRowOffsets(),
                    cast<CacheOpInterface>(*op).getCacheLengths(), count);
  AffineExpr t, c;
  bindDims(b.getContext(), t, c);
  return generic(
      b, ragged.sequences(), {{t}},
      emptyTensor(b, {count, b.getIndexAttr(4)}, b.getI32Type()), {t, c}, 2,
      [&](Emitter &b, ValueRange args) -> Value {
        RaggedRow row = ragged.row(b, args[0], indexOf(b, 0));
        auto [writable, place] =
            cache.writePlace(b, row.sequence, row.position);
        Value page =
            b.select(b.both(row.valid, writable), place.page, b.index(0));
        Value parts[] = {page, b.index(plane), layer}, part = place.slot;
        for (int64_t i = 0; i < 3; ++i) {
          Value here = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                             indexOf(b, 1), b.index(i));
          part = b.select(here, parts[i], part);
        }
        return b.asI32(part);
      });
}

Value kv::scatterRows(Emitter &b, StoreOp op) {
  Value blocks = cast<CacheOpInterface>(*op).getBlocks();
  Type element = cast<ShapedType>(blocks.getType()).getElementType();
  for (auto [plane, rows] : llvm::enumerate(storedRows(b, op))) {
    NamedAttribute attributes[] = {
        {b.getStringAttr("dimension_map"),
         b.getDenseI64ArrayAttr({0, 1, 2, 3})},
        {b.getStringAttr("unique_indices"), b.getBoolAttr(true)},
        {b.getStringAttr("operandSegmentSizes"),
         b.getDenseI32ArrayAttr({1, 1, 1})}};
    blocks = ireeOperation(
        b, "scatter",
        {rows, placesOfRows(b, op, static_cast<int64_t>(plane)), blocks},
        blocks.getType(), attributes, {element, element});
  }
  return blocks;
}
