//===- AttentionLeaf.cpp - Attention over one leaf of keys ----------------===//
//
// A leaf is a plain softmax: all scores, their maximum, the weights, and the
// sums of weighted values. No bit of a row depends on the other rows of its
// tile: keys that it does not see have no part in its sums, whatever they hold.
//
//===----------------------------------------------------------------------===//

#include "AttentionLeaf.h"

#include "LeafWeights.h"
#include "kv/Definition/Plan.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace kv;

constexpr int64_t kLeaf = plan::CpuLeaf;

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

AttentionLeaf::AttentionLeaf(VectorEmitter &b, const AttentionShape &shape,
                             const AttentionOperands &operands)
    : shape(shape), operands(operands), rowKeys(b, shape, operands),
      leafRows(b, shape, operands) {
  Type f32 = b.getF32Type();
  queries = b.stack({shape.tileRows, shape.paddedDim}, f32);
  scores = b.stack({shape.tileRows, kLeaf}, f32);
}

void AttentionLeaf::enter(VectorEmitter &b, const QueryRows &tileRows) {
  rows = tileRows;
  rowKeys.enter(b, rows);
  b.forEach(b.index(0), rows.count, 1, [&](VectorEmitter &b, Value row) {
    auto [token, head] = queryOf(b, shape, rows, row);
    auto load = [&, token = token, head = head](VectorEmitter &b, Value d,
                                                int64_t count) {
      Value query = b.loadLanes(operands.q, {token, head, d}, count);
      b.storeLanes(query, queries, {row, d});
    };
    int64_t whole = shape.dim / kLanes * kLanes;
    b.forEach(b.index(0), b.index(whole), kLanes,
              [&](VectorEmitter &b, Value d) { load(b, d, kLanes); });
    if (whole < shape.dim)
      load(b, b.index(whole), shape.dim - whole);
  });
}

void AttentionLeaf::compute(VectorEmitter &b, Value leaf,
                            const PartialSoftmax &into) {
  start = b.mul(leaf, b.index(kLeaf));
  LeafKeys keys = rowKeys.ofTile(b, start);
  leafRows.find(b, rows, start, keys);
  whereRowsAre(
      b, [&](VectorEmitter &b, bool widened) { score(b, keys, widened); });
  weigh(b, into);
  whereRowsAre(b, [&](VectorEmitter &b, bool widened) {
    addValues(b, into, keys, widened);
  });
}

/// Builds `body` for rows of the cache and, where the tile has more rows than
/// one register tile, for rows that are widened once for all of them.
void AttentionLeaf::whereRowsAre(
    VectorEmitter &b, function_ref<void(VectorEmitter &, bool)> body) {
  if (!shape.widens())
    return body(b, /*widened=*/false);
  Value few =
      b.lessOrEqual(rows.count, b.index(shape.registerTiles.front().rows));
  scf::IfOp::create(
      b, few,
      [&](OpBuilder &nested, Location loc) {
        VectorEmitter b(loc, nested);
        body(b, /*widened=*/false);
        scf::YieldOp::create(b);
      },
      [&](OpBuilder &nested, Location loc) {
        VectorEmitter b(loc, nested);
        body(b, /*widened=*/true);
        scf::YieldOp::create(b);
      });
}

//===----------------------------------------------------------------------===//
// Scores, weights, values
//===----------------------------------------------------------------------===//

/// Calls `body` with each register tile's first row: as many of the largest as
/// there are rows for, then of the next.
void AttentionLeaf::forRegisterTiles(
    VectorEmitter &b,
    function_ref<void(VectorEmitter &, Value, const RegisterTile &)> body) {
  Value done = b.index(0);
  for (const RegisterTile &tile : shape.registerTiles) {
    Value left = b.roundDown(b.sub(rows.count, done), tile.rows);
    Value end = b.add(done, left);
    b.forEach(done, end, tile.rows,
              [&](VectorEmitter &b, Value row) { body(b, row, tile); });
    done = end;
  }
}

/// scores[r][key] = q . k, without the scale. All rows take some keys before
/// the next ones, which then stay in the innermost cache.
void AttentionLeaf::score(VectorEmitter &b, LeafKeys keys, bool widened) {
  Value first = b.roundDown(keys.first, kLanes);
  Value end = b.roundUp(keys.end, kLanes);
  b.forEach(first, end, kKeyBlock, [&](VectorEmitter &b, Value block) {
    LeafKeys inBlock{block, b.minimum(b.add(block, kKeyBlock), end)};
    RowSource source{/*plane=*/0, Value()};
    if (widened)
      source = leafRows.widen(b, inBlock, source.plane);
    forRegisterTiles(
        b, [&](VectorEmitter &b, Value row, const RegisterTile &tile) {
          b.forEach(inBlock.first, inBlock.end, tile.keys,
                    [&](VectorEmitter &b, Value key) {
                      if (!widened)
                        for (int64_t j = 0; j < tile.keys; ++j)
                          leafRows.ask(b, source.plane, b.add(key, j));
                      scoreTile(b, row, key, tile, source);
                    });
        });
  });
}

/// Each lane sums every 16th product of a row and a key with d ascending, and
/// lanes are summed in the one order that sumLanes() has.
void AttentionLeaf::scoreTile(VectorEmitter &b, Value row, Value key,
                              const RegisterTile &tile,
                              const RowSource &source) {
  SmallVector<LeafRow> keyRows;
  SmallVector<Value> rowIndices;
  for (int64_t j = 0; j < tile.keys; ++j)
    keyRows.push_back(leafRows.row(b, source, b.add(key, j)));
  for (int64_t i = 0; i < tile.rows; ++i)
    rowIndices.push_back(b.add(row, i));
  // The products of `count` elements from lane `lane` on.
  auto step = [&](VectorEmitter &b, Value d, int64_t lane, int64_t count,
                  SmallVectorImpl<Value> &sums) {
    int64_t lanes = shape.registerLanes;
    SmallVector<Value> keys;
    for (const LeafRow &keyRow : keyRows)
      keys.push_back(
          leafRows.load(b, source, keyRow, b.add(d, lane), count, lanes));
    for (auto [i, rowIndex] : llvm::enumerate(rowIndices)) {
      Value query =
          b.loadLanes(queries, {rowIndex, b.add(d, lane)}, lanes, lanes);
      for (auto [j, keyVector] : llvm::enumerate(keys)) {
        Value &sum = sums[i * keys.size() + j];
        sum = b.fma(query, keyVector, sum);
      }
    }
  };
  // Some lanes of all products at a time, as many as a register has.
  auto sumFrom = [&](int64_t lane) {
    SmallVector<Value> sums(tile.rows * tile.keys,
                            b.zeros(shape.registerLanes));
    int64_t whole = shape.dim / kLanes * kLanes;
    sums = b.innerLoop(b.index(0), b.index(whole), kLanes, sums,
                       [&](VectorEmitter &b, Value d, ValueRange carried) {
                         SmallVector<Value> next(carried);
                         step(b, d, lane, shape.registerLanes, next);
                         return next;
                       });
    int64_t rest = std::min(shape.dim - whole - lane, shape.registerLanes);
    if (rest > 0)
      step(b, b.index(whole), lane, rest, sums);
    return sums;
  };
  SmallVector<Value> sums = sumFrom(0);
  if (shape.registerLanes < kLanes)
    for (auto [lower, upper] : llvm::zip_equal(sums, sumFrom(kLanes / 2)))
      lower = b.plus(lower, upper);
  // Whole rows of keys at a time.
  int64_t some = shape.registerLanes / tile.keys;
  for (int64_t i = 0; i < tile.rows; i += some) {
    while (i + some > tile.rows)
      some /= 2;
    Value dots =
        b.sumLanes(ArrayRef(sums).slice(i * tile.keys, some * tile.keys));
    for (int64_t k = 0; k < some; ++k)
      b.storeLanes(b.slice(dots, k * tile.keys, tile.keys), scores,
                   {rowIndices[i + k], key}, tile.keys);
  }
}

void AttentionLeaf::weigh(VectorEmitter &b, const PartialSoftmax &into) {
  auto rowScores = [&](VectorEmitter &b, Value row) -> LeafRowScores {
    LeafKeys seen = rowKeys.ofRow(b, row, start);
    LeafKeys all{b.roundDown(seen.first, kLanes), b.roundUp(seen.end, kLanes)};
    return {scores, row, seen, all, kLanes, rowKeys.pathOfRow(b, row, start)};
  };
  b.forEach(b.index(0), rows.count, 1, [&](VectorEmitter &b, Value row) {
    Value maximum =
        scoreRow(b, operands, rowScores(b, row), dotFactor(operands));
    b.storeScalar(maximum, into.maxima, row);
  });
  b.forEach(b.index(0), rows.count, 1, [&](VectorEmitter &b, Value row) {
    auto store = [&](VectorEmitter &b, Value key, ValueRange weights) {
      b.storeLanes(weights.front(), scores, {row, key});
    };
    Value maximum = b.loadScalar(into.maxima, row);
    Value sum = weighRow(b, rowScores(b, row), maximum, store);
    b.storeScalar(sum, into.sums, row);
  });
}

/// Values of keys that all rows of a register tile see are added for all rows
/// at once. Values before and after are added row by row, and those of a tree
/// key by key.
void AttentionLeaf::addValues(VectorEmitter &b, const PartialSoftmax &into,
                              LeafKeys keys, bool widened) {
  b.forEach(b.index(0), rows.count, 1, [&](VectorEmitter &b, Value row) {
    for (int64_t d = 0; d < shape.paddedValueDim; d += kLanes)
      b.storeLanes(b.splat(0.0), into.values, {row, b.index(d)});
  });
  b.forEach(
      keys.first, keys.end, kKeyBlock, [&](VectorEmitter &b, Value block) {
        LeafKeys inBlock{block, b.minimum(b.add(block, kKeyBlock), keys.end)};
        // A latent row is its own value.
        RowSource source{shape.geometry.isLatent() ? 0 : 1, Value()};
        if (widened)
          source = leafRows.widen(b, inBlock, source.plane);
        forRegisterTiles(
            b, [&](VectorEmitter &b, Value row, const RegisterTile &tile) {
              addValues(b, into, source, row, tile, inBlock);
            });
      });
}

void AttentionLeaf::addValues(VectorEmitter &b, const PartialSoftmax &into,
                              const RowSource &source, Value row,
                              const RegisterTile &tile, LeafKeys block) {
  auto keysIn = [&](VectorEmitter &b, Value row) -> LeafKeys {
    LeafKeys keys = rowKeys.ofRow(b, row, start);
    Value first = b.maximum(keys.first, block.first);
    return {first, b.minimum(keys.end, block.end)};
  };
  LeafKeys common = keysIn(b, row), any = common;
  for (int64_t i = 1; i < tile.rows; ++i) {
    LeafKeys keys = keysIn(b, b.add(row, i));
    any.first = b.minimum(any.first, keys.first);
    any.end = b.maximum(any.end, keys.end);
    common.first = b.maximum(common.first, keys.first);
    common.end = b.minimum(common.end, keys.end);
  }
  bool hasTree = static_cast<bool>(operands.ancestors);
  // Where a tree begins is the same for all rows.
  if (hasTree)
    common.end = b.minimum(common.end, rowKeys.pathOfRow(b, row, start).first);
  auto addRow = [&](VectorEmitter &b, Value row, LeafKeys keys) {
    addProducts(b, into, source, row, shape.registerTiles.back(), keys);
  };
  auto rowByRow = [&](VectorEmitter &b, Value first, Value end) {
    b.forEach(row, b.add(row, tile.rows), 1, [&](VectorEmitter &b, Value row) {
      LeafKeys keys = keysIn(b, row);
      keys.first = b.maximum(keys.first, first);
      keys.end = b.minimum(keys.end, end);
      if (!hasTree)
        return addRow(b, row, keys);
      LeafPath path = rowKeys.pathOfRow(b, row, start);
      addRow(b, row, {keys.first, b.minimum(keys.end, path.first)});
      Value begin = b.maximum(keys.first, path.first);
      b.forEach(begin, keys.end, 1, [&](VectorEmitter &b, Value key) {
        Value sees = isOnPath(b, path.path, b.sub(key, path.first));
        b.when(sees,
               [&](VectorEmitter &b) { addRow(b, row, {key, b.add(key, 1)}); });
      });
    });
  };
  if (tile.rows > 1)
    b.when(b.less(any.first, common.first),
           [&](VectorEmitter &b) { rowByRow(b, block.first, common.first); });
  addProducts(b, into, source, row, tile, common);
  if (tile.rows > 1 || hasTree) {
    Value after = b.maximum(common.first, common.end);
    b.when(b.less(after, any.end),
           [&](VectorEmitter &b) { rowByRow(b, after, block.end); });
  }
}

/// into.values[r] += weight * value, keys ascending, for the rows of one
/// register tile.
void AttentionLeaf::addProducts(VectorEmitter &b, const PartialSoftmax &into,
                                const RowSource &source, Value row,
                                const RegisterTile &tile, LeafKeys keys) {
  int64_t vectors = shape.paddedValueDim / kLanes;
  int64_t blocks = llvm::divideCeil(vectors, tile.values);
  SmallVector<Value> rowIndices;
  for (int64_t i = 0; i < tile.rows; ++i)
    rowIndices.push_back(b.add(row, i));
  auto addBlock = [&](VectorEmitter &b, int64_t first, int64_t width) {
    auto countOf = [&](int64_t j) {
      return std::min(kLanes, shape.valueDim - (first + j) * kLanes);
    };
    SmallVector<Value> sums;
    for (Value rowIndex : rowIndices)
      for (int64_t j = 0; j < width; ++j)
        sums.push_back(b.loadLanes(into.values,
                                   {rowIndex, b.index((first + j) * kLanes)}));
    sums = b.innerLoop(
        keys.first, keys.end, 1, sums,
        [&](VectorEmitter &b, Value key, ValueRange carried) {
          SmallVector<Value> next(carried), values;
          // The other vectors of a row have been asked for with its first.
          if (!source.block && first == 0)
            leafRows.ask(b, source.plane, key);
          LeafRow valueRow = leafRows.row(b, source, key);
          for (int64_t j = 0; j < width; ++j)
            values.push_back(leafRows.load(b, source, valueRow,
                                           b.index((first + j) * kLanes),
                                           countOf(j)));
          for (auto [i, rowIndex] : llvm::enumerate(rowIndices)) {
            Value weight = b.splat(b.loadScalar(scores, {rowIndex, key}));
            for (int64_t j = 0; j < width; ++j) {
              Value &sum = next[i * width + j];
              sum = b.fma(weight, values[j], sum);
            }
          }
          return next;
        });
    for (auto [i, rowIndex] : llvm::enumerate(rowIndices))
      for (int64_t j = 0; j < width; ++j)
        b.storeLanes(sums[i * width + j], into.values,
                     {rowIndex, b.index((first + j) * kLanes)});
  };
  Value some = b.less(keys.first, keys.end);
  b.when(some, [&](VectorEmitter &b) {
    for (int64_t block = 0; block < blocks; ++block) {
      int64_t first = vectors * block / blocks;
      addBlock(b, first, vectors * (block + 1) / blocks - first);
    }
  });
}
