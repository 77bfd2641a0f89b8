//===- PtxTexts.h - The kernels' PTX of one chip ----------------*- C++ -*-===//

#ifndef KV_TEST_KERNELS_PTX_PTXTEXTS_H
#define KV_TEST_KERNELS_PTX_PTXTEXTS_H

#include "kernels/emulator/ptx/Program.h"

#include <map>

namespace kv::cuda::test {

/// The texts that a build has of a chip's kernels. Each is translated once.
struct PtxTexts {
  std::string folder; // of the build, or of an installation
  std::string chip;   // "90a" of sm_90a
  std::map<std::string, std::unique_ptr<ptx::Program>, std::less<>> programs;
  std::map<std::string, ptx::Module> modules; // by file
  bool traces = false;             // which operations programs execute
  uint64_t mostBranches = 1 << 24; // of a thread
  bool endsAtReport = false;       // where programs are traced

  int chipNumber() const { return std::atoi(chip.c_str()); }
  /// The file that has a kernel for the chip; "": there is none.
  std::string fileOf(std::string_view kernel) const;
  /// The parsed file that has a kernel. Throws a ptx::Error.
  const ptx::Module &moduleOf(std::string_view kernel);
  /// Throws a ptx::Error.
  const ptx::Program &programOf(std::string_view kernel);
  /// Runs so many blocks, in clusters. The machine reports what is wrong, a
  /// missing text too.
  void run(Machine &machine, std::string_view kernel, int blocks, int cluster,
           const void *params);
};

} // namespace kv::cuda::test

#endif // KV_TEST_KERNELS_PTX_PTXTEXTS_H
