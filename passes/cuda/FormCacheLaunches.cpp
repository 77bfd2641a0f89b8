//===- FormCacheLaunches.cpp - Launches on caches and their steps --------===//

#include "DeviceKernels.h"
#include "LaunchFormer.h"
#include "Launches.h"
#include "mlir/IR/Dominance.h"
#include "passes/common/HostSizes.h"

using namespace mlir;
using namespace kv;

LogicalResult LaunchFormer::convert(PositionsOp op) {
  Emitter b(op);
  auto cache = cast<CacheOpInterface>(op.getOperation());
  if (isOnTensors(op) != true || !cache.isResolved())
    return op.emitOpError("must be resolved and on tensors: run "
                          "kv-resolve-collections before");
  HostSize rows = traceSize(op.getResult(), 0);
  if (!rows.isConstant()) {
    std::optional<HostSize> used = rowsOfUsers(op.getResult());
    if (!used && llvm::any_of(op->getUsers(), [](Operation *user) {
          return isa<tensor::ExtractOp, linalg::LinalgOp>(user);
        }))
      return op.emitOpError(
          "is computed with: kv-cuda has kernels that rotate by positions "
          "(kv.rope), and none for other arithmetic with them, as graphs "
          "that kv-raise takes have it; kv-import without --from writes a "
          "model for GPUs");
    if (!used || !(used->isConstant() ||
                   DominanceInfo().properlyDominates(used->value, op)))
      return op.emitOpError(
          "has as many rows as row_offsets say, which lies on the device: "
          "give a static size, or rotate by it what stands before");
    rows = *used;
  }
  auto type = cast<RankedTensorType>(op.getResult().getType());
  OpFoldResult size = b.getIndexAttr(rows.number);
  if (!rows.isConstant())
    size = rows.materialize(b, b.getLoc());
  Value out = tensor::EmptyOp::create(b, SmallVector<OpFoldResult>{size},
                                      type.getElementType());
  SmallVector<Value> arguments = {cache.getCacheLengths(), op.getRowOffsets()};
  StringRef callee = "positions";
  if (Value tree = op.getAncestors()) {
    arguments.push_back(tree);
    callee = "treePositions";
  }
  Value made =
      LaunchOp::create(b, out.getType(), callee, arguments, out).getResult();
  replaceResult(b, op.getResult(), callee, made);
  op.erase();
  return success();
}

LogicalResult LaunchFormer::convert(StoreOp op) {
  if (!op.getV() ||
      getElementTypeOrSelf(op.getK()) == getElementTypeOrSelf(op.getV()))
    return success();
  Emitter b(op);
  StringRef why = "keys and values of one type";
  Value k = castFor(b, op.getK(), b.getF32Type(), why);
  Value v = castFor(b, op.getV(), b.getF32Type(), why);
  op.getKMutable().assign(k);
  op.getVMutable().assign(v);
  return success();
}

LogicalResult LaunchFormer::convert(AttentionOp op) {
  if (!op.getResult())
    return op.emitOpError("is on buffers: run kv-form-launches before "
                          "bufferization");
  if (KernelAttr kernel = getKernel(op);
      !kernel || kernel.getKind() != KernelKind::Cuda)
    return op.emitOpError("is not by the kernel 'cuda': run "
                          "kv-select-kernel{target=cuda} before");
  if (failed(checkAttention(op)))
    return failure();
  for (StringRef image : attentionImages(op))
    images.insert(image.str());
  auto type = cast<RankedTensorType>(op.getResult().getType());
  Type query = queryType(op.getCollectionType().getElementType());
  if (type.getElementType() == query)
    return success();
  Emitter b(op);
  op.getQMutable().assign(
      castFor(b, op.getQ(), query, "the queries of an attention"));
  op.getResult().setType(type.clone(query));
  b.setInsertionPointAfter(op);
  Value wide = launch(b, "cast", op.getResult(), /*like=*/op.getQ(),
                      type.getElementType());
  op.getResult().replaceAllUsesExcept(wide, wide.getDefiningOp());
  return success();
}

/// What a cast has widened, or the tensor: kernels read 16 bits themselves.
static Value beforeWidening(Value tensor) {
  auto cast = tensor.getDefiningOp<LaunchOp>();
  return cast && cast.getCallee() == "cast" ? cast.getArguments()[0] : tensor;
}

LogicalResult LaunchFormer::convert(MergeOp op) {
  if (isOnTensors(op) != true)
    return success(); // named, as it is left
  if (failed(checkRows(op, "mergeSides", {op.getA(), op.getB()})))
    return failure();
  Emitter b(op);
  if (!op.getResult().use_empty()) {
    Value x = toRows(b, beforeWidening(op.getA()));
    Value y = toRows(b, beforeWidening(op.getB()));
    Value made = launch(b, "mergeSides", {x, op.getALse(), y, op.getBLse()}, x,
                        b.getF32Type());
    replaceResult(b, op.getResult(), "mergeSides",
                  fromRows(b, made, op.getA()));
  }
  if (!op.getLse().use_empty())
    replaceResult(b, op.getLse(), "mergeLse",
                  launch(b, "mergeLse", {op.getALse(), op.getBLse()},
                         op.getALse(), b.getF32Type()));
  op.erase();
  return success();
}
