//===- KVOps.td - Operations of the kv dialect -------------*- tablegen -*-===//
//
// Operations that a front end writes, and those that passes make of them before
// the lowering; one file per subject.
//
//===----------------------------------------------------------------------===//

#ifndef KV_DIALECT_KVOPS_TD
#define KV_DIALECT_KVOPS_TD

include "kv/Dialect/KVViewOps.td"
include "kv/Dialect/KVCacheOps.td"
include "kv/Dialect/KVAttentionOps.td"
include "kv/Dialect/KVStateOps.td"
include "kv/Dialect/KVValueOps.td"
include "kv/Dialect/KVWeightOps.td"

#endif // KV_DIALECT_KVOPS_TD
