//===- CheckHostCode.cpp - Host code touches no device memory -------------===//

#include "kv/Passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace kv {
#define GEN_PASS_DEF_KVCHECKHOSTCODE
#include "kv/Passes/Passes.h.inc"
} // namespace kv

using namespace mlir;
using namespace kv;

/// Sizes and views.
static bool onlyDescribes(Operation *op) {
  return isa<memref::AllocOp, memref::DimOp, memref::CastOp,
             memref::TransposeOp, memref::ExpandShapeOp,
             memref::CollapseShapeOp, memref::SubViewOp,
             memref::ReinterpretCastOp>(op);
}

namespace {
struct CheckHostCode : kv::impl::KVCheckHostCodeBase<CheckHostCode> {
  void runOnOperation() override {
    WalkResult result = getOperation().walk([](Operation *op) {
      if (auto call = dyn_cast<func::CallOp>(op);
          call &&
          llvm::any_of(call.getResultTypes(), llvm::IsaPred<BaseMemRefType>)) {
        call.emitOpError("returns device memory of its own: it must write what "
                         "it is given");
        return WalkResult::interrupt();
      }
      bool known = onlyDescribes(op) ||
                   isa<KVDialect, func::FuncDialect>(op->getDialect()) ||
                   isa<ModuleOp, scf::ForOp, scf::IfOp, scf::YieldOp>(op);
      bool touches =
          llvm::any_of(op->getOperandTypes(), llvm::IsaPred<ShapedType>) ||
          llvm::any_of(op->getResultTypes(), llvm::IsaPred<ShapedType>);
      if (known || !touches)
        return WalkResult::advance();
      op->emitOpError("would touch device memory on the host");
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
