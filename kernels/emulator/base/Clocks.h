//===- Clocks.h - What happened before what ---------------------*- C++ -*-===//
//
// A machine's moments are numbered. Actions of a block's threads before their
// last barrier happened before any of their later actions. Of actions since
// then, a thread knows its own only. Across blocks a fence and an arrival pass
// on, for every thread of a block, up to which moment its actions happened
// before.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_EMULATOR_BASE_CLOCKS_H
#define KV_KERNELS_EMULATOR_BASE_CLOCKS_H

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

namespace kv::cuda {

using Moment = uint32_t;

/// One moment for each of a block's threads.
using ClockVector = std::vector<Moment>;

/// By block.
using BlockClocks = std::map<int, ClockVector>;

inline void join(BlockClocks &into, const BlockClocks &from) {
  for (const auto &[block, clocks] : from) {
    ClockVector &known = into[block];
    known.resize(std::max(known.size(), clocks.size()));
    for (size_t i = 0; i < clocks.size(); ++i)
      known[i] = std::max(known[i], clocks[i]);
  }
}

/// A thread's knowledge of other blocks, beyond that of its whole block.
struct ThreadClock {
  BlockClocks others;
  BlockClocks fenced;   // what a store after the last fence publishes
  BlockClocks acquired; // what the next fence makes known
};

} // namespace kv::cuda

#endif // KV_KERNELS_EMULATOR_BASE_CLOCKS_H
