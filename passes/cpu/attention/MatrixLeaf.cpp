//===- MatrixLeaf.cpp - A leaf of keys by a matrix unit -------------------===//
//
// The keys and values of a leaf are brought into tiles once for all rows. A
// row's result does not depend on the number of rows: one step for every 32
// elements of a head or 32 keys of the leaf, in order.
//
//===----------------------------------------------------------------------===//

#include "MatrixLeaf.h"

#include "LeafWeights.h"
#include "kv/Definition/Plan.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace kv;

constexpr int64_t kLeaf = plan::CpuLeaf;
constexpr int64_t kRows = MatrixUnit::tileRows, kDepth = MatrixUnit::tileDepth;
/// Rows that have scores and weights at a time: two tiles share what is loaded,
/// and scratch memory stays near the core.
constexpr int64_t kSomeRows = 2 * kRows;

MatrixLeaf::MatrixLeaf(VectorEmitter &b, const AttentionShape &shape,
                       const AttentionOperands &operands)
    : shape(shape), operands(operands), rowKeys(b, shape, operands),
      packed(b, shape, operands), unit(b),
      queries(b.stack({shape.tileRows, shape.dim / kDepth, kParts, kDepth},
                      b.getI16Type())),
      scores(b.stack({kSomeRows, kLeaf}, b.getF32Type())),
      weights(
          b.stack({kSomeRows, kLeaf / kDepth, kParts, kDepth}, b.getI16Type())),
      apart(b.stack({1}, b.getI1Type())) {}

void MatrixLeaf::enter(VectorEmitter &b, const QueryRows &tileRows) {
  rows = tileRows;
  rowKeys.enter(b, rows);
  // A NaN becomes one whose upper half is a NaN, too.
  Value noNumber = b.splat(NAN), factor = b.splat(dotFactor(operands));
  b.forEach(b.index(0), rows.count, 1, [&](VectorEmitter &b, Value row) {
    auto [token, head] = queryOf(b, shape, rows, row);
    b.forEach(b.index(0), b.index(shape.dim / kDepth), 1,
              [&, token = token, head = head](VectorEmitter &b, Value step) {
                Value d = b.mul(step, b.index(kDepth));
                SmallVector<Value> numbers;
                for (int64_t lane = 0; lane < kDepth; lane += kLanes) {
                  Value at[] = {token, head, b.add(d, lane)};
                  Value query = b.times(b.loadLanes(operands.q, at), factor);
                  Value isNumber = arith::CmpFOp::create(
                      b, arith::CmpFPredicate::ORD, query, query);
                  numbers.push_back(b.select(isNumber, query, noNumber));
                }
                storeParts(b, numbers, queries, row, step);
              });
  });
}

void MatrixLeaf::configure(VectorEmitter &b) {
  unit.configure(b, b.minimum(rows.count, b.index(kRows)));
}

/// The end of the rows that are computed with row `first`.
Value MatrixLeaf::endOf(VectorEmitter &b, Value first) {
  return b.minimum(b.add(first, kSomeRows), rows.count);
}

/// Builds `body` for one tile of rows, or two, as there are from `first` on.
void MatrixLeaf::forTiles(VectorEmitter &b, Value first,
                          function_ref<void(VectorEmitter &, int64_t)> body) {
  auto build = [&](int64_t tiles) {
    return [&body, tiles](OpBuilder &nested, Location loc) {
      VectorEmitter b(loc, nested);
      body(b, tiles);
      scf::YieldOp::create(b);
    };
  };
  Value left = b.sub(rows.count, first);
  scf::IfOp::create(b, b.lessOrEqual(left, b.index(kRows)), build(1), build(2));
}

/// Calls `body` with keys that are brought into tiles before they are
/// multiplied, and with the one that the first tile begins with.
void MatrixLeaf::forChunks(
    VectorEmitter &b,
    function_ref<void(VectorEmitter &, LeafKeys, Value)> body) {
  Value first = b.div(keys.first, chunk), end = b.divideUp(keys.end, chunk);
  b.forEach(first, end, 1, [&](VectorEmitter &b, Value number) {
    Value from = b.mul(number, chunk), to = b.add(from, chunk);
    body(b, {b.maximum(from, keys.first), b.minimum(to, keys.end)}, from);
  });
}

void MatrixLeaf::compute(VectorEmitter &b, Value leaf,
                         const PartialSoftmax &into) {
  start = b.mul(leaf, b.index(kLeaf));
  keys = rowKeys.ofTile(b, start);
  packed.find(b, rows, start, keys);
  differ = rowsDiffer(b);
  // One tile of rows takes keys and values as they come from memory, 32 at a
  // time, which stay in the first level; more of them take a leaf.
  Value few = b.lessOrEqual(rows.count, b.index(kRows));
  chunk = b.select(few, b.index(kDepth), b.index(kLeaf));
  chunk = b.select(differ, b.index(kLeaf), chunk);
  b.storeScalar(arith::ConstantIntOp::create(b, 0, 1), apart, b.index(0));
  configure(b);
  b.forEach(b.index(0), rows.count, kSomeRows,
            [&](VectorEmitter &b, Value first) {
              score(b, first);
              weigh(b, first, into);
              addValues(b, first, into);
            });
  MatrixUnit::release(b);
}

/// Whether some rows see keys of the leaf that others do not.
Value MatrixLeaf::rowsDiffer(VectorEmitter &b) {
  // Neither end falls from row to row.
  LeafKeys top = rowKeys.ofRow(b, b.index(0), start);
  LeafKeys bottom = rowKeys.ofRow(b, b.add(rows.count, -1), start);
  return arith::OrIOp::create(b, b.less(top.first, bottom.first),
                              b.less(top.end, bottom.end));
}

//===----------------------------------------------------------------------===//
// Scores, weights, values
//===----------------------------------------------------------------------===//

static Value isZero(VectorEmitter &b, Value index) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, index, b.index(0));
}

/// Which 32 keys have one of `keys`.
static TileRange stepsOf(VectorEmitter &b, LeafKeys keys) {
  return {b.div(keys.first, b.index(kDepth)), b.divideUp(keys.end, kDepth)};
}

void MatrixLeaf::score(VectorEmitter &b, Value first) {
  Value zero = b.index(0), isFirst = isZero(b, first);
  TileRange steps{zero, b.index(shape.dim / kDepth)};
  Value goesOn = arith::ConstantIntOp::create(b, 0, 1);
  forChunks(b, [&](VectorEmitter &b, LeafKeys some, Value base) {
    PartsProduct product{queries, packed.keys, scores,
                         b.div(base, b.index(kRows)), zero};
    b.when(isFirst, [&](VectorEmitter &b) { packed.packKeys(b, some, base); });
    auto [begin, end] = stepsOf(b, some);
    TileRange blocks{b.mul(begin, b.index(2)), b.mul(end, b.index(2))};
    forTiles(b, first, [&](VectorEmitter &b, int64_t tiles) {
      product.multiply(b, tiles, /*width=*/2, first, zero, blocks, steps,
                       goesOn);
    });
  });
}

void MatrixLeaf::weigh(VectorEmitter &b, Value first,
                       const PartialSoftmax &into) {
  LeafKeys all{b.roundDown(keys.first, kDepth), b.roundUp(keys.end, kDepth)};
  auto rowScores = [&](VectorEmitter &b, Value row) -> LeafRowScores {
    return {scores, b.sub(row, first), rowKeys.ofRow(b, row, start), all,
            kDepth};
  };
  b.forEach(first, endOf(b, first), 1, [&](VectorEmitter &b, Value row) {
    // Queries have the factor.
    Value maximum = scoreRow(b, operands, rowScores(b, row), /*factor=*/1);
    b.storeScalar(maximum, into.maxima, row);
  });
  b.forEach(first, endOf(b, first), 1, [&](VectorEmitter &b, Value row) {
    LeafRowScores own = rowScores(b, row);
    auto store = [&](VectorEmitter &b, Value key, ValueRange numbers) {
      storeParts(b, numbers, weights, own.row, b.div(key, b.index(kDepth)));
    };
    Value sum = weighRow(b, own, b.loadScalar(into.maxima, row), store);
    b.storeScalar(sum, into.sums, row);
  });
}

void MatrixLeaf::addValues(VectorEmitter &b, Value first,
                           const PartialSoftmax &into) {
  Value zero = b.index(0), isFirst = isZero(b, first);
  forChunks(b, [&](VectorEmitter &b, LeafKeys some, Value base) {
    b.when(isFirst,
           [&](VectorEmitter &b) { packed.packValues(b, some, base); });
    // A weight of 0 hides no value that is no number.
    b.when(b.both(isFirst, differ), [&](VectorEmitter &b) {
      b.storeScalar(packed.hasNonFinite(b, some, base), apart, zero);
    });
    Value goesOn = b.less(keys.first, some.first);
    forTiles(b, first, [&](VectorEmitter &b, int64_t tiles) {
      addProducts(b, tiles, zero, first, some, base, goesOn, into);
    });
  });
  b.when(b.loadScalar(apart, zero),
         [&](VectorEmitter &b) { addRowByRow(b, first, into); });
}

/// Each row with the values that it sees, and zeros.
void MatrixLeaf::addRowByRow(VectorEmitter &b, Value first,
                             const PartialSoftmax &into) {
  Value goesOn = arith::ConstantIntOp::create(b, 0, 1), base = b.index(0);
  unit.configure(b, b.index(1));
  b.forEach(first, endOf(b, first), 1, [&](VectorEmitter &b, Value row) {
    LeafKeys seen = rowKeys.ofRow(b, row, start);
    packed.packValues(b, seen, base);
    addProducts(b, /*tiles=*/1, b.sub(row, first), row, seen, base, goesOn,
                into);
  });
  packed.packValues(b, keys, base);
  configure(b);
}

/// into.values += weights * values of some keys, for tiles of rows.
void MatrixLeaf::addProducts(VectorEmitter &b, int64_t tiles, Value row,
                             Value outRow, LeafKeys some, Value base,
                             Value goesOn, const PartialSoftmax &into) {
  PartsProduct product{weights, packed.values, into.values, b.index(0),
                       b.div(base, b.index(kDepth))};
  // As many sums at a time as there are tiles for.
  int64_t blocks = shape.valueDim / kRows;
  int64_t width = tiles == 1 && blocks % 4 == 0 ? 4 : 2;
  product.multiply(b, tiles, width, row, outRow, {b.index(0), b.index(blocks)},
                   stepsOf(b, some), goesOn);
}
