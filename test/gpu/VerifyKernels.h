//===- VerifyKernels.h - Kernels that only tests have -----------*- C++ -*-===//
//
// What KernelTable.h is for the project's own kernels; the fake driver has
// their twins (VerifyTwins.h).
//
//===----------------------------------------------------------------------===//

#ifndef KV_TEST_GPU_VERIFYKERNELS_H
#define KV_TEST_GPU_VERIFYKERNELS_H

#include "../kernels/InstructionBodies.h"
#include "../kernels/TileInstructionBodies.h"
#include "Ceilings.h"
#include "Noise.h"
#include "Probes.h"

#include <string_view>

namespace kv::cuda::test {

struct VerifyKernel {
  std::string_view name, image; // <folder>/kv-verify/<image>
  int threads, sharedBytes;
  size_t paramBytes;
  bool only90 = false; // of that chip alone
};

constexpr VerifyKernel VerifyKernels[] = {
#define KV_INSTRUCTION_KERNEL(name, ...)                                       \
  {"kv_test_" #name, "kv_instructions", InstructionThreads,                    \
   InstructionSharedBytes, sizeof(InstructionParams)},
#include "../kernels/InstructionKernels.def"
#define KV_TILE_INSTRUCTION_KERNEL(name, threads, ...)                         \
  {"kv_test_" #name,           "kv_tile_instructions",        threads,         \
   TileInstructionSharedBytes, sizeof(TileInstructionParams), true},
#include "../kernels/TileInstructionKernels.def"
    {"kv_test_read", "kv_ceilings", CeilingThreads, 0, sizeof(CeilingParams)},
    {"kv_test_flush", "kv_ceilings", CeilingThreads, 0, sizeof(CeilingParams)},
    {"kv_test_copy", "kv_ceilings", CeilingThreads, 0, sizeof(CeilingParams)},
    {"kv_test_noise", "kv_ceilings", CeilingThreads, 0, sizeof(NoiseParams)},
    {"kv_test_clock", "kv_ceilings", 32, 0, sizeof(ClockParams)},
    {"kv_test_chain", "kv_probes", ProbeThreads, 0, sizeof(ProbeParams)},
    {"kv_test_chain_e4m3", "kv_probes", ProbeThreads, 0, sizeof(ProbeParams)},
    {"kv_test_wgmma_e4m3", "kv_probes", ProbeThreads, 0, sizeof(ProbeParams)},
    {"kv_test_wgmma_8", "kv_probes", ProbeThreads, 0, sizeof(ProbeParams)},
    {"kv_test_wgmma_64", "kv_probes", ProbeThreads, 0, sizeof(ProbeParams)},
    {"kv_test_wgmma_256", "kv_probes", ProbeThreads, 0, sizeof(ProbeParams)},
    {"kv_test_wgmma_shared", "kv_probes", ProbeThreads, 0, sizeof(ProbeParams)},
};

/// The kernel of that name, or null.
constexpr const VerifyKernel *findVerifyKernel(std::string_view name) {
  for (const VerifyKernel &kernel : VerifyKernels)
    if (kernel.name == name)
      return &kernel;
  return nullptr;
}

} // namespace kv::cuda::test

#endif // KV_TEST_GPU_VERIFYKERNELS_H
