//===- FormEntries.cpp - The C interface of the artifact ------------------===//

#include "kv/Passes/Passes.h"

#include "kv/Dialect/StoredWeight.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/common/HostSizes.h"

namespace kv {
#define GEN_PASS_DEF_KVFORMENTRIES
#include "kv/Passes/Passes.h.inc"
} // namespace kv

using namespace mlir;
using namespace kv;

/// Sizes as integers, dynamic ones as the names given by kv.dims, or made from
/// the argument's own name.
static ArrayAttr describeShape(Builder &b, ShapedType type, StringRef name,
                               ArrayAttr dims) {
  SmallVector<Attribute> shape;
  int64_t dynamic = 0;
  for (int64_t size : type.getShape()) {
    if (!ShapedType::isDynamic(size))
      shape.push_back(b.getI64IntegerAttr(size));
    else if (dims)
      shape.push_back(dims[dynamic++]);
    else
      shape.push_back(b.getStringAttr(name + "." + Twine(dynamic++)));
  }
  return b.getArrayAttr(shape);
}

/// One row of the manifest's inputs.
static DictionaryAttr describeInput(Builder &b, func::FuncOp function,
                                    unsigned i) {
  auto text = [&](StringRef name) {
    return function.getArgAttrOfType<StringAttr>(i, name);
  };
  StringAttr weight = text(KVDialect::getWeightAttrName());
  StringAttr component = text(KVDialect::getComponentAttrName());
  StringAttr name = weight ? weight : text(KVDialect::getNameAttrName());
  if (!name)
    name = b.getStringAttr("arg" + Twine(i));
  auto type = cast<ShapedType>(function.getArgumentTypes()[i]);

  NamedAttrList row;
  row.set("name", name);
  row.set("kind", b.getStringAttr(weight      ? "weight"
                                  : component ? "kv." + component.str()
                                              : "input"));
  row.set("dtype", TypeAttr::get(type.getElementType()));
  row.set("shape", describeShape(b, type, name,
                                 function.getArgAttrOfType<ArrayAttr>(
                                     i, KVDialect::getDimsAttrName())));
  if (component) {
    row.set("collection",
            b.getStringAttr(name.getValue().drop_back(component.size() + 1)));
    row.set("type", function.getArgAttr(i, KVDialect::getCollectionAttrName()));
  }
  if (StringAttr layout = text(KVDialect::getLayoutAttrName()))
    row.set("layout", layout);
  if (Attribute shard = function.getArgAttr(i, KVDialect::getShardAttrName()))
    row.set("shard", shard);
  if (Attribute stored = function.getArgAttr(i, kStoredAttrName))
    row.set("stored", stored);
  if (function.getArgAttr(i, "kv.host"))
    row.set("host", b.getUnitAttr());
  return row.getDictionary(b.getContext());
}

static DictionaryAttr describeOutput(Builder &b, func::FuncOp function,
                                     unsigned i) {
  auto text = [&](StringRef name) { return function.getResultAttr(i, name); };
  auto name = dyn_cast_or_null<StringAttr>(text(KVDialect::getNameAttrName()));
  if (!name)
    name = b.getStringAttr("result" + Twine(i));
  auto type = cast<ShapedType>(function.getResultTypes()[i]);
  NamedAttrList row;
  row.set("name", name);
  row.set("dtype", TypeAttr::get(type.getElementType()));
  row.set("shape", describeShape(b, type, name,
                                 dyn_cast_or_null<ArrayAttr>(
                                     text(KVDialect::getDimsAttrName()))));
  return row.getDictionary(b.getContext());
}

namespace {
struct FormEntries : kv::impl::KVFormEntriesBase<FormEntries> {
  void runOnOperation() override {
    if (checkDimensions<tensor::DimOp>() || checkDimensions<memref::DimOp>())
      return signalPassFailure();
    for (auto function :
         llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
      if (function->hasAttr(KVDialect::getEntryAttrName()))
        if (failed(formEntry(function)))
          return signalPassFailure();
  }

  /// Whether a constant dimension is outside of its tensor: what would be read
  /// there is not a size.
  template <class Dim> bool checkDimensions() {
    return getOperation()
        .walk([](Dim op) {
          auto type = dyn_cast<ShapedType>(op.getSource().getType());
          if (!op.getConstantIndex() || !type || !type.hasRank() ||
              dimensionOf(op))
            return WalkResult::advance();
          op.emitOpError() << "asks for the size of dimension "
                           << *op.getConstantIndex() << " of a tensor of rank "
                           << type.getRank();
          return WalkResult::interrupt();
        })
        .wasInterrupted();
  }

  LogicalResult formEntry(func::FuncOp function) {
    for (Type type : function.getArgumentTypes())
      if (!isa<RankedTensorType>(type) && !isa<MemRefType>(type))
        return function.emitOpError()
               << "an entry takes ranked tensors and collections, not " << type;
    for (Type type : function.getResultTypes())
      if (!isa<RankedTensorType>(type))
        return function.emitOpError()
               << "an entry returns ranked tensors, not " << type;
    if (!llvm::hasSingleElement(function.getBody()))
      return function.emitOpError("an entry's body is one block");

    OpBuilder b(function);
    SmallVector<Attribute> inputs, outputs;
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      inputs.push_back(describeInput(b, function, i));
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      outputs.push_back(describeOutput(b, function, i));
    auto interface = b.getDictionaryAttr(
        {b.getNamedAttr("inputs", b.getArrayAttr(inputs)),
         b.getNamedAttr("name", function.getNameAttr()),
         b.getNamedAttr("outputs", b.getArrayAttr(outputs))});

    makeWrapper(b, function, interface);
    readArguments(function, inputs, outputs);
    return success();
  }

  /// Checks, and runs the body when all is well.
  void makeWrapper(OpBuilder &b, func::FuncOp function,
                   DictionaryAttr interface) {
    Location loc = function.getLoc();
    auto pointer = LLVM::LLVMPointerType::get(&getContext());
    Type i32 = b.getI32Type();
    auto wrapper =
        func::FuncOp::create(b, loc, ("kv_entry_" + function.getName()).str(),
                             b.getFunctionType({pointer, pointer, i32}, i32));
    wrapper->setAttr("kv.interface", interface);
    Block *block = wrapper.addEntryBlock();
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(block);
    Value context = block->getArgument(0), args = block->getArgument(1);
    Value checked = CheckArgumentsOp::create(b, loc, i32, context, args,
                                             block->getArgument(2));
    Value zero = arith::ConstantIntOp::create(b, loc, i32, 0);
    Value good =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, checked, zero);
    scf::IfOp::create(b, loc, good, [&](OpBuilder &b, Location loc) {
      func::CallOp::create(b, loc, function.getName(), TypeRange(),
                           ValueRange(args));
      scf::YieldOp::create(b, loc);
    });
    Value status = StatusOp::create(b, loc, i32, context);
    func::ReturnOp::create(b, loc, status);
  }

  /// The size of a result in one dimension, and how it is known to be that of
  /// the caller's buffer.
  struct ResultSize {
    int64_t dimension;
    HostSize from;
  };

  /// The sizes of a result that checkArguments does not compare with the
  /// buffer's: those that the types leave open and that no equal name of a
  /// dimension ties to where they come from.
  static SmallVector<ResultSize> openSizes(Value result, Attribute output,
                                           ArrayRef<Attribute> inputs) {
    auto shapeOf = [](Attribute row) {
      return cast<DictionaryAttr>(row).getAs<ArrayAttr>("shape");
    };
    SmallVector<ResultSize> open;
    auto type = cast<ShapedType>(result.getType());
    for (int64_t d = 0; d < type.getRank(); ++d) {
      if (!type.isDynamicDim(d))
        continue;
      HostSize from = traceSize(result, d);
      if (auto argument = dyn_cast_or_null<BlockArgument>(from.value);
          argument && isa<func::FuncOp>(argument.getOwner()->getParentOp()) &&
          shapeOf(inputs[argument.getArgNumber()])[from.number] ==
              shapeOf(output)[d])
        continue;
      open.push_back({d, from});
    }
    return open;
  }

  /// The body takes `args` alone. Results go into the caller's buffers, which
  /// follow the inputs: written in place where their size is known to fit
  /// before the body begins, else copied once it has been compared.
  void readArguments(func::FuncOp function, ArrayRef<Attribute> inputs,
                     ArrayRef<Attribute> outputs) {
    Block &body = function.getBody().front();
    Location loc = function.getLoc();
    unsigned numInputs = body.getNumArguments();
    auto exit = cast<func::ReturnOp>(body.getTerminator());
    SmallVector<Value> results(exit.getOperands());
    SmallVector<SmallVector<ResultSize>> sizes;
    for (auto [result, output] : llvm::zip_equal(results, outputs))
      sizes.push_back(openSizes(result, output, inputs));
    auto pointer = LLVM::LLVMPointerType::get(&getContext());
    Value args = body.addArgument(pointer, loc);

    OpBuilder b(&body, body.begin());
    auto bufferType = [](Type type) {
      auto shaped = cast<ShapedType>(type);
      return MemRefType::get(shaped.getShape(), shaped.getElementType());
    };
    auto open = [&](Type type, int64_t index) -> Value {
      return ArgumentOp::create(b, loc, bufferType(type), args, index);
    };
    SmallVector<Value> values(body.getArguments().drop_back());
    for (unsigned i = 0; i < numInputs; ++i) {
      BlockArgument argument = body.getArgument(i);
      values[i] = open(argument.getType(), i);
      if (isa<TensorType>(argument.getType()))
        values[i] = bufferization::ToTensorOp::create(
            b, argument.getLoc(), argument.getType(), values[i],
            /*restrict=*/true);
      argument.replaceAllUsesWith(values[i]);
    }
    SmallVector<Value> buffers;
    for (auto [i, result] : llvm::enumerate(results))
      buffers.push_back(open(result.getType(), numInputs + i));

    auto check = [&](unsigned i, int64_t dimension, Value size) {
      auto name = cast<DictionaryAttr>(outputs[i]).getAs<StringAttr>("name");
      CheckResultOp::create(b, loc, buffers[i], name,
                            b.getI64IntegerAttr(dimension), size);
    };
    SmallVector<bool> isLate(results.size());
    for (unsigned i = 0; i < results.size(); ++i)
      for (auto [dimension, from] : sizes[i]) {
        auto argument = dyn_cast_or_null<BlockArgument>(from.value);
        bool isArgument = argument && argument.getOwner() == &body;
        isLate[i] |= !isArgument && !from.isConstant();
        if (isArgument)
          from.value = values[argument.getArgNumber()];
        if (isArgument || from.isConstant())
          check(i, dimension, from.materialize(b, loc));
      }
    body.eraseArguments(0, numInputs);

    b.setInsertionPoint(exit);
    for (unsigned i = 0; i < results.size(); ++i) {
      Value result = exit.getOperand(i);
      if (!isLate[i]) {
        bufferization::MaterializeInDestinationOp::create(
            b, loc, /*result=*/Type(), result, buffers[i], /*restrict=*/true,
            /*writable=*/true);
        continue;
      }
      for (const ResultSize &size : sizes[i])
        check(i, size.dimension,
              tensor::DimOp::create(b, loc, result, size.dimension));
      Value made = bufferization::ToBufferOp::create(
          b, loc, bufferType(result.getType()), result, /*read_only=*/true);
      memref::CopyOp::create(b, loc, made, buffers[i]);
    }
    func::ReturnOp::create(b, exit.getLoc());
    exit.erase();

    function.setType(FunctionType::get(&getContext(), pointer, {}));
    function.removeArgAttrsAttr();
    function.removeResAttrsAttr();
    function->removeAttr(KVDialect::getEntryAttrName());
    function.setPrivate();
  }
};
} // namespace
