//===- Warpgroups.h - Four warps that do one thing together -----*- C++ -*-===//

#ifndef KV_KERNELS_EMULATOR_WARPGROUPS_H
#define KV_KERNELS_EMULATOR_WARPGROUPS_H

#include "kernels/block/Tiles.h"

#include <string>
#include <vector>

namespace kv::cuda {

class Machine;

/// Operations of a warpgroup as a whole.
enum class GroupOperation { Multiply, Registers };

class Warpgroups {
public:
  explicit Warpgroups(Machine &machine) : machine(machine) {}

  void reset(int threads);
  /// A thread comes to an operation of its warpgroup, at a line of the body.
  /// All but the last one wait until release(); it gets true, and does the
  /// operation for all.
  bool meet(int thread, GroupOperation operation, unsigned line);
  /// The others go on.
  void release(int group, int thread);
  /// Says what a thread waits for.
  std::string waitsFor(int thread) const;

private:
  struct Warpgroup {
    int waiting = 0;
    unsigned lines[GroupThreads] = {}; // where each one waits; 0: nowhere
    unsigned line = 0;                 // and the first one
    GroupOperation operation{};
    bool mixed = false; // two threads mean different operations
  };

  Machine &machine;
  std::vector<Warpgroup> groups;
  int threadCount = 0;
};

} // namespace kv::cuda

#endif // KV_KERNELS_EMULATOR_WARPGROUPS_H
