//===- CheckTokens.cpp - The sequence is parallel everywhere --------------===//
//
// The lattice has three levels: a tensor has no dimension that is the sequence,
// one (rows), or several (a grid, such as a mask). An operation may hand on the
// dimensions that it gets, each as a loop of its own that is parallel and
// stands in every result. So only attention leads from a grid back to rows, and
// only attention mixes rows.
//
//===----------------------------------------------------------------------===//

#include "kv/Passes/Raise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/raise/analysis/Sizes.h"

namespace kv {
#define GEN_PASS_DEF_KVRAISETOKENS
#include "kv/Passes/RaisePasses.h.inc"
} // namespace kv

using namespace mlir;
using namespace kv;

namespace {
class Checker {
public:
  explicit Checker(const Graph &graph) : graph(graph), sizes(graph) {}

  LogicalResult run() {
    llvm::DenseSet<Operation *> needed = neededOps();
    for (Operation &op : graph.body().without_terminator()) {
      bool isPure = isMemoryEffectFree(&op) || isScan(&op) || isSort(&op);
      if ((!isPure || needed.contains(&op)) && failed(check(&op)))
        return failure();
    }
    for (OpOperand &result : graph.terminator()->getOpOperands())
      if (!isRows(result.get().getType()))
        return graph.terminator()->emitOpError("kv-raise: result ")
               << result.getOperandNumber() << " of type "
               << result.get().getType()
               << " is not one row for each token of the sequence";
    return success();
  }

private:
  /// The operations that results and attentions are computed from. Attentions
  /// without uses count, too. Operations that only make masks do not: they are
  /// executed symbolically, for all positions, and then dropped.
  llvm::DenseSet<Operation *> neededOps() const {
    llvm::DenseSet<Operation *> needed;
    SmallVector<Operation *> open = {graph.terminator()};
    for (Operation &op : graph.body())
      if (isAttention(&op))
        open.push_back(&op);
    while (!open.empty()) {
      Operation *op = open.pop_back_val();
      Value mask = isAttention(op) ? AttentionForm(op).mask : Value();
      op->walk([&](Operation *inner) {
        for (Value value : inner->getOperands())
          if (Operation *from = value.getDefiningOp();
              from && value != mask && from->getBlock() == &graph.body() &&
              needed.insert(from).second)
            open.push_back(from);
      });
    }
    return needed;
  }

  LogicalResult check(Operation *op) {
    for (Value result : op->getResults())
      for (int64_t d : rowDims(result.getType())) {
        std::optional<Size> size = sizes.dim(result, d);
        if (!size || !size->isLength())
          return op->emitOpError("kv-raise: the size of dimension ")
                 << d << " of " << result.getType() << " is "
                 << (size ? size->text() : "not known")
                 << "; only the length of the sequence may be dynamic";
      }
    bool hasRows = llvm::any_of(op->getOperandTypes(), [](Type type) {
      return !rowDims(type).empty();
    });
    bool makesRows = llvm::any_of(
        op->getResultTypes(), [](Type type) { return !rowDims(type).empty(); });
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
      return checkLinalg(linalgOp);
    if (isAttention(op))
      return checkAttention(op);
    if (op->getNumRegions() != 0)
      return op->emitOpError("kv-raise: is none of the operations whose rows "
                             "can be told apart");
    if (!hasRows && !makesRows)
      return checkUniform(op);
    if (isa<tensor::DimOp, tensor::EmptyOp>(op))
      return success();
    if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
      return checkReshape(op, expand.getSrcType(), expand.getResultType(),
                          expand.getReassociationIndices());
    if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
      return checkReshape(op, collapse.getResultType(), collapse.getSrcType(),
                          collapse.getReassociationIndices());
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
      return checkSlice(op, slice.getSource(), slice.getResult(),
                        slice.getMixedOffsets(), slice.getMixedSizes(),
                        slice.getMixedStrides());
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
      return checkSlice(op, insert.getDest(), insert.getSource(),
                        insert.getMixedOffsets(), insert.getMixedSizes(),
                        insert.getMixedStrides());
    if (auto concat = dyn_cast<tensor::ConcatOp>(op)) {
      SmallVector<int64_t> dims = rowDims(concat.getType());
      for (Value input : concat.getInputs())
        if (rowDims(input.getType()) != dims)
          return op->emitOpError("kv-raise: joins rows with what has none");
      if (llvm::is_contained(dims, static_cast<int64_t>(concat.getDim())))
        return op->emitOpError("kv-raise: joins along the sequence");
      return success();
    }
    if (auto cast = dyn_cast<tensor::CastOp>(op)) {
      if (rowDims(cast.getSource().getType()) == rowDims(cast.getType()))
        return success();
      return op->emitOpError("kv-raise: hides which dimension is the sequence");
    }
    return op->emitOpError("kv-raise: is none of the operations whose rows can "
                           "be told apart");
  }

  /// An operation that touches no rows may be of any kind, if it has no effect
  /// and puts no length into a tensor.
  LogicalResult checkUniform(Operation *op) {
    if (!isMemoryEffectFree(op))
      return op->emitOpError("kv-raise: may have effects, or is not known");
    bool makesTensor = llvm::any_of(
        op->getResultTypes(), [](Type type) { return isa<ShapedType>(type); });
    if (!makesTensor || op->use_empty())
      return success();
    for (Value operand : op->getOperands())
      if (!isa<ShapedType>(operand.getType()) &&
          failed(checkScalar(op, operand)))
        return failure();
    return success();
  }

  LogicalResult checkReshape(Operation *op, RankedTensorType narrow,
                             RankedTensorType wide,
                             ArrayRef<ReassociationIndices> groups) {
    for (auto [d, group] : llvm::enumerate(groups)) {
      int64_t dynamic = 0, others = 1;
      for (int64_t each : group)
        if (wide.isDynamicDim(each))
          ++dynamic;
        else
          others *= wide.getDimSize(each);
      bool plain = dynamic == 0 && !narrow.isDynamicDim(d);
      if (!plain && (dynamic != 1 || others != 1 || !narrow.isDynamicDim(d)))
        return op->emitOpError(
            "kv-raise: joins the sequence with other dimensions");
    }
    return success();
  }

  /// A slice has all of the sequence, in order.
  LogicalResult checkSlice(Operation *op, Value whole, Value part,
                           ArrayRef<OpFoldResult> offsets,
                           ArrayRef<OpFoldResult> lengths,
                           ArrayRef<OpFoldResult> strides) {
    SmallVector<int64_t> dims = rowDims(whole.getType());
    for (int64_t d : dims) {
      auto length = dyn_cast<Value>(lengths[d]);
      std::optional<Size> size =
          length ? sizes.scalar(length)
                 : std::optional(Size(*getConstantIntValue(lengths[d])));
      if (!isConstantIntValue(offsets[d], 0) ||
          !isConstantIntValue(strides[d], 1) || !size || !size->isLength())
        return op->emitOpError("kv-raise: takes a part of the sequence");
    }
    if (dims.size() != rowDims(part.getType()).size())
      return op->emitOpError("kv-raise: takes as many rows of what has none as "
                             "the sequence has");
    // Offsets that depend on data would be no slice of a row's own.
    for (OpFoldResult offset : offsets)
      if (auto value = dyn_cast<Value>(offset))
        if (std::optional<Size> size = sizes.scalar(value);
            !size || !size->isConstant())
          return op->emitOpError("kv-raise: its offset is not a constant");
    return success();
  }

  /// Whether nothing has written a tensor: whatever is read of it may be
  /// another number each time.
  static bool isUnwritten(Value value) {
    while (Operation *op = value.getDefiningOp()) {
      if (isa<tensor::EmptyOp>(op))
        return true;
      if (!isa<tensor::CastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp,
               tensor::ExtractSliceOp>(op))
        return false;
      value = op->getOperand(0);
    }
    return false;
  }

  LogicalResult checkLinalg(linalg::LinalgOp op) {
    if (!sizes.loopsAgree(op))
      return op.emitOpError("kv-raise: its operands have different sizes along "
                            "a loop");
    SmallVector<unsigned> loops = rowLoops(op);
    SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
    for (OpOperand &operand : op->getOpOperands()) {
      auto type = dyn_cast<RankedTensorType>(operand.get().getType());
      if (!type)
        continue;
      if (isUnwritten(operand.get()) &&
          op.payloadUsesValueFromOperand(&operand))
        return op.emitOpError("kv-raise: reads a tensor that nothing has "
                              "written");
      AffineMap map = op.getMatchingIndexingMap(&operand);
      llvm::SmallDenseSet<unsigned> seen;
      for (int64_t d = 0; d < type.getRank(); ++d) {
        auto loop = dyn_cast<AffineDimExpr>(map.getResult(d));
        if (type.isDynamicDim(d)) {
          if (!loop)
            return op.emitOpError("kv-raise: reads other rows than its own");
          if (!seen.insert(loop.getPosition()).second)
            return op.emitOpError(
                "kv-raise: reads a grid of positions along its diagonal");
          continue;
        }
        bool touches = false;
        map.getResult(d).walk([&](AffineExpr expr) {
          if (auto dim = dyn_cast<AffineDimExpr>(expr))
            touches |= llvm::is_contained(loops, dim.getPosition());
        });
        if (touches)
          return op.emitOpError("kv-raise: a dimension of ")
                 << type << " that is not the sequence is read along with it";
      }
      bool isInit = operand.getOperandNumber() >= op.getNumDpsInputs();
      for (unsigned loop : loops)
        if (isInit && !seen.contains(loop))
          return op.emitOpError("kv-raise: ")
                 << (kinds[loop] == utils::IteratorType::reduction
                         ? "combines the rows of the sequence"
                         : "has a result without rows");
    }
    for (unsigned loop : loops)
      if (kinds[loop] != utils::IteratorType::parallel)
        return op.emitOpError("kv-raise: combines the rows of the sequence");
    return checkBody(op, loops);
  }

  LogicalResult checkBody(linalg::LinalgOp op, ArrayRef<unsigned> loops) {
    auto names = [&](Value index) {
      auto loop = index.getDefiningOp<linalg::IndexOp>();
      return loop && llvm::is_contained(loops, loop.getDim());
    };
    WalkResult walked = op->walk([&](Operation *inner) -> WalkResult {
      if (inner == op.getOperation())
        return WalkResult::advance();
      if (!isMemoryEffectFree(inner) &&
          !isa<linalg::YieldOp, tensor::ExtractOp>(inner))
        return inner->emitOpError(
            "kv-raise: may have effects, or is not known");
      if (inner->getNumRegions())
        return inner->emitOpError("kv-raise: has a region inside of a "
                                  "computation");
      for (OpOperand &use : inner->getOpOperands()) {
        if (namesRow(use) && !names(use.get()))
          return inner->emitOpError("kv-raise: reads other rows than its own");
        if (failed(checkCaptured(op, use)))
          return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    // Scalars that are operands are captured as well.
    for (OpOperand &operand : op->getOpOperands())
      if (!isa<ShapedType>(operand.get().getType()) &&
          failed(checkScalar(op, operand.get())))
        return failure();
    return failure(walked.wasInterrupted());
  }

  LogicalResult checkCaptured(linalg::LinalgOp op, OpOperand &use) {
    Value value = use.get();
    if (op->isAncestor(value.getParentBlock()->getParentOp()))
      return success();
    if (isa<RankedTensorType>(value.getType())) {
      if (isa<tensor::ExtractOp>(use.getOwner()))
        return success();
      return use.getOwner()->emitOpError(
          "kv-raise: takes a whole tensor inside of a computation");
    }
    return checkScalar(use.getOwner(), value);
  }

  /// A scalar in a computation must not be, or depend on, the length.
  LogicalResult checkScalar(Operation *user, Value value) {
    if (value.getType().isIntOrIndex()) {
      std::optional<Size> size = sizes.scalar(value);
      if (size && size->isConstant())
        return success();
      if (size)
        return user->emitOpError("kv-raise: reads the length of the sequence (")
               << size->text() << ')';
    }
    return checkOrigin(user, value);
  }

  /// Checks a scalar that is no size: nothing that it is made of may be the
  /// length.
  LogicalResult checkOrigin(Operation *user, Value value) {
    SmallVector<Value> open = {value};
    llvm::DenseSet<Value> seen;
    while (!open.empty()) {
      Value next = open.pop_back_val();
      if (!seen.insert(next).second)
        continue;
      if (next.getType().isIntOrIndex())
        if (std::optional<Size> size = sizes.scalar(next)) {
          if (size->isConstant())
            continue;
          return user->emitOpError(
                     "kv-raise: reads the length of the sequence (")
                 << size->text() << ')';
        }
      Operation *op = next.getDefiningOp();
      if (!rowDims(next.getType()).empty() ||
          (op && !isMemoryEffectFree(op) && !isa<tensor::ExtractOp>(op)))
        return user->emitOpError("kv-raise: reads single rows as a scalar");
      if (op)
        llvm::append_range(open, op->getOperands());
    }
    return success();
  }

  LogicalResult checkAttention(Operation *op) {
    AttentionForm form(op);
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      bool isMask = operand == form.mask;
      if (operand == form.sinks && i == 5)
        continue;
      SmallVector<int64_t> wanted = {1};
      if (isMask)
        wanted.push_back(2);
      auto tensor = dyn_cast<RankedTensorType>(operand.getType());
      if (!tensor || tensor.getRank() != 3 || rowDims(tensor) != wanted)
        return op->emitOpError("kv-raise: operand ")
               << i << " is " << operand.getType() << ", expected [heads, T, "
               << (isMask ? "T]" : "dim]");
    }
    return success();
  }

  const Graph &graph;
  Sizes sizes;
};

struct CheckTokens : kv::impl::KVRaiseTokensBase<CheckTokens> {
  void runOnOperation() override {
    FailureOr<Graph> graph = Graph::find(getOperation());
    if (failed(graph) || failed(checkTokens(*graph)))
      return signalPassFailure();
    remark::passed(graph->function.getLoc(), raiseRemark("Tokens"))
        << remark::add(
               "each of {0} operations computes a token's row from that "
               "row alone, or is attention",
               llvm::range_size(graph->body()));
  }
};
} // namespace

LogicalResult kv::checkTokens(const Graph &graph) {
  return Checker(graph).run();
}
