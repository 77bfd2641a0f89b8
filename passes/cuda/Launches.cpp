//===- Launches.cpp - How launches are made -------------------------------===//

#include "Launches.h"

#include "mlir/IR/TypeUtilities.h"
#include "passes/common/HostSizes.h"

using namespace mlir;
using namespace kv;

Value kv::launch(Emitter &b, RuntimeFunction callee, ValueRange arguments,
                 ArrayRef<OpFoldResult> sizes, Type element) {
  Value out = tensor::EmptyOp::create(b, sizes, element);
  return LaunchOp::create(b, callee, arguments, out).getResult();
}

Value kv::launch(Emitter &b, RuntimeFunction callee, ValueRange arguments,
                 Value like, Type element) {
  return launch(b, callee, arguments, hostSizes(b, b.getLoc(), like), element);
}

LaunchOp kv::launch(Emitter &b, const FunctionCall &call) {
  SmallVector<Value> arguments, outs;
  SmallVector<int64_t> absent;
  auto kinds = rowOf(call.callee).parameters.drop_front();
  for (auto [i, parameter] : llvm::enumerate(call.parameters))
    if (parameter)
      (isOut(kinds[i]) ? outs : arguments).push_back(parameter);
    else
      absent.push_back(i);
  return LaunchOp::create(b, call.callee, arguments, outs, absent);
}

LaunchOp kv::launchOf(Value tensor, RuntimeFunction callee) {
  auto launch = tensor.getDefiningOp<LaunchOp>();
  return launch && launch.getCallee() == callee ? launch : LaunchOp();
}

Value kv::castTo(Emitter &b, Value tensor, Type element) {
  if (getElementTypeOrSelf(tensor) == element)
    return tensor;
  return launch(b, RuntimeFunction::cast, tensor, tensor, element);
}

/// The reassociation of toRows(): all dimensions but the last become one.
static SmallVector<ReassociationIndices> rowGroups(int64_t rank) {
  SmallVector<ReassociationIndices> groups(2);
  for (int64_t i = 0; i + 1 < rank; ++i)
    groups[0].push_back(i);
  groups[1].push_back(rank - 1);
  return groups;
}

Value kv::toRows(Emitter &b, Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.getRank() == 1) {
    auto row =
        RankedTensorType::get({1, type.getDimSize(0)}, type.getElementType());
    OpFoldResult sizes[] = {b.getIndexAttr(1),
                            hostSizes(b, b.getLoc(), tensor)[0]};
    return tensor::ExpandShapeOp::create(
        b, row, tensor, SmallVector<ReassociationIndices>{{0, 1}}, sizes);
  }
  if (type.getRank() == 2)
    return tensor;
  return tensor::CollapseShapeOp::create(b, tensor, rowGroups(type.getRank()));
}

Value kv::fromRows(Emitter &b, Value rows, Value like) {
  auto type =
      cast<RankedTensorType>(like.getType()).clone(getElementTypeOrSelf(rows));
  if (type.getRank() == 1)
    return tensor::CollapseShapeOp::create(
        b, rows, SmallVector<ReassociationIndices>{{0, 1}});
  if (type.getRank() == 2)
    return rows;
  return tensor::ExpandShapeOp::create(b, type, rows, rowGroups(type.getRank()),
                                       hostSizes(b, b.getLoc(), like));
}
