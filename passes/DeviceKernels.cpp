//===- DeviceKernels.cpp - What a GPU has kernels for ---------------------===//

#include "DeviceKernels.h"

using namespace mlir;
using namespace kv;

constexpr int64_t kHeadDims[] = {64, 128, 256};

bool kv::isMoved(Type element) {
  return element.isF32() || element.isBF16() || element.isF16();
}

bool kv::isMultiplied(Type element) {
  return element.isBF16() || element.isF16();
}

Type kv::queryType(Type element) {
  if (element.isBF16() || element.isF16())
    return element;
  if (isa<Float8E4M3FNType>(element))
    return BFloat16Type::get(element.getContext());
  return {};
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
    return op->emitOpError() << "is on a cache of " << type.getElementType()
                             << ": kv-cuda has kernels for bf16, f16 and "
                                "f8E4M3FN";
  if (!llvm::is_contained(kHeadDims, type.getDim()))
    return op->emitOpError() << "has the head dimension " << type.getDim()
                             << ": kv-cuda has kernels for 64, 128 and 256";
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

SmallVector<std::string> kv::attentionImages(CollectionType type) {
  Type element = type.getElementType();
  StringRef name = element.isBF16() ? "bf16" : element.isF16() ? "f16" : "f8";
  SmallVector<std::string> images;
  for (StringRef kind : {"decode", "prefill"})
    images.push_back(
        ("kv_attention_" + kind + "_" + name + "_" + Twine(type.getDim()))
            .str());
  return images;
}
