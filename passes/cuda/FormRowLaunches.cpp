//===- FormRowLaunches.cpp - Launches that compute rows of others --------===//

#include "DeviceKernels.h"
#include "LaunchFormer.h"
#include "Launches.h"
#include "kv/ABI/DeviceKernels.h"
#include "passes/common/HostSizes.h"

using namespace mlir;
using namespace kv;

LogicalResult LaunchFormer::convert(GatherOp op) {
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
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(b, b.getI64Type(), value);
  };
  Value out = tensor::EmptyOp::create(b, sizes, type.getElementType());
  Value arguments[] = {op.getX(), number(op.getShard() * inner),
                       number(op.getSize() * inner), number(op.getRanks()),
                       number(op.getCopies())};
  Value made =
      LaunchOp::create(b, out.getType(), "gather", arguments, out).getResult();
  replaceResult(b, op.getResult(), "gather", made);
  op.erase();
  return success();
}

LogicalResult LaunchFormer::convert(RopeOp op) {
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
  Value interleaved =
      arith::ConstantIntOp::create(b, op.getInterleaved() ? 1 : 0, 32);
  Value made = launch(
      b, "rope", {op.getX(), op.getPositions(), op.getFreqs(), interleaved},
      op.getX(), x.getElementType());
  replaceResult(b, op.getResult(), "rope", made);
  op.erase();
  return success();
}

LogicalResult LaunchFormer::convert(RmsNormOp op) {
  Value tensors[] = {op.getX(), op.getWeight(), op.getResult()};
  if (failed(checkRows(op, "norm", tensors)))
    return failure();
  Emitter b(op);
  auto constant = [&](const APFloat &value) {
    return b.constant(b.getF32Type(), value.convertToDouble());
  };
  auto type = op.getResult().getType();
  Value x = toRows(b, op.getX());
  Value made = launch(
      b, "norm",
      {x, op.getWeight(), constant(op.getEps()), constant(op.getOffset())}, x,
      type.getElementType());
  made = fromRows(b, made, op.getX());
  replaceResult(b, op.getResult(), "norm", made);
  op.erase();
  return success();
}

LogicalResult LaunchFormer::convert(SampleOp op) {
  if (isOnTensors(op) != true)
    return success(); // named, as it is left
  if (failed(checkRows(op, "sample", op.getLogits())))
    return failure();
  Emitter b(op);
  auto type = op.getResult().getType();
  Value made = launch(b, "sample", op->getOperands(), op.getTemperature(),
                      type.getElementType());
  replaceResult(b, op.getResult(), "sample", made);
  op.erase();
  return success();
}
