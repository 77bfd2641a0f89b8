//===- AssignPageLayers.cpp - Pages of equally many bytes -----------------===//
//
// Like the layout, what a page holds is part of the type and travels to the
// manager through the manifest: one pass decides for everyone.
//
//===----------------------------------------------------------------------===//

#include "kv/Passes/Passes.h"

#include "CollectionTypes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"

#include <numeric>

namespace kv {
#define GEN_PASS_DEF_KVASSIGNPAGELAYERS
#include "kv/Passes/Passes.h.inc"
} // namespace kv

using namespace mlir;
using namespace kv;

/// Bands of all collections together, at most: each has a row of ids, and a
/// page for every sequence.
constexpr int64_t kMostBands = 16;

namespace {
/// A paged collection of an entry, and what its pages may be.
struct Candidate {
  CollectionType type;
  CacheGeometry geometry;
  StringRef kept; // why its pages stay as they are; empty if they need not

  /// Bytes of a page that holds one layer.
  int64_t bytesPerLayer() const {
    CacheGeometry one = geometry;
    one.pageLayers = 1;
    return one.bytesPerPage();
  }
};

/// Pages of `bytes` in each collection.
struct PageChoice {
  int64_t bytes, wasted, bands;

  bool operator<(const PageChoice &other) const {
    return std::tuple(wasted, -bytes) < std::tuple(other.wasted, -other.bytes);
  }
};

struct AssignPageLayers : kv::impl::KVAssignPageLayersBase<AssignPageLayers> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<Candidate> candidates = findCandidates(module);
    bool oneWindow = llvm::all_of(candidates, [&](const Candidate &each) {
      return each.geometry.window == candidates.front().geometry.window;
    });
    if (oneWindow)
      return;
    std::optional<PageChoice> choice = choose(candidates);
    if (!choice) {
      remark::missed(module.getLoc(), remarkOpts("NoCommonSize"))
          << remark::add("pages of different windows have different numbers of "
                         "bytes: no number of layers makes them equal within "
                         "{0} bands",
                         kMostBands);
      return;
    }
    llvm::DenseMap<CollectionType, CollectionType> assigned;
    for (const Candidate &each : candidates) {
      int64_t layers = choice->bytes / each.bytesPerLayer();
      bool isWhole = layers == each.geometry.layers;
      if (!each.kept.empty() || isWhole) {
        StringRef why = each.kept.empty() ? "its layers fill one" : each.kept;
        remark::passed(module.getLoc(), remarkOpts("Kept"))
            << remark::add("{0} keeps its pages of {1} bytes: {2}",
                           printType(each.type), choice->bytes, why.str());
        continue;
      }
      CacheGeometry geometry = each.geometry;
      geometry.pageLayers = layers;
      assigned[each.type] = CollectionType::get(&getContext(), geometry);
      ++numAssigned;
      remark::passed(module.getLoc(), remarkOpts("Assigned")) << remark::add(
          "{0} gets pages of {1} layers in {2} bands: {3} bytes, "
          "as the collections of other windows have",
          printType(each.type), layers, geometry.bands(), choice->bytes);
    }
    replaceCollectionTypes(module, assigned);
  }

private:
  static remark::RemarkOpts remarkOpts(StringRef name) {
    return remark::RemarkOpts::name(name).category("kv-assign-page-layers");
  }

  /// The types of the entries' paged collections, each once.
  static SmallVector<Candidate> findCandidates(ModuleOp module) {
    CollectionTypes types = CollectionTypes::of(module);
    llvm::SetVector<CollectionType> ofEntries;
    for (auto function : module.getOps<func::FuncOp>())
      if (function->hasAttr(KVDialect::getEntryAttrName()))
        for (Type type : function.getArgumentTypes())
          if (auto collection = dyn_cast<CollectionType>(type))
            ofEntries.insert(collection);
    SmallVector<Candidate> candidates;
    for (CollectionType type : ofEntries) {
      CacheGeometry geometry = type.getGeometry();
      // An entry without known heads is refused later.
      if (!geometry.isPaged() || geometry.heads == CacheGeometry::Unknown)
        continue;
      StringRef kept = geometry.pageLayers ? "its type says so"
                       : types.opened.contains(type)
                           ? "the graph opens its blocks"
                           : "";
      candidates.push_back({type, geometry, kept});
    }
    return candidates;
  }

  static std::optional<PageChoice> choose(ArrayRef<Candidate> candidates) {
    // Sizes that all can have are multiples of this, up to the smallest whole.
    int64_t step = 1, most = INT64_MAX;
    for (const Candidate &each : candidates) {
      int64_t bytes = each.bytesPerLayer();
      if (step > INT64_MAX / bytes)
        return std::nullopt;
      step = std::lcm(step, bytes);
      most = std::min(most, bytes * each.geometry.layers);
    }
    std::optional<PageChoice> best;
    for (int64_t bytes = step; bytes <= most; bytes += step) {
      std::optional<PageChoice> choice = tryBytes(candidates, bytes);
      if (choice && (!best || *choice < *best))
        best = choice;
    }
    return best;
  }

  static std::optional<PageChoice> tryBytes(ArrayRef<Candidate> candidates,
                                            int64_t bytes) {
    PageChoice choice{bytes, 0, 0};
    for (const Candidate &each : candidates) {
      if (!each.kept.empty() && each.geometry.bytesPerPage() != bytes)
        return std::nullopt;
      CacheGeometry geometry = each.geometry;
      geometry.pageLayers = bytes / each.bytesPerLayer();
      choice.bands += geometry.bands();
      choice.wasted +=
          (geometry.bands() * geometry.pageLayers - geometry.layers) *
          each.bytesPerLayer();
    }
    return choice.bands <= kMostBands ? std::optional(choice) : std::nullopt;
  }
};
} // namespace
