//===- Accesses.h - Counts reads of the engine's arrays ---------*- C++ -*-===//
//
// The engine promises how many cache lines an operation touches, which a clock
// on a busy machine cannot test. Built with KV_COUNT_ACCESSES, the engine
// counts every access to an entry of its arrays; otherwise nothing is counted
// and nothing costs.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_ENGINE_STRUCTURES_ACCESSES_H
#define KV_RUNTIME_ENGINE_STRUCTURES_ACCESSES_H

#include <cstdint>

namespace kv::detail {

#ifdef KV_COUNT_ACCESSES
inline int64_t accesses = 0;
inline void countAccess() { ++accesses; }
#else
inline void countAccess() {}
#endif

} // namespace kv::detail

#endif // KV_RUNTIME_ENGINE_STRUCTURES_ACCESSES_H
