//===- ExpandAttention.cpp - The meaning of a graph without a cache -------===//
//
// Makes the graph itself an entry that computes all rows of one sequence at
// once. A raised module is compared with it.
//
//===----------------------------------------------------------------------===//

#include "kv/Passes/Raise.h"

#include "EntryForm.h"
#include "kv/Dialect/KV.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/raise/analysis/Graph.h"

namespace kv {
#define GEN_PASS_DEF_KVEXPANDATTENTION
#include "kv/Passes/RaisePasses.h.inc"
} // namespace kv

using namespace mlir;
using namespace kv;

namespace {
/// softmax(scale * q . k + mask) . v, operation by operation.
class Expansion {
public:
  Expansion(Operation *op, double scale)
      : op(op), b(op), loc(op->getLoc()), scale(scale),
        element(getElementTypeOrSelf(op->getResult(0).getType())) {}

  Value run() {
    Value q = op->getOperand(0), k = op->getOperand(1), v = op->getOperand(2);
    Value zero = constant(0), scores = empty({q, q, k}, {0, 1, 1});
    AffineExpr h, i, j, d;
    bindDims(b.getContext(), h, i, j, d);
    scores =
        sum({q, k}, fill(zero, scores), {{h, i, d}, {h, j, d}, {h, i, j}}, 3);
    scores = each({scores, op->getOperand(3)}, scores, [&](ValueRange in) {
      return masked(arith::MulFOp::create(b, loc, in[0], constant(scale)),
                    in[1]);
    });
    Value rows = empty({q, q}, {0, 1});
    Value most =
        reduce(scores, fill(constant(-INFINITY), rows), [&](Value x, Value y) {
          return Value(arith::MaximumFOp::create(b, loc, x, y));
        });
    scores = along(scores, most, [&](Value x, Value y) {
      Value less = arith::SubFOp::create(b, loc, x, y);
      return Value(math::ExpOp::create(b, loc, less));
    });
    Value total = reduce(scores, fill(zero, rows), [&](Value x, Value y) {
      return Value(arith::AddFOp::create(b, loc, x, y));
    });
    scores = along(scores, total, [&](Value x, Value y) {
      return Value(arith::DivFOp::create(b, loc, x, y));
    });
    Value out = empty({q, q, v}, {0, 1, 2});
    return sum({scores, v}, fill(zero, out), {{h, i, j}, {h, j, d}, {h, i, d}},
               2);
  }

private:
  using Body = llvm::function_ref<Value(Value, Value)>;

  Value constant(double value) {
    return arith::ConstantOp::create(b, loc, b.getFloatAttr(element, value));
  }

  Value empty(ArrayRef<Value> of, ArrayRef<int64_t> dims) {
    SmallVector<OpFoldResult> shape;
    for (auto [value, d] : llvm::zip(of, dims))
      shape.push_back(tensor::getMixedSize(b, loc, value, d));
    return tensor::EmptyOp::create(b, loc, shape, element);
  }

  Value fill(Value scalar, Value to) {
    return linalg::FillOp::create(b, loc, scalar, to).getResult(0);
  }

  Value masked(Value score, Value mask) {
    if (mask.getType().isInteger(1))
      return arith::SelectOp::create(b, loc, mask, score, constant(-INFINITY));
    return arith::AddFOp::create(b, loc, score, mask);
  }

  Value generic(ValueRange in, Value out, ArrayRef<AffineMap> maps,
                ArrayRef<utils::IteratorType> loops,
                llvm::function_ref<Value(ValueRange)> body) {
    return linalg::GenericOp::create(
               b, loc, out.getType(), in, out, maps, loops,
               [&](OpBuilder &inner, Location, ValueRange arguments) {
                 OpBuilder::InsertionGuard guard(b);
                 b.restoreInsertionPoint(inner.saveInsertionPoint());
                 linalg::YieldOp::create(b, loc, body(arguments));
               })
        .getResult(0);
  }

  /// A contraction over loop `reduced` of four.
  Value sum(ValueRange in, Value out, ArrayRef<SmallVector<AffineExpr>> maps,
            unsigned reduced) {
    SmallVector<AffineMap> all;
    for (ArrayRef<AffineExpr> map : maps)
      all.push_back(AffineMap::get(4, 0, map, b.getContext()));
    SmallVector<utils::IteratorType> loops(4, utils::IteratorType::parallel);
    loops[reduced] = utils::IteratorType::reduction;
    return generic(in, out, all, loops, [&](ValueRange x) -> Value {
      Value product = arith::MulFOp::create(b, loc, x[0], x[1]);
      return arith::AddFOp::create(b, loc, x[2], product);
    });
  }

  Value each(ValueRange in, Value out,
             llvm::function_ref<Value(ValueRange)> body) {
    SmallVector<AffineMap> maps(3, b.getMultiDimIdentityMap(3));
    return generic(in, out, maps, SmallVector(3, utils::IteratorType::parallel),
                   body);
  }

  AffineMap rowMap() { return b.getMultiDimIdentityMap(3).getMajorSubMap(2); }

  Value reduce(Value x, Value init, Body body) {
    SmallVector<utils::IteratorType> loops(3, utils::IteratorType::parallel);
    loops[2] = utils::IteratorType::reduction;
    return generic(x, init, {b.getMultiDimIdentityMap(3), rowMap()}, loops,
                   [&](ValueRange in) { return body(in[0], in[1]); });
  }

  Value along(Value x, Value row, Body body) {
    AffineMap all = b.getMultiDimIdentityMap(3);
    return generic({x, row}, x, {all, rowMap(), all},
                   SmallVector(3, utils::IteratorType::parallel),
                   [&](ValueRange in) { return body(in[0], in[1]); });
  }

  Operation *op;
  OpBuilder b;
  Location loc;
  double scale;
  Type element;
};

struct ExpandAttention : kv::impl::KVExpandAttentionBase<ExpandAttention> {
  void runOnOperation() override {
    FailureOr<Graph> graph = Graph::find(getOperation());
    if (failed(graph) || failed(expand(*graph)))
      signalPassFailure();
  }

private:
  static LogicalResult expand(const Graph &graph) {
    for (Operation &op : llvm::make_early_inc_range(graph.body())) {
      if (!isAttention(&op))
        continue;
      FailureOr<ScoreFactors> factors = scoreFactors(&op);
      if (failed(factors))
        return failure();
      AttentionForm form(&op);
      if (!form.mask || form.sinks || factors->softcap)
        return op.emitOpError("has no mask, or sinks or a cap");
      op.replaceAllUsesWith(ValueRange(Expansion(&op, factors->scale).run()));
      op.erase();
    }
    return formEntry(graph.function, "T");
  }
};
} // namespace
