//===- ExpandCollections.cpp - Collections of entries to components -------===//

#include "kv/Passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace kv {
#define GEN_PASS_DEF_KVEXPANDCOLLECTIONS
#include "kv/Passes/Passes.h.inc"
} // namespace kv

using namespace mlir;
using namespace kv;

/// The attributes of the component argument `name` of the collection `prefix`.
/// Components of one collection share its batch dimension.
static DictionaryAttr componentAttributes(Builder &b, StringRef prefix,
                                          StringRef name, CollectionType type) {
  auto dim = [&](StringRef what) -> Attribute {
    return b.getStringAttr(prefix + "." + what);
  };
  SmallVector<Attribute> dims;
  if (name == "blocks")
    dims = {dim("pages")};
  else if (name == "cache_lengths")
    dims = {dim("batch")};
  else if (name == "lookup_table")
    dims = {dim("batch"), dim("pitch")};
  else
    dims = {dim("steps")};

  NamedAttrList attributes;
  attributes.set(KVDialect::getNameAttrName(),
                 b.getStringAttr(prefix + "." + name));
  attributes.set(KVDialect::getComponentAttrName(), b.getStringAttr(name));
  attributes.set(KVDialect::getCollectionAttrName(), TypeAttr::get(type));
  attributes.set(KVDialect::getDimsAttrName(), b.getArrayAttr(dims));
  if (name == "max_lengths")
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
        if (isa<CollectionType>(function.getArgument(i).getType()))
          i += expand(function, i, seen++);
        else
          ++i;
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
    for (auto [offset, name] :
         llvm::enumerate(CollectionType::getComponentNames()))
      (void)function.insertArgument(i + 1 + offset, types[offset],
                                    componentAttributes(b, prefix, name, type),
                                    handle.getLoc());
    auto fetch = FetchOp::create(
        b, handle.getLoc(), type,
        ValueRange(function.getArguments().slice(i + 1, types.size())));
    handle.replaceAllUsesWith(fetch);
    (void)function.eraseArgument(i);
    return types.size();
  }
};
} // namespace
