//===- Sharding.h - What one of several ranks holds -------------*- C++ -*-===//

#ifndef KV_PASSES_RANKS_SHARDING_H
#define KV_PASSES_RANKS_SHARDING_H

#include "kv/Dialect/KV.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "llvm/ADT/DenseMap.h"

namespace kv {

/// How a tensor is spread over ranks, along one dimension, as kv.gather has it:
/// runs of `size` elements, of which each rank holds `shard`.
struct Sharding {
  int64_t dim = 0, size = 0, shard = 0, copies = 1;

  bool operator==(const Sharding &) const = default;
  /// Whether all of `ranks` ranks have equally many elements of a run.
  bool isEqual(int64_t ranks) const { return ranks / copies * shard == size; }
  Sharding at(int64_t other) const { return {other, size, shard, copies}; }
  /// The sharding of a dimension `inner` times as large, whose elements this
  /// one's stand for.
  Sharding times(int64_t inner, int64_t other) const {
    return {other, size * inner, shard * inner, copies};
  }
  /// The type of a rank's tensor.
  mlir::RankedTensorType localType(mlir::Type full) const;
  /// The sharding of the result of tensor.collapse_shape, if this is that of
  /// its source, of type `source`; nothing if the runs would not be contiguous.
  std::optional<Sharding>
  collapsed(llvm::ArrayRef<mlir::ReassociationIndices> groups,
            mlir::Type source) const;
  /// The sharding of the result of tensor.expand_shape, of type `result`.
  std::optional<Sharding>
  expanded(llvm::ArrayRef<mlir::ReassociationIndices> groups,
           mlir::Type result) const;
};

/// The heads of a collection on one rank.
struct ShardedHeads {
  int64_t heads = 0, local = 0, copies = 1; // KV heads
  bool latent = false;                      // every rank holds the whole cache
  int64_t ranks = 1;

  bool operator==(const ShardedHeads &) const = default;
  /// The sharding of rows [T, heads, ...] of keys or values, along `dim`;
  /// nothing if every rank has all of them.
  std::optional<Sharding> ofKeys(int64_t dim = 1) const;
  /// The sharding of `queryHeads` query heads along `dim`.
  Sharding ofQueries(int64_t queryHeads, int64_t dim) const;
};

/// The decisions of kv-shard, made before it changes anything.
struct ShardPlan {
  int64_t ranks = 1;
  /// For host code of a device, which has views and launches only: tables of
  /// lookups stay whole, and what is cut out of whole values is a view.
  bool forDevice = false;
  llvm::DenseMap<CollectionType, ShardedHeads> heads;
  /// The arguments of which a rank holds a shard of the rows.
  llvm::DenseMap<mlir::Value, Sharding> weights;

  /// The arguments that are whole, and of which products take a rank's rows.
  llvm::DenseMap<mlir::Value, Sharding> cuts;

  /// Errors are emitted: heads that no operation tells, or of which two tell
  /// different things; operations on components.
  static llvm::FailureOr<ShardPlan> of(mlir::ModuleOp module, int64_t ranks,
                                       bool forDevice);
};

struct ShardCounts {
  int64_t gathers = 0, slices = 0;
};

/// Gives the module's collections the heads of one rank, its weights their
/// shards, and its functions what they do on these. Errors are emitted.
llvm::FailureOr<ShardCounts> rewriteShards(mlir::ModuleOp module,
                                           const ShardPlan &plan);

/// The loop over which a linalg operation's results are sharded, if its operand
/// `map` is sharded along `dim`: nothing if that is no loop of its own.
std::optional<unsigned> loopOf(mlir::AffineMap map, int64_t dim);
/// The dimension of an operand that is indexed by `loop` alone; nothing if none
/// is.
std::optional<int64_t> dimensionOf(mlir::AffineMap map, unsigned loop);

/// The lookup whose table the operand is: a generic that reads one of its rows
/// for each row of the result, by tensor.extract. The generic has parallel
/// loops only, and one result of rank 2, in their order, with a known number of
/// columns. Null if the operand is something else.
mlir::linalg::GenericOp lookupOf(mlir::OpOperand &use);

} // namespace kv

#endif // KV_PASSES_RANKS_SHARDING_H
