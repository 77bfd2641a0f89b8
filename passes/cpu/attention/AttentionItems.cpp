//===- AttentionItems.cpp - How an attention's work is shared out ---------===//

#include "AttentionItems.h"

#include "kv/ABI/Context.h"
#include "kv/Definition/Plan.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace kv;

/// A tile is split if it has more than 1/kFewItems of all leaves: then there
/// are fewer than kFewItems items of about equal size.
constexpr int64_t kFewItems = 16;
/// With this number of leaves or more, pieces are leaf groups, otherwise
/// leaves.
constexpr int64_t kManyLeaves = 512;
/// Products of a query element and a key element, or a weight and a value, that
/// are worth handing to another thread: about 5 us.
constexpr int64_t kChunkProducts = 1 << 18;
constexpr int64_t kItemWidth = 7;

static Value ifElse(VectorEmitter &b, Value condition, Value a, int64_t other) {
  return b.select(condition, a, b.index(other));
}

SmallVector<Value> AttentionItems::forEachTile(VectorEmitter &b,
                                               ValueRange initial,
                                               TileBody body) const {
  Value group = b.index(shape.group), zero = b.index(0);
  Value numSequences = b.add(b.extent(operands.rowOffsets, 0), -1);
  return b.loop(
      zero, numSequences, 1, initial,
      [&](VectorEmitter &b, Value sequence, ValueRange carried) {
        Value first = b.loadIndex(operands.rowOffsets, sequence);
        Value end = b.loadIndex(operands.rowOffsets, b.add(sequence, 1));
        Value firstRow = b.mul(first, group), endRow = b.mul(end, group);
        return b.loop(
            firstRow, endRow, shape.tileRows, carried,
            [&](VectorEmitter &b, Value row, ValueRange carried) {
              Value count = b.sub(endRow, row);
              count = b.minimum(count, b.index(shape.tileRows));
              Value token = b.div(row, group);
              Value lastRow = b.add(b.add(row, count), -1);
              Value lastToken = b.div(lastRow, group);
              Value begin = b.loadIndex(operands.plan, {token, b.index(2)});
              Value last = b.loadIndex(operands.plan, {lastToken, b.index(3)});
              Value some = b.less(begin, last);
              Value keys = ifElse(b, some, b.sub(last, begin), 0);
              Value leaf = b.div(begin, b.index(plan::CpuLeaf));
              Value leafEnd = b.divideUp(last, plan::CpuLeaf);
              leaf = ifElse(b, some, leaf, 0);
              leafEnd = ifElse(b, some, leafEnd, 0);
              ItemTile tile{sequence, row, count, keys, leaf, leafEnd};
              return body(b, tile, carried);
            });
      });
}

/// The largest page id of the keys that the rows [first, end) of a sequence
/// see, or `largest`.
Value AttentionItems::largestPage(VectorEmitter &b, Value sequence, Value first,
                                  Value end, Value largest) const {
  int64_t size = shape.geometry.page;
  Value key = b.loadIndex(operands.plan, {first, b.index(2)});
  Value last = b.add(end, -1);
  Value endKey = b.loadIndex(operands.plan, {last, b.index(3)});
  Value entries = b.add(operands.lastEntry, 1);
  Value firstEntry = b.div(key, b.index(size));
  Value endEntry = b.minimum(b.divideUp(endKey, size), entries);
  return b
      .loop(firstEntry, endEntry, 1, largest,
            [&](VectorEmitter &b, Value entry,
                ValueRange carried) -> SmallVector<Value> {
              Value page = b.loadIndex(operands.table, {sequence, entry});
              return {b.maximum(carried.front(), page)};
            })
      .front();
}

/// Every page with a key that a row sees must exist: what does not is not read,
/// but the results are worth nothing.
void AttentionItems::checkPages(VectorEmitter &b) const {
  Value zero = b.index(0);
  Value numSequences = b.add(b.extent(operands.rowOffsets, 0), -1);
  Value largest =
      b.loop(zero, numSequences, 1, zero,
             [&](VectorEmitter &b, Value sequence,
                 ValueRange carried) -> SmallVector<Value> {
               Value first = b.loadIndex(operands.rowOffsets, sequence);
               Value end = b.loadIndex(operands.rowOffsets, b.add(sequence, 1));
               Value some = b.less(first, end);
               if (!shape.geometry.isPaged()) {
                 Value slot = b.loadIndex(operands.table, sequence);
                 slot = b.select(some, slot, zero);
                 return {b.maximum(carried.front(), slot)};
               }
               Value largest = carried.front();
               auto branch = scf::IfOp::create(
                   b, some,
                   [&](OpBuilder &nested, Location loc) {
                     VectorEmitter b(loc, nested);
                     scf::YieldOp::create(
                         b, largestPage(b, sequence, first, end, largest));
                   },
                   [&](OpBuilder &nested, Location loc) {
                     scf::YieldOp::create(nested, loc, largest);
                   });
               return {branch.getResult(0)};
             })
          .front();
  bool paged = shape.geometry.isPaged();
  AssertOp::create(b, b.lessOrEqual(largest, operands.lastPage),
                   KV_STATUS_OUT_OF_RANGE,
                   paged ? "attention: lookup_table names a page that the "
                           "cache does not have"
                         : "attention: lookup_table names a slot that the "
                           "cache does not have");
}

AttentionItems::AttentionItems(VectorEmitter &b, const AttentionShape &shape,
                               const AttentionOperands &operands)
    : shape(shape), operands(operands) {
  checkPages(b);
  Value zero = b.index(0);
  SmallVector<Value> totals =
      forEachTile(b, {zero, zero, zero, zero},
                  [&](VectorEmitter &b, const ItemTile &tile,
                      ValueRange carried) -> SmallVector<Value> {
                    Value tiles = b.add(carried[0], 1);
                    Value leaves =
                        b.add(carried[1], b.sub(tile.leafEnd, tile.leafBegin));
                    Value pairs = b.mul(tile.numRows, tile.keys);
                    Value rows = b.maximum(carried[3], tile.numRows);
                    return {tiles, leaves, b.add(carried[2], pairs), rows};
                  });
  Value numTiles = totals[0], numLeaves = totals[1];
  mostRows = totals[3];
  Value total = b.mul(numLeaves, b.index(shape.heads));
  Value one = b.index(1);
  Value limit = b.maximum(b.div(total, b.index(kFewItems)), one);
  Value isMany = b.lessOrEqual(b.index(kManyLeaves), total);
  Value pieceLeaves = ifElse(b, isMany, b.index(plan::LeavesPerGroup), 1);

  auto tableType =
      MemRefType::get({ShapedType::kDynamic, kItemWidth}, b.getIndexType());
  // Room for one item per leaf.
  items = memref::AllocOp::create(b, tableType,
                                  ValueRange{b.add(numTiles, numLeaves)});
  splits = memref::AllocOp::create(b, tableType, ValueRange{numTiles});

  SmallVector<Value> made = forEachTile(
      b, {zero, zero, zero},
      [&](VectorEmitter &b, const ItemTile &tile, ValueRange carried) {
        Value leaves = b.sub(tile.leafEnd, tile.leafBegin);
        Value isWhole = b.lessOrEqual(leaves, limit);
        AttentionItem whole{tile.sequence,  tile.firstRow, tile.numRows,
                            tile.leafBegin, tile.leafEnd,  b.index(-1),
                            pieceLeaves};
        auto branch = scf::IfOp::create(
            b, isWhole,
            [&](OpBuilder &nested, Location loc) {
              VectorEmitter b(loc, nested);
              write(b, items, carried[0], whole);
              Value next = b.add(carried[0], 1);
              scf::YieldOp::create(b, ValueRange{next, carried[1], carried[2]});
            },
            [&](OpBuilder &nested, Location loc) {
              VectorEmitter b(loc, nested);
              AttentionItem split = whole;
              split.slot = carried[2];
              write(b, splits, carried[1], split);
              Value pieces = numPieces(b, split);
              b.forEach(b.index(0), pieces, 1,
                        [&](VectorEmitter &b, Value number) {
                          AttentionItem piece = split;
                          piece.leafEnd = pieceEnd(b, split, number);
                          piece.leafBegin = pieceBegin(b, split, number);
                          piece.slot = b.add(split.slot, number);
                          write(b, items, b.add(carried[0], number), piece);
                        });
              Value next = b.add(carried[0], pieces);
              Value nextSplit = b.add(carried[1], 1);
              Value nextSlot = b.add(carried[2], pieces);
              scf::YieldOp::create(b, ValueRange{next, nextSplit, nextSlot});
            });
        return llvm::to_vector_of<Value>(branch.getResults());
      });
  numItems = made[0];
  numSplits = made[1];
  numSlots = made[2];

  // Items per thread: enough to have the products that are worth one.
  Value products =
      b.mul(totals[2], b.index(shape.heads * (shape.dim + shape.valueDim)));
  Value units = b.mul(numItems, b.index(shape.heads));
  Value wanted = b.mul(units, b.index(kChunkProducts));
  chunk = b.div(wanted, b.maximum(products, one));
  chunk = b.maximum(b.minimum(chunk, units), one);
}

Value AttentionItems::numPieces(VectorEmitter &b, const AttentionItem &split) {
  Value first = b.div(split.leafBegin, split.pieceLeaves);
  return b.sub(b.divideUp(split.leafEnd, split.pieceLeaves), first);
}

Value AttentionItems::pieceBegin(VectorEmitter &b, const AttentionItem &split,
                                 Value number) {
  Value first = b.div(split.leafBegin, split.pieceLeaves);
  Value begin = b.mul(b.add(first, number), split.pieceLeaves);
  return b.maximum(begin, split.leafBegin);
}

Value AttentionItems::pieceEnd(VectorEmitter &b, const AttentionItem &split,
                               Value number) {
  Value first = b.div(split.leafBegin, split.pieceLeaves);
  Value next = b.add(b.add(first, number), 1);
  return b.minimum(b.mul(next, split.pieceLeaves), split.leafEnd);
}

AttentionItem AttentionItems::read(VectorEmitter &b, Value table,
                                   Value number) {
  SmallVector<Value> facts;
  for (int64_t i = 0; i < kItemWidth; ++i)
    facts.push_back(b.loadScalar(table, {number, b.index(i)}));
  return {facts[0], facts[1], facts[2], facts[3], facts[4], facts[5], facts[6]};
}

void AttentionItems::write(VectorEmitter &b, Value table, Value number,
                           const AttentionItem &item) {
  Value facts[] = {item.sequence,   item.firstRow, item.numRows,
                   item.leafBegin,  item.leafEnd,  item.slot,
                   item.pieceLeaves};
  for (auto [i, fact] : llvm::enumerate(facts))
    b.storeScalar(fact, table, {number, b.index(static_cast<int64_t>(i))});
}
