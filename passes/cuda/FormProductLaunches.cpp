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
  return launch(b, RuntimeFunction::roundRows, x, sizes, b.getI8Type());
}

static Value formatOf(Emitter &b, QuantFormat format) {
  return b.i32(static_cast<int64_t>(format));
}

LogicalResult LaunchFormer::toLaunch(RouteOp op) {
  Emitter b(op);
  auto [experts, shares] = launchRoute(b, op);
  replaceResult(b, op.getExperts(), RuntimeFunction::route, experts);
  replaceResult(b, op.getShares(), RuntimeFunction::shares, shares);
  op.erase();
  return success();
}

LogicalResult LaunchFormer::toLaunch(KeepGroupsOp op) {
  constexpr int64_t most = 32; // a lane of a warp each
  if (static_cast<int64_t>(op.getGroups()) > most)
    return noKernel(op) << ": 'keepGroups' is for at most " << most
                        << " groups, not " << op.getGroups();
  Emitter b(op);
  replaceResult(b, op.getResult(), RuntimeFunction::keepGroups,
                launchKeepGroups(b, op));
  op.erase();
  return success();
}

LogicalResult LaunchFormer::toLaunch(ExpertMatmulOp op) {
  Value x = op.getX();
  if (failed(checkRows(op, RuntimeFunction::expertMatmul, x)))
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
                  quantised ? RuntimeFunction::expertQuantMatmul
                            : RuntimeFunction::expertMatmul,
                  launchExpertProduct(b, op, i, rows, order));
  }
  op.erase();
  return success();
}

LogicalResult LaunchFormer::toLaunch(MatmulOp op) {
  Value x = op.getX();
  // A product of dense weights is left, and the check at the end names it.
  for (size_t i = 0; i < op.getWeights().size(); ++i)
    if (!op.getFormat(i))
      return success();
  if (failed(checkRows(op, RuntimeFunction::roundRows, x)))
    return failure();
  Emitter b(op);
  Value rounded = roundRows(b, x);
  SmallVector<OpFoldResult> sizes = hostSizes(b, b.getLoc(), x);
  for (auto [i, weight] : llvm::enumerate(op.getWeights())) {
    Value product = op.getProducts()[i];
    auto type = cast<RankedTensorType>(product.getType());
    sizes.back() = b.getIndexAttr(type.getDimSize(1));
    Value made = launch(b, RuntimeFunction::quantMatmul,
                        {rounded, weight, formatOf(b, *op.getFormat(i))}, sizes,
                        type.getElementType());
    replaceResult(b, product, RuntimeFunction::quantMatmul, made);
  }
  op.erase();
  return success();
}

LogicalResult LaunchFormer::toLaunch(DequantizeOp op) {
  if (!op.getRows() || !op.getFormat())
    return success(); // named, as it is left
  Emitter b(op);
  auto type = cast<RankedTensorType>(op.getResult().getType());
  SmallVector<OpFoldResult> sizes = hostSizes(b, b.getLoc(), op.getRows());
  sizes.push_back(b.getIndexAttr(type.getDimSize(1)));
  Value made =
      launch(b, RuntimeFunction::quantEmbedding,
             {op.getRows(), op.getWeight(), formatOf(b, *op.getFormat())},
             sizes, type.getElementType());
  replaceResult(b, op.getResult(), RuntimeFunction::quantEmbedding, made);
  op.erase();
  return success();
}
