//===- StateOps.cpp - States of recurrent layers --------------------------===//

#include "Verification.h"

using namespace mlir;
using namespace kv;

/// States are [B, heads, dim] of f32 or the collection's own type.
static LogicalResult verifyStates(Operation *op, StringRef name, Type states,
                                  CollectionType type) {
  auto shaped = cast<ShapedType>(states);
  ArrayRef<int64_t> shape = shaped.getShape();
  Type element = shaped.getElementType();
  bool anyHeads = ShapedType::isDynamic(type.getHeads());
  if ((anyHeads || shape[1] == type.getHeads()) && shape[2] == type.getDim() &&
      (element.isF32() || element == type.getElementType()))
    return success();
  return op->emitOpError() << name << " must be [B, "
                           << HeadCount{type.getHeads()} << ", "
                           << type.getDim() << "] of " << type.getElementType()
                           << " or f32, not " << states;
}

//===----------------------------------------------------------------------===//
// kv.state_read
//===----------------------------------------------------------------------===//

SmallVector<StepRows> StateReadOp::getStepRows() {
  return {
      {.rowOffsets = getRowOffsets(),
       .sequences =
           cast<ShapedType>(formType(getOut(), getResult())).getDimSize(0)}};
}

LogicalResult StateReadOp::verify() {
  if (failed(verifyCache(*this, getCollection())) ||
      failed(verifyLayer(*this, getLayer(), getCollectionType())) ||
      failed(verifyForm(*this, {getOut()}, {getResult()})))
    return failure();
  return verifyStates(*this, "result", formType(getOut(), getResult()),
                      getCollectionType());
}

//===----------------------------------------------------------------------===//
// kv.state_write
//===----------------------------------------------------------------------===//

SmallVector<StepRows> StateWriteOp::getStepRows() {
  return {{.rowOffsets = getRowOffsets(),
           .sequences = cast<ShapedType>(getState().getType()).getDimSize(0)}};
}

LogicalResult StateWriteOp::verify() {
  if (failed(verifyCache(*this, getCollection())) ||
      failed(verifyLayer(*this, getLayer(), getCollectionType())) ||
      failed(verifyOneForm(*this)))
    return failure();
  return verifyStates(*this, "state", getState().getType(),
                      getCollectionType());
}
