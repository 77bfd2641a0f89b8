//===- EntryForm.cpp - A graph's function becomes an entry ----------------===//

#include "EntryForm.h"

#include "kv/Dialect/KV.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/raise/analysis/Graph.h"

using namespace mlir;
using namespace kv;

static DictionaryAttr named(Builder &b, StringRef name, StringRef dim) {
  return b.getDictionaryAttr(
      {b.getNamedAttr(KVDialect::getNameAttrName(), b.getStringAttr(name)),
       b.getNamedAttr(KVDialect::getDimsAttrName(), b.getStrArrayAttr({dim}))});
}

/// A weight without a name is called after its place.
static void nameWeights(func::FuncOp function) {
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
}

static StringRef nameOf(BlockArgument argument) {
  StringAttr name = argumentAttr(argument, KVDialect::getNameAttrName());
  return name ? name.getValue() : "";
}

/// Replaces the tokens by i32 [T].
static void replaceTokens(func::FuncOp function) {
  Builder b(function.getContext());
  BlockArgument old;
  for (BlockArgument argument : function.getArguments())
    if (isRows(argument.getType()) &&
        !llvm::is_contained({"row_offsets", "logit_rows"}, nameOf(argument)))
      old = argument;
  auto type = RankedTensorType::get({ShapedType::kDynamic}, b.getI32Type());
  Location loc = function.getLoc();
  (void)function.insertArgument(0, type, named(b, "tokens", "T"), loc);
  Value tokens = function.getArgument(0);
  OpBuilder at = OpBuilder::atBlockBegin(&function.getBody().front());
  auto oldType = cast<RankedTensorType>(old.getType());
  Value length = tensor::DimOp::create(at, loc, tokens, 0);
  if (!oldType.getElementType().isInteger(32)) {
    Value to = tensor::EmptyOp::create(at, loc, ArrayRef<OpFoldResult>{length},
                                       oldType.getElementType());
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
}

/// [1, T, vocabulary] to [T, vocabulary], in f32.
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

Value kv::addLogitRows(func::FuncOp function) {
  Builder b(function.getContext());
  auto type = RankedTensorType::get({ShapedType::kDynamic}, b.getI32Type());
  unsigned at = function.getNumArguments();
  (void)function.insertArgument(at, type, named(b, "logit_rows", "R"),
                                function.getLoc());
  return function.getArgument(at);
}

LogicalResult kv::formEntry(func::FuncOp function, StringRef rows) {
  auto end = cast<func::ReturnOp>(function.getBody().front().getTerminator());
  if (end.getNumOperands() != 1)
    return end.emitOpError("kv-raise: ")
           << end.getNumOperands() << " results; the logits alone are needed";
  nameWeights(function);
  replaceTokens(function);
  if (failed(flatten(end)))
    return failure();
  Builder b(function.getContext());
  function.setType(b.getFunctionType(function.getArgumentTypes(),
                                     TypeRange(end.getOperand(0).getType())));
  function.setAllResultAttrs(ArrayRef<Attribute>(named(b, "logits", rows)));
  function->setAttr(KVDialect::getEntryAttrName(), b.getUnitAttr());
  return success();
}
