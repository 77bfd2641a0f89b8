//===- RaiseRows.cpp - The graph becomes an entry on ragged rows ----------===//
//
// Every operation computes each row by itself, so the rows of one sequence may
// as well be those of several, one after the other. Operations after the last
// attention are computed only for rows whose logits are wanted.
//
//===----------------------------------------------------------------------===//

#include "kv/Passes/Raise.h"

#include "EntryForm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "passes/raise/analysis/Graph.h"
#include "llvm/ADT/SetVector.h"

namespace kv {
#define GEN_PASS_DEF_KVRAISEROWS
#include "kv/Passes/RaisePasses.h.inc"
} // namespace kv

using namespace mlir;
using namespace kv;

namespace {
struct RaiseRows : kv::impl::KVRaiseRowsBase<RaiseRows> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (llvm::any_of(function.getArgumentTypes(),
                       llvm::IsaPred<CollectionType>))
        if (failed(raise(function)))
          return signalPassFailure();
  }

private:
  /// Whether passes before have made it: one block with attentions, and tokens
  /// that are integers.
  static bool isGraph(func::FuncOp function) {
    auto isTokens = [](Type type) {
      auto rows = dyn_cast<RankedTensorType>(type);
      return rows && isRows(type) && isa<IntegerType>(rows.getElementType());
    };
    return function.getBody().hasOneBlock() &&
           llvm::any_of(function.getArgumentTypes(), isTokens) &&
           llvm::any_of(function.getBody().front(), llvm::IsaPred<AttentionOp>);
  }

  LogicalResult raise(func::FuncOp function) {
    if (function->hasAttr(KVDialect::getEntryAttrName()) || !isGraph(function))
      return emitError(function.getLoc())
             << "kv-raise: '" << function.getName()
             << "' has a cache and is no graph of kv-raise: it has a kv.entry, "
                "no tokens or no attention";
    auto end = cast<func::ReturnOp>(function.getBody().front().getTerminator());
    Value logitRows = addLogitRows(function);
    for (OpOperand &result : end->getOpOperands())
      selectRows(end, result, logitRows);
    return formEntry(function, "R");
  }

  /// The values that an operation and its regions take from outside.
  static llvm::SetVector<Value> taken(Operation *op) {
    llvm::SetVector<Value> values;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (!op->isProperAncestor(operand.getParentBlock()->getParentOp()) &&
            operand.getParentBlock()->getParentOp() != op)
          values.insert(operand);
    });
    return values;
  }

  /// Whether a tensor is nothing but a shape, or that filled.
  static bool isBlank(Value value) {
    Operation *op = value.getDefiningOp();
    auto generic = dyn_cast_or_null<linalg::GenericOp>(op);
    if (generic)
      return llvm::hasSingleElement(*generic.getBody()) &&
             llvm::none_of(generic.getInputs(), [](Value input) {
               return !rowDims(input.getType()).empty();
             });
    return isa_and_nonnull<tensor::EmptyOp, linalg::FillOp>(op);
  }

  /// Computes a result for the rows `logitRows`.
  static void selectRows(func::ReturnOp end, OpOperand &result,
                         Value logitRows) {
    Operation *last = nullptr;
    for (Operation &op : *end->getBlock())
      if (isa<AttentionOp>(op))
        last = &op;
    llvm::SetVector<Operation *> cone;
    SmallVector<Value> open = {result.get()};
    llvm::SetVector<Value> cut;
    while (!open.empty()) {
      Value value = open.pop_back_val();
      Operation *op = value.getDefiningOp();
      if (rowDims(value.getType()).empty())
        continue;
      if (!isBlank(value) && (!op || !last->isBeforeInBlock(op))) {
        cut.insert(value);
        continue;
      }
      if (cone.insert(op))
        llvm::append_range(open, taken(op));
    }
    OpBuilder b(end);
    Location loc = end.getLoc();
    Value count = tensor::DimOp::create(b, loc, logitRows, 0);
    IRMapping mapping;
    for (Value value : cut)
      mapping.map(value, gather(b, loc, value, logitRows, count));
    SmallVector<Operation *> ordered(cone.begin(), cone.end());
    llvm::sort(ordered, [](Operation *a, Operation *b) {
      return a->isBeforeInBlock(b);
    });
    for (Operation *op : ordered) {
      for (Value value : taken(op))
        if (auto dim = value.getDefiningOp<tensor::DimOp>())
          if (!rowDims(dim.getSource().getType()).empty())
            mapping.map(value, count);
      b.clone(*op, mapping);
    }
    result.set(mapping.lookup(result.get()));
  }

  /// The rows of `value` that `logitRows` names: read as [T, W] where rows are
  /// its first dimension that is not 1.
  static Value gather(OpBuilder &b, Location loc, Value value, Value logitRows,
                      Value count) {
    auto type = cast<RankedTensorType>(value.getType());
    int64_t row = rowDims(type).front();
    SmallVector<ReassociationIndices> groups(1);
    for (int64_t d = 0; d < type.getRank(); ++d) {
      if (d == row + 1)
        groups.emplace_back();
      groups.back().push_back(d);
    }
    bool isFirst = llvm::all_of(type.getShape().take_front(row),
                                [](int64_t size) { return size == 1; });
    if (!isFirst || groups.size() < 2 || type.getRank() == 2)
      return gatherAsIs(b, loc, value, logitRows, count);
    SmallVector<OpFoldResult> shape = tensor::getMixedSizes(b, loc, value);
    shape[row] = count;
    value = tensor::CollapseShapeOp::create(b, loc, value, groups);
    Value rows = gatherAsIs(b, loc, value, logitRows, count);
    return tensor::ExpandShapeOp::create(b, loc, type, rows, groups, shape);
  }

  static Value gatherAsIs(OpBuilder &b, Location loc, Value value,
                          Value logitRows, Value count) {
    auto type = cast<RankedTensorType>(value.getType());
    int64_t rank = type.getRank(), row = rowDims(type).front();
    SmallVector<OpFoldResult> shape;
    for (int64_t d = 0; d < rank; ++d)
      shape.push_back(d == row
                          ? OpFoldResult(count)
                          : OpFoldResult(b.getIndexAttr(type.getDimSize(d))));
    Value to = tensor::EmptyOp::create(b, loc, shape, type.getElementType());
    AffineMap rows =
        AffineMap::get(rank, 0, b.getAffineDimExpr(row), b.getContext());
    SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
    return linalg::GenericOp::create(
               b, loc, to.getType(), logitRows, to,
               ArrayRef{rows, b.getMultiDimIdentityMap(rank)}, loops,
               [&](OpBuilder &b, Location loc, ValueRange in) {
                 SmallVector<Value> index;
                 for (int64_t d = 0; d < rank; ++d)
                   index.push_back(linalg::IndexOp::create(b, loc, d));
                 index[row] = arith::IndexCastOp::create(
                     b, loc, b.getIndexType(), in[0]);
                 linalg::YieldOp::create(b, loc,
                                         ValueRange{tensor::ExtractOp::create(
                                             b, loc, value, index)});
               })
        .getResult(0);
  }
};
} // namespace
