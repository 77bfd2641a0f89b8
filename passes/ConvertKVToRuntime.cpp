//===- ConvertKVToRuntime.cpp - Operations on caches to runtime calls -----===//

#include "kv/Passes/Passes.h"

#include "kv/ABI/Context.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace kv {
#define GEN_PASS_DEF_CONVERTKVTORUNTIME
#include "kv/Passes/Passes.h.inc"
} // namespace kv

using namespace mlir;
using namespace kv;

static_assert((int)MaskKind::None == KV_MASK_NONE &&
                  (int)MaskKind::Causal == KV_MASK_CAUSAL &&
                  (int)MaskKind::Sliding == KV_MASK_SLIDING &&
                  (int)MaskKind::Chunked == KV_MASK_CHUNKED &&
                  (int)MaskKind::SlidingNoncausal == KV_MASK_SLIDING_NONCAUSAL,
              "the dialect's masks are the ABI's");

static Value layerAsI64(OpBuilder &b, Location loc, Value layer) {
  return arith::IndexCastOp::create(b, loc, b.getI64Type(), layer);
}

static Value constantF32(OpBuilder &b, Location loc, double value) {
  return arith::ConstantFloatOp::create(b, loc, b.getF32Type(),
                                        APFloat(static_cast<float>(value)));
}

namespace {
struct ConvertKVToRuntime
    : kv::impl::ConvertKVToRuntimeBase<ConvertKVToRuntime> {
  void runOnOperation() override {
    WalkResult result = getOperation().walk([&](Operation *work) {
      auto op = dyn_cast<CacheOpInterface>(work);
      if (!op && !isa<CopyPagesOp>(work))
        return WalkResult::advance();
      if (!op) {
        work->emitOpError("has no runtime function: run kv-decompose before");
        return WalkResult::interrupt();
      }
      if (!op.isResolved()) {
        op.emitOpError("has a handle: run kv-resolve-collections before");
        return WalkResult::interrupt();
      }
      if (failed(checkKernel(work)))
        return WalkResult::interrupt();
      OpBuilder b(op);
      Value context = op->getParentOfType<func::FuncOp>().getArgument(0);
      if (auto store = dyn_cast<StoreOp>(*op))
        convert(b, store, context);
      else if (auto attention = dyn_cast<AttentionOp>(*op))
        convert(b, attention, context);
      else if (auto print = dyn_cast<PrintOp>(*op))
        convert(b, print, context);
      else {
        op.emitOpError("has no runtime function: run kv-decompose before");
        return WalkResult::interrupt();
      }
      op->erase();
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

  /// The runtime's functions are the kernel `reference`.
  static LogicalResult checkKernel(Operation *op) {
    auto attention = dyn_cast<AttentionOp>(op);
    if (attention && attention.getPlan())
      return op->emitOpError("has a plan, which the runtime function does not "
                             "take: run kv-select-kernel before");
    KernelAttr kernel = getKernel(op);
    if (kernel && kernel.getKind() != KernelKind::Reference)
      return op->emitOpError()
             << "has the kernel '" << stringifyKernelKind(kernel.getKind())
             << "': run kv-decompose before";
    return success();
  }

  void call(OpBuilder &b, Location loc, StringRef callee, Value context,
            ValueRange arguments, ArrayRef<int64_t> absent = {}) {
    RuntimeCallOp::create(b, loc, /*result=*/Type(), callee, context, arguments,
                          absent);
  }

  void convert(OpBuilder &b, StoreOp op, Value context) {
    Location loc = op.getLoc();
    auto cache = cast<CacheOpInterface>(*op);
    call(b, loc, "store", context,
         {cache.getBlocks(), cache.getCacheLengths(), cache.getLookupTable(),
          op.getRowOffsets(), layerAsI64(b, loc, op.getLayer()), op.getK(),
          op.getV()});
  }

  void convert(OpBuilder &b, PrintOp op, Value context) {
    Location loc = op.getLoc();
    auto cache = cast<CacheOpInterface>(*op);
    Value layer = layerAsI64(b, loc, op.getLayer());
    SmallVector<Value> arguments = {cache.getBlocks(), cache.getCacheLengths(),
                                    cache.getLookupTable()};
    if (op.getRowOffsets())
      arguments.push_back(op.getRowOffsets());
    arguments.push_back(layer);
    SmallVector<int64_t> absent;
    if (!op.getRowOffsets())
      absent.push_back(3);
    call(b, loc, "print", context, arguments, absent);
  }

  void convert(OpBuilder &b, AttentionOp op, Value context) {
    Location loc = op.getLoc();
    auto cache = cast<CacheOpInterface>(*op);
    Value scale = constantF32(b, loc, op.getScale().convertToDouble());
    Value softcap = constantF32(
        b, loc, op.getSoftcap() ? op.getSoftcap()->convertToDouble() : 0.0);
    Value mask = arith::ConstantIntOp::create(
        b, loc, b.getI32Type(), static_cast<int64_t>(op.getMask().getKind()));
    Value window = arith::ConstantIntOp::create(b, loc, b.getI64Type(),
                                                op.getMask().getWindow());
    SmallVector<Value> arguments = {cache.getBlocks(),
                                    cache.getCacheLengths(),
                                    cache.getLookupTable(),
                                    op.getRowOffsets(),
                                    layerAsI64(b, loc, op.getLayer()),
                                    op.getQ(),
                                    op.getOut(),
                                    op.getOutLse(),
                                    scale,
                                    softcap,
                                    mask,
                                    window,
                                    op.getSinks()};
    SmallVector<int64_t> absent;
    for (auto [i, argument] : llvm::enumerate(arguments))
      if (!argument)
        absent.push_back(i);
    llvm::erase(arguments, Value());
    call(b, loc, "attention", context, arguments, absent);
  }
};
} // namespace
