//===- AssignLayout.cpp - The order of caches in memory -------------------===//
//
// The layout is part of the type: it travels to the manager through the
// manifest, so one pass decides for everyone. A graph that opens the blocks
// (kv.fetch, kv.unpack) has their order in its own types and keeps it.
//
//===----------------------------------------------------------------------===//

#include "kv/Passes/Passes.h"

#include "CollectionTypes.h"
#include "mlir/IR/Remarks.h"

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
struct LayoutChoice {
  Layout layout;
  std::string reason;
};

struct AssignLayout : kv::impl::KVAssignLayoutBase<AssignLayout> {
  using KVAssignLayoutBase::KVAssignLayoutBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<LayoutChoice> choice = choose();
    if (failed(choice))
      return signalPassFailure();

    CollectionTypes types = CollectionTypes::of(module);
    llvm::DenseMap<CollectionType, CollectionType> assigned;
    for (CollectionType type : types.all) {
      if (type.getLayout() == choice->layout ||
          type.getGeometry().isRecurrent())
        continue;
      if (types.opened.contains(type)) {
        remark::missed(
            module.getLoc(),
            remark::RemarkOpts::name("Kept").category("kv-assign-layout"))
            << remark::add("{0} keeps its layout: the graph opens its blocks",
                           printType(type));
        continue;
      }
      assigned[type] = withLayout(type, choice->layout);
      ++numAssigned;
      remark::passed(
          module.getLoc(),
          remark::RemarkOpts::name("Assigned").category("kv-assign-layout"))
          << remark::add("{0} gets the layout {1}: {2}", printType(type),
                         stringifyLayout(choice->layout).str(), choice->reason);
    }
    replaceCollectionTypes(module, assigned);
  }

private:
  FailureOr<LayoutChoice> choose() {
    if (!layout.empty()) {
      if (std::optional<Layout> asked = symbolizeLayout(layout))
        return LayoutChoice{*asked, "asked for"};
      emitError(getOperation().getLoc()) << "kv-assign-layout: no layout '"
                                         << layout << "', only nhd, hnd, cpu";
      return failure();
    }
    if (target == "cpu")
      return LayoutChoice{Layout::CPU,
                          "a head's keys and values of a page are one "
                          "run, which a core streams"};
    if (target == "cuda")
      return LayoutChoice{Layout::HND,
                          "a head's rows of a page are one tile of a copy"};
    emitError(getOperation().getLoc())
        << "kv-assign-layout: no target '" << target << "', only cpu, cuda";
    return failure();
  }
};
} // namespace
