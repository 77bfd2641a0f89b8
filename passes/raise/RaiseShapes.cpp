//===- RaiseShapes.cpp - Graphs of one length and several sequences -------===//
//
// A graph for N tokens that only looks back is one for each T up to N: its
// first T rows. So the dimensions that come from the tokens become dynamic.
// Values that are made of nothing else (masks, tables, numbers of rows) are
// made for T, or their first T rows are taken. Later passes prove that the
// graph only looks back, row by row.
//
// A batch of B sequences becomes its first one, where no operation combines the
// batch, tells its members apart, or has a weight for each of them: the members
// are then computed in the same way.
//
//===----------------------------------------------------------------------===//

#include "kv/Passes/Raise.h"

#include "Shapes.h"
#include "kv/Dialect/KV.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/raise/analysis/Sizes.h"

namespace kv {
#define GEN_PASS_DEF_KVRAISELAST
#define GEN_PASS_DEF_KVRAISESHAPES
#include "kv/Passes/RaisePasses.h.inc"
} // namespace kv

using namespace mlir;
using namespace kv;

namespace {
struct RaiseShapes : kv::impl::KVRaiseShapesBase<RaiseShapes> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isPrivate() || function.isExternal() ||
          !function.getBody().hasOneBlock())
        continue;
      BlockArgument tokens = staticTokens(function);
      if (!tokens)
        continue;
      auto type = cast<RankedTensorType>(tokens.getType());
      int64_t rows = type.getShape().back();
      if (failed(lengthen(function, tokens)))
        return signalPassFailure();
      limit(rows);
      remark::passed(function.getLoc(), raiseRemark("Length")) << remark::add(
          "tokens {0} are one sequence of at most {1}", type, rows);
    }
  }

private:
  static LogicalResult lengthen(func::FuncOp function, BlockArgument tokens) {
    auto type = cast<RankedTensorType>(tokens.getType());
    int64_t rank = type.getRank(), rows = type.getShape().back();
    int64_t batch = rank == 2 ? type.getDimSize(0) : 1;
    Roles roles(rank);
    roles.back().rows = true;
    roles[0].batch = batch > 1;
    SmallVector<int64_t> shape(rank, 1);
    shape.back() = ShapedType::kDynamic;
    unsigned at = tokens.getArgNumber();
    Location loc = tokens.getLoc();
    (void)function.insertArgument(
        at + 1, RankedTensorType::get(shape, type.getElementType()),
        function.getArgAttrDict(at), loc);
    Value fresh = function.getArgument(at + 1);
    OpBuilder b = OpBuilder::atBlockBegin(&function.getBody().front());
    Value length = tensor::DimOp::create(b, loc, fresh, rank - 1);
    Shapes shapes(function, batch, rows, length,
                  "in a graph of " + std::to_string(batch) + " x " +
                      std::to_string(rows) + " tokens");
    shapes.replace(tokens, fresh, roles);
    if (failed(shapes.run()))
      return failure();
    return function.eraseArgument(at);
  }

  /// The only integers that are no weight, if they have a static length.
  static BlockArgument staticTokens(func::FuncOp function) {
    BlockArgument found;
    for (BlockArgument argument : function.getArguments()) {
      auto type = dyn_cast<RankedTensorType>(argument.getType());
      if (!type || !type.hasStaticShape())
        return nullptr;
      if (!type.getElementType().isInteger() ||
          function.getArgAttr(argument.getArgNumber(),
                              KVDialect::getWeightAttrName()))
        continue;
      if (found || type.getRank() < 1 || type.getRank() > 2 ||
          type.getShape().back() < 2)
        return nullptr;
      found = argument;
    }
    return found;
  }

  /// The module takes no more tokens than the graph did.
  void limit(int64_t rows) {
    ModuleOp module = getOperation();
    StringRef name = KVDialect::getModelAttrName();
    auto model = module->getAttrOfType<DictionaryAttr>(name);
    NamedAttrList list(model);
    auto most = model ? model.getAs<IntegerAttr>("max_seq_len") : IntegerAttr();
    Builder b(&getContext());
    list.set("max_seq_len",
             b.getI64IntegerAttr(most ? std::min(rows, most.getInt()) : rows));
    module->setAttr(name, list.getDictionary(&getContext()));
  }
};

/// A graph that takes the last token's row alone, and so computes what follows
/// for one row, computes it for all.
struct RaiseLast : kv::impl::KVRaiseLastBase<RaiseLast> {
  void runOnOperation() override {
    FailureOr<Graph> graph = Graph::find(getOperation());
    if (failed(graph))
      return signalPassFailure();
    Sizes sizes(*graph);
    for (OpOperand &result : graph->terminator()->getOpOperands())
      if (!rowDims(result.get().getType()).empty())
        return;
    for (auto slice : llvm::make_early_inc_range(
             graph->body().getOps<tensor::ExtractSliceOp>()))
      if (takesLast(sizes, slice)) {
        if (failed(widen(*graph, slice)))
          signalPassFailure();
        return;
      }
  }

private:
  static bool takesLast(Sizes &sizes, tensor::ExtractSliceOp op) {
    SmallVector<int64_t> dims = rowDims(op.getSourceType());
    if (dims.size() != 1 || !rowDims(op.getType()).empty() ||
        !isConstantIntValue(op.getMixedSizes()[dims[0]], 1))
      return false;
    auto offset = dyn_cast<Value>(op.getMixedOffsets()[dims[0]]);
    std::optional<Size> at = offset ? sizes.scalar(offset) : std::nullopt;
    Size last = Size::length();
    last.coefficients[0] = -1;
    return at && *at == last;
  }

  static LogicalResult widen(const Graph &graph, tensor::ExtractSliceOp op) {
    int64_t row = rowDims(op.getSourceType())[0], rank = op.getType().getRank();
    OpBuilder b(op);
    Location loc = op.getLoc();
    Value length =
        tensor::DimOp::create(b, loc, graph.tokens, graph.sequenceDim);
    SmallVector<OpFoldResult> offsets = op.getMixedOffsets(),
                              sizes = op.getMixedSizes();
    offsets[row] = b.getIndexAttr(0);
    sizes[row] = length;
    // The dimensions of the result, and the sequence even if it was dropped.
    llvm::SmallBitVector dropped = op.getDroppedDims();
    SmallVector<int64_t> shape;
    int64_t at = 0;
    for (int64_t d = 0; d < op.getSourceType().getRank(); ++d) {
      if (d == row)
        at = shape.size();
      if (d == row || !dropped.test(d))
        shape.push_back(d == row ? ShapedType::kDynamic : op.getStaticSize(d));
    }
    auto type = RankedTensorType::get(shape, op.getType().getElementType());
    Value all = tensor::ExtractSliceOp::create(
        b, loc, type, op.getSource(), offsets, sizes, op.getMixedStrides());
    // If a reshape drops several dimensions that are 1, the first of them is
    // the sequence.
    bool isFirst = at > 0 && shape[at - 1] == 1;
    if (isFirst || dropped.test(row)) {
      int64_t second = isFirst ? at : at + 1;
      if (second >= static_cast<int64_t>(shape.size()) ||
          (!isFirst && shape[second] != 1))
        return op.emitOpError("kv-raise: takes the last token's row without a "
                              "dimension that is one");
      SmallVector<ReassociationIndices> groups;
      SmallVector<OpFoldResult> result;
      for (int64_t d = 0; d < static_cast<int64_t>(shape.size()); ++d) {
        if (d == second)
          groups.back().push_back(d);
        else
          groups.push_back({d});
        result.push_back(d == second - 1
                             ? OpFoldResult(length)
                             : b.getIndexAttr(d == second ? 1 : shape[d]));
      }
      at = second - 1;
      all = tensor::CollapseShapeOp::create(b, loc, all, groups);
      if (!dropped.test(row)) {
        std::swap(shape[at], shape[second]);
        shape[at] = ShapedType::kDynamic;
        all = tensor::ExpandShapeOp::create(
            b, loc, RankedTensorType::get(shape, op.getType().getElementType()),
            all, groups, result);
      }
    }
    Roles roles(rank);
    roles[at].rows = true;
    Shapes shapes(graph.function, 1, 1, length, "after the last token's row");
    shapes.replace(op.getResult(), all, roles);
    remark::passed(loc, raiseRemark("Last"))
        << remark::add("what follows the last token's row is computed for all");
    if (failed(shapes.run()))
      return failure();
    op.erase();
    return success();
  }
};
} // namespace
