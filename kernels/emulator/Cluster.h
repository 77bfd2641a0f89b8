//===- Cluster.h - Blocks that see one another ------------------*- C++ -*-===//

#ifndef KV_KERNELS_EMULATOR_CLUSTER_H
#define KV_KERNELS_EMULATOR_CLUSTER_H

#include "kernels/emulator/base/OrderedWords.h"

namespace kv::cuda {

class Machine;

/// What a block does to others of its cluster. It is not undone when they
/// leave, so they must not leave before.
class Cluster {
public:
  Cluster(Machine &machine, ThreadClocks &clocks, OrderedWords &words)
      : machine(machine), clocks(clocks), words(words) {}

  void reset() { touches.clear(); }
  /// All threads have left.
  void finish();
  /// A thread stores to shared memory of any block of the cluster.
  void store(int thread, int offset, int bytes, const void *source);
  /// It touches that of a block, which has to be there. False where it cannot.
  bool touch(int thread, int rank);

private:
  /// Whether a thread knows of anything that one of a block did.
  bool knowsThreadOf(int thread, int rank) const;

  struct Touch {
    int thread, rank;
    Moment moment;
  };

  Machine &machine;
  ThreadClocks &clocks;
  OrderedWords &words;
  std::vector<Touch> touches;
};

} // namespace kv::cuda

#endif // KV_KERNELS_EMULATOR_CLUSTER_H
