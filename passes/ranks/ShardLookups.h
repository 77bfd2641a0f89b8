//===- ShardLookups.h - Rows of a table that ranks share --------*- C++ -*-===//

#ifndef KV_PASSES_RANKS_SHARDLOOKUPS_H
#define KV_PASSES_RANKS_SHARDLOOKUPS_H

#include "Sharding.h"

namespace kv {

/// Rewrites a lookup in a table of which each rank holds a shard of the rows.
/// Every rank looks up all elements in its shard, the results are gathered, and
/// each element is taken from the rank that has its row. So the bits are the
/// table's. All operands except the table are whole.
void shardLookup(DequantizeOp op, const Sharding &table, int64_t ranks);
/// Rewrites a lookup that lookupOf() has found; `use` is the table.
void shardLookup(mlir::linalg::GenericOp op, mlir::OpOperand &use,
                 const Sharding &table, int64_t ranks);

} // namespace kv

#endif // KV_PASSES_RANKS_SHARDLOOKUPS_H
