//===- Needs.cpp - What a module takes of a machine -----------------------===//

#include "Needs.h"

#include "kv/Dialect/KV.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace kv;

/// The bytes of a packed quantised weight, as packedShape() has them, for any
/// sizes.
static double packedBytes(QuantFormat format, double elements, double rows) {
  QuantSizes sizes = sizesOf(format);
  return sizes.group
             ? elements / double(kPackedRows * sizes.group) * sizes.bytes
             : elements + rows / kPackedRows * sizes.bytes;
}

/// 0 for what the module does not know.
static double weightBytes(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return 0;
  // Not as integers: anything may be in a module.
  double rows = 1, elements = 1;
  for (int64_t size : tensor.getShape()) {
    rows = elements;
    elements *= static_cast<double>(size);
  }
  if (auto quant = dyn_cast<QuantType>(tensor.getElementType()))
    return packedBytes(quant.getFormat(), elements, rows);
  if (!tensor.getElementType().isIntOrFloat())
    return 0;
  return elements * llvm::divideCeil(tensor.getElementTypeBitWidth(), 8u);
}

namespace {
struct CacheBytes {
  double perToken = 0, perSequence = 0;
  bool isKnown = false;
  llvm::StringSet<> dtypes;

  void add(CollectionType type) {
    CacheGeometry geometry = type.getGeometry();
    if (geometry.heads == CacheGeometry::Unknown)
      return;
    double bytes = static_cast<double>(geometry.bytesPerPage()) /
                   geometry.layersPerPage() * geometry.layers;
    if (!geometry.isPaged())
      perSequence += bytes;
    else if (geometry.window)
      perSequence += bytes / geometry.page * geometry.window;
    else
      perToken += bytes / geometry.page;
    isKnown = true;
    if (geometry.isRecurrent())
      return; // its states have a type of their own
    std::string dtype;
    llvm::raw_string_ostream(dtype) << type.getElementType();
    dtypes.insert(dtype);
  }
};
} // namespace

std::string kv::describeNeeds(ModuleOp module) {
  llvm::StringSet<> weights, collections;
  double bytes = 0;
  CacheBytes cache;
  for (auto function : module.getOps<func::FuncOp>())
    for (unsigned i : llvm::seq(function.getNumArguments())) {
      Type type = function.getArgumentTypes()[i];
      auto text = [&](StringRef attribute) {
        return function.getArgAttrOfType<StringAttr>(i, attribute);
      };
      auto weight = text(KVDialect::getWeightAttrName());
      if (weight && weights.insert(weight.getValue()).second)
        bytes += weightBytes(type);
      auto name = text(KVDialect::getNameAttrName());
      auto collection = dyn_cast<CollectionType>(type);
      if (name && collection && collections.insert(name.getValue()).second)
        cache.add(collection);
    }
  if (weights.empty() && collections.empty())
    return "";
  std::string title = "the module";
  if (auto model =
          module->getAttrOfType<DictionaryAttr>(KVDialect::getModelAttrName()))
    if (auto name = model.getAs<StringAttr>("name"))
      title = name.str();
  std::string needs =
      llvm::formatv("{0} needs {1:f1} MB of disk for its weights, as much "
                    "memory where it runs",
                    title, bytes / 1e6);
  if (!cache.isKnown)
    return needs;
  needs += llvm::formatv(", and {0:f1} MB of cache per 1,000 tokens",
                         cache.perToken / 1e3);
  if (cache.perSequence)
    needs +=
        llvm::formatv(" and {0:f1} MB per sequence", cache.perSequence / 1e6);
  auto dtypes = llvm::to_vector(cache.dtypes.keys());
  llvm::sort(dtypes);
  if (!dtypes.empty())
    needs += " (" + llvm::join(dtypes, ", ") + ")";
  return needs;
}
