//===- States.h - Where decompositions find states --------------*- C++ -*-===//

#ifndef KV_PASSES_COMMON_STATES_H
#define KV_PASSES_COMMON_STATES_H

#include "Emitter.h"

namespace kv {

/// Whether `id` is a state that there is, and not the null state.
mlir::Value isState(Emitter &b, mlir::Value id, mlir::Value blocks);

/// The states [B, heads, dim] of one layer that a step begins with.
mlir::Value readStates(Emitter &b, CacheOpInterface cache, mlir::Value layer,
                       mlir::RankedTensorType type);

/// Writes the states that the step ends with.
void writeStates(Emitter &b, CacheOpInterface cache, mlir::Value layer,
                 mlir::Value states);

} // namespace kv

#endif // KV_PASSES_COMMON_STATES_H
