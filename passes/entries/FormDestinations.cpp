//===- FormDestinations.cpp - Functions write what callers give -----------===//

#include "kv/Passes/Passes.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "passes/common/HostSizes.h"

namespace kv {
#define GEN_PASS_DEF_KVFORMDESTINATIONS
#include "kv/Passes/Passes.h.inc"
} // namespace kv

using namespace mlir;
using namespace kv;

static bool isTensor(Type type) { return isa<RankedTensorType>(type); }

namespace {
struct FormDestinations : kv::impl::KVFormDestinationsBase<FormDestinations> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTableCollection symbols;
    SymbolUserMap users(symbols, module);
    for (auto function : module.getOps<func::FuncOp>()) {
      // kv-form-entries gives an entry's results their places.
      if (function.isExternal() ||
          function->hasAttr(KVDialect::getEntryAttrName()) ||
          llvm::none_of(function.getResultTypes(), isTensor))
        continue;
      if (!llvm::hasSingleElement(function.getBody())) {
        function.emitOpError("must have one block to be compiled for a device");
        return signalPassFailure();
      }
      if (failed(addDestinations(function, users.getUsers(function))))
        return signalPassFailure();
    }
  }

  LogicalResult addDestinations(func::FuncOp function,
                                ArrayRef<Operation *> users) {
    for (Operation *user : users) {
      auto call = dyn_cast<func::CallOp>(user);
      if (!call)
        return user->emitOpError()
               << "names @" << function.getName()
               << ", which a device's host code can only call";
      if (failed(giveDestinations(call)))
        return failure();
    }
    Operation *exit = function.getBody().front().getTerminator();
    OpBuilder b(exit);
    for (OpOperand &operand : exit->getOpOperands()) {
      Type type = operand.get().getType();
      if (!isTensor(type))
        continue;
      unsigned last = function.getNumArguments();
      if (failed(function.insertArgument(last, type, {}, function.getLoc())))
        return failure();
      auto write = bufferization::MaterializeInDestinationOp::create(
          b, exit->getLoc(), type, operand.get(), function.getArgument(last));
      operand.set(write.getResult());
    }
    return success();
  }

  /// Appends an empty tensor for each result to the call's operands. Its sizes
  /// must be found before the callee is changed.
  LogicalResult giveDestinations(func::CallOp call) {
    OpBuilder b(call);
    Location loc = call.getLoc();
    SmallVector<Value> destinations;
    for (Value result : call.getResults()) {
      if (!isTensor(result.getType()))
        continue;
      auto type = cast<RankedTensorType>(result.getType());
      SmallVector<Value> sizes;
      for (int64_t i = 0; i < type.getRank(); ++i) {
        if (!type.isDynamicDim(i))
          continue;
        HostSize size = traceSize(result, i);
        if (!size.isConstant() &&
            !DominanceInfo().properlyDominates(size.value, call))
          return call.emitOpError()
                 << "returns a " << type << " whose dimension " << i
                 << " is not known before the call: it must be that of an "
                    "argument";
        sizes.push_back(size.materialize(b, loc));
      }
      destinations.push_back(tensor::EmptyOp::create(b, loc, type, sizes));
    }
    call.getOperandsMutable().append(destinations);
    return success();
  }
};
} // namespace
