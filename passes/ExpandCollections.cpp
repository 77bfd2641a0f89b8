//===- ExpandCollections.cpp - Collections of entries to components -------===//

#include "kv/Passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace kv {
#define GEN_PASS_DEF_KVEXPANDCOLLECTIONS
#include "kv/Passes/Passes.h.inc"
} // namespace kv

using namespace mlir;
using namespace kv;

/// The attributes of a component's argument, of the collection `prefix`. Equal
/// names of dimensions are equal sizes.
static DictionaryAttr componentAttributes(Builder &b, StringRef prefix,
                                          const CacheComponent &component,
                                          CollectionType type) {
  SmallVector<Attribute> dims;
  for (const ComponentDim &dim : component.dims)
    if (dim.symbol)
      dims.push_back(b.getStringAttr(prefix + "." + dim.symbol));

  NamedAttrList attributes;
  attributes.set(KVDialect::getNameAttrName(),
                 b.getStringAttr(prefix + "." + component.name));
  attributes.set(KVDialect::getComponentAttrName(),
                 b.getStringAttr(component.name));
  attributes.set(KVDialect::getCollectionAttrName(), TypeAttr::get(type));
  attributes.set(KVDialect::getDimsAttrName(), b.getArrayAttr(dims));
  if (component.onHost)
    attributes.set("kv.host", b.getUnitAttr());
  return attributes.getDictionary(b.getContext());
}

namespace {
struct ExpandCollections
    : kv::impl::KVExpandCollectionsBase<ExpandCollections> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (!function->hasAttr(KVDialect::getEntryAttrName()))
        continue;
      if (function.isExternal()) {
        function.emitOpError("an entry needs a body");
        return signalPassFailure();
      }
      int64_t seen = 0;
      for (unsigned i = 0; i < function.getNumArguments();) {
        auto type = dyn_cast<CollectionType>(function.getArgument(i).getType());
        if (!type) {
          ++i;
          continue;
        }
        if (ShapedType::isDynamic(type.getHeads())) {
          function.emitOpError()
              << "argument " << i << ": the heads of " << type
              << " must be known in an entry: fix them by sharding before";
          return signalPassFailure();
        }
        i += expand(function, i, seen++);
      }
    }
  }

  /// Replaces argument `i`, the `ordinal`-th collection; returns how many
  /// arguments stand in its place.
  unsigned expand(func::FuncOp function, unsigned i, int64_t ordinal) {
    Value handle = function.getArgument(i);
    auto type = cast<CollectionType>(handle.getType());
    auto given =
        function.getArgAttrOfType<StringAttr>(i, KVDialect::getNameAttrName());
    std::string prefix =
        given ? given.str()
              : ("kv" + (ordinal ? Twine(ordinal) : Twine())).str();

    OpBuilder b(&function.getBody().front(),
                function.getBody().front().begin());
    SmallVector<Type> types = type.getComponentTypes();
    for (auto [offset, component] :
         llvm::enumerate(type.getGeometry().components()))
      (void)function.insertArgument(
          i + 1 + offset, types[offset],
          componentAttributes(b, prefix, component, type), handle.getLoc());
    auto fetch = FetchOp::create(
        b, handle.getLoc(), type,
        ValueRange(function.getArguments().slice(i + 1, types.size())));
    handle.replaceAllUsesWith(fetch);
    (void)function.eraseArgument(i);
    return types.size();
  }
};
} // namespace
