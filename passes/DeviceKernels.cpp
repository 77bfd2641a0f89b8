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
  if (type.isLatent()) {
    std::optional<KvDType> cache = dtypeOf(type.getElementType());
    if (cache && !type.getScale() &&
        kernels::isLatentRow(*cache, type.getDim(), type.getVDim()))
      return success();
    InFlightDiagnostic error = op->emitOpError()
                               << "is on a latent cache of "
                               << type.getElementType() << " rows of "
                               << type.getDim() << "/" << type.getVDim();
    if (type.getScale())
      error << " with the scale " << type.getScale();
    return error << ": kv-cuda has kernels for " << kernels::latentRows();
  }
  if (!queryType(type.getElementType()))
    return op->emitOpError()
           << "is on a cache of " << type.getElementType()
           << ": kv-cuda has kernels for " << kernels::cacheTypes();
  int64_t dtype = *dtypeOf(type.getElementType()), dim = type.getDim();
  ScaleAttr scale = type.getScale();
  int64_t group = scale ? scale.getGroup() : 0;
  if (scale && group != dim &&
      (group % kernels::ScaleChunk || dim / group > kernels::mostGroups(dim)))
    return op->emitOpError()
           << "is on a cache with the scale " << scale
           << ": kv-cuda has kernels for a scale a row of " << dim
           << " elements, or for at most " << kernels::mostGroups(int(dim))
           << " groups a row, of a multiple of " << kernels::ScaleChunk
           << " elements";
  kernels::Scales scales = kernels::scalesFor(dtype, scale ? dim / group : 0);
  std::string dims = kernels::headDims(dtype, scales);
  if (dims.empty())
    return op->emitOpError()
           << "is on a cache of " << type.getElementType() << " with the scale "
           << scale << ": kv-cuda has kernels for such a cache with a scale a "
           << "row";
  if (!kernels::hasKernels(dtype, scales, dim))
    return op->emitOpError()
           << "has the head dimension " << dim << ": kv-cuda has kernels for "
           << dims << (scale ? " with such scales" : "");
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
  kernels::Scales scales = kernels::scalesFor(
      *cache, type.getScale() ? type.getDim() / type.getScale().getGroup() : 0);
  for (const kernels::AttentionKernel &kernel : kernels::AttentionKernels)
    if (kernel.cache == cache && kernel.headDim == type.getDim() &&
        kernel.vDim == type.getVDim() && kernel.scales == scales)
      images.push_back(kernel.name);
  if (!type.getVDim())
    for (const kernels::TileKernel &kernel : kernels::TileKernels)
      if (kernel.cache == cache && kernel.headDim == type.getDim() &&
          kernel.scales == scales)
        images.push_back(kernel.name);
  return images;
}
