//===- CollectionTypes.cpp - The collections that a module names ----------===//

#include "CollectionTypes.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace kv;

CollectionTypes CollectionTypes::of(ModuleOp module) {
  CollectionTypes types;
  auto note = [&](Type type) {
    if (auto collection = dyn_cast<CollectionType>(type))
      types.all.insert(collection);
    else if (auto cache = dyn_cast<CacheType>(type))
      types.all.insert(cache.getCollectionType());
  };
  AttrTypeWalker walker;
  walker.addWalk([&](Type type) { note(type); });
  module.walk([&](Operation *op) {
    walker.walk(op->getAttrDictionary());
    for (Type type : op->getResultTypes())
      note(type);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Type type : block.getArgumentTypes())
          note(type);
    if (isa<FetchOp>(op))
      types.opened.insert(cast<FetchOp>(op).getType());
    else if (auto unpack = dyn_cast<UnpackOp>(op))
      types.opened.insert(unpack.getCollection().getType());
    else if (auto cache = dyn_cast<CacheOpInterface>(op);
             cache && cache.isResolved())
      types.opened.insert(cache.getCollectionType());
  });
  return types;
}

void kv::replaceCollectionTypes(
    ModuleOp module,
    const llvm::DenseMap<CollectionType, CollectionType> &replacements) {
  if (replacements.empty())
    return;
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](CollectionType type) -> std::optional<Type> {
    CollectionType to = replacements.lookup(type);
    return to ? to : type;
  });
  replacer.addReplacement([&](CacheType type) -> std::optional<Type> {
    CollectionType to = replacements.lookup(type.getCollectionType());
    return to ? CacheType::get(to) : type;
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
}

std::string kv::printType(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}
