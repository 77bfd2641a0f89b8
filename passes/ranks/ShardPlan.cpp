//===- ShardPlan.cpp - Which heads and weights become shards --------------===//

#include "Sharding.h"
#include "kv/Dialect/StoredWeight.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"
#include "passes/collections/CollectionTypes.h"
#include "passes/weights/WeightProduct.h"
#include "llvm/ADT/EquivalenceClasses.h"

using namespace mlir;
using namespace kv;

namespace {

/// Makes the plan of one module.
class Planner {
public:
  Planner(ModuleOp module, int64_t ranks, bool forDevice) : module(module) {
    plan.ranks = ranks;
    plan.forDevice = forDevice;
  }

  FailureOr<ShardPlan> run() {
    if (failed(planHeads()))
      return failure();
    if (plan.ranks == 1)
      return std::move(plan);
    wantHeads();
    connectArguments();
    module.walk([&](func::FuncOp function) {
      for (BlockArgument argument : function.getArguments())
        if (isMatrix(argument.getType()))
          decide(argument);
    });
    for (auto [leader, sharding] : decided)
      for (Value argument : members[leader])
        if (sharding && !tables.contains(leader))
          plan.weights[argument] = *sharding;
        else if (sharding && sharding->isEqual(plan.ranks))
          plan.cuts[argument] = *sharding;
    return std::move(plan);
  }

private:
  //===--- Heads ----------------------------------------------------------===//

  LogicalResult planHeads() {
    llvm::DenseMap<CollectionType, SmallVector<int64_t>> queries;
    WalkResult seen = module.walk([&](Operation *op) -> WalkResult {
      if (isa<FetchOp, UnpackOp>(op) && plan.ranks != 1)
        return op->emitOpError("opens a collection: kv-shard takes collections "
                               "as arguments, not their components");
      if (auto cache = dyn_cast<CacheOpInterface>(op);
          cache && cache.isResolved()) {
        if (plan.ranks != 1)
          return op->emitOpError("has the components of a collection: run "
                                 "kv-shard before kv-resolve-collections");
        return success();
      }
      if (auto store = dyn_cast<StoreOp>(op))
        return WalkResult(noteHeads(store, store.getK()));
      if (auto attention = dyn_cast<AttentionOp>(op))
        queries[attention.getCollectionType()].push_back(
            cast<ShapedType>(attention.getQ().getType()).getDimSize(1));
      return success();
    });
    if (seen.wasInterrupted())
      return failure();
    CollectionTypes types = CollectionTypes::of(module);
    for (CollectionType type : types.all) {
      if (plan.ranks != 1 && type.getGeometry().isRecurrent())
        return module.emitError()
               << "kv-shard does not cut the states of " << type
               << ": a module with recurrent layers is for one rank";
      ShardedHeads &heads = plan.heads[type];
      heads.latent = type.isLatent();
      heads.ranks = plan.ranks;
      if (!ShapedType::isDynamic(type.getHeads()))
        heads.heads = type.getHeads();
      // One rank leaves to other passes what they can do without, and what
      // stands in other types too.
      if (plan.ranks == 1 &&
          (heads.heads == 0 || types.opened.contains(type))) {
        plan.heads.erase(type);
        continue;
      }
      if (heads.heads == 0)
        return module.emitError()
               << "no kv.store says how many heads " << type << " has";
      spread(heads, queries[type]);
    }
    return success();
  }

  /// Where the type leaves the heads open, a store says how many there are.
  LogicalResult noteHeads(StoreOp store, Value rows) {
    CollectionType type = store.getCollectionType();
    if (!ShapedType::isDynamic(type.getHeads()))
      return success();
    int64_t &heads = plan.heads[type].heads;
    int64_t given = cast<ShapedType>(rows.getType()).getDimSize(1);
    if (ShapedType::isDynamic(given) || (heads != 0 && heads != given))
      return store.emitOpError()
             << "stores " << rows.getType() << " to " << type
             << ": all stores must say how many heads it "
                "has, and say the same";
    heads = given;
    return success();
  }

  void spread(ShardedHeads &heads, ArrayRef<int64_t> queries) const {
    int64_t ranks = plan.ranks;
    heads.local = heads.latent ? 1 : (heads.heads + ranks - 1) / ranks;
    bool share =
        !heads.latent && heads.heads < ranks && ranks % heads.heads == 0 &&
        llvm::all_of(
            queries, [&](int64_t count) { return count % ranks == 0; });
    heads.copies = share ? ranks / heads.heads : 1;
  }

  //===--- What attention wants of projections ----------------------------===//

  void wantHeads() {
    module.walk([&](Operation *op) {
      auto cache = dyn_cast<CacheOpInterface>(op);
      if (!cache)
        return;
      const ShardedHeads &heads = plan.heads[cache.getCollectionType()];
      std::optional<Sharding> keys = heads.ofKeys();
      if (auto store = dyn_cast<StoreOp>(op); store && keys) {
        want(store.getK(), *keys);
        if (store.getV())
          want(store.getV(), *keys);
      } else if (auto attention = dyn_cast<AttentionOp>(op)) {
        auto q = cast<ShapedType>(attention.getQ().getType());
        want(attention.getQ(), heads.ofQueries(q.getDimSize(1), 1));
      }
    });
  }

  /// Follows `value` back to the products that it is made of.
  void want(Value value, const Sharding &sharding) {
    Operation *op = value.getDefiningOp();
    if (!op || !wanted.try_emplace(value, sharding).second)
      return;
    if (auto rope = dyn_cast<RopeOp>(op)) {
      want(rope.getX(), sharding);
    } else if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
      if (auto back = sharding.collapsed(expand.getReassociationIndices(),
                                         expand.getType()))
        want(expand.getSrc(), *back);
    } else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
      if (auto back = sharding.expanded(collapse.getReassociationIndices(),
                                        collapse.getSrcType()))
        want(collapse.getSrc(), *back);
    } else if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
      SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
      unsigned result = cast<OpResult>(value).getResultNumber();
      auto loop =
          loopOf(maps[generic.getNumDpsInputs() + result], sharding.dim);
      for (auto [input, map] : llvm::zip(generic.getInputs(), maps))
        if (auto dim = loop ? dimensionOf(map, *loop) : std::nullopt)
          want(input, sharding.at(*dim));
    }
  }

  //===--- Weights --------------------------------------------------------===//

  static bool isMatrix(Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.getRank() == 2 && tensor.hasStaticShape();
  }

  /// Caller and callee must agree on what is passed.
  void connectArguments() {
    module.walk([&](func::FuncOp function) {
      for (BlockArgument argument : function.getArguments())
        if (isMatrix(argument.getType()))
          connected.insert(argument.getAsOpaquePointer());
    });
    module.walk([&](func::CallOp call) {
      auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(
          call, call.getCalleeAttr());
      for (auto [i, operand] : llvm::enumerate(call.getOperands())) {
        if (!isMatrix(operand.getType()) || !callee || callee.isExternal())
          continue;
        void *inside = callee.getArgument(i).getAsOpaquePointer();
        if (isa<BlockArgument>(operand) &&
            connected.contains(operand.getAsOpaquePointer()))
          connected.unionSets(operand.getAsOpaquePointer(), inside);
        else
          foreign.insert(inside);
      }
    });
  }

  void decide(BlockArgument argument) {
    void *leader = connected.getLeaderValue(argument.getAsOpaquePointer());
    auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
    unsigned number = argument.getArgNumber();
    bool isWeight =
        function.getArgAttr(number, KVDialect::getWeightAttrName()) != nullptr;
    members[leader].push_back(argument);
    if ((!function.isPrivate() && !isWeight) ||
        function.getArgAttr(number, KVDialect::getLayoutAttrName()) ||
        function.getArgAttr(number, kStoredAttrName) ||
        foreign.contains(argument.getAsOpaquePointer()))
      decided[leader] = std::nullopt;
    for (OpOperand &use : argument.getUses()) {
      if (isa<func::CallOp>(use.getOwner()))
        continue;
      // A row of another rank would be read as one that is not taken, and no
      // device has a kernel for that.
      if (plan.forDevice && isLookup(use)) {
        tables.insert(leader);
        continue;
      }
      std::optional<Sharding> sharding = shardingFor(use);
      auto [it, fresh] = decided.try_emplace(leader, sharding);
      // Where two uses want different things, every rank has all rows.
      if (!fresh && it->second != sharding)
        it->second = std::nullopt;
    }
  }

  /// The sharding that a use wants of its weight; none if it needs all rows.
  std::optional<Sharding> shardingFor(OpOperand &use) {
    Operation *op = use.getOwner();
    int64_t rows = cast<ShapedType>(use.get().getType()).getDimSize(0);
    if (auto matmul = dyn_cast<linalg::MatmulOp>(op))
      return isWeightProduct(matmul, use) ? ofProduct(matmul, rows)
                                          : std::nullopt;
    if (auto dequantize = dyn_cast<DequantizeOp>(op)) {
      if (dequantize.getRows())
        return ofRows(rows);
      if (!dequantize.getResult().hasOneUse())
        return std::nullopt;
      return shardingFor(*dequantize.getResult().getUses().begin());
    }
    if (auto product = dyn_cast<ExpertMatmulOp>(op)) {
      unsigned at =
          use.getOperandNumber() - product.getWeights().getBeginOperandIndex();
      return at < product.getWeights().size() ? ofRows(product.getWidth(at))
                                              : std::nullopt;
    }
    return lookupOf(use) ? ofRows(rows) : std::nullopt;
  }

  static bool isLookup(OpOperand &use) {
    auto dequantize = dyn_cast<DequantizeOp>(use.getOwner());
    return dequantize ? !!dequantize.getRows() : !!lookupOf(use);
  }

  std::optional<Sharding> ofProduct(linalg::MatmulOp matmul, int64_t rows) {
    Value result = matmul.getResult(0);
    if (auto found = wanted.find(result); found != wanted.end()) {
      Sharding heads = found->second.at(0);
      bool fits = found->second.dim == 1 && heads.size == rows &&
                  rows % kPackedRows == 0 && heads.shard % kPackedRows == 0;
      return fits ? std::optional(heads) : std::nullopt;
    }
    return feedsRouter(result) ? std::nullopt : ofRows(rows);
  }

  /// Equal shards in blocks of 16 rows, which is how products take them: rows
  /// that are no such blocks take another path, with other bits.
  std::optional<Sharding> ofRows(int64_t rows) const {
    int64_t blocks = rows / kPackedRows;
    int64_t shard = (blocks + plan.ranks - 1) / plan.ranks * kPackedRows;
    if (rows % kPackedRows != 0 || shard >= rows)
      return std::nullopt;
    return Sharding{0, rows, shard, 1};
  }

  /// A router's logits are few, and every rank needs all of them: to exchange
  /// them takes longer than to compute them.
  static bool feedsRouter(Value value) {
    return llvm::any_of(value.getUsers(), [](Operation *user) {
      return isa<RouteOp>(user) ||
             (isa<linalg::GenericOp, KeepGroupsOp>(user) &&
              feedsRouter(user->getResult(0)));
    });
  }

  ModuleOp module;
  ShardPlan plan;
  SymbolTableCollection symbols;
  llvm::DenseMap<Value, Sharding> wanted;
  llvm::EquivalenceClasses<void *> connected;
  llvm::DenseSet<void *> foreign; // that are also passed what is no argument
  llvm::DenseSet<void *> tables;  // leaders of what stays whole for lookups
  llvm::MapVector<void *, std::optional<Sharding>> decided;
  llvm::DenseMap<void *, SmallVector<Value>> members;
};

} // namespace

FailureOr<ShardPlan> ShardPlan::of(ModuleOp module, int64_t ranks,
                                   bool forDevice) {
  return Planner(module, ranks, forDevice).run();
}
