//===- ViewOps.cpp - Views of a cache, which touch nothing ----------------===//

#include "OpParsing.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace kv;

/// Compares the type of component `i` with that which the collection's type
/// asks for. Blocks are memrefs; other components are tensors or, once
/// bufferized, memrefs.
static LogicalResult verifyComponent(Operation *op, size_t i, Type have,
                                     CollectionType type) {
  Type want = type.getComponentTypes()[i];
  auto haveShaped = cast<ShapedType>(have), wantShaped = cast<ShapedType>(want);
  bool kindOk = !isa<MemRefType>(want) || isa<MemRefType>(have);
  if (kindOk && haveShaped.getElementType() == wantShaped.getElementType() &&
      succeeded(
          verifyCompatibleShape(haveShaped.getShape(), wantShaped.getShape())))
    return success();
  return op->emitOpError() << "component '" << type.getComponentNames()[i]
                           << "' of " << type << " must be like " << want
                           << ", not " << have;
}

LogicalResult kv::verifyComponents(Operation *op, TypeRange given,
                                   CollectionType type) {
  size_t wanted = type.getScale() ? 5 : 4;
  if (given.size() != wanted)
    return op->emitOpError()
           << "takes " << wanted << " components of its collection, not "
           << given.size();
  for (auto [i, have] : llvm::enumerate(given))
    if (failed(verifyComponent(op, i, have, type)))
      return failure();
  return success();
}

LogicalResult kv::verifyLayer(Operation *op, Value layer, CollectionType type) {
  APInt value;
  if (!matchPattern(layer, m_ConstantInt(&value)) ||
      value.ult(type.getLayers()))
    return success();
  return op->emitOpError() << "layer " << value.getSExtValue()
                           << " is outside the collection's "
                           << type.getLayers() << " layers";
}

LogicalResult FetchOp::verify() {
  return verifyComponents(*this, getOperandTypes(), getCollection().getType());
}

OpFoldResult FetchOp::fold(FoldAdaptor) {
  auto unpack = getBlocks().getDefiningOp<UnpackOp>();
  if (unpack && unpack.getCollection().getType() == getType() &&
      llvm::equal(unpack->getResults(), getOperands()))
    return unpack.getCollection();
  return {};
}

LogicalResult UnpackOp::verify() {
  return verifyComponents(*this, (*this)->getResultTypes(),
                          getCollection().getType());
}

LogicalResult UnpackOp::fold(FoldAdaptor,
                             SmallVectorImpl<OpFoldResult> &results) {
  auto fetch = getCollection().getDefiningOp<FetchOp>();
  if (!fetch || !llvm::equal(fetch.getOperandTypes(), getResultTypes()))
    return failure();
  llvm::append_range(results, fetch.getOperands());
  return success();
}

LogicalResult KeyCacheOp::verify() {
  return verifyLayer(*this, getLayer(), getCollection().getType());
}

LogicalResult ValueCacheOp::verify() {
  if (getCollection().getType().isLatent())
    return emitOpError("a latent cache has no values of its own: they are the "
                       "first v_dim elements of its keys");
  return verifyLayer(*this, getLayer(), getCollection().getType());
}

/// Component `i` of a collection that is the result of a kv.fetch, if it has
/// this type.
static OpFoldResult foldComponent(Value collection, size_t i, Type type) {
  auto fetch = collection.getDefiningOp<FetchOp>();
  if (fetch && fetch->getOperand(i).getType() == type)
    return fetch->getOperand(i);
  return {};
}

LogicalResult CacheLengthsOp::verify() {
  return verifyComponent(*this, 1, getType(), getCollection().getType());
}

OpFoldResult CacheLengthsOp::fold(FoldAdaptor) {
  return foldComponent(getCollection(), 1, getType());
}

LogicalResult MaxLengthsOp::verify() {
  return verifyComponent(*this, 3, getType(), getCollection().getType());
}

OpFoldResult MaxLengthsOp::fold(FoldAdaptor) {
  return foldComponent(getCollection(), 3, getType());
}
