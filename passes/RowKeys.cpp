//===- RowKeys.cpp - What the rows of a tile see --------------------------===//

#include "RowKeys.h"

#include "../kernels/plan/Plan.h"

using namespace mlir;
using namespace kv;

RowKeys::RowKeys(VectorEmitter &b, const AttentionShape &shape,
                 const AttentionOperands &operands)
    : shape(shape), operands(operands),
      firstKeys(b.stack({shape.tileRows}, b.getIndexType())),
      endKeys(b.stack({shape.tileRows}, b.getIndexType())) {}

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
  b.forEach(b.index(0), rows.count, 1, [&](VectorEmitter &b, Value row) {
    Value token = queryOf(b, shape, rows, row).token;
    Value ownFirst = b.maximum(fact(b, token, first), firstKey);
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
