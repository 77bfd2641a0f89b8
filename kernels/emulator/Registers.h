//===- Registers.h - What a warp may have of registers ----------*- C++ -*-===//
//
// A block has as many registers as its launch gives its threads. A warpgroup
// gives some back, or waits until others have given back what it wants more.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_EMULATOR_REGISTERS_H
#define KV_KERNELS_EMULATOR_REGISTERS_H

#include "Warpgroups.h"

namespace kv::cuda {

struct LaunchShape;

class Registers {
public:
  static constexpr int File = 65536; // of an SM
  static constexpr int Fewest = 24, Most = 256, Step = 8;

  Registers(Machine &machine, Warpgroups &groups)
      : machine(machine), groups(groups) {}

  /// Begins a launch: the registers of a block, or of each block of a cluster.
  void reset(const LaunchShape &shape);
  void change(int thread, int wanted, bool up, unsigned line);
  /// Says what a thread waits for.
  std::string waitsFor(int thread) const;

private:
  void letWaitersGo();
  /// The free registers of a warpgroup's block.
  int free(int group) const;

  Machine &machine;
  Warpgroups &groups;
  struct RegisterGroup {
    int held = 0;   // registers a thread
    int wanted = 0; // while its threads wait for more
  };
  std::vector<RegisterGroup> held;
  int threads = 0, budget = 0; // of a block
};

} // namespace kv::cuda

#endif // KV_KERNELS_EMULATOR_REGISTERS_H
