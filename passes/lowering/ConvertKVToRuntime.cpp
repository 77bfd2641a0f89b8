//===- ConvertKVToRuntime.cpp - Operations on caches to runtime calls -----===//

#include "kv/Passes/Passes.h"

#include "ContextArgument.h"
#include "kv/ABI/Context.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/common/CacheAccess.h"

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
                  (int)MaskKind::SlidingNoncausal ==
                      KV_MASK_SLIDING_NONCAUSAL &&
                  (int)MaskKind::ChunkedCausal == KV_MASK_CHUNKED_CAUSAL,
              "the dialect's masks are the ABI's");
static_assert((int)UpdateKind::Rope == KV_UPDATE_ROPE &&
                  (int)UpdateKind::RmsNorm == KV_UPDATE_RMS_NORM &&
                  (int)UpdateKind::Add == KV_UPDATE_ADD,
              "the dialect's updates are the ABI's");

static Value indexAsI64(OpBuilder &b, Location loc, Value index) {
  return arith::IndexCastOp::create(b, loc, b.getI64Type(), index);
}

static Value constantI64(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantIntOp::create(b, loc, b.getI64Type(), value);
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
      if (auto assertion = dyn_cast<AssertOp>(work)) {
        Value context = getContextArgument(work);
        if (!context)
          return WalkResult::interrupt();
        convert(assertion, context);
        return WalkResult::advance();
      }
      if (isa<CheckStepOp, CheckResultOp, CheckIndicesOp>(work)) {
        Value context = getContextArgument(work);
        if (!context)
          return WalkResult::interrupt();
        if (isOnTensors(work) == true) {
          work->emitOpError("is on tensors: bufferize before");
          return WalkResult::interrupt();
        }
        OpBuilder b(work);
        if (auto step = dyn_cast<CheckStepOp>(work))
          convert(b, step, context);
        else if (auto indices = dyn_cast<CheckIndicesOp>(work))
          convert(b, indices, context);
        else
          convert(b, cast<CheckResultOp>(work), context);
        work->erase();
        return WalkResult::advance();
      }
      if (isa<LaunchOp, PlanBytesOp>(work) || hasKernel<CopyPagesOp>(work)) {
        Value context = getContextArgument(work);
        if (!context)
          return WalkResult::interrupt();
        auto launch = dyn_cast<LaunchOp>(work);
        if (launch ? !!launch.getResult() : isOnTensors(work) == true) {
          work->emitOpError("is on tensors: bufferize before");
          return WalkResult::interrupt();
        }
        OpBuilder b(work);
        convertOnDevice(b, work, context);
        work->erase();
        return WalkResult::advance();
      }
      if (isa<RankOp, GatherOp, SampleOp>(work)) {
        Value context = getContextArgument(work);
        if (!context)
          return WalkResult::interrupt();
        if (!isa<RankOp>(work) && isOnTensors(work) == true) {
          work->emitOpError("is on tensors: bufferize before");
          return WalkResult::interrupt();
        }
        OpBuilder b(work);
        if (auto gather = dyn_cast<GatherOp>(work))
          convert(b, gather, context);
        else if (isa<SampleOp>(work))
          call(b, work->getLoc(), "sample", context,
               llvm::to_vector(work->getOperands()));
        else
          convert(b, cast<RankOp>(work), context);
        work->erase();
        return WalkResult::advance();
      }
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
      if (op.getCollectionType().getGeometry().bands() > 1) {
        op.emitOpError("has a collection with 'page_layers': run "
                       "kv-resolve-bands before");
        return WalkResult::interrupt();
      }
      if (isOnTensors(work) == true) {
        op.emitOpError("is on tensors: bufferize before");
        return WalkResult::interrupt();
      }
      Value context = getContextArgument(work);
      if (!context || failed(checkKernel(work)))
        return WalkResult::interrupt();
      OpBuilder b(op);
      if (auto store = dyn_cast<StoreOp>(*op))
        convert(b, store, context);
      else if (auto attention = dyn_cast<AttentionOp>(*op))
        convert(b, attention, context);
      else if (auto print = dyn_cast<PrintOp>(*op))
        convert(b, print, context);
      else if (!isOnDevice(work) || !convertOnDevice(b, op, context)) {
        op.emitOpError("has no runtime function: run kv-decompose before");
        return WalkResult::interrupt();
      }
      op->erase();
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

  template <typename Op> static bool hasKernel(Operation *op) {
    return isa<Op>(op) && getKernel(op);
  }

  static bool isOnDevice(Operation *op) {
    KernelAttr kernel = getKernel(op);
    return kernel && kernel.getKind() == KernelKind::Cuda;
  }

  /// The runtime's functions are the kernels `reference` and `cuda`.
  static LogicalResult checkKernel(Operation *op) {
    KernelAttr kernel = getKernel(op);
    if (kernel && kernel.getKind() == KernelKind::Vector)
      return op->emitOpError(
          "has the kernel 'vector': run kv-outline-kernels and kv-vectorize "
          "before");
    auto attention = dyn_cast<AttentionOp>(op);
    if (attention && isOnDevice(op))
      return attention.getPlan()
                 ? success()
                 : op->emitOpError("has no plan, which the runtime function "
                                   "needs: run kv-select-kernel before");
    if (attention && attention.getProducts())
      return op->emitOpError("has products of f8E4M3FN, which no function of "
                             "the runtime makes: run kv-decompose before");
    if (attention && attention.getPlan())
      return op->emitOpError("has a plan, which the runtime function does not "
                             "take: run kv-select-kernel before");
    if (kernel && !isOnDevice(op) && kernel.getKind() != KernelKind::Reference)
      return op->emitOpError()
             << "has the kernel '" << stringifyKernelKind(kernel.getKind())
             << "': run kv-decompose before";
    return success();
  }

  /// A call whose null arguments are absent.
  void call(OpBuilder &b, Location loc, StringRef callee, Value context,
            SmallVector<Value> arguments) {
    SmallVector<int64_t> absent;
    for (auto [i, argument] : llvm::enumerate(arguments))
      if (!argument)
        absent.push_back(i);
    llvm::erase(arguments, Value());
    RuntimeCallOp::create(b, loc, /*result=*/Type(), callee, context, arguments,
                          absent);
  }

  /// The arguments that every function on a cache begins with.
  SmallVector<Value> cacheArguments(OpBuilder &b, CacheOpInterface op) {
    Layout layout = op.getCollectionType().getLayout();
    Value scales = op.getScales();
    return {inLogicalOrder(b, op.getLoc(), op.getBlocks(), layout),
            scales ? inLogicalOrder(b, op.getLoc(), scales, layout) : Value(),
            op.getCacheLengths(), op.getLookupTable()};
  }

  void convert(AssertOp op, Value context) {
    OpBuilder b(op);
    Location loc = op.getLoc();
    Value yes = arith::ConstantIntOp::create(b, loc, 1, 1);
    Value failed = arith::XOrIOp::create(b, loc, op.getCondition(), yes);
    scf::IfOp::create(b, loc, failed, [&](OpBuilder &b, Location loc) {
      RecordErrorOp::create(b, loc, context, op.getStatusAttr(),
                            op.getMessageAttr());
      scf::YieldOp::create(b, loc);
    });
    op.erase();
  }

  void convert(OpBuilder &b, CheckStepOp op, Value context) {
    Location loc = op.getLoc();
    Value rows = op.getRows() ? indexAsI64(b, loc, op.getRows())
                              : constantI64(b, loc, -1);
    call(b, loc, "checkStep", context,
         {op.getRowOffsets(), op.getCacheLengths(), op.getLookupTable(),
          op.getMaxLengths(), rows,
          constantI64(b, loc, op.getSequences().value_or(-1)),
          constantI64(b, loc, op.getPage().value_or(0)),
          constantI64(b, loc, op.getBands().value_or(1))});
  }

  void convert(OpBuilder &b, CheckResultOp op, Value context) {
    Location loc = op.getLoc();
    Value name = TextOp::create(b, loc, context.getType(), op.getNameAttr());
    call(b, loc, "checkResult", context,
         {op.getBuffer(), name, constantI64(b, loc, op.getDimension()),
          indexAsI64(b, loc, op.getSize())});
  }

  void convert(OpBuilder &b, CheckIndicesOp op, Value context) {
    Location loc = op.getLoc();
    Value name = TextOp::create(b, loc, context.getType(), op.getNameAttr());
    call(b, loc, "checkIndices", context,
         {op.getIndices(), name, indexAsI64(b, loc, op.getCount())});
  }

  void convert(OpBuilder &b, RankOp op, Value context) {
    auto number = RuntimeCallOp::create(b, op.getLoc(), b.getI64Type(), "rank",
                                        context, ValueRange());
    op.getRank().replaceAllUsesWith(arith::IndexCastOp::create(
        b, op.getLoc(), b.getIndexType(), number.getResult()));
  }

  void convert(OpBuilder &b, GatherOp op, Value context) {
    Location loc = op.getLoc();
    int64_t inner = op.getInner();
    call(b, loc, "gather", context,
         {op.getX(), constantI64(b, loc, op.getShard() * inner),
          constantI64(b, loc, op.getSize() * inner),
          constantI64(b, loc, op.getRanks()),
          constantI64(b, loc, op.getCopies()), op.getOut()});
  }

  void convert(OpBuilder &b, StoreOp op, Value context) {
    Location loc = op.getLoc();
    SmallVector<Value> arguments = cacheArguments(b, op);
    llvm::append_values(arguments, op.getRowOffsets(),
                        indexAsI64(b, loc, op.getLayer()), op.getK(),
                        op.getV());
    call(b, loc, "store", context, arguments);
  }

  void convert(OpBuilder &b, PrintOp op, Value context) {
    Location loc = op.getLoc();
    SmallVector<Value> arguments = cacheArguments(b, op);
    llvm::append_values(arguments, op.getRowOffsets(),
                        indexAsI64(b, loc, op.getLayer()));
    call(b, loc, "print", context, arguments);
  }

  void convert(OpBuilder &b, AttentionOp op, Value context) {
    Location loc = op.getLoc();
    Value scale = constantF32(b, loc, op.getScale().convertToDouble());
    Value softcap = constantF32(
        b, loc, op.getSoftcap() ? op.getSoftcap()->convertToDouble() : 0.0);
    // Only a device's functions have such products (checkKernel).
    Value mask = arith::ConstantIntOp::create(
        b, loc, b.getI32Type(),
        static_cast<int64_t>(op.getMask().getKind()) |
            (op.getProducts() ? KV_MASK_EIGHT_BIT_PRODUCTS : 0));
    Value window = constantI64(b, loc, op.getMask().getWindow());
    SmallVector<Value> arguments = cacheArguments(b, op);
    arguments.push_back(op.getRowOffsets());
    bool planned = isOnDevice(op);
    if (planned)
      llvm::append_values(
          arguments, cast<CacheOpInterface>(op.getOperation()).getMaxLengths(),
          op.getPlan());
    llvm::append_values(arguments, indexAsI64(b, loc, op.getLayer()), op.getQ(),
                        op.getOut(), op.getOutLse(), scale, softcap, mask,
                        window, op.getSinks());
    Value tree = op.getAncestors();
    if (tree)
      arguments.push_back(tree);
    else if (!planned)
      arguments.push_back(op.getKvRowOffsets());
    StringRef callee =
        planned ? (tree ? "plannedTreeAttention" : "plannedAttention")
                : (tree ? "treeAttention" : "attention");
    call(b, loc, callee, context, arguments);
  }

  /// On a cache, what only a device has functions for. False: no function.
  bool convertOnDevice(OpBuilder &b, CacheOpInterface op, Value context) {
    Location loc = op.getLoc();
    auto asI32 = [&](int64_t value) -> Value {
      return arith::ConstantIntOp::create(b, loc, b.getI32Type(), value);
    };
    SmallVector<Value> cache = cacheArguments(b, op);
    if (op.getCollectionType().getGeometry().isRecurrent()) {
      Value layer = indexAsI64(b, loc, op.getLayerOperand()->get());
      if (auto read = dyn_cast<StateReadOp>(*op)) {
        call(b, loc, "stateRead", context,
             {cache[0], cache[3], layer, read.getOut()});
      } else if (auto write = dyn_cast<StateWriteOp>(*op)) {
        call(b, loc, "stateWrite", context,
             {cache[0], cache[3], layer, write.getState()});
      } else if (auto work = dyn_cast<StateConvolutionOp>(*op)) {
        call(b, loc, "stateConvolution", context,
             {cache[0], cache[2], cache[3], work.getRowOffsets(), layer,
              work.getX(), work.getWeight(), work.getBias(), work.getOut()});
      } else {
        auto scan = cast<StateScanOp>(*op);
        call(b, loc, "stateScan", context,
             {cache[0], cache[2], cache[3], scan.getRowOffsets(), layer,
              scan.getQ(), scan.getK(), scan.getV(), scan.getDecay(),
              scan.getStrength(), scan.getSkip(), asI32(scan.getDelta()),
              scan.getOut()});
      }
      return true;
    }
    if (auto load = dyn_cast<LoadOp>(*op)) {
      llvm::append_values(
          cache, load.getRowOffsets(), indexAsI64(b, loc, load.getPlace()[0]),
          indexAsI64(b, loc, load.getPlace()[1]),
          constantI64(b, loc, op.getCollectionType().getWindow()),
          load.getOut(), load.getOutLengths());
      call(b, loc, "load", context, cache);
      return true;
    }
    auto update = dyn_cast<UpdateOp>(*op);
    if (!update)
      return false;
    double epsilon = update.getEps() ? update.getEps()->convertToDouble() : 0;
    llvm::append_values(
        cache, update.getRowOffsets(), indexAsI64(b, loc, update.getPlace()[0]),
        indexAsI64(b, loc, update.getPlace()[1]),
        asI32(static_cast<int64_t>(update.getKind())), update.getOperand(),
        constantF32(b, loc, epsilon), asI32(update.getInterleaved()));
    call(b, loc, "update", context, cache);
    return true;
  }

  /// What only a device has functions for.
  void convertOnDevice(OpBuilder &b, Operation *work, Value context) {
    Location loc = work->getLoc();
    if (auto launch = dyn_cast<LaunchOp>(work)) {
      SmallVector<Value> arguments(launch.getArguments());
      arguments.push_back(launch.getOut());
      return call(b, loc, launch.getCallee(), context, arguments);
    }
    if (auto copy = dyn_cast<CopyPagesOp>(work)) {
      Value layer = copy.getLayer();
      Value number =
          layer ? indexAsI64(b, loc, layer) : constantI64(b, loc, -1);
      return call(b, loc, "copyPages", context,
                  {inLogicalOrder(b, loc, copy.getBlocks(), copy.getLayout()),
                   copy.getSource(), copy.getDestination(), number});
    }
    auto plan = cast<PlanBytesOp>(work);
    auto asI64 = [&](Value index) {
      return arith::IndexCastOp::create(b, loc, b.getI64Type(), index);
    };
    Value arguments[] = {plan.getBlocks(), constantI64(b, loc, plan.getHeads()),
                         asI64(plan.getSequences()), asI64(plan.getTokens())};
    auto bytes = RuntimeCallOp::create(b, loc, b.getI64Type(), "planBytes",
                                       context, arguments);
    Value index =
        arith::IndexCastOp::create(b, loc, b.getIndexType(), bytes.getResult());
    plan.getBytes().replaceAllUsesWith(index);
  }
};
} // namespace
