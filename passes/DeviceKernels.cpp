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
  if (type.getStrategy() != Strategy::Paged)
    return op->emitOpError()
           << "is on a " << stringifyStrategy(type.getStrategy())
           << " cache: kv-cuda has kernels for paged ones";
  if (type.isLatent())
    return op->emitOpError("is on a latent cache: kv-cuda has kernels for "
                           "caches of keys and values");
  if (type.getScale())
    return op->emitOpError()
           << "is on a cache with the scale " << type.getScale()
           << ": kv-cuda has kernels for caches without scales";
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
  if (op.getKvRowOffsets() && op.getMask().getKind() != MaskKind::None)
    return op.emitOpError()
           << "has 'keys' of their own and the mask '"
           << stringifyMaskKind(op.getMask().getKind())
           << "': kv-cuda has a kernel for cross attention with 'none'";
  return checkCache(op, op.getCollectionType());
}

SmallVector<StringRef> kv::attentionImages(CollectionType type) {
  SmallVector<StringRef> images;
  std::optional<KvDType> cache = dtypeOf(type.getElementType());
  for (const kernels::AttentionKernel &kernel : kernels::AttentionKernels)
    if (kernel.cache == cache && kernel.headDim == type.getDim())
      images.push_back(kernel.name);
  return images;
}
