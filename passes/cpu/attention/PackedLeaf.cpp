//===- PackedLeaf.cpp - A leaf as a matrix unit's weights -----------------===//

#include "PackedLeaf.h"

#include "kv/Definition/Plan.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/common/KernelLoops.h"

using namespace mlir;
using namespace kv;

constexpr int64_t kLeaf = plan::CpuLeaf;
constexpr int64_t kRows = MatrixUnit::tileRows, kDepth = MatrixUnit::tileDepth;
/// Bytes of a row of a tile.
constexpr int64_t kLine = 64;

PackedLeaf::PackedLeaf(VectorEmitter &b, const AttentionShape &shape,
                       const AttentionOperands &operands)
    : keys(b.stack({kLeaf / kRows, shape.dim / kDepth, kRows, kDepth},
                   b.getI16Type())),
      values(b.stack({shape.valueDim / kRows, kLeaf / kDepth, kRows, kDepth},
                     b.getI16Type())),
      shape(shape), operands(operands), leafRows(b, shape, operands) {}

/// Transposes groups of four lanes: lane j of row i becomes lane i of row j.
static void transposeGroups(VectorEmitter &b, MutableArrayRef<Value> rows) {
  // Squares of `size` change places with their mirror images.
  for (int64_t size = 1; size < 4; size *= 2) {
    SmallVector<int64_t> upper, lower;
    for (int64_t lane = 0; lane < kRows; ++lane) {
      bool right = lane & size;
      upper.push_back(right ? kRows + lane - size : lane);
      lower.push_back(right ? kRows + lane : lane + size);
    }
    for (int64_t i = 0; i < 4; ++i) {
      if (i & size)
        continue;
      Value above = rows[i], below = rows[i + size];
      rows[i] = vector::ShuffleOp::create(b, above, below, upper);
      rows[i + size] = vector::ShuffleOp::create(b, above, below, lower);
    }
  }
}

void PackedLeaf::packKeys(VectorEmitter &b, LeafKeys range, Value base) {
  // Groups of four pairs of elements of one key are loaded side by side, those
  // of every fourth key in one vector.
  auto numbers = VectorType::get({8}, b.getBF16Type());
  auto group = VectorType::get({4}, b.getI32Type());
  auto pairs = VectorType::get({kRows}, b.getI32Type());
  auto line = VectorType::get({kDepth}, b.getI16Type());
  Value none = arith::ConstantOp::create(b, b.getZeroAttr(pairs));
  auto loadGroups = [&](VectorEmitter &b, ArrayRef<LeafRow> rows, Value d) {
    Value all = none;
    for (auto [i, row] : llvm::enumerate(rows)) {
      Value loaded = vector::LoadOp::create(
          b, numbers, operands.blocks.elements, b.add(row.place, d));
      all = vector::InsertStridedSliceOp::create(
          b, vector::BitCastOp::create(b, group, loaded), all,
          ArrayRef<int64_t>{static_cast<int64_t>(4 * i)}, ArrayRef<int64_t>{1});
    }
    return all;
  };
  b.forEach(
      b.roundDown(range.first, kRows), b.roundUp(range.end, kRows), kRows,
      [&](VectorEmitter &b, Value block) {
        // In the order of vectors: 0, 4, 8, 12; 1, 5, ...
        SmallVector<LeafRow> rows, ahead;
        for (int64_t i = 0; i < kRows; ++i) {
          Value key = b.add(block, i % 4 * 4 + i / 4);
          rows.push_back(leafRows.row(b, {/*plane=*/0, Value()}, key));
          ahead.push_back(leafRows.rowAhead(b, /*plane=*/0, key));
        }
        Value number = b.div(b.sub(block, base), b.index(kRows));
        b.forEach(
            b.index(0), b.index(shape.dim / kDepth), 1,
            [&](VectorEmitter &b, Value step) {
              Value d = b.mul(step, b.index(kDepth));
              for (const LeafRow &row : ahead)
                prefetch(b, b.getLoc(), operands.blocks.elements,
                         b.add(row.place, d), /*ahead=*/0, kLine);
              for (int64_t pair = 0; pair < kRows; pair += 4) {
                SmallVector<Value> lines;
                for (int64_t i = 0; i < 4; ++i)
                  lines.push_back(loadGroups(b, ArrayRef(rows).slice(4 * i, 4),
                                             b.add(d, 2 * pair)));
                transposeGroups(b, lines);
                for (int64_t i = 0; i < 4; ++i) {
                  Value at[] = {number, step, b.index(pair + i), b.index(0)};
                  vector::StoreOp::create(
                      b, vector::BitCastOp::create(b, line, lines[i]), keys,
                      at);
                }
              }
            });
      });
}

/// The pair of values of `key`, which is even, and the one after it.
void PackedLeaf::packPair(
    VectorEmitter &b, Value key, Value base,
    function_ref<Value(VectorEmitter &, Value, Value)> load) {
  Value step = b.div(b.sub(key, base), b.index(kDepth));
  Value pair = b.div(b.rem(key, b.index(kDepth)), b.index(2));
  Value next = b.add(key, 1);
  for (int64_t d = 0; d < shape.valueDim; d += kDepth) {
    Value even = load(b, key, b.index(d)), odd = load(b, next, b.index(d));
    for (int64_t half = 0; half < 2; ++half) {
      SmallVector<int64_t> mixed;
      for (int64_t lane = half * kRows; lane < (half + 1) * kRows; ++lane)
        mixed.append({lane, lane + kDepth});
      Value at[] = {b.index(d / kRows + half), step, pair, b.index(0)};
      vector::StoreOp::create(b, vector::ShuffleOp::create(b, even, odd, mixed),
                              values, at);
    }
  }
}

void PackedLeaf::packValues(VectorEmitter &b, LeafKeys range, Value base) {
  auto numbers = VectorType::get({kDepth}, b.getBF16Type());
  auto line = VectorType::get({kDepth}, b.getI16Type());
  auto load = [&](VectorEmitter &b, Value key, Value d) -> Value {
    LeafRow row = leafRows.row(b, {/*plane=*/1, Value()}, key);
    Value loaded = vector::LoadOp::create(b, numbers, operands.blocks.elements,
                                          b.add(row.place, d));
    return vector::BitCastOp::create(b, line, loaded);
  };
  // Where a key is not to be seen its place may not be known.
  auto loadSeen = [&](VectorEmitter &b, Value key, Value d) -> Value {
    Value isSeen =
        b.both(b.lessOrEqual(range.first, key), b.less(key, range.end));
    Value loaded = load(b, b.select(isSeen, key, range.first), d);
    Value zero = arith::ConstantOp::create(b, b.getZeroAttr(line));
    return b.select(isSeen, loaded, zero);
  };
  b.forEach(b.roundDown(range.first, kDepth), b.roundUp(range.end, kDepth), 2,
            [&](VectorEmitter &b, Value key) {
              Value bothSeen = b.both(b.lessOrEqual(range.first, key),
                                      b.less(b.add(key, 1), range.end));
              scf::IfOp::create(
                  b, bothSeen,
                  [&](OpBuilder &nested, Location loc) {
                    VectorEmitter b(loc, nested);
                    for (int64_t i = 0; i < 2; ++i)
                      leafRows.ask(b, /*plane=*/1, b.add(key, i));
                    packPair(b, key, base, load);
                    scf::YieldOp::create(b);
                  },
                  [&](OpBuilder &nested, Location loc) {
                    VectorEmitter b(loc, nested);
                    packPair(b, key, base, loadSeen);
                    scf::YieldOp::create(b);
                  });
            });
}

Value PackedLeaf::hasNonFinite(VectorEmitter &b, LeafKeys range, Value base) {
  auto line = VectorType::get({kDepth}, b.getI16Type());
  auto all = [&](int16_t value) -> Value {
    return arith::ConstantOp::create(
        b, DenseElementsAttr::get(line, Attribute(b.getI16IntegerAttr(value))));
  };
  // All ones in the exponent are more than any other exponent.
  constexpr int16_t exponent = 0x7f80;
  Value first = b.div(b.sub(range.first, base), b.index(kDepth));
  Value end = b.divideUp(b.sub(range.end, base), kDepth);
  Value largest = all(0);
  auto largestOf = [&](VectorEmitter &b, Value block, Value step,
                       Value largest) {
    return b
        .loop(b.index(0), b.index(kRows), 1, largest,
              [&](VectorEmitter &b, Value pair,
                  ValueRange carried) -> SmallVector<Value> {
                Value at[] = {block, step, pair, b.index(0)};
                Value bits = vector::LoadOp::create(b, line, values, at);
                bits = arith::AndIOp::create(b, bits, all(exponent));
                return {b.maximum(carried.front(), bits)};
              })
        .front();
  };
  largest = b.loop(b.index(0), b.index(shape.valueDim / kRows), 1, largest,
                   [&](VectorEmitter &b, Value block, ValueRange carried) {
                     return b.loop(
                         first, end, 1, carried,
                         [&](VectorEmitter &b, Value step,
                             ValueRange carried) -> SmallVector<Value> {
                           return {largestOf(b, block, step, carried.front())};
                         });
                   })
                .front();
  Value greatest =
      vector::ReductionOp::create(b, vector::CombiningKind::MAXUI, largest);
  return arith::CmpIOp::create(
      b, arith::CmpIPredicate::eq, greatest,
      arith::ConstantOp::create(b, b.getI16IntegerAttr(exponent)));
}
