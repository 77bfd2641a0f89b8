//===- AssignLayout.cpp - The order of caches in memory -------------------===//
//
// The layout is part of the type: it travels to the manager through the
// manifest, so one pass decides for everyone. A graph that opens the blocks
// (kv.fetch, kv.unpack) has their order in its own types and keeps it.
//
//===----------------------------------------------------------------------===//

#include "kv/Passes/Passes.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SetVector.h"

namespace kv {
#define GEN_PASS_DEF_KVASSIGNLAYOUT
#include "kv/Passes/Passes.h.inc"
} // namespace kv

using namespace mlir;
using namespace kv;

static CollectionType withLayout(CollectionType type, Layout layout) {
  CacheGeometry geometry = type.getGeometry();
  geometry.layout = static_cast<CacheLayout>(layout);
  return CollectionType::get(type.getContext(), geometry);
}

namespace {
/// A layout and why.
struct Choice {
  Layout layout;
  std::string reason;
};

struct AssignLayout : kv::impl::KVAssignLayoutBase<AssignLayout> {
  using KVAssignLayoutBase::KVAssignLayoutBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<Choice> choice = choose();
    if (failed(choice))
      return signalPassFailure();

    // Types in the order in which the module names them, and those whose
    // blocks it opens.
    llvm::SetVector<CollectionType> types;
    llvm::DenseSet<CollectionType> opened;
    auto note = [&](Type type) {
      if (auto collection = dyn_cast<CollectionType>(type))
        types.insert(collection);
      else if (auto cache = dyn_cast<CacheType>(type))
        types.insert(cache.getCollectionType());
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
        opened.insert(cast<FetchOp>(op).getType());
      else if (auto unpack = dyn_cast<UnpackOp>(op))
        opened.insert(unpack.getCollection().getType());
      else if (auto cache = dyn_cast<CacheOpInterface>(op);
               cache && cache.isResolved())
        opened.insert(cache.getCollectionType());
    });

    llvm::DenseMap<CollectionType, CollectionType> assigned;
    for (CollectionType type : types) {
      if (type.getLayout() == choice->layout)
        continue;
      if (opened.contains(type)) {
        remark::missed(
            module.getLoc(),
            remark::RemarkOpts::name("Kept").category("kv-assign-layout"))
            << remark::add("{0} keeps its layout: the graph opens its blocks",
                           print(type));
        continue;
      }
      assigned[type] = withLayout(type, choice->layout);
      ++numAssigned;
      remark::passed(
          module.getLoc(),
          remark::RemarkOpts::name("Assigned").category("kv-assign-layout"))
          << remark::add("{0} gets the layout {1}: {2}", print(type),
                         stringifyLayout(choice->layout).str(), choice->reason);
    }
    if (assigned.empty())
      return;

    AttrTypeReplacer replacer;
    replacer.addReplacement([&](CollectionType type) -> std::optional<Type> {
      CollectionType to = assigned.lookup(type);
      return to ? to : type;
    });
    replacer.addReplacement([&](CacheType type) -> std::optional<Type> {
      CollectionType to = assigned.lookup(type.getCollectionType());
      return to ? CacheType::get(to) : type;
    });
    replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true,
                                          /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
  }

private:
  static std::string print(Type type) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return text;
  }

  FailureOr<Choice> choose() {
    if (!layout.empty()) {
      if (std::optional<Layout> asked = symbolizeLayout(layout))
        return Choice{*asked, "asked for"};
      emitError(getOperation().getLoc()) << "kv-assign-layout: no layout '"
                                         << layout << "', only nhd, hnd, cpu";
      return failure();
    }
    if (target == "cpu")
      return Choice{Layout::CPU, "a head's keys and values of a page are one "
                                 "run, which a core streams"};
    if (target == "cuda")
      return Choice{Layout::HND,
                    "a head's rows of a page are one tile of a copy"};
    emitError(getOperation().getLoc())
        << "kv-assign-layout: no target '" << target << "', only cpu, cuda";
    return failure();
  }
};
} // namespace
