//===- UpdateOps.cpp - Updates and plans of this step's rows --------------===//

#include "Verification.h"

using namespace mlir;
using namespace kv;

//===----------------------------------------------------------------------===//
// kv.update
//===----------------------------------------------------------------------===//

SmallVector<StepRows> UpdateOp::getStepRows() {
  StepRows step{.rowOffsets = getRowOffsets(), .haveKeys = true};
  if (getKind() == UpdateKind::Add)
    step.rows.push_back(getOperand());
  return {step};
}

/// Operands and attributes of one kind stand with that kind only.
static LogicalResult verifyKind(UpdateOp op) {
  StringRef kind = stringifyUpdateKind(op.getKind());
  if (op.getInterleaved() && op.getKind() != UpdateKind::Rope)
    return op.emitOpError() << "'" << kind << "' takes no 'interleaved'";
  bool normalises = op.getKind() == UpdateKind::RmsNorm;
  if (normalises && !op.getEps())
    return op.emitOpError("'rms_norm' needs 'eps'");
  if (!normalises && op.getEps())
    return op.emitOpError() << "'" << kind << "' takes no 'eps'";
  if (!normalises)
    return success();
  return verifyNumber(op, "eps", *op.getEps(), Sign::NotNegative);
}

static LogicalResult verifyFreqs(UpdateOp op, ShapedType freqs, int64_t dim) {
  if (freqs.getRank() != 2 || !freqs.getElementType().isF32() ||
      freqs.isDynamicDim(1))
    return op.emitOpError() << "'rope' takes freqs, f32 [max, W] with a static "
                               "W, not "
                            << freqs;
  int64_t width = freqs.getDimSize(1);
  if (width < 2 || width % 2 != 0 || width > dim)
    return op.emitOpError() << "freqs must hold pairs for at most the head "
                               "dimension "
                            << dim << ", not " << width << " numbers";
  return success();
}

static LogicalResult verifyWeight(UpdateOp op, ShapedType weight, int64_t dim) {
  if (weight.getRank() != 1 || !weight.getElementType().isF32() ||
      weight.isDynamicDim(0))
    return op.emitOpError() << "'rms_norm' takes a weight, a static f32 [W], "
                               "not "
                            << weight;
  int64_t width = weight.getDimSize(0);
  if (width < 1 || width > dim)
    return op.emitOpError() << "weight must have 1 to " << dim
                            << " numbers, the head dimension, not " << width;
  return success();
}

static LogicalResult verifyRows(UpdateOp op, ShapedType rows,
                                CollectionType type) {
  if (rows.getRank() != 3)
    return op.emitOpError()
           << "'add' takes rows, [T, heads, dim], not " << rows;
  return verifyRowShape(op, "rows", rows, type.getHeads(), type.getDim());
}

LogicalResult UpdateOp::verify() {
  if (failed(verifyCache(*this, getCollection())) ||
      failed(verifyPlace(*this, getPlace())) || failed(verifyOneForm(*this)) ||
      failed(verifyKind(*this)))
    return failure();
  CollectionType type = getCollectionType();
  auto operand = cast<ShapedType>(getOperand().getType());
  switch (getKind()) {
  case UpdateKind::Rope:
    return verifyFreqs(*this, operand, type.getDim());
  case UpdateKind::RmsNorm:
    return verifyWeight(*this, operand, type.getDim());
  case UpdateKind::Add:
    return verifyRows(*this, operand, type);
  }
  llvm_unreachable("a kind without an operand");
}

//===----------------------------------------------------------------------===//
// kv.plan
//===----------------------------------------------------------------------===//

SmallVector<StepRows> PlanOp::getStepRows() {
  return {{.rowOffsets = getRowOffsets(),
           .rows = staticRows(getOut(), getResult())}};
}

LogicalResult PlanOp::verify() {
  if (failed(verifyCache(*this, getCollection())) ||
      failed(verifyForm(*this, {getOut()}, {getResult()})) ||
      failed(verifyWindow(*this, getMask(), getCollectionType())) ||
      (getTree() && failed(verifyTreeMask(*this, getMask()))))
    return failure();
  Type plan = formType(getOut(), getResult());
  if (cast<ShapedType>(plan).getDimSize(1) != kPlanWidth)
    return emitOpError() << "result must be [T, " << kPlanWidth << "], not "
                         << plan;
  return success();
}
