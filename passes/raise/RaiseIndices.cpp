//===- RaiseIndices.cpp - Positions that are written in other ways --------===//
//
// Exporters count tokens by sums of ones, read rows by tables of their numbers,
// take the first rows of a table, and choose the largest by sorting. Each is a
// loop over rows that computes its own.
//
//===----------------------------------------------------------------------===//

#include "kv/Passes/Raise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "passes/raise/analysis/Elements.h"

namespace kv {
#define GEN_PASS_DEF_KVRAISEINDICES
#include "kv/Passes/RaisePasses.h.inc"
} // namespace kv

using namespace mlir;
using namespace kv;

namespace {
using Loops = SmallVector<utils::IteratorType>;

/// The sizes of a tensor, and a tensor like it of another type of elements.
Value emptyLike(OpBuilder &b, Location loc, Value tensor, Type element) {
  return tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, tensor),
                                 element);
}

Value zeroLike(OpBuilder &b, Location loc, Value tensor, Type element) {
  Value zero =
      arith::ConstantOp::create(b, loc, b.getZeroAttr(element)).getResult();
  return linalg::FillOp::create(b, loc, zero,
                                emptyLike(b, loc, tensor, element))
      .getResult(0);
}

struct RaiseIndices : kv::impl::KVRaiseIndicesBase<RaiseIndices> {
  void runOnOperation() override {
    FailureOr<Graph> graph = Graph::find(getOperation());
    if (failed(graph))
      return signalPassFailure();
    Sizes sizes(*graph);
    for (Operation &op : llvm::make_early_inc_range(graph->body())) {
      if (isScan(&op))
        count(*graph, &op);
      else if (isSort(&op))
        rank(&op);
      else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
        readTable(*graph, sizes, slice);
    }
    // Now that rows are counted by loops, what reads them can be seen.
    Elements elements(*graph);
    for (auto op : graph->body().getOps<linalg::LinalgOp>())
      nameRows(elements, op);
  }

private:
  /// A sum of one constant along the sequence is that times the position + 1.
  void count(const Graph &graph, Operation *op) {
    auto dim = dyn_cast_or_null<IntegerAttr>(attributeOf(op, "dimension"));
    auto inclusive = dyn_cast_or_null<BoolAttr>(attributeOf(op, "inclusive"));
    auto type = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
    if (!dim || !inclusive || !inclusive.getValue() || !type ||
        op->getNumOperands() != 3 || !op->getResult(1).use_empty() ||
        rowDims(type) != SmallVector<int64_t>{dim.getInt()} ||
        !type.getElementType().isInteger() || op->getNumRegions() != 1)
      return;
    for (int64_t size : type.getShape())
      if (size != 1 && !ShapedType::isDynamic(size))
        return;
    Block &body = op->getRegion(0).front();
    if (!isa<arith::AddIOp>(body.front()) ||
        body.front().getOperands() != ValueRange(body.getArguments()) ||
        body.back().getOperands() != ValueRange(body.front().getResults()))
      return;
    Elements elements(graph);
    SmallVector<ExprId> index(type.getRank(), elements.integer({0}));
    index[dim.getInt()] = elements.integer({0, {0, 1, 0}});
    std::optional<ExprId> one = elements.element(op->getOperand(0), index);
    if (!one)
      return;
    const Expr &expr = elements.expressions()[*one];
    if (expr.kind != Expr::Kind::Integer || !expr.linear.isConstant())
      return;
    OpBuilder b(op);
    Location loc = op->getLoc();
    Value to = emptyLike(b, loc, op->getOperand(0), type.getElementType());
    Value counted =
        linalg::GenericOp::create(
            b, loc, type, ValueRange(), to,
            ArrayRef{b.getMultiDimIdentityMap(type.getRank())},
            Loops(type.getRank(), utils::IteratorType::parallel),
            [&](OpBuilder &b, Location loc, ValueRange) {
              Value at = linalg::IndexOp::create(b, loc, dim.getInt());
              Value first = arith::ConstantIndexOp::create(b, loc, 1);
              at = arith::AddIOp::create(b, loc, at, first);
              Value by =
                  arith::ConstantIndexOp::create(b, loc, expr.linear.constant);
              at = arith::MulIOp::create(b, loc, at, by);
              linalg::YieldOp::create(b, loc,
                                      ValueRange{arith::IndexCastOp::create(
                                          b, loc, type.getElementType(), at)});
            })
            .getResult(0);
    op->getResult(0).replaceAllUsesWith(counted);
    op->erase();
    remark::passed(loc, raiseRemark("Count")) << remark::add(
        "a sum of {0} for each token is the position", expr.linear.constant);
  }

  /// Loops over the dimensions, and one over the others along one of them.
  struct Pairs {
    Pairs(Operation *op, int64_t rank, int64_t along)
        : along(along), loops(rank + 1, utils::IteratorType::parallel),
          own(AffineMap::getMultiDimIdentityMap(rank + 1, op->getContext())
                  .getMajorSubMap(rank)) {
      SmallVector<AffineExpr> exprs(own.getResults());
      exprs[along] = getAffineDimExpr(rank, op->getContext());
      other = AffineMap::get(rank + 1, 0, exprs, op->getContext());
      loops.back() = utils::IteratorType::reduction;
    }

    int64_t along;
    Loops loops;
    AffineMap own, other;
  };

  /// An order along a dimension that is not the sequence: an element goes where
  /// as many others belong before it.
  void rank(Operation *op) {
    auto dim = dyn_cast_or_null<IntegerAttr>(attributeOf(op, "dimension"));
    auto type = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
    // Each is compared with all others.
    constexpr int64_t most = 1024;
    if (!dim || !type || type.isDynamicDim(dim.getInt()) ||
        type.getDimSize(dim.getInt()) > most ||
        op->getNumOperands() != op->getNumResults() || op->getNumRegions() != 1)
      return;
    // The terminator is not registered.
    for (Operation &inner : llvm::drop_end(op->getRegion(0).front()))
      if (!isMemoryEffectFree(&inner))
        return;
    OpBuilder b(op);
    Location loc = op->getLoc();
    Pairs pairs(op, type.getRank(), dim.getInt());
    Value ranks = countBefore(b, op, pairs);
    for (auto [operand, result] :
         llvm::zip(op->getOperands(), op->getResults()))
      result.replaceAllUsesWith(moveTo(b, loc, ranks, operand, pairs));
    op->erase();
    remark::passed(loc, raiseRemark("Order"))
        << remark::add("an order of {0} elements is counted in each row",
                       type.getDimSize(pairs.along));
  }

  /// What the body of the operation says of two elements: that the first may
  /// stay before the second. So equal ones stay in their order.
  static Value keeps(OpBuilder &b, Operation *op, ValueRange first,
                     ValueRange second) {
    IRMapping mapping;
    Block &body = op->getRegion(0).front();
    for (auto [i, argument] : llvm::enumerate(body.getArguments()))
      mapping.map(argument, i % 2 ? second[i / 2] : first[i / 2]);
    for (Operation &inner : llvm::drop_end(body))
      b.clone(inner, mapping);
    return mapping.lookupOrDefault(body.back().getOperand(0));
  }

  /// For each element the number of others that belong before it.
  static Value countBefore(OpBuilder &b, Operation *op, const Pairs &pairs) {
    Location loc = op->getLoc();
    SmallVector<Value> in;
    SmallVector<AffineMap> maps;
    for (AffineMap map : {pairs.own, pairs.other})
      for (Value operand : op->getOperands()) {
        in.push_back(operand);
        maps.push_back(map);
      }
    maps.push_back(pairs.own);
    size_t count = op->getNumOperands();
    Type index = b.getI64Type();
    auto body = [&](OpBuilder &b, Location loc, ValueRange args) {
      ValueRange mine = args.take_front(count);
      ValueRange theirs = args.drop_front(count).take_front(count);
      Value i = linalg::IndexOp::create(b, loc, pairs.along);
      Value j = linalg::IndexOp::create(b, loc, pairs.own.getNumResults());
      Value earlier =
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, j, i);
      Value later =
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, j, i);
      Value stays = keeps(b, op, theirs, mine);
      Value mineStays = keeps(b, op, mine, theirs);
      Value one = arith::ConstantIntOp::create(b, loc, 1, 1);
      Value goes = arith::XOrIOp::create(b, loc, mineStays, one);
      goes = arith::AndIOp::create(b, loc, later, goes);
      Value before = arith::SelectOp::create(b, loc, earlier, stays, goes);
      before = arith::ExtUIOp::create(b, loc, index, before);
      linalg::YieldOp::create(
          b, loc,
          ValueRange{arith::AddIOp::create(b, loc, args.back(), before)});
    };
    auto type = cast<RankedTensorType>(op->getOperand(0).getType());
    return linalg::GenericOp::create(b, loc, type.clone(index), in,
                                     zeroLike(b, loc, op->getOperand(0), index),
                                     maps, pairs.loops, body)
        .getResult(0);
  }

  /// The elements, each at its rank.
  static Value moveTo(OpBuilder &b, Location loc, Value ranks, Value operand,
                      const Pairs &pairs) {
    Type element = getElementTypeOrSelf(operand);
    auto body = [&](OpBuilder &b, Location loc, ValueRange args) {
      Value at = linalg::IndexOp::create(b, loc, pairs.along);
      at = arith::IndexCastOp::create(b, loc, b.getI64Type(), at);
      Value hit =
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, args[0], at);
      Value chosen = arith::SelectOp::create(b, loc, hit, args[1], args[2]);
      linalg::YieldOp::create(b, loc, chosen);
    };
    return linalg::GenericOp::create(
               b, loc, operand.getType(), ValueRange{ranks, operand},
               zeroLike(b, loc, operand, element),
               ArrayRef{pairs.other, pairs.other, pairs.own}, pairs.loops, body)
        .getResult(0);
  }

  /// The first T rows of a table are read at the number of each row.
  void readTable(const Graph &graph, Sizes &sizes, tensor::ExtractSliceOp op) {
    RankedTensorType from = op.getSourceType(), to = op.getType();
    if (!rowDims(from).empty() || rowDims(to).size() != 1)
      return;
    llvm::SmallBitVector dropped = op.getDroppedDims();
    SmallVector<int64_t> offsets;
    for (int64_t d = 0; d < from.getRank(); ++d) {
      std::optional<int64_t> offset =
          getConstantIntValue(op.getMixedOffsets()[d]);
      OpFoldResult size = op.getMixedSizes()[d];
      if (!offset || !isConstantIntValue(op.getMixedStrides()[d], 1))
        return;
      if (auto value = dyn_cast<Value>(size)) {
        std::optional<Size> known = sizes.scalar(value);
        if (!known || !known->isLength() ||
            *offset + graph.maxLength > from.getDimSize(d))
          return;
      }
      offsets.push_back(*offset);
    }
    OpBuilder b(op);
    Location loc = op.getLoc();
    Value init = emptyLike(b, loc, op.getResult(), to.getElementType());
    Value read =
        linalg::GenericOp::create(
            b, loc, to, ValueRange(), init,
            ArrayRef{b.getMultiDimIdentityMap(to.getRank())},
            Loops(to.getRank(), utils::IteratorType::parallel),
            [&](OpBuilder &b, Location loc, ValueRange) {
              SmallVector<Value> index;
              int64_t loop = 0;
              for (auto [d, offset] : llvm::enumerate(offsets)) {
                Value at = arith::ConstantIndexOp::create(b, loc, offset);
                if (!dropped.test(d)) {
                  Value own = linalg::IndexOp::create(b, loc, loop++);
                  at = arith::AddIOp::create(b, loc, own, at);
                }
                index.push_back(at);
              }
              linalg::YieldOp::create(b, loc,
                                      ValueRange{tensor::ExtractOp::create(
                                          b, loc, op.getSource(), index)});
            })
            .getResult(0);
    op.getResult().replaceAllUsesWith(read);
    op.erase();
  }

  /// Rows that are read at a computed number, which is that of the loop.
  void nameRows(Elements &elements, linalg::LinalgOp op) {
    SmallVector<unsigned> rows = rowLoops(op);
    SmallVector<OpOperand *> uses;
    op->walk([&](tensor::ExtractOp extract) {
      for (OpOperand &use : extract->getOpOperands())
        if (namesRow(use) && !use.get().getDefiningOp<linalg::IndexOp>())
          uses.push_back(&use);
    });
    for (OpOperand *use : uses)
      for (unsigned loop : rows) {
        SmallVector<std::optional<ExprId>> loops(op.getNumLoops());
        ExprId q = elements.integer({0, {1, 0, 0}});
        loops[loop] = q;
        if (elements.within(op, use->get(), loops) != q)
          continue;
        OpBuilder b(use->getOwner());
        use->set(linalg::IndexOp::create(b, use->getOwner()->getLoc(), loop));
        break;
      }
  }
};
} // namespace
