//===- ThreadContext.cpp - The context and the arena ----------------------===//

#include "kv/Passes/Passes.h"

#include "ReuseTemporaries.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace kv {
#define GEN_PASS_DEF_KVTHREADCONTEXT
#include "kv/Passes/Passes.h.inc"
} // namespace kv

using namespace mlir;
using namespace kv;

static bool isBuffer(Type type) { return isa<MemRefType>(type); }

namespace {
struct ThreadContext : kv::impl::KVThreadContextBase<ThreadContext> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto pointer = LLVM::LLVMPointerType::get(&getContext());
    for (auto function : module.getOps<func::FuncOp>()) {
      if (function.isExternal()) {
        function.emitOpError("has no body: an artifact is self-contained");
        return signalPassFailure();
      }
      // kv-form-entries has given entries the context.
      if (!function->hasAttr("kv.interface") &&
          failed(function.insertArgument(0, pointer, {}, function.getLoc())))
        return signalPassFailure();
    }
    for (auto function : module.getOps<func::FuncOp>()) {
      Value context = function.getArgument(0);
      function.walk(
          [&](func::CallOp call) { call->insertOperands(0, context); });
      reuseTemporaries(function);
      useArena(function, context);
    }
  }

  /// Replaces allocations by the arena's. A function's temporaries live until
  /// it returns.
  void useArena(func::FuncOp function, Value context) {
    Location loc = function.getLoc();
    SmallVector<memref::AllocOp> allocs;
    bool takes = false;
    function.walk([&](Operation *op) {
      if (auto alloc = dyn_cast<memref::AllocOp>(op))
        allocs.push_back(alloc);
      else if (isa<func::CallOp>(op))
        takes |= llvm::any_of(op->getResultTypes(), isBuffer);
    });
    takes |= !allocs.empty();
    if (!takes)
      return;

    OpBuilder b(&getContext());
    b.setInsertionPointToStart(&function.getBody().front());
    Value mark = ArenaMarkOp::create(b, loc, b.getI64Type(), context);
    for (memref::AllocOp alloc : allocs) {
      b.setInsertionPoint(alloc);
      Value buffer = ArenaAllocOp::create(b, alloc.getLoc(), alloc.getType(),
                                          context, alloc.getDynamicSizes());
      alloc.replaceAllUsesWith(buffer);
      alloc.erase();
    }
    function.walk([&](func::ReturnOp exit) {
      b.setInsertionPoint(exit);
      SmallVector<OpOperand *> returned;
      for (OpOperand &operand : exit->getOpOperands())
        if (isBuffer(operand.get().getType()))
          returned.push_back(&operand);
      if (returned.empty()) {
        ArenaReleaseOp::create(b, exit.getLoc(), context, mark);
        return;
      }
      SmallVector<Value> buffers = llvm::map_to_vector(
          returned, [](OpOperand *operand) { return operand->get(); });
      auto moved = ArenaReturnOp::create(b, exit.getLoc(),
                                         ValueRange(buffers).getTypes(),
                                         context, mark, buffers);
      for (auto [operand, value] : llvm::zip(returned, moved.getResults()))
        operand->set(value);
    });
  }
};
} // namespace
