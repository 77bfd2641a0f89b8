//===- ListWeights.cpp - The weights of entries, as JSON ------------------===//

#include "kv/Passes/Passes.h"

#include "kv/Dialect/StoredWeight.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/JSON.h"

namespace kv {
#define GEN_PASS_DEF_KVLISTWEIGHTS
#include "kv/Passes/Passes.h.inc"
} // namespace kv

using namespace mlir;
using namespace kv;

static std::string textOf(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// A name, which MLIR's text may give any bytes.
static std::string utf8(StringAttr text) {
  return llvm::json::fixUTF8(text.getValue());
}

/// Arrays of texts and numbers.
static llvm::json::Value jsonOf(Attribute attribute) {
  if (auto text = dyn_cast<StringAttr>(attribute))
    return utf8(text);
  if (auto number = dyn_cast<IntegerAttr>(attribute))
    return number.getValue().getSExtValue();
  if (auto number = dyn_cast<FloatAttr>(attribute))
    return number.getValueAsDouble();
  llvm::json::Array elements;
  if (auto array = dyn_cast<ArrayAttr>(attribute))
    for (Attribute each : array)
      elements.push_back(jsonOf(each));
  return elements;
}

/// The object of argument `i`, whose name as a weight is `name`.
static llvm::json::Object describe(func::FuncOp function, unsigned i,
                                   StringAttr name) {
  llvm::json::Object row{{"name", utf8(name)}};
  auto type = dyn_cast<ShapedType>(function.getArgumentTypes()[i]);
  if (type && type.hasRank()) {
    row["dtype"] = textOf(type.getElementType());
    row["shape"] = llvm::json::Array(type.getShape());
  }
  if (auto layout = function.getArgAttrOfType<StringAttr>(
          i, KVDialect::getLayoutAttrName()))
    row["layout"] = utf8(layout);
  if (auto stored =
          function.getArgAttrOfType<DictionaryAttr>(i, kStoredAttrName)) {
    llvm::json::Object form;
    for (StringRef part : {"order", "shape"})
      form[part] = llvm::json::Array(llvm::map_range(
          stored.getAs<ArrayAttr>(part).getAsValueRange<IntegerAttr>(),
          [](const llvm::APInt &number) { return number.getSExtValue(); }));
    row["stored"] = std::move(form);
  }
  if (auto computed =
          function.getArgAttrOfType<ArrayAttr>(i, kComputedAttrName))
    row["computed"] = jsonOf(computed);
  return row;
}

namespace {
struct ListWeights : kv::impl::KVListWeightsBase<ListWeights> {
  void runOnOperation() override {
    llvm::json::Array rows;
    for (auto function : getOperation().getOps<func::FuncOp>())
      for (unsigned i : llvm::seq(function.getNumArguments()))
        if (auto name = function.getArgAttrOfType<StringAttr>(
                i, KVDialect::getWeightAttrName()))
          rows.push_back(describe(function, i, name));
    llvm::outs() << llvm::json::Value(std::move(rows)) << "\n";
    llvm::outs().flush();
    markAllAnalysesPreserved();
  }
};
} // namespace
