//===- NamedBarriers.h - Barriers of some threads ---------------*- C++ -*-===//

#ifndef KV_KERNELS_EMULATOR_NAMEDBARRIERS_H
#define KV_KERNELS_EMULATOR_NAMEDBARRIERS_H

#include "kernels/emulator/base/ThreadClocks.h"

#include <array>

namespace kv::cuda {

class Machine;

class NamedBarriers {
public:
  static constexpr int First = 1, Last = 15;
  static constexpr int MostWarps = 32; // of a block

  NamedBarriers(Machine &machine, ThreadClocks &clocks)
      : machine(machine), clocks(clocks) {}

  /// Begins a cluster of `blocks` blocks.
  void reset(int blocks);
  /// All threads have left.
  void finish();
  void sync(int thread, int id, int threads);
  /// All threads of a block, where that is one of several.
  void syncBlock(int thread);
  /// The lanes of the thread's warp.
  void syncWarp(int thread);
  void arrive(int thread, int id, int threads);
  /// Says what a thread waits for.
  std::string waitsFor(int thread) const;

private:
  // Which a kernel does not name: of a block, and of each of its warps.
  static constexpr int WholeBlock = 0, FirstWarp = Last + 1;
  static constexpr int Count = FirstWarp + MostWarps;

  struct Barrier {
    int expected = 0; // threads, as the first one says
    std::vector<int> arrived, waiters;
    Knowledge known;
  };

  Barrier &of(int thread, int id);
  bool isName(int thread, int id);
  /// Counts the thread; false where it cannot be.
  bool count(int thread, int id, int threads, bool waits);

  Machine &machine;
  ThreadClocks &clocks;
  std::vector<std::array<Barrier, Count>> barriers; // of each block
};

} // namespace kv::cuda

#endif // KV_KERNELS_EMULATOR_NAMEDBARRIERS_H
