//===- FormEntries.cpp - The C interface of the artifact ------------------===//

#include "kv/Passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

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
    for (auto function :
         llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
      if (function->hasAttr(KVDialect::getEntryAttrName()))
        if (failed(formEntry(function)))
          return signalPassFailure();
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
    readArguments(function);
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

  /// The body takes `args` alone. Results go into the caller's buffers, which
  /// follow the inputs.
  void readArguments(func::FuncOp function) {
    Block &body = function.getBody().front();
    Location loc = function.getLoc();
    unsigned numInputs = body.getNumArguments();
    auto pointer = LLVM::LLVMPointerType::get(&getContext());
    Value args = body.addArgument(pointer, loc);

    OpBuilder b(&body, body.begin());
    auto open = [&](Type type, int64_t index) -> Value {
      auto shaped = cast<ShapedType>(type);
      auto buffer = MemRefType::get(shaped.getShape(), shaped.getElementType());
      return ArgumentOp::create(b, loc, buffer, args, index);
    };
    for (unsigned i = 0; i < numInputs; ++i) {
      BlockArgument argument = body.getArgument(i);
      Value value = open(argument.getType(), i);
      if (isa<TensorType>(argument.getType()))
        value = bufferization::ToTensorOp::create(b, argument.getLoc(),
                                                  argument.getType(), value,
                                                  /*restrict=*/true);
      argument.replaceAllUsesWith(value);
    }
    body.eraseArguments(0, numInputs);

    auto exit = cast<func::ReturnOp>(body.getTerminator());
    b.setInsertionPoint(exit);
    for (auto [i, result] : llvm::enumerate(exit.getOperands())) {
      Value buffer = open(result.getType(), numInputs + i);
      bufferization::MaterializeInDestinationOp::create(
          b, loc, /*result=*/Type(), result, buffer, /*restrict=*/true,
          /*writable=*/true);
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
