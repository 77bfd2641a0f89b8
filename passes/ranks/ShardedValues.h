//===- ShardedValues.h - Values of which a rank holds a shard ---*- C++ -*-===//

#ifndef KV_PASSES_RANKS_SHARDEDVALUES_H
#define KV_PASSES_RANKS_SHARDEDVALUES_H

#include "Sharding.h"
#include "passes/common/Emitter.h"

namespace kv {

/// The values of a module that is being rewritten. A value that was whole has a
/// local value, the rank's shard of it. Where a user needs the whole value, it
/// has the gather of the local ones, too.
class ShardedValues {
public:
  /// `forDevice`: ShardPlan.
  ShardedValues(int64_t ranks, bool forDevice)
      : ranks(ranks), forDevice(forDevice) {}

  void add(mlir::Value whole, mlir::Value local, const Sharding &sharding) {
    shards[whole] = {local, sharding, {}};
  }
  /// Null where the value is whole.
  const Sharding *find(mlir::Value value) const {
    auto found = shards.find(value);
    return found == shards.end() ? nullptr : &found->second.sharding;
  }

  /// The whole value: itself, or the gather, which is made once.
  mlir::Value whole(mlir::Value value);
  /// The shard of it that `sharding` says: the local value, or what is to be
  /// written, made anew, or the rank's elements of the whole value.
  mlir::Value local(Emitter &b, mlir::Value value, const Sharding &sharding);
  /// Whether local() of a whole value costs next to nothing.
  static bool isCheap(mlir::Value value);
  /// The size of a dimension of a value that is sharded.
  mlir::Value sizeOf(Emitter &b, mlir::Value value, int64_t dimension);
  /// How many elements of a dimension this rank has, of `size` in all.
  static mlir::Value localSize(Emitter &b, mlir::Value size,
                               const Sharding &sharding);
  /// The first element of this rank's of a run.
  static mlir::Value firstOf(Emitter &b, const Sharding &sharding);

  int64_t numGathers = 0, numSlices = 0;
  bool hasFailed = false; // a shard cannot be cut; its error has been emitted

private:
  mlir::Value slice(Emitter &b, mlir::Value whole, const Sharding &sharding);
  mlir::Value view(Emitter &b, mlir::Value whole, const Sharding &sharding);

  struct ValueShard {
    mlir::Value local;
    Sharding sharding;
    mlir::Value gathered; // null until somebody needs it
  };
  int64_t ranks;
  bool forDevice;
  llvm::DenseMap<mlir::Value, ValueShard> shards;
};

} // namespace kv

#endif // KV_PASSES_RANKS_SHARDEDVALUES_H
