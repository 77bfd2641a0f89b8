//===- PtxBackend.h - The PTX of kernels on a CPU ---------------*- C++ -*-===//
//
// A launch runs twice on the same memory: as the kernel's body, and as what the
// compiler made of it. Results are those of the PTX.
//
//===----------------------------------------------------------------------===//

#ifndef KV_TEST_KERNELS_PTX_PTXBACKEND_H
#define KV_TEST_KERNELS_PTX_PTXBACKEND_H

#include "Mutation.h"
#include "kernels/emulator/ptx/Program.h"
#include "test/kernels/emulator/MachineBackend.h"

#include <map>
#include <set>

namespace kv::cuda::test {

/// What happened to a kernel.
struct PtxTally {
  int launches = 0, equal = 0; // and with the bits of the body
};

/// Of a process: the chip whose PTX is executed, and what was.
struct PtxRecord {
  std::string chip = "80";
  std::map<std::string, PtxTally, std::less<>> kernels;
  /// Forms of instructions that the programs contain, and that were executed.
  std::set<std::string> contained, executed;

  static PtxRecord &get();
  /// The file that has a kernel for the chip; "": there is none.
  std::string fileOf(std::string_view kernel) const;
  /// Translated once. Throws a ptx::Error.
  const ptx::Program &programOf(std::string_view kernel);
  /// The mistake of this run.
  ptx::test::Mutation mutation;
  /// Whether a program executed an instruction of that line.
  bool hasExecuted(unsigned line) const;
  /// Adds the forms of all programs so far.
  void countForms();

private:
  std::map<std::string, std::unique_ptr<ptx::Program>, std::less<>> programs;
};

} // namespace kv::cuda::test

#endif // KV_TEST_KERNELS_PTX_PTXBACKEND_H
