//===- ExpandCollections.cpp - Collections of entries to components -------===//

#include "kv/Passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/TypeSwitch.h"

namespace kv {
#define GEN_PASS_DEF_KVEXPANDCOLLECTIONS
#include "kv/Passes/Passes.h.inc"
} // namespace kv

using namespace mlir;
using namespace kv;

/// The attributes of a component's argument of type `given`, of the collection
/// `prefix`. Equal names of dimensions are equal sizes.
static DictionaryAttr componentAttributes(Builder &b, StringRef prefix,
                                          const CacheComponent &component,
                                          CollectionType type, Type given) {
  SmallVector<Attribute> dims;
  for (auto [i, dim] : llvm::enumerate(component.dims))
    if (cast<ShapedType>(given).isDynamicDim(i))
      dims.push_back(b.getStringAttr(
          prefix + "." +
          (dim.symbol
               ? std::string(dim.symbol)
               : std::string(component.name) + "." + std::to_string(i))));

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
              << " must be known in an entry: run kv-shard before";
          return signalPassFailure();
        }
        i += expand(function, i, seen++);
      }
      WalkResult adopted = function.walk([&](FetchOp fetch) {
        return WalkResult(adopt(function, fetch, seen));
      });
      if (adopted.wasInterrupted())
        return signalPassFailure();
    }
    // Every cache that an entry reaches is one of the manifest's.
    WalkResult known = getOperation().walk([&](FetchOp fetch) {
      llvm::DenseSet<Value> seen;
      return WalkResult(checkOrigin(fetch, fetch.getBlocks(), seen));
    });
    if (known.wasInterrupted())
      signalPassFailure();
  }

  /// A fetch of an entry's arguments makes them the components of a collection,
  /// the `ordinal`-th. Arguments that are components already may be fetched
  /// again, with lengths or a table that the graph has made.
  LogicalResult adopt(func::FuncOp function, FetchOp fetch, int64_t &ordinal) {
    auto argumentOf = [&](Value value) {
      auto argument = dyn_cast<BlockArgument>(value);
      return argument && argument.getOwner() == &function.getBody().front()
                 ? std::optional(argument.getArgNumber())
                 : std::nullopt;
    };
    std::optional<unsigned> blocks = argumentOf(fetch.getBlocks());
    if (!blocks ||
        function.getArgAttr(*blocks, KVDialect::getComponentAttrName()))
      return success();

    CollectionType type = fetch.getType();
    auto components = type.getGeometry().components();
    Builder b(&getContext());
    auto nameOf = [&](unsigned i) {
      return function.getArgAttrOfType<StringAttr>(
          i, KVDialect::getNameAttrName());
    };
    std::string prefix = ("kv" + (ordinal ? Twine(ordinal) : Twine())).str();
    if (StringAttr name = nameOf(*blocks)) {
      StringRef rest = name.getValue();
      if (!rest.consume_back(".blocks") || rest.empty())
        return function.emitOpError()
               << "argument " << *blocks << " is the blocks of a kv.fetch: its "
               << "'kv.name' must be the collection's and '.blocks', not '"
               << name.getValue() << "'";
      prefix = rest.str();
    }
    SmallVector<unsigned> arguments;
    for (auto [operand, component] :
         llvm::zip_equal(fetch.getOperands(), components)) {
      std::optional<unsigned> i = argumentOf(operand);
      if (!i)
        return fetch.emitOpError()
               << "has blocks that are an argument of an entry, but makes '"
               << component.name
               << "' in the graph: take an argument for it, or take a "
                  "collection, and open it by kv.unpack";
      if (function.getArgAttr(*i, KVDialect::getComponentAttrName()) ||
          llvm::is_contained(arguments, *i))
        return fetch.emitOpError()
               << "takes argument " << *i << " as '" << component.name
               << "', which is a component already: each component of a "
                  "collection is an argument of its own";
      std::string wanted = prefix + "." + component.name;
      if (StringAttr name = nameOf(*i); name && name.getValue() != wanted)
        return function.emitOpError()
               << "argument " << *i << " is '" << component.name
               << "' of the collection '" << prefix << "': its 'kv.name' must "
               << "be '" << wanted << "', not '" << name.getValue() << "'";
      arguments.push_back(*i);
    }
    for (auto [i, component] : llvm::zip_equal(arguments, components))
      function.setArgAttrs(
          i, componentAttributes(b, prefix, component, type,
                                 function.getArgument(i).getType()));
    ++ordinal;
    return success();
  }

  /// Whether blocks come from a collection, or from an argument that is its
  /// component: through views, and through the callers of a function. Functions
  /// that no entry reaches are not checked.
  LogicalResult checkOrigin(FetchOp fetch, Value blocks,
                            llvm::DenseSet<Value> &seen) {
    if (!seen.insert(blocks).second)
      return success();
    auto fail = [&] {
      return fetch.emitOpError(
          "has blocks that are of no collection, so the manifest would not "
          "know the cache: fetch what kv.unpack or an entry's arguments give");
    };
    if (Operation *op = blocks.getDefiningOp())
      return llvm::TypeSwitch<Operation *, LogicalResult>(op)
          .Case<UnpackOp>([](auto) { return success(); })
          .Case<memref::CastOp>([&](auto view) {
            return checkOrigin(fetch, view.getSource(), seen);
          })
          .Default([&](Operation *op) {
            auto function = op->getParentOfType<func::FuncOp>();
            return function && function->hasAttr(KVDialect::getEntryAttrName())
                       ? fail()
                       : success();
          });
    auto argument = cast<BlockArgument>(blocks);
    auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    if (!function)
      return success();
    unsigned i = argument.getArgNumber();
    if (function->hasAttr(KVDialect::getEntryAttrName()))
      return function.getArgAttr(i, KVDialect::getComponentAttrName())
                 ? success()
                 : fail();
    auto uses = SymbolTable::getSymbolUses(function, getOperation());
    if (!uses)
      return success();
    for (SymbolTable::SymbolUse use : *uses)
      if (auto call = dyn_cast<func::CallOp>(use.getUser()))
        if (failed(checkOrigin(fetch, call.getOperand(i), seen)))
          return failure();
    return success();
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
          componentAttributes(b, prefix, component, type, types[offset]),
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
