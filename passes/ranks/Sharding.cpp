//===- Sharding.cpp - What one of several ranks holds ---------------------===//

#include "Sharding.h"

using namespace mlir;
using namespace kv;

RankedTensorType Sharding::localType(Type full) const {
  auto tensor = cast<RankedTensorType>(full);
  SmallVector<int64_t> shape(tensor.getShape());
  if (!ShapedType::isDynamic(shape[dim]))
    shape[dim] = shape[dim] / size * shard;
  return tensor.clone(shape);
}

/// The product of static sizes; nothing if one is not.
static std::optional<int64_t> product(ArrayRef<int64_t> sizes) {
  int64_t all = 1;
  for (int64_t size : sizes) {
    if (ShapedType::isDynamic(size))
      return std::nullopt;
    all *= size;
  }
  return all;
}

std::optional<Sharding>
Sharding::collapsed(ArrayRef<ReassociationIndices> groups, Type source) const {
  ArrayRef<int64_t> shape = cast<ShapedType>(source).getShape();
  for (auto [to, group] : llvm::enumerate(groups))
    if (llvm::is_contained(group, dim)) {
      auto inner = product(
          shape.slice(dim + 1, static_cast<size_t>(group.back() - dim)));
      if (!inner)
        return std::nullopt;
      return times(*inner, static_cast<int64_t>(to));
    }
  return std::nullopt;
}

std::optional<Sharding>
Sharding::expanded(ArrayRef<ReassociationIndices> groups, Type result) const {
  ArrayRef<int64_t> shape = cast<ShapedType>(result).getShape();
  const ReassociationIndices &group = groups[dim];
  // The one dimension whose elements a run consists of.
  for (int64_t to : group) {
    auto inner =
        product(shape.slice(to + 1, static_cast<size_t>(group.back() - to)));
    if (inner && shape[to] * *inner == size && shard % *inner == 0)
      return Sharding{to, size / *inner, shard / *inner, copies};
  }
  return std::nullopt;
}

std::optional<Sharding> ShardedHeads::ofKeys(int64_t dim) const {
  if (latent)
    return std::nullopt;
  return Sharding{dim, heads, local, copies};
}

Sharding ShardedHeads::ofQueries(int64_t queryHeads, int64_t dim) const {
  // Copies of a KV head share its query heads out; where ranks have heads of
  // their own, each has the query heads of these.
  if (latent || copies > 1)
    return {dim, queryHeads, (queryHeads + ranks - 1) / ranks, 1};
  return {dim, queryHeads, queryHeads / heads * local, 1};
}

std::optional<unsigned> kv::loopOf(AffineMap map, int64_t dim) {
  auto expr = dyn_cast<AffineDimExpr>(map.getResult(dim));
  if (!expr)
    return std::nullopt;
  // A loop that also stands elsewhere runs over something else, too.
  unsigned loop = expr.getPosition();
  int64_t uses = llvm::count_if(map.getResults(), [&](AffineExpr result) {
    return result.isFunctionOfDim(loop);
  });
  return uses == 1 ? std::optional(loop) : std::nullopt;
}

std::optional<int64_t> kv::dimensionOf(AffineMap map, unsigned loop) {
  for (auto [dim, expr] : llvm::enumerate(map.getResults()))
    if (expr.isFunctionOfDim(loop))
      return loopOf(map, dim) == loop ? std::optional<int64_t>(dim)
                                      : std::nullopt;
  return std::nullopt;
}

linalg::GenericOp kv::lookupOf(OpOperand &use) {
  auto extract = dyn_cast<tensor::ExtractOp>(use.getOwner());
  if (!extract || use.getOperandNumber() != 0)
    return {};
  auto generic = dyn_cast<linalg::GenericOp>(extract->getParentOp());
  if (!generic || generic.getNumResults() != 1 ||
      generic.getNumParallelLoops() != generic.getNumLoops() ||
      !generic.getIndexingMapsArray().back().isIdentity())
    return {};
  auto type = cast<RankedTensorType>(generic.getResult(0).getType());
  bool isAlone = llvm::count_if(*generic.getBody(), [&](Operation &op) {
                   return llvm::is_contained(op.getOperands(), use.get());
                 }) == 1;
  return isAlone && type.getRank() == 2 && !type.isDynamicDim(1)
             ? generic
             : linalg::GenericOp();
}
