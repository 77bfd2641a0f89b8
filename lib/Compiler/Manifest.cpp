//===- Manifest.cpp - What an artifact says of itself ---------------------===//

#include "Manifest.h"

#include "kv/ABI/Context.h"
#include "kv/Dialect/KV.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace kv;
namespace json = llvm::json;

static std::string spell(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// An attribute of kv.model as JSON; what JSON cannot say becomes its text.
static json::Value toJSON(Attribute attribute) {
  if (auto dictionary = dyn_cast<DictionaryAttr>(attribute)) {
    json::Object object;
    for (NamedAttribute entry : dictionary)
      object[entry.getName().getValue()] = toJSON(entry.getValue());
    return object;
  }
  if (auto array = dyn_cast<ArrayAttr>(attribute)) {
    json::Array list;
    for (Attribute element : array)
      list.push_back(toJSON(element));
    return list;
  }
  if (auto text = dyn_cast<StringAttr>(attribute))
    return text.getValue();
  if (auto flag = dyn_cast<BoolAttr>(attribute))
    return flag.getValue();
  if (auto number = dyn_cast<IntegerAttr>(attribute))
    return number.getInt();
  if (auto number = dyn_cast<FloatAttr>(attribute))
    return number.getValueAsDouble();
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  return text;
}

static json::Object describe(DictionaryAttr row) {
  json::Object object;
  for (StringRef field : {"name", "kind", "collection", "layout"})
    if (auto text = row.getAs<StringAttr>(field))
      object[field] = text.getValue();
  object["dtype"] = spell(row.getAs<TypeAttr>("dtype").getValue());
  object["shape"] = toJSON(row.getAs<ArrayAttr>("shape"));
  if (auto shard = row.getAs<DictionaryAttr>("shard"))
    object["shard"] = toJSON(shard);
  if (auto stored = row.getAs<DictionaryAttr>("stored"))
    object["stored"] = toJSON(stored);
  if (row.get("host"))
    object["host"] = true;
  return object;
}

static json::Object describe(StringRef name, CollectionType type) {
  json::Object object{{"name", name},
                      {"strategy", stringifyStrategy(type.getStrategy())},
                      {"dtype", spell(type.getElementType())},
                      {"layers", type.getLayers()},
                      {"heads", type.getHeads()},
                      {"dim", type.getDim()},
                      {type.getGeometry().pageName(), type.getPage()},
                      {"layout", stringifyLayout(type.getLayout())}};
  if (type.isLatent())
    object["v_dim"] = type.getVDim();
  if (ScaleAttr scale = type.getScale())
    object["scale"] = json::Object{{"dtype", spell(scale.getType())},
                                   {"group", scale.getGroup()}};
  if (type.getWindow())
    object["window"] = type.getWindow();
  if (type.getPageLayers())
    object["page_layers"] = type.getPageLayers();
  return object;
}

/// By their names callers find inputs and outputs; weights may be taken twice.
static LogicalResult checkNames(Operation &op, DictionaryAttr interface,
                                StringRef field) {
  llvm::StringSet<> seen;
  for (auto row :
       interface.getAs<ArrayAttr>(field).getAsRange<DictionaryAttr>())
    if (auto kind = row.getAs<StringAttr>("kind"); !kind || kind != "weight")
      if (auto name = row.getAs<StringAttr>("name");
          name && !seen.insert(name.getValue()).second)
        return emitError(op.getLoc())
               << "the entry '"
               << interface.getAs<StringAttr>("name").getValue()
               << "' has several " << field << " that are called '"
               << name.getValue() << "'";
  return success();
}

FailureOr<std::string> kv::makeManifest(ModuleOp module, StringRef triple,
                                        StringRef cpu) {
  json::Array entries, collections;
  llvm::StringMap<CollectionType> seen;
  for (Operation &op : *module.getBody()) {
    auto interface = op.getAttrOfType<DictionaryAttr>("kv.interface");
    if (!interface)
      continue;
    if (failed(checkNames(op, interface, "inputs")) ||
        failed(checkNames(op, interface, "outputs")))
      return failure();
    json::Array inputs, outputs;
    for (auto row :
         interface.getAs<ArrayAttr>("inputs").getAsRange<DictionaryAttr>()) {
      inputs.push_back(describe(row));
      auto collection = row.getAs<StringAttr>("collection");
      if (!collection)
        continue;
      auto type = cast<CollectionType>(row.getAs<TypeAttr>("type").getValue());
      auto [it, fresh] = seen.try_emplace(collection.getValue(), type);
      if (fresh)
        collections.push_back(describe(collection.getValue(), type));
      else if (it->second != type)
        return op.emitOpError()
               << "the collection '" << collection.getValue() << "' is " << type
               << " here and " << it->second << " in another entry";
    }
    for (auto row :
         interface.getAs<ArrayAttr>("outputs").getAsRange<DictionaryAttr>())
      outputs.push_back(describe(row));
    StringRef name = interface.getAs<StringAttr>("name").getValue();
    entries.push_back(json::Object{{"name", name},
                                   {"symbol", ("kv_entry_" + name).str()},
                                   {"inputs", std::move(inputs)},
                                   {"outputs", std::move(outputs)}});
  }
  if (entries.empty())
    return module.emitError("the module has no entry: mark a public function "
                            "with 'kv.entry'");

  json::Object target{{"kind", "cpu"}, {"triple", triple}, {"cpu", cpu}};
  if (auto code = module->getAttrOfType<DictionaryAttr>(
          KVDialect::getDeviceCodeAttrName())) {
    target["kind"] = "cuda";
    target["chips"] = toJSON(code.get("chips"));
  }
  if (auto activations = module->getAttrOfType<TypeAttr>(
          KVDialect::getActivationsAttrName())) {
    std::string type;
    llvm::raw_string_ostream(type) << activations.getValue();
    target["activations"] = type;
  }
  json::Object manifest{{"abi_version", KV_ABI_VERSION},
                        {"producer", "kv-compile " KV_VERSION},
                        {"target", std::move(target)},
                        {"collections", std::move(collections)},
                        {"entries", std::move(entries)}};
  if (auto ranks =
          module->getAttrOfType<IntegerAttr>(KVDialect::getRanksAttrName()))
    manifest["ranks"] = ranks.getInt();
  if (auto model =
          module->getAttrOfType<DictionaryAttr>(KVDialect::getModelAttrName()))
    manifest["model"] = toJSON(model);
  std::string text;
  llvm::raw_string_ostream(text)
      << llvm::formatv("{0:2}", json::Value(std::move(manifest)));
  return text;
}
