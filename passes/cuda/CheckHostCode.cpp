//===- CheckHostCode.cpp - Host code touches no device memory -------------===//

#include "kv/Passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Remarks.h"

namespace kv {
#define GEN_PASS_DEF_KVCHECKHOSTCODE
#include "kv/Passes/Passes.h.inc"
} // namespace kv

using namespace mlir;
using namespace kv;

/// Whether an operation on buffers reads and writes no element on the host: it
/// computes sizes or views, or passes buffers on.
static bool passesOn(Operation *op) {
  return isa<KVDialect, func::FuncDialect>(op->getDialect()) ||
         isa<memref::AllocOp, memref::DimOp, memref::CastOp,
             memref::TransposeOp, memref::ExpandShapeOp,
             memref::CollapseShapeOp, memref::SubViewOp,
             memref::ReinterpretCastOp, scf::ForOp, scf::IfOp, scf::YieldOp>(
             op);
}

static bool isContiguous(Value buffer) {
  return cast<MemRefType>(buffer.getType()).getLayout().isIdentity();
}

namespace {
struct CheckHostCode : kv::impl::KVCheckHostCodeBase<CheckHostCode> {
  using KVCheckHostCodeBase::KVCheckHostCodeBase;

  void runOnOperation() override {
    WalkResult result = getOperation().walk([&](Operation *op) {
      if (auto copy = dyn_cast<memref::CopyOp>(op))
        return WalkResult(queue(copy));
      return WalkResult(check(op));
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

  LogicalResult check(Operation *op) {
    if (auto call = dyn_cast<func::CallOp>(op);
        call && llvm::any_of(call.getResultTypes(), llvm::IsaPred<MemRefType>))
      return call.emitOpError("returns device memory of its own: it must write "
                              "what it is given");
    bool touches =
        llvm::any_of(op->getOperandTypes(), llvm::IsaPred<ShapedType>) ||
        llvm::any_of(op->getResultTypes(), llvm::IsaPred<ShapedType>);
    if (touches && !passesOn(op))
      return op->emitOpError("would touch device memory on the host");
    return success();
  }

  /// Replaces a copy by a launch of `cast`, which copies if the types are
  /// equal.
  LogicalResult queue(memref::CopyOp op) {
    auto type = cast<MemRefType>(op.getSource().getType());
    if (!dtypeOf(type.getElementType()) || !isContiguous(op.getSource()) ||
        !isContiguous(op.getTarget()))
      return op.emitOpError()
             << "of " << type << " to " << op.getTarget().getType()
             << " has no kernel: kv-cuda copies whole tensors";
    OpBuilder b(op);
    LaunchOp::create(b, op.getLoc(), RuntimeFunction::cast, op.getSource(),
                     op.getTarget());
    remark::missed(op.getLoc(), remark::RemarkOpts::name("Copy").category(
                                    "kv-check-host-code"))
        << remark::add("a tensor is copied: its kernel writes another place");
    op.erase();
    ++numCopies;
    return success();
  }
};
} // namespace
