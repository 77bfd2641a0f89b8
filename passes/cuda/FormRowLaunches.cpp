//===- FormRowLaunches.cpp - Launches that compute rows of others --------===//

#include "DeviceKernels.h"
#include "LaunchFormer.h"
#include "Launches.h"
#include "kv/ABI/DeviceKernels.h"
#include "passes/common/HostSizes.h"

using namespace mlir;
using namespace kv;

LogicalResult LaunchFormer::toLaunch(GatherOp op) {
  auto type = cast<RankedTensorType>(op.getResult().getType());
  int64_t dim = op.getDim(), inner = op.getInner();
  if (type.isDynamicDim(dim))
    return op.emitOpError() << "gathers runs along dimension " << dim
                            << ", of unknown size: kv-cuda takes "
                               "dimensions of known size";
  if (!kv::isMoved(type.getElementType()) ||
      op.getShard() * inner % kernels::RowChunk ||
      op.getSize() * inner % kernels::RowChunk)
    return op.emitOpError()
           << "makes " << type << " of " << op.getX().getType()
           << ": kv-cuda gathers " << kernels::rowTypes()
           << ", by multiples of " << kernels::RowChunk << " elements";
  Emitter b(op);
  SmallVector<OpFoldResult> sizes = hostSizes(b, b.getLoc(), op.getX());
  sizes[dim] = b.getIndexAttr(type.getDimSize(dim));
  Value out = tensor::EmptyOp::create(b, sizes, type.getElementType());
  Value made = launch(b, callOf(b, op, out)).getResult();
  replaceResult(b, op.getResult(), RuntimeFunction::gather, made);
  op.erase();
  return success();
}

LogicalResult LaunchFormer::toLaunch(RopeOp op) {
  auto x = cast<ShapedType>(op.getX().getType());
  if (cast<ShapedType>(op.getPositions().getType()).getRank() != 1)
    return op.emitOpError("has a position an angle: kv-cuda has a kernel for "
                          "one a row");
  if (x.getDimSize(2) % kernels::RowChunk)
    return op.emitOpError()
           << "has heads of " << x.getDimSize(2)
           << " elements: kv-cuda has a kernel for multiples of "
           << kernels::RowChunk;
  Emitter b(op);
  Value interleaved = b.i32(op.getInterleaved());
  Value made =
      launch(b, RuntimeFunction::rope,
             {op.getX(), op.getPositions(), op.getFreqs(), interleaved},
             op.getX(), x.getElementType());
  replaceResult(b, op.getResult(), RuntimeFunction::rope, made);
  op.erase();
  return success();
}

LogicalResult LaunchFormer::toLaunch(RmsNormOp op) {
  Value tensors[] = {op.getX(), op.getWeight(), op.getResult()};
  if (failed(checkRows(op, RuntimeFunction::norm, tensors)))
    return failure();
  Emitter b(op);
  auto constant = [&](const APFloat &value) {
    return b.constant(b.getF32Type(), value.convertToDouble());
  };
  auto type = op.getResult().getType();
  Value x = toRows(b, op.getX());
  Value made = launch(
      b, RuntimeFunction::norm,
      {x, op.getWeight(), constant(op.getEps()), constant(op.getOffset())}, x,
      type.getElementType());
  made = fromRows(b, made, op.getX());
  replaceResult(b, op.getResult(), RuntimeFunction::norm, made);
  op.erase();
  return success();
}

LogicalResult LaunchFormer::toLaunch(SampleOp op) {
  if (failed(checkRows(op, RuntimeFunction::sample, op.getLogits())))
    return failure();
  Emitter b(op);
  auto type = op.getResult().getType();
  Value made = launch(b, RuntimeFunction::sample, op->getOperands(),
                      op.getTemperature(), type.getElementType());
  replaceResult(b, op.getResult(), RuntimeFunction::sample, made);
  op.erase();
  return success();
}
