//===- VerifyKernels.h - Kernels that only tests have -----------*- C++ -*-===//
//
// What KernelTable.h is for the project's own kernels; the fake driver has
// their twins (VerifyTwins.h).
//
//===----------------------------------------------------------------------===//

#ifndef KV_TEST_GPU_VERIFYKERNELS_H
#define KV_TEST_GPU_VERIFYKERNELS_H

#include "Ceilings.h"
#include "Noise.h"
#include "Probes.h"
#include "kernels/cuda/parameters/KernelTable.h"
#include "test/kernels/instructions/InstructionBodies.h"
#include "test/kernels/instructions/TensorInstructionBodies.h"

#include <string_view>

namespace kv::cuda::test {

struct VerifyKernel {
  std::string_view name, image; // <folder>/kv-verify/<image>
  int threads, sharedBytes;
  ArgumentShape argument;
  std::string_view chips = ""; // that it is for; none: for all

  constexpr bool isFor(std::string_view chip) const {
    return chips.empty() || chips.find(chip) != chips.npos;
  }
};

constexpr VerifyKernel VerifyKernels[] = {
#define KV_INSTRUCTION_KERNEL(name, ...)                                       \
  {"kv_test_" #name, "kv_instructions", InstructionThreads,                    \
   InstructionSharedBytes, ArgumentOf<InstructionParams>},
#define KV_BYTE_INSTRUCTION_KERNEL(name, ...)                                  \
  {"kv_test_" #name,                                                           \
   "kv_instructions",                                                          \
   InstructionThreads,                                                         \
   InstructionSharedBytes,                                                     \
   ArgumentOf<InstructionParams>,                                              \
   "sm_120"},
#include "test/kernels/instructions/InstructionKernels.def"
#define KV_VERIFY_TILES(name, threads, image, chips)                           \
  {"kv_test_" #name,                                                           \
   image,                                                                      \
   threads,                                                                    \
   TileInstructionSharedBytes,                                                 \
   ArgumentOf<TileInstructionParams>,                                          \
   chips},
#define KV_TILE_INSTRUCTION_KERNEL(name, threads, ...)                         \
  KV_VERIFY_TILES(name, threads, "kv_tile_instructions", "sm_90a and sm_100a")
#define KV_GROUP_INSTRUCTION_KERNEL(name, threads, ...)                        \
  KV_VERIFY_TILES(name, threads, "kv_tile_instructions", "sm_90a")
#define KV_CLUSTER_INSTRUCTION_KERNEL KV_GROUP_INSTRUCTION_KERNEL
#include "test/kernels/instructions/TileInstructionKernels.def"
#define KV_TENSOR_INSTRUCTION_KERNEL(name, ...)                                \
  KV_VERIFY_TILES(name, GroupThreads, "kv_tensor_instructions", "sm_100a")
#include "test/kernels/instructions/TensorInstructionKernels.def"
#undef KV_VERIFY_TILES
    {"kv_test_read", "kv_ceilings", CeilingThreads, 0,
     ArgumentOf<CeilingParams>},
    {"kv_test_flush", "kv_ceilings", CeilingThreads, 0,
     ArgumentOf<CeilingParams>},
    {"kv_test_copy", "kv_ceilings", CeilingThreads, 0,
     ArgumentOf<CeilingParams>},
    {"kv_test_noise", "kv_ceilings", CeilingThreads, 0,
     ArgumentOf<NoiseParams>},
    {"kv_test_clock", "kv_ceilings", 32, 0, ArgumentOf<ClockParams>},
    {"kv_test_chain", "kv_probes", ProbeThreads, 0, ArgumentOf<ProbeParams>},
#define KV_PROBE(name, image, sharedBytes, chips)                              \
  {"kv_test_" #name,        image, ProbeThreads, sharedBytes,                  \
   ArgumentOf<ProbeParams>, chips}
    KV_PROBE(chain_e4m3, "kv_probes", 0, "sm_90a, sm_100a and sm_120"),
    KV_PROBE(wgmma_e4m3, "kv_probes", 0, "sm_90a"),
    KV_PROBE(wgmma_8, "kv_probes", 0, "sm_90a"),
    KV_PROBE(wgmma_64, "kv_probes", 0, "sm_90a"),
    KV_PROBE(wgmma_256, "kv_probes", 0, "sm_90a"),
    KV_PROBE(wgmma_shared, "kv_probes", 0, "sm_90a"),
    KV_PROBE(tensor_64, "kv_tensor_probes", TileInstructionSharedBytes,
             "sm_100a"),
    KV_PROBE(tensor_128, "kv_tensor_probes", TileInstructionSharedBytes,
             "sm_100a"),
#undef KV_PROBE
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
