//===- PtxBackend.h - The PTX of kernels on a CPU ---------------*- C++ -*-===//
//
// A launch runs twice on the same memory: as the kernel's body, and as what the
// compiler made of it. Results are those of the PTX.
//
//===----------------------------------------------------------------------===//

#ifndef KV_TEST_KERNELS_PTX_PTXBACKEND_H
#define KV_TEST_KERNELS_PTX_PTXBACKEND_H

#include "Mutants.h"
#include "test/kernels/emulator/MachineBackend.h"

namespace kv::cuda::test {

/// What happened to a kernel.
struct PtxTally {
  int launches = 0, equal = 0; // and with the bits of the body
  int hurried = 0; // schedules in which asynchronous work completes early
};

/// Of a process: the chip whose PTX is executed, and what was.
struct PtxRecord : PtxTexts {
  std::map<std::string, PtxTally, std::less<>> kernels;
  /// Forms of instructions that the programs contain, and that were executed.
  std::set<std::string> contained, executed;
  Mutants mutants;
  /// How many schedules the first launches of a body's kernels run in, all
  /// together, whose asynchronous work completes at random steps; a later
  /// launch runs in one. 0: such work completes as late as it can.
  uint32_t hurried = 0;
  uint32_t seed = 1; // of the next of these schedules

  static PtxRecord &get();
  /// Whether a kernel that ran has work that completes asynchronously.
  bool hasRoles(std::string_view kernel) const;
  /// Adds the forms of all programs so far.
  void countForms();

private:
  PtxRecord();
};

} // namespace kv::cuda::test

#endif // KV_TEST_KERNELS_PTX_PTXBACKEND_H
