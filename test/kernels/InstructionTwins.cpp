//===- InstructionTwins.cpp - One instruction on a CPU --------------------===//

#include "InstructionTwins.h"
#include "../../kernels/cuda/emulator/CpuBlock.h"
#include "InstructionBodies.h"
#include "TileInstructionBodies.h"

using namespace kv::cuda;
using namespace kv::cuda::test;

bool kv::cuda::test::runInstruction(Machine &machine, std::string_view name,
                                    int blocks, const void *params) {
#define KV_INSTRUCTION_KERNEL(kernel, ...)                                     \
  if (name == "kv_test_" #kernel) {                                            \
    machine.launch(blocks, InstructionThreads, InstructionSharedBytes,         \
                   [&](Machine &m, int thread) {                               \
                     CpuBlock b(m, thread);                                    \
                     __VA_ARGS__(                                              \
                         b, *static_cast<const InstructionParams *>(params));  \
                   });                                                         \
    return true;                                                               \
  }
#include "InstructionKernels.def"
#define KV_TILE_INSTRUCTION_KERNEL(kernel, count, ...)                         \
  if (name == "kv_test_" #kernel) {                                            \
    machine.launch(                                                            \
        {.blocks = blocks,                                                     \
         .threads = count,                                                     \
         .sharedBytes = TileInstructionSharedBytes,                            \
         .registers = RingRegisters},                                          \
        [&](Machine &m, int thread) {                                          \
          CpuBlock b(m, thread);                                               \
          __VA_ARGS__(b, *static_cast<const TileInstructionParams *>(params)); \
        });                                                                    \
    return true;                                                               \
  }
#include "TileInstructionKernels.def"
  return false;
}
