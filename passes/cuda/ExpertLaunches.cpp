//===- ExpertLaunches.cpp - Launches for mixtures of experts --------------===//

#include "ExpertLaunches.h"

#include "Launches.h"
#include "kv/ABI/Context.h"
#include "kv/ABI/DeviceKernels.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/common/HostSizes.h"

using namespace mlir;
using namespace kv;

constexpr int64_t TileChoices = kernels::ExpertRows,
                  TileRecord = kernels::ExpertRecord;

std::pair<Value, Value> kv::launchRoute(Emitter &b, RouteOp op) {
  Value logits = op.getLogits();
  SmallVector<OpFoldResult> sizes = hostSizes(b, b.getLoc(), logits);
  sizes.back() = b.getIndexAttr(op.getExperts().getType().getDimSize(1));
  Value experts =
      launch(b, RuntimeFunction::route, op.getBy() ? op.getBy() : logits, sizes,
             b.getI32Type());
  Value how = b.i32((op.getNormalised() ? KV_SHARES_NORMALISED : 0) +
                    (op.getSigmoid() ? KV_SHARES_SIGMOID : 0));
  Value shares = launch(b, RuntimeFunction::shares, {logits, experts, how},
                        sizes, b.getF32Type());
  return {experts, shares};
}

Value kv::launchKeepGroups(Emitter &b, KeepGroupsOp op) {
  SmallVector<Value> arguments{op.getX()};
  for (int64_t number : {op.getGroups(), op.getKeep(), op.getBest()})
    arguments.push_back(b.i32(number));
  return launch(b, RuntimeFunction::keepGroups, arguments,
                hostSizes(b, b.getLoc(), op.getX()), b.getF32Type());
}

Value ExpertOrders::orderOf(Value experts, int64_t count) {
  Value &order = made[{experts, count}];
  if (order)
    return order;
  OpBuilder at(experts.getContext());
  at.setInsertionPointAfterValue(experts);
  Emitter b(experts.getLoc(), at);
  SmallVector<OpFoldResult> sizes = hostSizes(b, b.getLoc(), experts);
  int64_t columns = cast<ShapedType>(experts.getType()).getDimSize(1);
  OpFoldResult tiles;
  if (std::optional<int64_t> rows = getConstantIntValue(sizes[0])) {
    int64_t choices = *rows * columns;
    tiles = b.getIndexAttr(choices / TileChoices + std::min(choices, count));
  } else {
    Value choices = b.mul(cast<Value>(sizes[0]), b.index(columns));
    Value some = arith::MinSIOp::create(b, choices, b.index(count));
    tiles = b.add(b.div(choices, b.index(TileChoices)), some);
  }
  Value number = b.i64(count);
  order = launch(b, RuntimeFunction::orderExperts, {experts, number},
                 {tiles, b.getIndexAttr(TileRecord)}, b.getI32Type());
  return order;
}

Value kv::launchExpertProduct(Emitter &b, ExpertMatmulOp op, size_t i,
                              Value rows, Value order) {
  SmallVector<OpFoldResult> sizes = hostSizes(b, b.getLoc(), op.getExperts());
  sizes.push_back(b.getIndexAttr(op.getWidth(i)));
  Value weight = op.getWeights()[i];
  std::optional<QuantFormat> format = op.getFormat(i);
  if (!format)
    return launch(b, RuntimeFunction::expertMatmul, {rows, weight, order},
                  sizes, b.getF32Type());
  Value number = b.i32(static_cast<int64_t>(*format));
  return launch(b, RuntimeFunction::expertQuantMatmul,
                {rows, weight, number, order}, sizes, b.getF32Type());
}

Value kv::launchExpertBias(Emitter &b, Value x, Value experts, Value biases,
                           Type element) {
  Value rows = toRows(b, x);
  Value ids = tensor::CollapseShapeOp::create(
      b, experts, ArrayRef<ReassociationIndices>{{0, 1}});
  SmallVector<OpFoldResult> sizes = hostSizes(b, b.getLoc(), rows);
  Value added = launch(b, RuntimeFunction::embedding, {ids, biases}, sizes,
                       getElementTypeOrSelf(biases));
  Value function = b.i32(KV_PAIR_ADD);
  return fromRows(
      b,
      launch(b, RuntimeFunction::pair, {function, rows, added}, sizes, element),
      x);
}
