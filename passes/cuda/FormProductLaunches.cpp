//===- FormProductLaunches.cpp - Launches of quantised weights, experts --===//

#include "ExpertLaunches.h"
#include "LaunchFormer.h"
#include "Launches.h"
#include "kv/ABI/DeviceKernels.h"
#include "passes/common/HostSizes.h"

using namespace mlir;
using namespace kv;

/// Rows of 8 bits.
static Value roundRows(Emitter &b, Value x) {
  SmallVector<OpFoldResult> sizes = hostSizes(b, b.getLoc(), x);
  int64_t depth = cast<ShapedType>(x.getType()).getDimSize(1);
  sizes.back() = b.getIndexAttr(kernels::roundedRowBytes(depth));
  Value bytes = tensor::EmptyOp::create(b, sizes, b.getI8Type());
  return LaunchOp::create(b, bytes.getType(), "roundRows", x, bytes)
      .getResult();
}

static Value formatOf(Emitter &b, QuantFormat format) {
  return arith::ConstantIntOp::create(b, static_cast<int64_t>(format), 32);
}

LogicalResult LaunchFormer::convert(RouteOp op) {
  if (isOnTensors(op) != true)
    return success(); // named, as it is left
  Emitter b(op);
  auto [experts, shares] = launchRoute(b, op);
  replaceResult(b, op.getExperts(), "route", experts);
  replaceResult(b, op.getShares(), "shares", shares);
  op.erase();
  return success();
}

LogicalResult LaunchFormer::convert(KeepGroupsOp op) {
  if (isOnTensors(op) != true)
    return success();          // named, as it is left
  constexpr int64_t most = 32; // a lane of a warp each
  if (static_cast<int64_t>(op.getGroups()) > most)
    return noKernel(op) << ": 'keepGroups' is for at most " << most
                        << " groups, not " << op.getGroups();
  Emitter b(op);
  replaceResult(b, op.getResult(), "keepGroups", launchKeepGroups(b, op));
  op.erase();
  return success();
}

LogicalResult LaunchFormer::convert(ExpertMatmulOp op) {
  Value x = op.getX();
  if (isOnTensors(op) != true)
    return success(); // named, as it is left
  if (failed(checkRows(op, "expertMatmul", x)))
    return failure();
  Emitter b(op);
  Value order = orders.orderOf(op.getExperts(), op.getNumExperts());
  Value rounded;
  for (auto [i, weight] : llvm::enumerate(op.getWeights())) {
    auto type = cast<RankedTensorType>(weight.getType());
    bool quantised = op.getFormat(i).has_value();
    if (!quantised && type.getRank() == 3)
      return noKernel(op) << ": 'expertMatmul' is for row-major weights, not "
                          << type;
    if (!quantised && failed(checkActivations(op, type.getElementType())))
      return failure();
    if (quantised && !rounded)
      rounded = roundRows(b, toRows(b, x));
    Value rows = quantised ? rounded
                           : castFor(b, x, type.getElementType(),
                                     "the rows of an expert's product");
    replaceResult(b, op.getProducts()[i],
                  quantised ? "expertQuantMatmul" : "expertMatmul",
                  launchExpertProduct(b, op, i, rows, order));
  }
  op.erase();
  return success();
}

LogicalResult LaunchFormer::convert(MatmulOp op) {
  Value x = op.getX();
  // On buffers, or of dense weights: named, as it is left.
  if (isOnTensors(op) != true)
    return success();
  for (size_t i = 0; i < op.getWeights().size(); ++i)
    if (!op.getFormat(i))
      return success();
  if (failed(checkRows(op, "roundRows", x)))
    return failure();
  Emitter b(op);
  Value rounded = roundRows(b, x);
  SmallVector<OpFoldResult> sizes = hostSizes(b, b.getLoc(), x);
  for (auto [i, weight] : llvm::enumerate(op.getWeights())) {
    Value product = op.getProducts()[i];
    auto type = cast<RankedTensorType>(product.getType());
    sizes.back() = b.getIndexAttr(type.getDimSize(1));
    Value out = tensor::EmptyOp::create(b, sizes, type.getElementType());
    Value arguments[] = {rounded, weight, formatOf(b, *op.getFormat(i))};
    Value made =
        LaunchOp::create(b, out.getType(), "quantMatmul", arguments, out)
            .getResult();
    replaceResult(b, product, "quantMatmul", made);
  }
  op.erase();
  return success();
}

LogicalResult LaunchFormer::convert(DequantizeOp op) {
  if (!op.getRows() || !op.getFormat() || isOnTensors(op) != true)
    return success(); // named, as it is left
  Emitter b(op);
  auto type = cast<RankedTensorType>(op.getResult().getType());
  SmallVector<OpFoldResult> sizes = hostSizes(b, b.getLoc(), op.getRows());
  sizes.push_back(b.getIndexAttr(type.getDimSize(1)));
  Value out = tensor::EmptyOp::create(b, sizes, type.getElementType());
  Value arguments[] = {op.getRows(), op.getWeight(),
                       formatOf(b, *op.getFormat())};
  Value made =
      LaunchOp::create(b, out.getType(), "quantEmbedding", arguments, out)
          .getResult();
  replaceResult(b, op.getResult(), "quantEmbedding", made);
  op.erase();
  return success();
}
