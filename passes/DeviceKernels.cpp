//===- DeviceKernels.cpp - What a GPU has kernels for ---------------------===//

#include "DeviceKernels.h"

using namespace mlir;
using namespace kv;

bool kv::isMoved(Type element) {
  std::optional<KvDType> type = dtypeOf(element);
  return type && kernels::isRowType(*type);
}

bool kv::isMultiplied(Type element) {
  std::optional<KvDType> type = dtypeOf(element);
  return type && kernels::isMultiplied(*type);
}

Type kv::queryType(Type element) {
  std::optional<KvDType> cache = dtypeOf(element);
  std::optional<KvDType> query;
  if (cache)
    query = kernels::queryTypeOf(*cache);
  return query ? typeOf(element.getContext(), *query) : Type();
}

LogicalResult kv::checkCache(Operation *op, CollectionType type) {
  if (type.getScale())
    return op->emitOpError()
           << "is on a cache with the scale " << type.getScale()
           << ": kv-cuda has kernels for caches without scales";
  if (type.isLatent()) {
    std::optional<KvDType> cache = dtypeOf(type.getElementType());
    if (cache && kernels::isLatentRow(*cache, type.getDim(), type.getVDim()))
      return success();
    return op->emitOpError()
           << "is on a latent cache of " << type.getElementType() << " rows of "
           << type.getDim() << "/" << type.getVDim()
           << ": kv-cuda has kernels for " << kernels::latentRows();
  }
  if (!queryType(type.getElementType()))
    return op->emitOpError()
           << "is on a cache of " << type.getElementType()
           << ": kv-cuda has kernels for " << kernels::cacheTypes();
  if (!kernels::isHeadDim(type.getDim()))
    return op->emitOpError()
           << "has the head dimension " << type.getDim()
           << ": kv-cuda has kernels for " << kernels::headDims();
  if (ShapedType::isDynamic(type.getHeads()))
    return op->emitOpError("is on a cache whose number of heads is not known: "
                           "give the collection's 'heads'");
  return success();
}

LogicalResult kv::checkAttention(AttentionOp op) {
  if (op.getKvRowOffsets())
    return op.emitOpError("has 'keys' of their own: kv-cuda has no kernel for "
                          "cross attention");
  return checkCache(op, op.getCollectionType());
}

SmallVector<StringRef> kv::attentionImages(CollectionType type) {
  SmallVector<StringRef> images;
  std::optional<KvDType> cache = dtypeOf(type.getElementType());
  for (const kernels::AttentionKernel &kernel : kernels::AttentionKernels)
    if (kernel.cache == cache && kernel.headDim == type.getDim() &&
        kernel.vDim == type.getVDim())
      images.push_back(kernel.name);
  return images;
}
