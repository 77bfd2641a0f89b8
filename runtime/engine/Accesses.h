//===- Accesses.h - What an operation has looked at -------------*- C++ -*-===//
//
// That no operation takes long is a promise about cache lines, and a clock on a
// busy machine cannot test it. Built with KV_COUNT_ACCESSES, the engine counts
// each look at an entry of one of its arrays; without it, this is nothing.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_ENGINE_ACCESSES_H
#define KV_RUNTIME_ENGINE_ACCESSES_H

#include <cstdint>

namespace kv::detail {

#ifdef KV_COUNT_ACCESSES
inline int64_t accesses = 0;
inline void countAccess() { ++accesses; }
#else
inline void countAccess() {}
#endif

} // namespace kv::detail

#endif // KV_RUNTIME_ENGINE_ACCESSES_H
