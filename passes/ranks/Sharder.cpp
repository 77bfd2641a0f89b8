//===- Sharder.cpp - Functions on shards ----------------------------------===//

#include "ShardLookups.h"
#include "ShardedValues.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "passes/collections/CollectionTypes.h"
#include "passes/common/HostSizes.h"

using namespace mlir;
using namespace kv;

namespace {

/// Rewrites the functions of one module.
class Sharder {
  ModuleOp module;
  const ShardPlan &plan;

public:
  Sharder(ModuleOp module, const ShardPlan &plan)
      : module(module), plan(plan), values(plan.ranks, plan.forDevice) {}

  LogicalResult run() {
    for (auto [argument, sharding] : plan.weights) {
      argument.setType(sharding.localType(argument.getType()));
      values.add(argument, argument, sharding);
    }
    WalkResult done = module.walk([&](func::FuncOp function) -> WalkResult {
      for (Block &block : function.getBody())
        if (failed(rewrite(block)))
          return failure();
      return success();
    });
    if (done.wasInterrupted() || values.hasFailed)
      return failure();
    for (Operation *op : llvm::reverse(replaced))
      op->erase();
    module.walk([](func::FuncOp function) {
      if (!function.isExternal())
        function.setType(FunctionType::get(
            function.getContext(), function.getBody().getArgumentTypes(),
            function.getResultTypes()));
    });
    return success();
  }

  ShardedValues values;

private:
  LogicalResult rewrite(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block))
      if (failed(rewrite(&op)))
        return failure();
    return success();
  }

  LogicalResult rewrite(Operation *op) {
    if (auto dim = dyn_cast<tensor::DimOp>(op))
      return rewrite(dim);
    if (auto call = dyn_cast<func::CallOp>(op))
      return rewrite(call);
    if (auto matmul = dyn_cast<linalg::MatmulOp>(op))
      return rewrite(matmul);
    if (auto generic = dyn_cast<linalg::GenericOp>(op))
      return rewrite(generic);
    if (auto dequantize = dyn_cast<DequantizeOp>(op))
      return rewrite(dequantize);
    if (auto product = dyn_cast<ExpertMatmulOp>(op))
      return rewrite(product);
    if (auto cache = dyn_cast<CacheOpInterface>(op))
      return rewrite(cache);
    if (auto rope = dyn_cast<RopeOp>(op);
        rope && values.find(rope.getX()) && values.find(rope.getX())->dim == 1)
      return spread(op, *values.find(rope.getX()), {0}, {1});
    if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
      return reshape(expand, expand.getSrc(), [&](const Sharding &from) {
        return from.expanded(expand.getReassociationIndices(),
                             expand.getType());
      });
    if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
      return reshape(collapse, collapse.getSrc(), [&](const Sharding &from) {
        return from.collapsed(collapse.getReassociationIndices(),
                              collapse.getSrcType());
      });
    return keepWhole(op);
  }

  /// The operation is computed by every rank, of whole values.
  LogicalResult keepWhole(Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      operand.set(values.whole(operand.get()));
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (failed(rewrite(block)))
          return failure();
    return success();
  }

  /// Clones `op` for shards: with these operands, and with the local types by
  /// `shardings` for the results that are listed.
  Operation *cloneLocal(Emitter &b, Operation *op, ValueRange operands,
                        ArrayRef<std::optional<Sharding>> shardings) {
    SmallVector<Type> types(op->getResultTypes());
    for (auto [type, sharding] : llvm::zip_equal(types, shardings))
      if (sharding)
        type = sharding->localType(type);
    Operation *made = mlir::clone(b, op, types, operands);
    for (auto [old, fresh, sharding] :
         llvm::zip_equal(op->getResults(), made->getResults(), shardings)) {
      if (sharding)
        values.add(old, fresh, *sharding);
      else
        old.replaceAllUsesWith(fresh);
    }
    replaced.push_back(op);
    return made;
  }

  /// `op` on shards: the operands `sharded` are local along the dimension
  /// `dims` each, the others whole; results are sharded as the first of them.
  LogicalResult spread(Operation *op, const Sharding &sharding,
                       ArrayRef<unsigned> sharded, ArrayRef<int64_t> dims) {
    Emitter b(op);
    SmallVector<Value> operands;
    for (OpOperand &operand : op->getOpOperands()) {
      const auto *at = llvm::find(sharded, operand.getOperandNumber());
      operands.push_back(
          at == sharded.end()
              ? values.whole(operand.get())
              : values.local(b, operand.get(),
                             sharding.at(dims[at - sharded.begin()])));
    }
    SmallVector<std::optional<Sharding>> results(op->getNumResults(),
                                                 sharding.at(dims.front()));
    cloneLocal(b, op, operands, results);
    return success();
  }

  LogicalResult rewrite(tensor::DimOp op) {
    std::optional<int64_t> dimension = dimensionOf(op);
    if (!values.find(op.getSource()) || !dimension)
      return keepWhole(op);
    Emitter b(op);
    op.replaceAllUsesWith(values.sizeOf(b, op.getSource(), *dimension));
    op.erase();
    return success();
  }

  /// Arguments that are shards are passed as they are.
  LogicalResult rewrite(func::CallOp op) {
    for (OpOperand &operand : op->getOpOperands())
      if (!plan.weights.contains(operand.get()))
        operand.set(values.whole(operand.get()));
    return success();
  }

  LogicalResult rewrite(linalg::MatmulOp op) {
    const Sharding *weight = values.find(op.getInputs()[1]);
    auto cut = plan.cuts.find(op.getInputs()[1]);
    if (cut != plan.cuts.end())
      weight = &cut->second;
    if (!weight || weight->dim != 0 || op.getInputs()[0] == op.getInputs()[1])
      return keepWhole(op);
    Emitter b(op);
    Sharding columns = weight->at(1);
    Value operands[] = {values.whole(op.getInputs()[0]),
                        values.local(b, op.getInputs()[1], *weight),
                        values.local(b, op.getOutputs()[0], columns)};
    cloneLocal(b, op, operands, {columns});
    return success();
  }

  LogicalResult rewrite(DequantizeOp op) {
    const Sharding *found = values.find(op.getWeight());
    if (!found)
      return keepWhole(op);
    if (op.getRows()) {
      op.getRowsMutable().assign(values.whole(op.getRows()));
      shardLookup(op, *found, plan.ranks);
      return success();
    }
    return spread(op, *found, {0}, {0});
  }

  LogicalResult rewrite(ExpertMatmulOp op) {
    auto weights = op.getWeights();
    unsigned first = weights.getBeginOperandIndex();
    const Sharding *found = values.find(weights.front());
    if (llvm::any_of(weights, [&](Value weight) {
          const Sharding *other = values.find(weight);
          return !other != !found || (found && *other != *found);
        }))
      return op.emitOpError("has weights whose shards differ: use each weight "
                            "in products of one width");
    if (!found)
      return keepWhole(op);
    Emitter b(op);
    SmallVector<Value> operands;
    for (OpOperand &operand : op->getOpOperands()) {
      bool isWeight = operand.getOperandNumber() - first < weights.size();
      operands.push_back(isWeight ? operand.get()
                                  : values.whole(operand.get()));
    }
    SmallVector<std::optional<Sharding>> results(op.getNumResults(),
                                                 found->at(2));
    cloneLocal(b, op, operands, results);
    return success();
  }

  template <typename Op, typename Fn>
  LogicalResult reshape(Op op, Value source, Fn move) {
    const Sharding *from = values.find(source);
    std::optional<Sharding> to = from ? move(*from) : std::nullopt;
    if (!to)
      return keepWhole(op);
    Emitter b(op);
    SmallVector<Value> operands(op->getOperands());
    operands[0] = values.local(b, source, *from);
    Operation *made = cloneLocal(b, op, operands, {*to});
    // A size that is static is an attribute.
    if (auto expand = dyn_cast<tensor::ExpandShapeOp>(made))
      expand.setStaticOutputShape(expand.getType().getShape());
    return success();
  }

  //===--- Elementwise computations ---------------------------------------===//

  LogicalResult rewrite(linalg::GenericOp op) {
    OpOperand *table = nullptr;
    for (Operation &inner : op.getBody()->without_terminator())
      for (OpOperand &operand : inner.getOpOperands())
        if (plan.weights.contains(operand.get()))
          table = &operand;
        else
          operand.set(values.whole(operand.get()));
    if (table) {
      for (OpOperand &operand : op->getOpOperands())
        operand.set(values.whole(operand.get()));
      shardLookup(op, *table, *values.find(table->get()), plan.ranks);
      return success();
    }
    std::optional<Sharding> sharding;
    std::optional<unsigned> loop = shardedLoop(op, sharding);
    if (!loop)
      return keepWhole(op);
    Emitter b(op);
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    SmallVector<Value> operands;
    for (auto [operand, map] : llvm::zip(op->getOperands(), maps)) {
      auto dim = dimensionOf(map, *loop);
      operands.push_back(dim ? values.local(b, operand, sharding->at(*dim))
                             : values.whole(operand));
    }
    SmallVector<std::optional<Sharding>> results;
    for (AffineMap map : ArrayRef(maps).drop_front(op.getNumDpsInputs()))
      results.push_back(sharding->at(*dimensionOf(map, *loop)));
    cloneLocal(b, op, operands, results);
    return success();
  }

  /// The loop that each rank runs over its own part of. Nothing where no input
  /// is sharded, or where one would have to be cut that is computed whole.
  std::optional<unsigned> shardedLoop(linalg::GenericOp op,
                                      std::optional<Sharding> &sharding) {
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    std::optional<unsigned> loop;
    for (auto [input, map] : llvm::zip(op.getInputs(), maps))
      if (const Sharding *found = values.find(input); found && !loop) {
        loop = loopOf(map, found->dim);
        sharding = *found;
        if (!loop)
          return std::nullopt;
      }
    if (!loop ||
        op.getIteratorTypesArray()[*loop] != utils::IteratorType::parallel)
      return std::nullopt;
    bool looksAtIndex = false;
    op.getBody()->walk([&](linalg::IndexOp index) {
      looksAtIndex |= index.getDim() == *loop;
    });
    if (looksAtIndex)
      return std::nullopt;
    for (auto [i, operand, map] : llvm::enumerate(op->getOperands(), maps)) {
      auto dim = dimensionOf(map, *loop);
      bool isInit = i >= op.getInputs().size();
      if (!dim) {
        if (isInit || map.isFunctionOfDim(*loop))
          return std::nullopt;
        // A number for each row that would be cut, such as the scale of a norm,
        // which has a kernel only together with what the number is made of.
        if (plan.forDevice && map.getNumResults() != 0 &&
            *loop + 1 == op.getNumLoops())
          return std::nullopt;
        continue;
      }
      const Sharding *found = values.find(operand);
      if (found ? *found != sharding->at(*dim)
                : !ShardedValues::isCheap(operand))
        return std::nullopt;
    }
    return loop;
  }

  //===--- Operations on caches -------------------------------------------===//

  LogicalResult rewrite(CacheOpInterface op) {
    const ShardedHeads &heads = plan.heads.at(original(op));
    std::optional<Sharding> keys = heads.ofKeys();
    if (auto store = dyn_cast<StoreOp>(*op); store && keys) {
      if (store.getV())
        return spread(op, *keys, {0, 1}, {1, 1});
      return spread(op, *keys, {0}, {1});
    }
    if (auto attention = dyn_cast<AttentionOp>(*op)) {
      auto q = cast<ShapedType>(attention.getQ().getType());
      Sharding queries = heads.ofQueries(q.getDimSize(1), 1);
      if (Value sinks = attention.getSinks())
        return spread(op, queries,
                      {0, attention.getSinksMutable()[0].getOperandNumber()},
                      {1, 0});
      return spread(op, queries, {0}, {1});
    }
    if (auto update = dyn_cast<UpdateOp>(*op);
        update && keys && update.getKind() == UpdateKind::Add)
      return spread(op, *keys, {update.getOperandMutable().getOperandNumber()},
                    {1});
    if (auto load = dyn_cast<LoadOp>(*op); load && keys) {
      Emitter b(op);
      SmallVector<std::optional<Sharding>> results(op->getNumResults());
      results[0] = heads.ofKeys(/*dim=*/2);
      SmallVector<Value> operands;
      for (Value operand : op->getOperands())
        operands.push_back(values.whole(operand));
      cloneLocal(b, op, operands, results);
      return success();
    }
    return keepWhole(op);
  }

  /// The collection as the module had it.
  CollectionType original(CacheOpInterface op) const {
    return originals.lookup(op.getCollectionType());
  }

public:
  /// Gives every collection the heads of one rank.
  LogicalResult replaceCollections() {
    llvm::DenseMap<CollectionType, CollectionType> locals;
    for (auto [type, heads] : plan.heads) {
      CacheGeometry geometry = type.getGeometry();
      geometry.heads = heads.local;
      auto local = CollectionType::get(type.getContext(), geometry);
      auto [it, fresh] = originals.try_emplace(local, type);
      if (!fresh && !(plan.heads.at(it->second) == heads))
        return module.emitError()
               << type << " and " << it->second << " would both be " << local
               << " on a rank, of different heads";
      locals[type] = local;
    }
    replaceCollectionTypes(module, locals);
    return success();
  }

private:
  llvm::DenseMap<CollectionType, CollectionType> originals;
  SmallVector<Operation *> replaced;
};

} // namespace

FailureOr<ShardCounts> kv::rewriteShards(ModuleOp module,
                                         const ShardPlan &plan) {
  Sharder sharder(module, plan);
  if (failed(sharder.replaceCollections()) ||
      (plan.ranks != 1 && failed(sharder.run())))
    return failure();
  return ShardCounts{sharder.values.numGathers, sharder.values.numSlices};
}
