//===- KVTypes.cpp - The collection type ----------------------------------===//

#include "kv/Dialect/KV.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace kv;

LogicalResult
CollectionType::verify(function_ref<InFlightDiagnostic()> emitError,
                       Strategy strategy, Type elementType, int64_t layers,
                       int64_t heads, int64_t dim, int64_t page) {
  std::pair<StringRef, int64_t> numbers[] = {
      {"layers", layers}, {"heads", heads}, {"dim", dim}, {"page", page}};
  for (auto [name, value] : numbers)
    if (value <= 0)
      return emitError() << "collection's '" << name
                         << "' must be positive, not " << value;
  if (!elementType.isF32() && !elementType.isF16() && !elementType.isBF16())
    return emitError() << "collection's element type must be f32, f16 or bf16, "
                          "not "
                       << elementType;
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
