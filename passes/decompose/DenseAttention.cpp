//===- DenseAttention.cpp - Store and attention of other dialects ---------===//
//
// The attention of IREE and of torch-mlir takes dense keys and values, and a
// mask. Pages are gathered into [sequences, keys, heads, elements], for
// torch-mlir with the heads before the keys, and the ragged queries into
// [sequences, KV heads, query heads, rows, elements]. What no row may see is
// replaced by 0 there, since memory that a sequence does not own may hold NaN.
//
// Both dialects' operations are written by their names: the compiler links
// neither project.
//
//===----------------------------------------------------------------------===//

#include "RaggedRows.h"
#include "passes/common/CacheAccess.h"
#include "passes/common/VisibleKeys.h"

#include <cmath>

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
  DenseAttention(Emitter &b, AttentionOp op, DenseForm form)
      : op(op), b(b), isIree(form == DenseForm::Iree), cache(b, op),
        type(cache.getType()),
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
    Value out = emptyTensor(
        b, {batch, heads, perHead, rows, b.getIndexAttr(type.getValueDim())},
        f32);
    // A latent row is its own value.
    Value dense[] = {queries(), gather(0, type.getDim()),
                     gather(type.isLatent() ? 0 : 1, type.getValueDim())};
    return raggedResult(isIree ? attendByIree(dense, out)
                               : attendByTorchMlir(dense, out));
  }

private:
  Value attendByIree(ArrayRef<Value> dense, Value out) {
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
    Value scale = b.constant(f32, op.getScale().convertToDouble());
    Value seen = mask({batch, rows, keys},
                      [](Emitter &, Value visible) { return visible; });
    return ireeOperation(b, "attention",
                         {dense[0], dense[1], dense[2], scale, seen, out},
                         out.getType(), attributes, f32);
  }

  /// tm_tensor.attention has as many heads of keys as of queries, so the query
  /// heads of a KV head are rows of it. Its mask is added to the scores.
  Value attendByTorchMlir(ArrayRef<Value> dense, Value out) {
    const ReassociationIndices groups[] = {{0}, {1}, {2, 3}, {4}};
    auto joined = [&](Value value) -> Value {
      return tensor::CollapseShapeOp::create(b, value, groups);
    };
    Value added = mask({batch, heads, perHead, rows, keys}, [&](Emitter &b,
                                                                Value visible) {
      return b.select(visible, b.constant(f32, 0), b.constant(f32, -INFINITY));
    });
    Value result = joined(out);
    OperationState state(b.getLoc(), "tm_tensor.attention");
    state.addOperands(
        {joined(dense[0]), dense[1], dense[2], joined(added), result});
    state.addTypes(result.getType());
    state.addAttribute("operandSegmentSizes", b.getDenseI32ArrayAttr({4, 1}));
    return tensor::ExpandShapeOp::create(
        b, out.getType(), b.create(state)->getResult(0), groups,
        tensor::getMixedSizes(b, b.getLoc(), out));
  }

  Value queries() {
    Value offsets = op.getRowOffsets();
    Value last = b.sub(b.dim(op.getQ(), 0), b.index(1));
    Value out = emptyTensor(
        b, {batch, heads, perHead, rows, b.getIndexAttr(type.getDim())}, f32);
    return generic(
        b, {}, {}, out, ArrayRef(d).take_front(5), 5,
        [&](Emitter &b, ValueRange) -> Value {
          StepSequence sequence =
              stepSequence(b, offsets, lengths, indexOf(b, 0));
          Value row = b.add(sequence.first, indexOf(b, 3));
          Value head =
              b.add(b.mul(indexOf(b, 1), b.index(group)), indexOf(b, 2));
          Value element = b.toF32(tensor::ExtractOp::create(
              b, op.getQ(),
              ValueRange{b.minimum(row, last), head, indexOf(b, 4)}));
          if (!isIree) // it divides scores by the root of the size
            element = arith::MulFOp::create(
                b, element,
                b.constant(f32, op.getScale().convertToDouble() *
                                    std::sqrt(type.getDim())));
          return b.select(b.less(row, sequence.end), element,
                          b.constant(f32, 0));
        });
  }

  /// [sequences, keys, heads, elements] of a plane, for torch-mlir with the
  /// heads before the keys; 0 where no row sees it.
  Value gather(int64_t plane, int64_t elements) {
    SmallVector<OpFoldResult> sizes = {batch, keys, heads,
                                       b.getIndexAttr(elements)};
    unsigned keyLoop = isIree ? 1 : 2, headLoop = 3 - keyLoop;
    if (!isIree)
      std::swap(sizes[1], sizes[2]);
    return generic(
        b, {}, {}, emptyTensor(b, sizes, f32), ArrayRef(d).take_front(4), 4,
        [&](Emitter &b, ValueRange) -> Value {
          StepSequence sequence =
              stepSequence(b, op.getRowOffsets(), lengths, indexOf(b, 0));
          Value key = indexOf(b, keyLoop);
          Value seen = b.less(key, sequence.length(b));
          if (int64_t window = type.getWindow())
            seen = b.both(seen,
                          b.less(sequence.cached, b.add(key, b.index(window))));
          Value element = cache.load(b, cache.readPlace(b, sequence.index, key),
                                     b.index(plane), layer,
                                     indexOf(b, headLoop), indexOf(b, 3));
          return b.select(seen, element, b.constant(f32, 0));
        });
  }

  /// element(whether a row sees a key); sizes: of sequences first, of rows and
  /// keys last.
  Value mask(ArrayRef<OpFoldResult> sizes,
             function_ref<Value(Emitter &, Value)> element) {
    unsigned rank = sizes.size();
    Type result = isIree ? Type(b.getI1Type()) : f32;
    return generic(
        b, {}, {}, emptyTensor(b, sizes, result), ArrayRef(d).take_front(rank),
        rank, [&](Emitter &b, ValueRange) -> Value {
          StepSequence sequence =
              stepSequence(b, op.getRowOffsets(), lengths, indexOf(b, 0));
          Value row = indexOf(b, rank - 2), key = indexOf(b, rank - 1);
          auto [first, end] = visibleKeys(
              b, op.getMask(), b.add(sequence.cached, row), sequence.length(b));
          return element(b,
                         b.both(b.lessOrEqual(first, key), b.less(key, end)));
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
  bool isIree;
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

Value kv::attendDensely(Emitter &b, AttentionOp op, DenseForm form) {
  return DenseAttention(b, op, form).run();
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
