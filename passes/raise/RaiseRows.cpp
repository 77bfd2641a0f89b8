//===- RaiseRows.cpp - The graph becomes an entry on ragged rows ----------===//
//
// Every operation computes each row by itself, so the rows of one sequence may
// as well be those of several, one after the other. What follows the last
// attention is computed for the rows alone whose logits are wanted.
//
//===----------------------------------------------------------------------===//

#include "kv/Passes/Raise.h"

#include "Graph.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
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
  LogicalResult raise(func::FuncOp function) {
    if (failed(nameWeights(function)))
      return failure();
    auto end = cast<func::ReturnOp>(function.getBody().front().getTerminator());
    if (end.getNumOperands() != 1)
      return end.emitOpError("kv-raise: ")
             << end.getNumOperands() << " results; the logits alone are needed";
    Value logitRows = addTokens(function);
    selectRows(end, logitRows);
    if (failed(flatten(end)))
      return failure();
    Builder b(&getContext());
    Type result = end.getOperand(0).getType();
    function.setType(
        b.getFunctionType(function.getArgumentTypes(), TypeRange(result)));
    function.setAllResultAttrs(ArrayRef<Attribute>(named(b, "logits", "R")));
    function->setAttr(KVDialect::getEntryAttrName(), b.getUnitAttr());
    return success();
  }

  static DictionaryAttr named(Builder &b, StringRef name, StringRef dim) {
    return b.getDictionaryAttr(
        {b.getNamedAttr(KVDialect::getNameAttrName(), b.getStringAttr(name)),
         b.getNamedAttr(KVDialect::getDimsAttrName(),
                        b.getStrArrayAttr({dim}))});
  }

  /// A weight without a name is called after its place.
  static LogicalResult nameWeights(func::FuncOp function) {
    for (BlockArgument argument : function.getArguments()) {
      unsigned at = argument.getArgNumber();
      if (isa<CollectionType>(argument.getType()) ||
          !rowDims(argument.getType()).empty() ||
          function.getArgAttr(at, KVDialect::getWeightAttrName()))
        continue;
      function.setArgAttr(
          at, KVDialect::getWeightAttrName(),
          StringAttr::get(function.getContext(), "arg" + std::to_string(at)));
    }
    return success();
  }

  /// Replaces the tokens by i32 [T], and adds the rows that are wanted.
  static Value addTokens(func::FuncOp function) {
    Builder b(function.getContext());
    BlockArgument old;
    for (BlockArgument argument : function.getArguments())
      if (isRows(argument.getType()) &&
          function.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                KVDialect::getNameAttrName()) !=
              b.getStringAttr("row_offsets"))
        old = argument;
    auto type = RankedTensorType::get({ShapedType::kDynamic}, b.getI32Type());
    Location loc = function.getLoc();
    (void)function.insertArgument(0, type, named(b, "tokens", "T"), loc);
    (void)function.insertArgument(1, type, named(b, "logit_rows", "R"), loc);
    Value tokens = function.getArgument(0);
    OpBuilder at = OpBuilder::atBlockBegin(&function.getBody().front());
    auto oldType = cast<RankedTensorType>(old.getType());
    Value length = tensor::DimOp::create(at, loc, tokens, 0);
    if (!oldType.getElementType().isInteger(32)) {
      Value to = tensor::EmptyOp::create(
          at, loc, ArrayRef<OpFoldResult>{length}, oldType.getElementType());
      AffineMap map = at.getMultiDimIdentityMap(1);
      bool wider = oldType.getElementType().getIntOrFloatBitWidth() > 32;
      tokens =
          linalg::GenericOp::create(
              at, loc, to.getType(), tokens, to, ArrayRef{map, map},
              utils::IteratorType::parallel,
              [&](OpBuilder &b, Location loc, ValueRange in) {
                Type type = oldType.getElementType();
                Value id =
                    wider ? Value(arith::ExtSIOp::create(b, loc, type, in[0]))
                          : Value(arith::TruncIOp::create(b, loc, type, in[0]));
                linalg::YieldOp::create(b, loc, id);
              })
              .getResult(0);
    }
    if (oldType.getRank() != 1) {
      ReassociationIndices all =
          llvm::to_vector(llvm::seq<int64_t>(0, oldType.getRank()));
      SmallVector<OpFoldResult> shape(oldType.getRank(), at.getIndexAttr(1));
      shape[rowDims(oldType).front()] = length;
      tokens = tensor::ExpandShapeOp::create(
          at, loc, oldType, tokens, ArrayRef<ReassociationIndices>(all), shape);
    }
    old.replaceAllUsesWith(tokens);
    (void)function.eraseArgument(old.getArgNumber());
    return function.getArgument(1);
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
    return isa_and_nonnull<tensor::EmptyOp, linalg::FillOp>(op);
  }

  /// Computes the result for the rows `logitRows`.
  static void selectRows(func::ReturnOp end, Value logitRows) {
    Operation *last = nullptr;
    for (Operation &op : *end->getBlock())
      if (isa<AttentionOp>(op))
        last = &op;
    llvm::SetVector<Operation *> cone;
    SmallVector<Value> open = {end.getOperand(0)};
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
    end->setOperand(0, mapping.lookup(end.getOperand(0)));
  }

  /// The rows of `value` that `logitRows` names.
  static Value gather(OpBuilder &b, Location loc, Value value, Value logitRows,
                      Value count) {
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

  /// [1, R, vocab] to [R, vocab], in f32.
  static LogicalResult flatten(func::ReturnOp end) {
    auto type = cast<RankedTensorType>(end.getOperand(0).getType());
    int64_t row = rowDims(type).front();
    SmallVector<ReassociationIndices> groups = {{}, {}};
    for (int64_t d = 0; d < type.getRank(); ++d) {
      if (d <= row && d != row && type.getDimSize(d) != 1)
        return end.emitOpError("kv-raise: the result ")
               << type << " is not [1, T, vocabulary]";
      groups[d > row].push_back(d);
    }
    if (!type.getElementType().isF32() || groups[1].empty())
      return end.emitOpError("kv-raise: the result ")
             << type << " is not f32 [1, T, vocabulary]";
    if (type.getRank() == 2)
      return success();
    OpBuilder b(end);
    end->setOperand(0, tensor::CollapseShapeOp::create(
                           b, end.getLoc(), end.getOperand(0), groups));
    return success();
  }
};
} // namespace
