//===- ConvertKVToRuntime.cpp - Operations to runtime calls ---------------===//

#include "kv/Passes/Passes.h"

#include "ContextArgument.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/common/CacheCalls.h"
#include "passes/common/EachOperation.h"

namespace kv {
#define GEN_PASS_DEF_CONVERTKVTORUNTIME
#include "kv/Passes/Passes.h.inc"
} // namespace kv

using namespace mlir;
using namespace kv;

namespace {
/// Replaces one operation by what it calls.
class Caller {
public:
  Caller(Operation *op, Value context) : b(op), context(context) {}

  void convert(LaunchOp op) {
    SmallVector<Value> parameters =
        llvm::map_to_vector(op.getParameters(), [](OpOperand *operand) {
          return operand ? operand->get() : Value();
        });
    call(op.getCallee(), parameters);
  }

  void convert(PlanBytesOp op) {
    Value bytes = call(RuntimeFunction::planBytes,
                       {op.getBlocks(), b.i64(op.getHeads()),
                        b.asI64(op.getSequences()), b.asI64(op.getTokens())},
                       b.getI64Type());
    op.getBytes().replaceAllUsesWith(asIndex(bytes));
  }

  void convert(StoreOp op) { call(callOf(b, op)); }
  void convert(AttentionOp op) {
    call(callOf(b, op, op.getOut(), op.getOutLse()));
  }
  void convert(PrintOp op) {
    SmallVector<Value> parameters = cacheParameters(b, op);
    llvm::append_values(parameters, op.getRowOffsets(), b.asI64(op.getLayer()));
    call(RuntimeFunction::print, parameters);
  }

  void convert(GatherOp op) { call(callOf(b, op, op.getOut())); }
  void convert(SampleOp op) {
    call(RuntimeFunction::sample, llvm::to_vector(op->getOperands()));
  }
  void convert(RankOp op) {
    Value number = call(RuntimeFunction::rank, {}, b.getI64Type());
    op.getRank().replaceAllUsesWith(asIndex(number));
  }

  void convert(AssertOp op) {
    Value yes = arith::ConstantIntOp::create(b, 1, 1);
    Value failed = arith::XOrIOp::create(b, op.getCondition(), yes);
    scf::IfOp::create(b, failed, [&](OpBuilder &b, Location loc) {
      RecordErrorOp::create(b, loc, context, op.getStatusAttr(),
                            op.getMessageAttr());
      scf::YieldOp::create(b, loc);
    });
  }
  void convert(CheckStepOp op) {
    call(RuntimeFunction::checkStep,
         {op.getRowOffsets(), op.getCacheLengths(), op.getLookupTable(),
          op.getMaxLengths(), op.getRows() ? b.asI64(op.getRows()) : b.i64(-1),
          b.i64(op.getSequences().value_or(-1)),
          b.i64(op.getPage().value_or(0)), b.i64(op.getBands().value_or(1))});
  }
  void convert(CheckResultOp op) {
    call(RuntimeFunction::checkResult,
         {op.getBuffer(), text(op.getNameAttr()), b.i64(op.getDimension()),
          b.asI64(op.getSize())});
  }
  void convert(CheckIndicesOp op) {
    call(RuntimeFunction::checkIndices,
         {op.getIndices(), text(op.getNameAttr()), b.asI64(op.getCount())});
  }

private:
  /// A call whose null arguments are absent.
  Value call(RuntimeFunction callee, ArrayRef<Value> parameters,
             Type result = {}) {
    SmallVector<Value> arguments;
    SmallVector<int64_t> absent;
    for (auto [i, parameter] : llvm::enumerate(parameters))
      if (parameter)
        arguments.push_back(parameter);
      else
        absent.push_back(i);
    return RuntimeCallOp::create(b, result, callee, context, arguments, absent)
        .getResult();
  }
  void call(const FunctionCall &made) { call(made.callee, made.parameters); }

  Value asIndex(Value number) {
    return arith::IndexCastOp::create(b, b.getIndexType(), number);
  }
  Value text(StringAttr name) {
    return TextOp::create(b, context.getType(), name);
  }

  Emitter b;
  Value context;
};

struct ConvertKVToRuntime
    : kv::impl::ConvertKVToRuntimeBase<ConvertKVToRuntime> {
  void runOnOperation() override {
    WalkResult result = getOperation().walk([](Operation *op) -> WalkResult {
      std::optional<LogicalResult> converted = visitOperation(
          op, [&](auto known)
            requires requires(Caller caller) { caller.convert(known); }
          { return convert(known); });
      if (converted)
        return *converted;
      bool isOnCache = isa<CacheOpInterface>(op);
      if (!isOnCache && !isa<CopyPagesOp>(op))
        return success();
      if (isOnCache && failed(checkForm(op)))
        return failure();
      return op->emitOpError(
          "has no runtime function: run kv-decompose before");
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  template <class Op> static LogicalResult convert(Op op) {
    if (failed(checkForm(op)))
      return failure();
    Value context = getContextArgument(op);
    if (!context)
      return failure();
    Caller(op, context).convert(op);
    op->erase();
    return success();
  }

  /// The operation must be on buffers and components, and have no kernel but
  /// the runtime's function.
  static LogicalResult checkForm(Operation *op) {
    auto cache = dyn_cast<CacheOpInterface>(op);
    if (cache && !cache.isResolved())
      return op->emitOpError("has a handle: run kv-resolve-collections before");
    if (cache && cache.getCollectionType().getGeometry().bands() > 1)
      return op->emitOpError("has a collection with 'page_layers': run "
                             "kv-resolve-bands before");
    auto launch = dyn_cast<LaunchOp>(op);
    if (launch ? llvm::any_of(op->getOperandTypes(), llvm::IsaPred<TensorType>)
               : isOnTensors(op) == true)
      return op->emitOpError("is on tensors: bufferize before");
    return cache ? checkKernel(op) : success();
  }

  static LogicalResult checkKernel(Operation *op) {
    KernelAttr kernel = getKernel(op);
    if (kernel && kernel.getKind() == KernelKind::Vector)
      return op->emitOpError(
          "has the kernel 'vector': run kv-outline-kernels and kv-vectorize "
          "before");
    if (kernel && kernel.getKind() == KernelKind::Cuda)
      return op->emitOpError(
          "has the kernel 'cuda': run kv-form-launches before bufferization");
    auto attention = dyn_cast<AttentionOp>(op);
    if (attention && attention.getProducts())
      return op->emitOpError("has products of f8E4M3FN, which no function of "
                             "the runtime makes: run kv-decompose before");
    if (attention && attention.getPlan())
      return op->emitOpError("has a plan, which the runtime function does not "
                             "take: run kv-select-kernel before");
    if (kernel && kernel.getKind() != KernelKind::Reference)
      return op->emitOpError()
             << "has the kernel '" << stringifyKernelKind(kernel.getKind())
             << "': run kv-decompose before";
    return success();
  }
};
} // namespace
