//===- Shard.cpp - One module for several ranks ---------------------------===//

#include "kv/Passes/Passes.h"

#include "Sharding.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"

namespace kv {
#define GEN_PASS_DEF_KVSHARD
#include "kv/Passes/Passes.h.inc"
} // namespace kv

using namespace mlir;
using namespace kv;

namespace {
struct Shard : kv::impl::KVShardBase<Shard> {
  using KVShardBase::KVShardBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(shard(module)))
      signalPassFailure();
  }

  LogicalResult shard(ModuleOp module) {
    if (target != "cpu" && target != "cuda")
      return module.emitError()
             << "target must be cpu or cuda, not '" << target << "'";
    if (ranks < 1 || ranks > 1024)
      return module.emitError()
             << "ranks must be 1 to 1024, not " << int64_t(ranks);
    if (auto given =
            module->getAttrOfType<IntegerAttr>(KVDialect::getRanksAttrName()))
      return module.emitError() << "the module is for " << given.getInt()
                                << " ranks already: kv-shard takes one for one";
    if (ranks == 1 && !takesOpenHeads(module))
      return success();
    FailureOr<ShardPlan> plan =
        ShardPlan::of(module, ranks, /*forDevice=*/target == "cuda");
    if (failed(plan))
      return failure();
    if (ranks != 1)
      describeWeights(module, *plan);
    FailureOr<ShardCounts> counts = rewriteShards(module, *plan);
    if (failed(counts) || ranks == 1)
      return LogicalResult(counts);
    numGathers += counts->gathers;
    numSlices += counts->slices;
    module->setAttr(KVDialect::getRanksAttrName(),
                    Builder(module.getContext()).getI64IntegerAttr(ranks));
    return success();
  }

  /// Whether an entry takes a collection with `heads = ?`.
  static bool takesOpenHeads(ModuleOp module) {
    return llvm::any_of(module.getOps<func::FuncOp>(), [](auto function) {
      return function->hasAttr(KVDialect::getEntryAttrName()) &&
             llvm::any_of(function.getArgumentTypes(), [](Type type) {
               auto collection = dyn_cast<CollectionType>(type);
               return collection &&
                      ShapedType::isDynamic(collection.getHeads());
             });
    });
  }

  /// Notes on the weights of entries which of their rows a rank holds.
  void describeWeights(ModuleOp module, const ShardPlan &plan) {
    Builder b(module.getContext());
    for (auto function : module.getOps<func::FuncOp>())
      for (BlockArgument argument : function.getArguments()) {
        auto name = function.getArgAttrOfType<StringAttr>(
            argument.getArgNumber(), KVDialect::getWeightAttrName());
        if (!name)
          continue;
        auto found = plan.weights.find(argument);
        if (found == plan.weights.end()) {
          remark::missed(argument.getLoc(),
                         remark::RemarkOpts::name("Whole").category("kv-shard"))
              << remark::add("every rank has all of {0}",
                             name.getValue().str());
          continue;
        }
        const Sharding &sharding = found->second;
        int64_t rows = cast<ShapedType>(argument.getType()).getDimSize(0);
        remark::passed(argument.getLoc(),
                       remark::RemarkOpts::name("Sharded").category("kv-shard"))
            << remark::add("a rank has {0} of each {1} rows of {2}",
                           sharding.shard, sharding.size,
                           name.getValue().str());
        auto number = [&](int64_t value) { return b.getI64IntegerAttr(value); };
        function.setArgAttr(
            argument.getArgNumber(), KVDialect::getShardAttrName(),
            b.getDictionaryAttr(
                {b.getNamedAttr("copies", number(sharding.copies)),
                 b.getNamedAttr("runs", number(rows / sharding.size)),
                 b.getNamedAttr("shard", number(sharding.shard)),
                 b.getNamedAttr("size", number(sharding.size))}));
        ++numSharded;
      }
  }
};
} // namespace
