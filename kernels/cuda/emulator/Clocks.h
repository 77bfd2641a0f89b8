//===- Clocks.h - What happened before what ---------------------*- C++ -*-===//
//
// A thread's vector clock says for every thread of its block up to which
// moment its actions happened before now, and likewise for other blocks from
// which it has acquired something. Barriers join the clocks of a block; a
// fence and an arrival pass them on to other blocks.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_EMULATOR_CLOCKS_H
#define KV_KERNELS_CUDA_EMULATOR_CLOCKS_H

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

namespace kv::cuda {

using ClockVector = std::vector<uint32_t>;

inline void join(ClockVector &into, const ClockVector &from) {
  into.resize(std::max(into.size(), from.size()));
  for (size_t i = 0; i < from.size(); ++i)
    into[i] = std::max(into[i], from[i]);
}

/// By block.
using BlockClocks = std::map<int, ClockVector>;

inline void join(BlockClocks &into, const BlockClocks &from) {
  for (const auto &[block, clocks] : from)
    join(into[block], clocks);
}

struct ThreadClock {
  ClockVector own;      // of this block's threads
  BlockClocks others;   // of other blocks'
  BlockClocks fenced;   // what a store after the last fence publishes
  BlockClocks acquired; // what the next fence makes known
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_EMULATOR_CLOCKS_H
