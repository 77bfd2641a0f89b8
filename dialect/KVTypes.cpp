//===- KVTypes.cpp - Types and attributes ---------------------------------===//

#include "kv/Dialect/KV.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace kv;

/// What a collection and a cache have in common; `what` is one of the two.
static LogicalResult
verifyGeometry(function_ref<InFlightDiagnostic()> emitError, StringRef what,
               Type elementType, int64_t layers, int64_t heads, int64_t dim,
               int64_t page) {
  std::pair<StringRef, int64_t> numbers[] = {
      {"layers", layers}, {"heads", heads}, {"dim", dim}, {"page", page}};
  for (auto [name, value] : numbers)
    if (value <= 0)
      return emitError() << what << "'s '" << name << "' must be positive, not "
                         << value;
  if (!elementType.isF32() && !elementType.isF16() && !elementType.isBF16())
    return emitError() << what
                       << "'s element type must be f32, f16 or bf16, not "
                       << elementType;
  return success();
}

LogicalResult
CollectionType::verify(function_ref<InFlightDiagnostic()> emitError, Strategy,
                       Type elementType, int64_t layers, int64_t heads,
                       int64_t dim, int64_t page) {
  return verifyGeometry(emitError, "collection", elementType, layers, heads,
                        dim, page);
}

LogicalResult CacheType::verify(function_ref<InFlightDiagnostic()> emitError,
                                Strategy, Type elementType, int64_t layers,
                                int64_t heads, int64_t dim, int64_t page) {
  return verifyGeometry(emitError, "cache", elementType, layers, heads, dim,
                        page);
}

CacheType CacheType::get(CollectionType of) {
  return get(of.getContext(), of.getStrategy(), of.getElementType(),
             of.getLayers(), of.getHeads(), of.getDim(), of.getPage());
}

CollectionType CacheType::getCollectionType() {
  return CollectionType::get(getContext(), getStrategy(), getElementType(),
                             getLayers(), getHeads(), getDim(), getPage());
}

LogicalResult MaskAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               MaskKind kind, int64_t window) {
  bool windowed = kind != MaskKind::None && kind != MaskKind::Causal;
  if (windowed && window <= 0)
    return emitError() << "mask '" << stringifyMaskKind(kind)
                       << "' needs a positive window, not " << window;
  if (!windowed && window != 0)
    return emitError() << "mask '" << stringifyMaskKind(kind)
                       << "' takes no window";
  return success();
}

SmallVector<Type> CollectionType::getComponentTypes() {
  constexpr int64_t dynamic = ShapedType::kDynamic;
  Type i32 = IntegerType::get(getContext(), 32);
  return {MemRefType::get(
              {dynamic, 2, getLayers(), getPage(), getHeads(), getDim()},
              getElementType()),
          RankedTensorType::get({dynamic}, i32),
          RankedTensorType::get({dynamic, dynamic}, i32),
          RankedTensorType::get({dynamic, 2}, i32)};
}

ArrayRef<StringRef> CollectionType::getComponentNames() {
  static const StringRef names[] = {"blocks", "cache_lengths", "lookup_table",
                                    "max_lengths"};
  return names;
}
