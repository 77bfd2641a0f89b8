//===- Cluster.h - Blocks that see one another ------------------*- C++ -*-===//

#ifndef KV_KERNELS_EMULATOR_CLUSTER_H
#define KV_KERNELS_EMULATOR_CLUSTER_H

#include "kernels/emulator/base/OrderedWords.h"

namespace kv::cuda {

class Machine;

/// Accesses of a block to others of its cluster. No block may leave before its
/// memory is touched for the last time.
class Cluster {
public:
  Cluster(Machine &machine, ThreadClocks &clocks, OrderedWords &words)
      : machine(machine), clocks(clocks), words(words) {}

  void reset() { touches.clear(); }
  /// All threads have left.
  void finish();
  /// A thread stores to shared memory of any block of the cluster.
  void store(int thread, int offset, int bytes, const void *source);
  /// A thread touches the shared memory of a block that has begun. False if it
  /// has not.
  bool touch(int thread, int rank);

private:
  /// Whether a thread knows of any action of a block's threads.
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
