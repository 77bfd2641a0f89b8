//===- UpdateOps.cpp - Updates and plans of this step's rows --------------===//

#include "OpParsing.h"
#include "llvm/ADT/SmallString.h"

using namespace mlir;
using namespace kv;

//===----------------------------------------------------------------------===//
// kv.update
//===----------------------------------------------------------------------===//

CollectionType UpdateOp::getCollectionType() {
  return collectionOf(getCache(), getCollection());
}
OperandRange UpdateOp::getCacheOperands() { return getCache(); }
OpOperand *UpdateOp::getLayerOperand() { return &getPlaceMutable()[0]; }
void UpdateOp::setCollectionType(CollectionType type) { setCollection(type); }
bool UpdateOp::writesCache() { return true; }
bool UpdateOp::readsCache() { return true; }

/// A cache is a collection's components, a layer and a part.
void UpdateOp::setComponents(ValueRange components, CollectionType type) {
  getCacheMutable().assign(components.drop_back(2));
  getPlaceMutable().assign(components.take_back(2));
  setCollection(type);
}

/// What belongs to one kind stands with it and with no other.
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
  APFloat eps = *op.getEps();
  if (!eps.isFinite() || (eps.isNegative() && !eps.isZero())) {
    SmallString<16> text;
    eps.toString(text);
    return op.emitOpError()
           << "eps must be finite and not negative, not " << text;
  }
  return success();
}

static LogicalResult verifyFreqs(UpdateOp op, ShapedType freqs, int64_t dim) {
  if (freqs.getRank() != 2 || !freqs.getElementType().isF32() ||
      freqs.isDynamicDim(1))
    return op.emitOpError() << "'rope' takes freqs, f32 [max, W] with a static "
                               "W, not "
                            << freqs;
  int64_t width = freqs.getDimSize(1);
  if (width % 2 != 0 || width > dim)
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

/// Numbers of a row of a plan.
constexpr int64_t kPlanWidth = 4;

LogicalResult PlanOp::verify() {
  if (failed(verifyCache(*this, getCollection())) ||
      failed(verifyForm(*this, {getOut()}, {getResult()})) ||
      failed(verifyWindow(*this, getMask(), getCollectionType())))
    return failure();
  Type plan = formType(getOut(), getResult());
  if (cast<ShapedType>(plan).getDimSize(1) != kPlanWidth)
    return emitOpError() << "result must be [T, " << kPlanWidth << "], not "
                         << plan;
  return success();
}

KernelAttr kv::getKernel(Operation *op) {
  return op->getAttrOfType<KernelAttr>(KVDialect::getKernelAttrName());
}

LogicalResult kv::verifyPlanned(AttentionOp op) {
  if (!op.getPlan())
    return success();
  auto plan = cast<ShapedType>(op.getPlan().getType());
  KernelAttr kernel = getKernel(op);
  bool isBytes = plan.getElementType().isInteger(8);
  if (kernel && takesPlan(kernel.getKind()) &&
      isBytes != (kernel.getKind() == KernelKind::Cuda))
    return op.emitOpError()
           << "has the plan " << plan << ", the kernel '"
           << stringifyKernelKind(kernel.getKind()) << "' takes "
           << (isBytes ? "i32 [T, 4]" : "i8 [bytes]");
  if (!isBytes && plan.getDimSize(1) != kPlanWidth)
    return op.emitOpError()
           << "plan must be [T, " << kPlanWidth << "], not " << Type(plan);
  if (!isBytes &&
      failed(verifySameRows(op, "q", op.getQ().getType(), "plan", plan)))
    return failure();
  if (auto made = op.getPlan().getDefiningOp<PlanOp>();
      made && made.getMask() != op.getMask())
    return op.emitOpError() << "has the mask " << op.getMask()
                            << ", its plan is for " << made.getMask();
  if (kernel && !takesPlan(kernel.getKind()))
    return op.emitOpError()
           << "has a plan, which the kernel '"
           << stringifyKernelKind(kernel.getKind()) << "' does not take";
  return success();
}
