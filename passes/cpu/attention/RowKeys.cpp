//===- RowKeys.cpp - What the rows of a tile see --------------------------===//

#include "RowKeys.h"

#include "kv/ABI/Trees.h"
#include "kv/Definition/Plan.h"

using namespace mlir;
using namespace kv;

RowKeys::RowKeys(VectorEmitter &b, const AttentionShape &shape,
                 const AttentionOperands &operands)
    : shape(shape), operands(operands),
      firstKeys(b.stack({shape.tileRows}, b.getIndexType())),
      endKeys(b.stack({shape.tileRows}, b.getIndexType())) {
  if (operands.ancestors)
    paths = b.stack({shape.tileRows}, b.getI64Type());
}

/// The keys that a row of the tile's sequence sees.
TreeKeys RowKeys::inTree(VectorEmitter &b, Value token) const {
  Value word = b.loadScalar(operands.ancestors, token);
  return treeKeys(b, operands.mask, placeInTree(b, sequence, token, word));
}

void RowKeys::enter(VectorEmitter &b, const QueryRows &rows) {
  Value first = b.index(2), end = b.index(3);
  auto fact = [&](VectorEmitter &b, Value token, Value column) {
    return b.loadIndex(operands.plan, {token, column});
  };
  // Neither end of what a row sees falls from row to row. The rows are held to
  // it: a plan is a tensor, and no place must be read that is not looked up.
  Value firstToken = b.div(rows.first, b.index(shape.group));
  Value last = b.add(b.add(rows.first, rows.count), -1);
  Value lastToken = b.div(last, b.index(shape.group));
  firstKey = fact(b, firstToken, first);
  endKey = fact(b, lastToken, end);
  if (operands.ancestors) {
    auto offset = [&](Value at) {
      return b.loadIndex(operands.rowOffsets, at);
    };
    Value first = offset(rows.sequence);
    sequence = {rows.sequence, first, offset(b.add(rows.sequence, 1)),
                b.loadIndex(operands.cacheLengths, rows.sequence)};
  }
  b.forEach(b.index(0), rows.count, 1, [&](VectorEmitter &b, Value row) {
    Value token = queryOf(b, shape, rows, row).token;
    Value ownFirst = fact(b, token, first);
    if (operands.ancestors) {
      TreeKeys keys = inTree(b, token);
      ownFirst = keys.first;
      b.storeScalar(keys.path, paths, row);
    }
    ownFirst = b.maximum(ownFirst, firstKey);
    Value ownEnd = b.minimum(fact(b, token, end), endKey);
    b.storeScalar(ownFirst, firstKeys, row);
    b.storeScalar(ownEnd, endKeys, row);
  });
}

/// The keys [first, end) of a sequence in the leaf that begins at `start`.
static LeafKeys inLeaf(VectorEmitter &b, Value first, Value end, Value start) {
  Value from = b.clamp(b.sub(first, start), 0, plan::CpuLeaf);
  return {from, b.clamp(b.sub(end, start), 0, plan::CpuLeaf)};
}

LeafKeys RowKeys::ofTile(VectorEmitter &b, Value start) const {
  return inLeaf(b, firstKey, endKey, start);
}

LeafKeys RowKeys::ofRow(VectorEmitter &b, Value row, Value start) const {
  return inLeaf(b, b.loadScalar(firstKeys, row), b.loadScalar(endKeys, row),
                start);
}

LeafPath RowKeys::pathOfRow(VectorEmitter &b, Value row, Value start) const {
  if (!operands.ancestors)
    return {};
  Value base = treeBase(b, sequence);
  Value path = b.loadScalar(paths, row);
  // A leaf may begin within the tree. A leaf far after the tree has none of the
  // tree's keys.
  Value skipped = b.clamp(b.sub(start, base), 0, KV_TREE_ROWS - 1);
  Value shift = arith::IndexCastUIOp::create(b, b.getI64Type(), skipped);
  return {b.clamp(b.sub(base, start), 0, plan::CpuLeaf),
          arith::ShRUIOp::create(b, path, shift)};
}
