//===- NamedBarriers.h - Barriers of some threads ---------------*- C++ -*-===//

#ifndef KV_KERNELS_CUDA_EMULATOR_NAMEDBARRIERS_H
#define KV_KERNELS_CUDA_EMULATOR_NAMEDBARRIERS_H

#include "ThreadClocks.h"

namespace kv::cuda {

class Machine;

class NamedBarriers {
public:
  static constexpr int First = 1, Last = 15; // 0 is the whole block's

  NamedBarriers(Machine &machine, ThreadClocks &clocks)
      : machine(machine), clocks(clocks) {}

  void reset();
  /// All threads have left.
  void finish();
  void sync(int thread, int id, int threads);
  void arrive(int thread, int id, int threads);
  /// What a thread waits for, in words.
  std::string waitsFor(int thread) const;

private:
  struct Barrier {
    int expected = 0; // threads, as the first one says
    std::vector<int> arrived, waiters;
    Knowledge known;
  };

  /// Counts the thread; false where it cannot be.
  bool count(int thread, int id, int threads, bool waits);

  Machine &machine;
  ThreadClocks &clocks;
  Barrier barriers[Last + 1];
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_EMULATOR_NAMEDBARRIERS_H
