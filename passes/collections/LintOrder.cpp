//===- LintOrder.cpp - Attention before a store, and stores twice ---------===//

#include "kv/Passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"

namespace kv {
#define GEN_PASS_DEF_KVLINTORDER
#include "kv/Passes/Passes.h.inc"
} // namespace kv

using namespace mlir;
using namespace kv;

namespace {
/// One layer of one step's view: the handle, or blocks, lengths and table. Each
/// band has a table.
struct LintedPlace {
  Value cache, lengths, table;
  int64_t layer;
  bool operator==(const LintedPlace &other) const {
    return cache == other.cache && lengths == other.lengths &&
           table == other.table && layer == other.layer;
  }
};

/// An operation on a layer that is known.
template <typename Op> struct At {
  Op op;
  LintedPlace place;
};

struct LintOrder : kv::impl::KVLintOrderBase<LintOrder> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal())
        lint(function);
    markAllAnalysesPreserved();
  }

  void lint(func::FuncOp function) {
    SmallVector<At<StoreOp>> stores;
    SmallVector<At<AttentionOp>> attentions;
    function.walk([&](Operation *op) {
      if (auto store = dyn_cast<StoreOp>(op))
        collect(store, stores);
      else if (auto attention = dyn_cast<AttentionOp>(op))
        collect(attention, attentions);
    });
    DominanceInfo dominance(function);
    for (auto &attention : attentions)
      lintAttention(attention, stores, dominance);
    for (auto [i, second] : llvm::enumerate(stores))
      for (At<StoreOp> first : ArrayRef(stores).take_front(i))
        if (first.place == second.place &&
            first.op.getRowOffsets() == second.op.getRowOffsets() &&
            dominance.properlyDominates(first.op.getOperation(),
                                        second.op.getOperation())) {
          second.op.emitWarning()
                  .append("stores layer ", second.place.layer,
                          " of this step again")
                  .attachNote(first.op.getLoc())
              << "the first store is here";
          break;
        }
  }

  /// Warns when every store of the layer comes after the attention.
  static void lintAttention(At<AttentionOp> &attention,
                            ArrayRef<At<StoreOp>> stores,
                            DominanceInfo &dominance) {
    StoreOp next;
    for (At<StoreOp> store : stores) {
      if (!(store.place == attention.place))
        continue;
      if (!dominance.properlyDominates(attention.op.getOperation(),
                                       store.op.getOperation()))
        return;
      if (!next)
        next = store.op;
    }
    if (next)
      attention.op.emitWarning()
              .append("attends over layer ", attention.place.layer,
                      " before this step's store of it")
              .attachNote(next.getLoc())
          << "the store is here";
  }

  template <typename Op>
  static void collect(Op op, SmallVectorImpl<At<Op>> &into) {
    APInt layer;
    if (!matchPattern(op.getLayer(), m_ConstantInt(&layer)))
      return;
    auto cache = cast<CacheOpInterface>(op.getOperation());
    LintedPlace place{
        cache.getCacheOperands()[0], {}, {}, layer.getSExtValue()};
    if (cache.isResolved()) {
      place.lengths = cache.getCacheLengths();
      place.table = cache.getLookupTable();
    }
    into.push_back({op, place});
  }
};
} // namespace
