//===- FormCacheLaunches.cpp - Launches on caches and their steps --------===//

#include "DeviceKernels.h"
#include "LaunchFormer.h"
#include "Launches.h"
#include "MatchLaunches.h"
#include "kv/ABI/Context.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/common/CacheAccess.h"
#include "passes/common/HostSizes.h"

using namespace mlir;
using namespace kv;

LogicalResult LaunchFormer::toLaunch(PositionsOp op) {
  Emitter b(op);
  auto cache = cast<CacheOpInterface>(op.getOperation());
  if (isOnTensors(op) != true || !cache.isResolved())
    return op.emitOpError("must be resolved and on tensors: run "
                          "kv-resolve-collections before");
  HostSize rows = traceSize(op.getResult(), 0);
  if (!rows.isConstant()) {
    std::optional<HostSize> used = rowsOfUsers(op.getResult());
    for (Operation *user : op->getUsers()) {
      auto generic = dyn_cast<linalg::GenericOp>(user);
      auto match = generic ? matchLaunch(generic) : std::nullopt;
      bool isLookup = match && match->kind == LaunchMatch::Embedding;
      if (isLookup && !used)
        used = traceSize(generic.getDpsInits()[0], 0);
      if (!isLookup && isa<tensor::ExtractOp, linalg::LinalgOp>(user))
        return op.emitOpError(
            "is computed with: kv-cuda has kernels that rotate by positions "
            "(kv.rope) or look them up, and none for other arithmetic with "
            "them; of graphs that kv-raise takes, 'tables=true', as kv-import "
            "has it, makes rotations of what it proves to be one");
    }
    if (!used || !(used->isConstant() ||
                   DominanceInfo().properlyDominates(used->value, op)))
      return op.emitOpError(
          "has as many rows as row_offsets say, which lies on the device: "
          "give a static size, or rotate by it what stands before");
    rows = *used;
  }
  OpFoldResult size = b.getIndexAttr(rows.number);
  if (!rows.isConstant())
    size = rows.materialize(b, b.getLoc());
  SmallVector<Value> arguments = {cache.getCacheLengths(), op.getRowOffsets()};
  RuntimeFunction callee = RuntimeFunction::positions;
  if (Value tree = op.getAncestors()) {
    arguments.push_back(tree);
    callee = RuntimeFunction::treePositions;
  }
  Value made =
      launch(b, callee, arguments, size, getElementTypeOrSelf(op.getResult()));
  replaceResult(b, op.getResult(), callee, made);
  op.erase();
  return success();
}

/// Memory for a result, in this type of elements.
static Value emptyFor(Emitter &b, OpResult result, Type element) {
  auto form = cast<TwoFormOpInterface>(result.getOwner());
  auto type = cast<RankedTensorType>(result.getType());
  SmallVector<OpFoldResult> sizes;
  if (!form.hasOwnSizes())
    sizes = hostSizes(b, b.getLoc(), result);
  else
    for (int64_t i = 0; i < type.getRank(); ++i)
      sizes.push_back(
          type.isDynamicDim(i)
              ? OpFoldResult(form.getResultSize(b, result.getResultNumber(), i))
              : b.getIndexAttr(type.getDimSize(i)));
  return tensor::EmptyOp::create(b, sizes, element);
}

static Value emptyFor(Emitter &b, Value result) {
  return result
             ? emptyFor(b, cast<OpResult>(result), getElementTypeOrSelf(result))
             : Value();
}

void LaunchFormer::replace(Operation *op, const FunctionCall &call) {
  Emitter b(op);
  LaunchOp made = launch(b, call);
  remarkLaunch(op, call.callee);
  op->replaceAllUsesWith(made.getMade());
  op->erase();
}

LogicalResult LaunchFormer::toLaunch(StoreOp op) {
  Emitter b(op);
  Value v = op.getV();
  if (v && getElementTypeOrSelf(op.getK()) != getElementTypeOrSelf(v)) {
    StringRef why = "keys and values of one type";
    op.getKMutable().assign(castFor(b, op.getK(), b.getF32Type(), why));
    op.getVMutable().assign(castFor(b, v, b.getF32Type(), why));
  }
  replace(op, callOf(b, op));
  return success();
}

LogicalResult LaunchFormer::toLaunch(AttentionOp op) {
  if (failed(checkAttention(op)))
    return failure();
  if (!op.getPlan())
    return op.emitOpError("has no plan, which the runtime function needs: run "
                          "kv-select-kernel before");
  for (StringRef image : attentionImages(op))
    images.insert(image.str());
  Emitter b(op);
  Type query = queryType(op.getCollectionType().getElementType());
  op.getQMutable().assign(
      castFor(b, op.getQ(), query, "the queries of an attention"));
  FunctionCall call =
      callOf(b, op, emptyFor(b, cast<OpResult>(op.getResult()), query),
             emptyFor(b, op.getLse()));
  LaunchOp made = launch(b, call);
  replaceResult(
      b, op.getResult(), call.callee,
      castTo(b, made.getMade()[0], getElementTypeOrSelf(op.getResult())));
  if (op.getLse())
    op.getLse().replaceAllUsesWith(made.getMade()[1]);
  op.erase();
  return success();
}

LogicalResult LaunchFormer::toLaunch(CopyPagesOp op) {
  Emitter b(op);
  Value layer = op.getLayer();
  replace(op, {RuntimeFunction::copyPages,
               {inLogicalOrder(b, b.getLoc(), op.getBlocks(), op.getLayout()),
                op.getSource(), op.getDestination(),
                layer ? b.asI64(layer) : b.i64(-1)}});
  return success();
}

LogicalResult LaunchFormer::toLaunch(LoadOp op) {
  Emitter b(op);
  FunctionCall call{RuntimeFunction::load, cacheParameters(b, op)};
  llvm::append_values(
      call.parameters, op.getRowOffsets(), b.asI64(op.getPlace()[0]),
      b.asI64(op.getPlace()[1]), b.i64(op.getCollectionType().getWindow()),
      emptyFor(b, op.getResult()), emptyFor(b, op.getLengths()));
  replace(op, call);
  return success();
}

LogicalResult LaunchFormer::toLaunch(UpdateOp op) {
  static_assert((int)UpdateKind::Rope == KV_UPDATE_ROPE &&
                    (int)UpdateKind::RmsNorm == KV_UPDATE_RMS_NORM &&
                    (int)UpdateKind::Add == KV_UPDATE_ADD,
                "the dialect's updates are the ABI's");
  Emitter b(op);
  FunctionCall call{RuntimeFunction::update, cacheParameters(b, op)};
  double epsilon = op.getEps() ? op.getEps()->convertToDouble() : 0;
  llvm::append_values(call.parameters, op.getRowOffsets(),
                      b.asI64(op.getPlace()[0]), b.asI64(op.getPlace()[1]),
                      b.i32(static_cast<int64_t>(op.getKind())),
                      op.getOperand(), b.constant(b.getF32Type(), epsilon),
                      b.i32(op.getInterleaved()));
  replace(op, call);
  return success();
}

LogicalResult LaunchFormer::toLaunch(StateReadOp op) {
  Emitter b(op);
  SmallVector<Value> cache = cacheParameters(b, op);
  replace(op, {RuntimeFunction::stateRead,
               {cache[0], cache[3], b.asI64(op.getLayer()),
                emptyFor(b, op.getResult())}});
  return success();
}

LogicalResult LaunchFormer::toLaunch(StateWriteOp op) {
  Emitter b(op);
  SmallVector<Value> cache = cacheParameters(b, op);
  replace(op, {RuntimeFunction::stateWrite,
               {cache[0], cache[3], b.asI64(op.getLayer()), op.getState()}});
  return success();
}

LogicalResult LaunchFormer::toLaunch(StateConvolutionOp op) {
  Emitter b(op);
  SmallVector<Value> cache = cacheParameters(b, op);
  replace(op, {RuntimeFunction::stateConvolution,
               {cache[0], cache[2], cache[3], op.getRowOffsets(),
                b.asI64(op.getLayer()), op.getX(), op.getWeight(), op.getBias(),
                emptyFor(b, op.getResult())}});
  return success();
}

LogicalResult LaunchFormer::toLaunch(StateScanOp op) {
  Emitter b(op);
  SmallVector<Value> cache = cacheParameters(b, op);
  replace(op, {RuntimeFunction::stateScan,
               {cache[0], cache[2], cache[3], op.getRowOffsets(),
                b.asI64(op.getLayer()), op.getQ(), op.getK(), op.getV(),
                op.getDecay(), op.getStrength(), op.getSkip(),
                b.i32(op.getDelta()), emptyFor(b, op.getResult())}});
  return success();
}

/// The tensor before a widening cast, or the tensor itself: kernels read 16
/// bits themselves.
static Value beforeWidening(Value tensor) {
  LaunchOp cast = launchOf(tensor, RuntimeFunction::cast);
  return cast ? cast.getArguments()[0] : tensor;
}

LogicalResult LaunchFormer::toLaunch(MergeOp op) {
  if (failed(
          checkRows(op, RuntimeFunction::mergeSides, {op.getA(), op.getB()})))
    return failure();
  Emitter b(op);
  if (!op.getResult().use_empty()) {
    Value x = toRows(b, beforeWidening(op.getA()));
    Value y = toRows(b, beforeWidening(op.getB()));
    Value made = launch(b, RuntimeFunction::mergeSides,
                        {x, op.getALse(), y, op.getBLse()}, x, b.getF32Type());
    replaceResult(b, op.getResult(), RuntimeFunction::mergeSides,
                  fromRows(b, made, op.getA()));
  }
  if (!op.getLse().use_empty())
    replaceResult(b, op.getLse(), RuntimeFunction::mergeLse,
                  launch(b, RuntimeFunction::mergeLse,
                         {op.getALse(), op.getBLse()}, op.getALse(),
                         b.getF32Type()));
  op.erase();
  return success();
}
