//===- ShardLookups.h - Rows of a table that ranks share --------*- C++ -*-===//

#ifndef KV_PASSES_RANKS_SHARDLOOKUPS_H
#define KV_PASSES_RANKS_SHARDLOOKUPS_H

#include "Sharding.h"

namespace kv {

/// Rewrites a lookup in a table of which each rank holds a shard of the rows:
/// every rank looks up what it has, for all elements, the results are gathered,
/// and of each element that of the rank which has its row is taken. So the bits
/// are the table's. The operands beside the table are whole.
void shardLookup(DequantizeOp op, const Sharding &table, int64_t ranks);
/// The same of a lookup that lookupOf() has found; `use` is the table.
void shardLookup(mlir::linalg::GenericOp op, mlir::OpOperand &use,
                 const Sharding &table, int64_t ranks);

} // namespace kv

#endif // KV_PASSES_RANKS_SHARDLOOKUPS_H
