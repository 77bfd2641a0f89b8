//===- KV.td - The whole dialect, for TableGen -------------*- tablegen -*-===//

#ifndef KV_DIALECT_KV_TD
#define KV_DIALECT_KV_TD

include "kv/Dialect/KVDialect.td"
include "kv/Dialect/KVTypes.td"
include "kv/Dialect/KVInterfaces.td"
include "kv/Dialect/KVOps.td"
include "kv/Dialect/KVDeviceOps.td"
include "kv/Dialect/KVRankOps.td"
include "kv/Dialect/KVRuntimeOps.td"

#endif // KV_DIALECT_KV_TD
