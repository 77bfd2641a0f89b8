//===- PtxBackend.h - The PTX of kernels on a CPU ---------------*- C++ -*-===//
//
// A launch runs twice on the same memory: as the kernel's body, and as what the
// compiler made of it. Results are those of the PTX.
//
//===----------------------------------------------------------------------===//

#ifndef KV_TEST_KERNELS_PTX_PTXBACKEND_H
#define KV_TEST_KERNELS_PTX_PTXBACKEND_H

#include "Mutation.h"
#include "PtxTexts.h"
#include "test/kernels/emulator/MachineBackend.h"

namespace kv::cuda::test {

/// What happened to a kernel.
struct PtxTally {
  int launches = 0, equal = 0; // and with the bits of the body
};

/// Of a process: the chip whose PTX is executed, and what was.
struct PtxRecord : PtxTexts {
  std::map<std::string, PtxTally, std::less<>> kernels;
  /// Forms of instructions that the programs contain, and that were executed.
  std::set<std::string> contained, executed;
  /// The mistake of this run, and the kernel that has it. Seed 0 is none.
  std::string mutated;
  ptx::test::Mutation mutation;
  /// The seed of the next backend's machine, whose asynchronous work completes
  /// at random steps. 0: it completes as late as it can.
  uint32_t hurry = 0;

  static PtxRecord &get();
  /// Adds the forms of all programs so far.
  void countForms();

private:
  PtxRecord();
};

} // namespace kv::cuda::test

#endif // KV_TEST_KERNELS_PTX_PTXBACKEND_H
