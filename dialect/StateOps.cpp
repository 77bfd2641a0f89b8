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

//===----------------------------------------------------------------------===//
// kv.state_convolution and kv.state_scan
//===----------------------------------------------------------------------===//

/// The operand or result `name` must have this shape; a dynamic size is any.
static LogicalResult verifyShape(Operation *op, StringRef name, Type type,
                                 ArrayRef<int64_t> want) {
  ArrayRef<int64_t> have = cast<ShapedType>(type).getShape();
  bool fits = have.size() == want.size();
  for (size_t i = 0; fits && i < want.size(); ++i)
    fits = ShapedType::isDynamic(want[i]) || have[i] == want[i];
  if (fits)
    return success();
  InFlightDiagnostic error = op->emitOpError() << name << " must be [";
  llvm::interleaveComma(want, error, [&](int64_t size) {
    if (ShapedType::isDynamic(size))
      error << "T";
    else
      error << size;
  });
  return error << "], not " << type;
}

/// The layer's states must be [heads, dim] of what the operands say.
static LogicalResult verifyStateSize(CacheOpInterface op, int64_t heads,
                                     int64_t dim, StringRef why) {
  CollectionType type = op.getCollectionType();
  if ((ShapedType::isDynamic(type.getHeads()) || type.getHeads() == heads) &&
      type.getDim() == dim)
    return success();
  return op->emitOpError() << "has states of [" << heads << ", " << dim << "], "
                           << why << ", and the collection's are ["
                           << HeadCount{type.getHeads()} << ", "
                           << type.getDim() << "]";
}

/// Verifies convolutions and scans: on a cache, on one layer, in one form, with
/// sizes that are known except for the rows.
static LogicalResult verifyRecurrence(CacheOpInterface op, Value layer,
                                      std::optional<Type> collection, Value out,
                                      Value result, ValueRange rows,
                                      ValueRange others) {
  if (failed(verifyCache(op, collection)) ||
      failed(verifyLayer(op, layer, op.getCollectionType())) ||
      failed(verifyForm(op, {out}, {result})))
    return failure();
  auto isKnown = [](Value value, size_t first) {
    return llvm::none_of(
        cast<ShapedType>(value.getType()).getShape().drop_front(first),
        ShapedType::isDynamic);
  };
  if (!llvm::all_of(rows, [&](Value row) { return isKnown(row, 1); }) ||
      !llvm::all_of(others, [&](Value other) { return isKnown(other, 0); }))
    return op->emitOpError("must have static sizes but for the number of rows");
  return success();
}

SmallVector<StepRows> StateConvolutionOp::getStepRows() {
  return {{.rowOffsets = getRowOffsets(), .rows = {getX()}}};
}

LogicalResult StateConvolutionOp::verify() {
  SmallVector<Value> others = {getWeight()};
  if (getBias())
    others.push_back(getBias());
  if (failed(verifyRecurrence(*this, getLayer(), getCollection(), getOut(),
                              getResult(), getX(), others)))
    return failure();
  auto x = cast<ShapedType>(getX().getType());
  int64_t channels = x.getDimSize(1);
  int64_t taps = cast<ShapedType>(getWeight().getType()).getDimSize(0);
  if (taps < 2)
    return emitOpError() << "weight must have at least 2 taps, not " << taps;
  if (failed(verifyShape(*this, "weight", getWeight().getType(),
                         {taps, channels})) ||
      (getBias() &&
       failed(verifyShape(*this, "bias", getBias().getType(), {channels}))) ||
      failed(verifyShape(*this, "result", formType(getOut(), getResult()),
                         x.getShape())))
    return failure();
  return verifyStateSize(*this, taps - 1, channels, "as x and weight say");
}

SmallVector<StepRows> StateScanOp::getStepRows() {
  return {{.rowOffsets = getRowOffsets(),
           .rows = {getQ(), getK(), getV(), getDecay(), getStrength()}}};
}

LogicalResult StateScanOp::verify() {
  SmallVector<Value> others;
  if (getSkip())
    others.push_back(getSkip());
  if (failed(verifyRecurrence(
          *this, getLayer(), getCollection(), getOut(), getResult(),
          {getQ(), getK(), getV(), getDecay(), getStrength()}, others)))
    return failure();
  ArrayRef<int64_t> q = cast<ShapedType>(getQ().getType()).getShape();
  ArrayRef<int64_t> v = cast<ShapedType>(getV().getType()).getShape();
  int64_t rows = q[0], keyHeads = q[1], keyDim = q[2];
  int64_t each = v[2], valueDim = v[3];
  Type gates[] = {getDecay().getType(), getStrength().getType()};
  if (failed(verifyShape(*this, "k", getK().getType(), q)) ||
      failed(verifyShape(*this, "v", getV().getType(),
                         {rows, keyHeads, each, valueDim})) ||
      failed(verifyShape(*this, "decay", gates[0], {rows, keyHeads, each})) ||
      failed(
          verifyShape(*this, "strength", gates[1], {rows, keyHeads, each})) ||
      (getSkip() && failed(verifyShape(*this, "skip", getSkip().getType(),
                                       {keyHeads, each}))) ||
      failed(verifyShape(*this, "result", formType(getOut(), getResult()), v)))
    return failure();
  return verifyStateSize(*this, keyHeads * each, keyDim * valueDim,
                         "as q and v say");
}
