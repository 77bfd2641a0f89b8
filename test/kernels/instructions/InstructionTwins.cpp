//===- InstructionTwins.cpp - One instruction on a CPU --------------------===//

#include "InstructionTwins.h"
#include "ClusterInstructionBodies.h"
#include "InstructionBodies.h"
#include "TensorInstructionBodies.h"
#include "kernels/emulator/CpuTensorBlock.h"

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
#define KV_BYTE_INSTRUCTION_KERNEL KV_INSTRUCTION_KERNEL
#include "InstructionKernels.def"
// `grid` blocks, in clusters of `together`.
#define KV_TWIN(kernel, grid, together, count, block, ...)                     \
  if (name == "kv_test_" #kernel) {                                            \
    machine.launch(                                                            \
        {.blocks = grid,                                                       \
         .threads = count,                                                     \
         .sharedBytes = TileInstructionSharedBytes,                            \
         .registers = RingRegisters,                                           \
         .cluster = together},                                                 \
        [&](Machine &m, int thread) {                                          \
          block b(CpuBlock(m, thread));                                        \
          __VA_ARGS__(b, *static_cast<const TileInstructionParams *>(params)); \
        });                                                                    \
    return true;                                                               \
  }
#define KV_TILE_INSTRUCTION_KERNEL(kernel, count, ...)                         \
  KV_TWIN(kernel, blocks, 1, count, CpuBlock, __VA_ARGS__)
#define KV_CLUSTER_INSTRUCTION_KERNEL(kernel, count, ...)                      \
  KV_TWIN(kernel, InstructionCluster, InstructionCluster, count, CpuBlock,     \
          __VA_ARGS__)
#define KV_GROUP_INSTRUCTION_KERNEL KV_TILE_INSTRUCTION_KERNEL
#include "TileInstructionKernels.def"
#define KV_TENSOR_INSTRUCTION_KERNEL(kernel, ...)                              \
  KV_TWIN(kernel, blocks, 1, GroupThreads, CpuTensorBlock, __VA_ARGS__)
#include "TensorInstructionKernels.def"
  return false;
}
