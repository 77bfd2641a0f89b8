//===- ViewOps.cpp - Views of a cache, which touch nothing ----------------===//

#include "Verification.h"

using namespace mlir;
using namespace kv;

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

/// Keys and values are of collections that have them.
static LogicalResult verifyHasKeys(Operation *op, CollectionType type) {
  if (type.getStrategy() != Strategy::Recurrent)
    return success();
  return op->emitOpError() << "is on the recurrent collection " << type
                           << ", which has states and no keys: kv.state_read "
                              "and kv.state_write take it";
}

LogicalResult AdvanceOp::verify() {
  if (getCollection().getType().getStrategy() != Strategy::Recurrent)
    return success();
  return emitOpError() << "is on the recurrent collection "
                       << getCollection().getType()
                       << ", whose table is of one step";
}

LogicalResult KeyCacheOp::verify() {
  if (failed(verifyHasKeys(*this, getCollection().getType())))
    return failure();
  return verifyLayer(*this, getLayer(), getCollection().getType());
}

LogicalResult ValueCacheOp::verify() {
  if (failed(verifyHasKeys(*this, getCollection().getType())))
    return failure();
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
