//===- ThreadClocks.h - What a thread knows to have happened ----*- C++ -*-===//
//
// If not all threads of a block meet at every barrier, each thread has a clock
// of its own. The clock says, for each other actor, up to which moment its
// actions happened before what the thread does now. Actors are threads, the
// products of a warpgroup, which end by themselves, and the phases of
// mbarriers, with which boxes land. Another proxy than that of loads and stores
// makes copies and products. This proxy sees a thread's stores only after a
// fence, which clocks pass on, too.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_EMULATOR_BASE_THREADCLOCKS_H
#define KV_KERNELS_EMULATOR_BASE_THREADCLOCKS_H

#include "Clocks.h"

#include <string>

namespace kv::cuda {

/// The moments that happened before something, by actor.
struct Knowledge {
  ClockVector seen;
  ClockVector fenced; // of threads: stores that the asynchronous proxy sees
  BlockClocks others; // of other blocks
  /// Moments of tensor memory: loads and stores of each thread in turn, then
  /// products of each warpgroup; empty if there is no tensor memory.
  ClockVector tensor;

  void join(const Knowledge &from);
  void clear();
};

class ThreadClocks {
public:
  /// The most barriers of a block; blocks of a cluster share theirs.
  static constexpr int MaxBarriers = 64;

  void reset(int threads, int blocks);

  int threads() const { return threadCount; }
  int mostBarriers() const { return barrierCount; }
  /// Actors that are no threads.
  int groupActor(int group) const { return threadCount + group; }
  int barrierActor(int index) const { return threadCount + groups + index; }
  /// The barrier of a barrier's actor.
  int barrierOf(int actor) const { return actor - threadCount - groups; }
  bool isThread(int actor) const { return actor < threadCount; }
  bool isGroup(int actor) const {
    return !isThread(actor) && barrierOf(actor) < 0;
  }

  const Knowledge &of(int thread) const { return clocks[thread]; }
  /// The knowledge of a thread, to be changed.
  Knowledge &change(int thread) {
    ++changes[thread];
    return clocks[thread];
  }
  /// The moment in which a thread is.
  Moment now(int thread) const { return clocks[thread].seen[thread]; }
  bool knows(int thread, int actor, Moment moment) const {
    return clocks[thread].seen[actor] >= moment;
  }

  /// A thread's actions become known to threads that acquire `into`.
  void release(int thread, Knowledge &into);
  void acquire(int thread, const Knowledge &from) { change(thread).join(from); }
  /// The asynchronous proxy sees a thread's stores so far, for every actor that
  /// knows of the fence.
  void fence(int thread);
  /// All threads of the block meet.
  void meetAll();
  /// The knowledge that all of [first, first + count) share. The reference is
  /// good until the next call.
  const Knowledge &knownToAll(int first, int count);
  /// A moment of its own for what comes next.
  void tick(int thread) { ++change(thread).seen[thread]; }

private:
  int threadCount = 0, groups = 0, barrierCount = 0;
  std::vector<Knowledge> clocks;
  std::vector<uint64_t> changes; // how often each clock changed
  struct Common {
    uint64_t changes = 0; // of all their clocks
    Knowledge known;
  };
  std::map<int, Common> common; // by the first thread
};

} // namespace kv::cuda

#endif // KV_KERNELS_EMULATOR_BASE_THREADCLOCKS_H
