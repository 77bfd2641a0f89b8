//===- LeafWeights.cpp - Scores of a leaf become weights ------------------===//

#include "LeafWeights.h"

#include "kv/ABI/Trees.h"
#include "kv/Definition/Fold.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace kv;

double kv::dotFactor(const AttentionOperands &operands) {
  // Scores are logarithms to base 2: one product then has both factors.
  return operands.softcap ? operands.scale / *operands.softcap
                          : operands.scale * plan::Log2E;
}

static Value scoreOf(VectorEmitter &b, const AttentionOperands &operands,
                     Value dots, double factor) {
  Value score = factor == 1 ? dots : b.times(dots, b.splat(factor));
  if (!operands.softcap)
    return score;
  Value capped = math::TanhOp::create(b, score);
  // The approximation of tanh bounds its argument first, NaN too.
  Value isNaN =
      arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, score, score);
  capped = b.select(isNaN, score, capped);
  return b.times(capped, b.splat(*operands.softcap * plan::Log2E));
}

/// Which of the lanes from `key` on the row sees.
static Value seenLanes(VectorEmitter &b, const LeafRowScores &row, Value key) {
  LeafKeys seen = row.seen;
  auto lanes = VectorType::get({kLanes}, b.getI32Type());
  auto numbers = llvm::to_vector(llvm::seq<int32_t>(kLanes));
  Value iota = arith::ConstantOp::create(
      b, DenseElementsAttr::get(lanes, ArrayRef(numbers)));
  auto spread = [&](Value number) -> Value {
    return vector::BroadcastOp::create(b, lanes, b.asI32(number));
  };
  Value number = arith::AddIOp::create(b, iota, spread(key));
  Value begun = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, number,
                                      spread(seen.first));
  Value open = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, number,
                                     spread(seen.end));
  Value sees = b.both(begun, open);
  if (!row.path.path)
    return sees;
  Value behind = arith::SubIOp::create(b, number, spread(row.path.first));
  Value none = spread(b.index(0));
  Value before =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, behind, none);
  behind = arith::MaxSIOp::create(b, behind, none);
  behind = arith::MinSIOp::create(b, behind, spread(b.index(KV_TREE_ROWS - 1)));
  auto words = VectorType::get({kLanes}, b.getI64Type());
  Value path = vector::BroadcastOp::create(b, words, row.path.path);
  Value shown = arith::OrIOp::create(b, before, isOnPath(b, path, behind));
  return b.both(sees, shown);
}

Value kv::scoreRow(VectorEmitter &b, const AttentionOperands &operands,
                   const LeafRowScores &row, double factor) {
  Location loc = b.getLoc();
  Value nothing = b.splat(-INFINITY);
  auto largest = [&](OpBuilder &nested, bool seesAll) {
    VectorEmitter b(loc, nested);
    return b
        .loop(row.all.first, row.all.end, kLanes, nothing,
              [&](VectorEmitter &b, Value key,
                  ValueRange carried) -> SmallVector<Value> {
                Value at[] = {row.row, key};
                Value dots = b.loadLanes(row.dots, at);
                Value score = scoreOf(b, operands, dots, factor);
                if (!seesAll)
                  score = b.select(seenLanes(b, row, key), score, nothing);
                if (score != dots)
                  b.storeLanes(score, row.dots, at);
                return {b.greaterOf(carried.front(), score)};
              })
        .front();
  };
  Value seesAll = b.both(b.lessOrEqual(row.seen.first, row.all.first),
                         b.lessOrEqual(row.all.end, row.seen.end));
  if (row.path.path)
    seesAll = b.both(seesAll, b.lessOrEqual(row.all.end, row.path.first));
  auto branch = scf::IfOp::create(
      b, seesAll,
      [&](OpBuilder &nested, Location loc) {
        scf::YieldOp::create(nested, loc, largest(nested, true));
      },
      [&](OpBuilder &nested, Location loc) {
        scf::YieldOp::create(nested, loc, largest(nested, false));
      });
  return b.greatestLane(branch.getResult(0));
}

Value kv::weighRow(
    VectorEmitter &b, const LeafRowScores &row, Value maximum,
    function_ref<void(VectorEmitter &, Value, ValueRange)> store) {
  Value isNothing = b.isEqual(maximum, -INFINITY);
  Value zero = b.constant(b.getF32Type(), 0);
  Value base = b.splat(b.select(isNothing, zero, maximum));
  Value sums =
      b.loop(row.all.first, row.all.end, row.step, b.splat(0.0),
             [&](VectorEmitter &b, Value key,
                 ValueRange carried) -> SmallVector<Value> {
               Value sum = carried.front();
               SmallVector<Value> weights;
               for (int64_t lane = 0; lane < row.step; lane += kLanes) {
                 Value score =
                     b.loadLanes(row.dots, {row.row, b.add(key, lane)});
                 weights.push_back(b.powerOfTwo(b.minus(score, base)));
                 sum = b.plus(sum, weights.back());
               }
               store(b, key, weights);
               return {sum};
             })
          .front();
  return b.sumLanes(sums);
}
