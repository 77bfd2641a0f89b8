//===- DeviceKernels.cpp - What a GPU has kernels for ---------------------===//

#include "DeviceKernels.h"

#include "kv/ABI/Trees.h"

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
  if (op.getProducts() && attentionImages(op).empty())
    return op.emitOpError()
           << "has products of " << *op.getProducts()
           << " and the head dimension " << op.getCollectionType().getDim()
           << ": kv-cuda has kernels for " << kernels::eightBitHeadDims();
  MaskAttr mask = op.getMask();
  if (op.getAncestors() && mask.getKind() != MaskKind::Causal &&
      (mask.getKind() != MaskKind::Sliding || mask.getWindow() < KV_TREE_ROWS))
    return op.emitOpError()
           << "has a tree and the mask " << mask
           << ": kv-cuda has kernels for trees with causal, or sliding of at "
              "least "
           << KV_TREE_ROWS << " tokens";
  if (op.getKvRowOffsets() && op.getMask().getKind() != MaskKind::None)
    return op.emitOpError()
           << "has 'keys' of their own and the mask '"
           << stringifyMaskKind(op.getMask().getKind())
           << "': kv-cuda has a kernel for cross attention with 'none'";
  return checkCache(op, op.getCollectionType());
}

bool kv::isOnRowsOrStates(Operation *op) {
  return isa<LoadOp, UpdateOp, StateReadOp, StateWriteOp, StateConvolutionOp,
             StateScanOp>(op);
}

static int64_t sizeOf(Value shaped, int64_t dim) {
  return cast<ShapedType>(shaped.getType()).getDimSize(dim);
}

static LogicalResult checkStates(CacheOpInterface op) {
  CollectionType type = op.getCollectionType();
  Type element = type.getElementType();
  if (ShapedType::isDynamic(type.getHeads()))
    return op.emitOpError("is on states whose number of heads is not known: "
                          "give the collection's 'heads'");
  if (isa<StateReadOp, StateWriteOp>(op)) {
    if (type.getDim() % kernels::RowChunk)
      return op.emitOpError()
             << "is on states of " << type.getDim()
             << " elements: kv-cuda has a kernel for multiples of "
             << kernels::RowChunk;
    return success();
  }
  if (!element.isF32())
    return op.emitOpError()
           << "is on states of " << element << ": kv-cuda has a kernel for f32";
  if (auto convolution = dyn_cast<StateConvolutionOp>(*op)) {
    int64_t taps = sizeOf(convolution.getWeight(), 0);
    int64_t channels = sizeOf(convolution.getX(), 1);
    if (taps <= kernels::MostTaps && channels % kernels::RowChunk == 0)
      return success();
    return op.emitOpError() << "has " << taps << " taps and " << channels
                            << " channels: kv-cuda has a kernel for at most "
                            << kernels::MostTaps << " taps, and multiples of "
                            << kernels::RowChunk << " channels";
  }
  auto scan = cast<StateScanOp>(*op);
  int64_t keys = sizeOf(scan.getK(), 2), values = sizeOf(scan.getV(), 3);
  if (keys <= kernels::MostScanKeys && values % kernels::RowChunk == 0)
    return success();
  return op.emitOpError() << "has keys of " << keys << " and values of "
                          << values
                          << " elements: kv-cuda has a kernel for keys of at "
                             "most "
                          << kernels::MostScanKeys
                          << " elements, and values of multiples of "
                          << kernels::RowChunk;
}

LogicalResult kv::checkRowsOrStates(Operation *op) {
  auto cache = cast<CacheOpInterface>(op);
  CollectionType type = cache.getCollectionType();
  if (type.getGeometry().isRecurrent())
    return checkStates(cache);
  if (failed(checkCache(op, type)))
    return failure();
  if (auto load = dyn_cast<LoadOp>(op))
    return load.getResult().getType().isDynamicDim(1)
               ? load.emitOpError("has as many rows as max_lengths says: "
                                  "kv-cuda has a kernel for a static number")
               : success();
  if (type.getDim() > kernels::MostUpdated)
    return op->emitOpError()
           << "has the head dimension " << type.getDim()
           << ": kv-cuda has a kernel for at most " << kernels::MostUpdated;
  return success();
}

SmallVector<StringRef> kv::attentionImages(AttentionOp op) {
  SmallVector<StringRef> images;
  CollectionType type = op.getCollectionType();
  bool products = op.getProducts().has_value();
  std::optional<KvDType> cache = dtypeOf(type.getElementType());
  kernels::Scales scales = kernels::scalesFor(
      *cache, type.getScale() ? type.getDim() / type.getScale().getGroup() : 0);
  for (const kernels::AttentionKernel &kernel : kernels::AttentionKernels)
    if (!products && kernel.cache == cache && kernel.headDim == type.getDim() &&
        kernel.vDim == type.getVDim() && kernel.scales == scales)
      images.push_back(kernel.name);
  for (const kernels::TileKernel &kernel : kernels::TileKernels)
    if (kernel.eightBitProducts == products && kernel.cache == cache &&
        kernel.headDim == type.getDim() && kernel.vDim == type.getVDim() &&
        kernel.scales == scales && type.getPage() % kernel.pageTokens == 0)
      images.push_back(kernel.name);
  return images;
}
