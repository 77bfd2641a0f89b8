//===- VectorizeAttention.cpp - kv.attention as vector code ---------------===//
//
// Two parallel loops: over the items (AttentionItems.h), and over the tiles
// that were split. The query heads of a KV head, and the rows of several
// tokens, share each key and each value (AttentionLeaf.h). Leaves are folded
// into leaf groups, and leaf groups into the total, from left to right, on
// whatever thread a leaf was computed.
//
//===----------------------------------------------------------------------===//

#include "VectorizeAttention.h"

#include "AttentionItems.h"
#include "AttentionLeaf.h"
#include "MatrixLeaf.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/common/CacheAccess.h"
#include "passes/common/KernelLoops.h"

using namespace mlir;
using namespace kv;

namespace {
/// `Leaf` is AttentionLeaf or MatrixLeaf.
template <typename Leaf> class AttentionBuilder {
public:
  AttentionBuilder(VectorEmitter &b, AttentionOp op,
                   const AttentionShape &shape)
      : loc(op.getLoc()), shape(shape), operands(b, op) {
    operands.layer = checkedLayer(b, operands.layer, shape.type);
  }

  void build(VectorEmitter &b) {
    AttentionItems items(b, shape, operands);
    Value heads = b.index(shape.heads);
    Value slots = b.mul(items.numSlots, heads);
    Type f32 = b.getF32Type();
    constexpr int64_t dynamic = ShapedType::kDynamic;
    auto alloc = [&](ArrayRef<int64_t> dims, ValueRange sizes) -> Value {
      return memref::AllocOp::create(b, MemRefType::get(dims, f32), sizes);
    };
    pieces.maxima = alloc({dynamic, shape.paddedRows}, slots);
    pieces.sums = alloc({dynamic, shape.paddedRows}, slots);
    pieces.values = alloc({dynamic, dynamic, shape.paddedValueDim},
                          {slots, items.mostRows});

    Value units = b.mul(items.numItems, heads);
    Value chunks = b.divideUp(units, items.chunk);
    buildForall(b, loc, chunks, /*grain=*/1,
                [&](OpBuilder &nested, Value chunk) {
                  VectorEmitter b(loc, nested);
                  Scratch scratch(b, *this);
                  Value first = b.mul(chunk, items.chunk);
                  Value end = b.minimum(b.add(first, items.chunk), units);
                  // The tiles of a head one after the other: they use the
                  // same keys and values.
                  b.forEach(first, end, 1, [&](VectorEmitter &b, Value unit) {
                    Value head = b.div(unit, items.numItems);
                    Value number = b.rem(unit, items.numItems);
                    computeItem(b, items.item(b, number), head, scratch);
                  });
                });
    buildForall(b, loc, b.mul(items.numSplits, heads), /*grain=*/1,
                [&](OpBuilder &nested, Value unit) {
                  VectorEmitter b(loc, nested);
                  AttentionItem split = items.split(b, b.div(unit, heads));
                  mergeSplit(b, split, b.rem(unit, heads));
                });
  }

private:
  /// A thread's memory for one item at a time.
  struct Scratch {
    Scratch(VectorEmitter &b, const AttentionBuilder &builder)
        : leaf(b, builder.shape, builder.operands), fold(b, builder.shape),
          one(fold.allocate(b)), group(fold.allocate(b)),
          total(fold.allocate(b)) {}

    Leaf leaf;
    AttentionFold fold;
    PartialSoftmax one, group, total;
  };

  /// The piece at `slot`, of one KV head.
  PartialSoftmax pieceAt(VectorEmitter &b, Value slot, Value head) {
    Value index = b.add(b.mul(slot, b.index(shape.heads)), head);
    auto at = [&](Value buffer) -> Value {
      auto type = cast<MemRefType>(buffer.getType());
      SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)),
          sizes, strides(type.getRank(), b.getIndexAttr(1));
      offsets[0] = index;
      sizes.push_back(b.getIndexAttr(1));
      for (int64_t i = 1; i < type.getRank(); ++i)
        sizes.push_back(memref::getMixedSize(b, b.getLoc(), buffer, i));
      auto reduced = memref::SubViewOp::inferRankReducedResultType(
          type.getShape().drop_front(), type, offsets, sizes, strides);
      return memref::SubViewOp::create(b, cast<MemRefType>(reduced), buffer,
                                       offsets, sizes, strides);
    };
    Value maxima = at(pieces.maxima), sums = at(pieces.sums);
    return {maxima, sums, at(pieces.values)};
  }

  void computeItem(VectorEmitter &b, const AttentionItem &item, Value head,
                   Scratch &scratch) {
    auto &[leaf, fold, one, group, total] = scratch;
    QueryRows rows{item.firstRow, item.numRows, item.sequence, head};
    leaf.enter(b, rows);
    for (const PartialSoftmax &each : {one, group, total})
      fold.clear(b, each, rows.count);
    b.forEach(item.leafBegin, item.leafEnd, 1,
              [&](VectorEmitter &b, Value number) {
                leaf.compute(b, number, one);
                fold.foldPiece(b, total, group, one, b.add(number, 1),
                               item.leafEnd, rows.count);
              });
    Value isWhole = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                          item.slot, b.index(-1));
    b.when(isWhole, [&](VectorEmitter &b) {
      finishRows(b, shape, rows, total, operands.sinks, operands.out,
                 operands.lse);
    });
    Value isPiece = arith::CmpIOp::create(b, arith::CmpIPredicate::ne,
                                          item.slot, b.index(-1));
    b.when(isPiece, [&](VectorEmitter &b) {
      PartialSoftmax piece = pieceAt(b, item.slot, head);
      // Folding into nothing is a copy.
      fold.clear(b, piece, rows.count);
      fold.fold(b, piece, total, rows.count);
    });
  }

  void mergeSplit(VectorEmitter &b, const AttentionItem &split, Value head) {
    AttentionFold fold(b, shape);
    PartialSoftmax group = fold.allocate(b), total = fold.allocate(b);
    QueryRows rows{split.firstRow, split.numRows, split.sequence, head};
    for (const PartialSoftmax &each : {group, total})
      fold.clear(b, each, rows.count);
    Value count = AttentionItems::numPieces(b, split);
    b.forEach(b.index(0), count, 1, [&](VectorEmitter &b, Value number) {
      Value end = AttentionItems::pieceEnd(b, split, number);
      PartialSoftmax piece = pieceAt(b, b.add(split.slot, number), head);
      fold.foldPiece(b, total, group, piece, end, split.leafEnd, rows.count);
    });
    finishRows(b, shape, rows, total, operands.sinks, operands.out,
               operands.lse);
  }

  Location loc;
  const AttentionShape &shape;
  AttentionOperands operands;
  PartialSoftmax pieces; // [slot * heads + head, ...]
};
} // namespace

LogicalResult kv::vectorizeAttention(RewriterBase &rewriter, AttentionOp op,
                                     bool wide, bool matrix) {
  if (std::optional<std::string> why = whyNotVectorized(op))
    return op.emitOpError("has the kernel 'vector', but ") << *why;
  VectorEmitter b(op.getLoc(), rewriter);
  AttentionShape shape(op, wide, matrix);
  if (shape.usesMatrixUnit)
    AttentionBuilder<MatrixLeaf>(b, op, shape).build(b);
  else
    AttentionBuilder<AttentionLeaf>(b, op, shape).build(b);
  rewriter.eraseOp(op);
  return success();
}
