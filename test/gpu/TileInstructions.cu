#include "kernels/cuda/ptx/GpuBlock.h"
#include "test/kernels/instructions/ClusterInstructionBodies.h"

using namespace kv::cuda;
using namespace kv::cuda::test;

#define KV_TILE_INSTRUCTION_KERNEL(name, threads, ...)                         \
  extern "C" __global__ void __launch_bounds__(threads, 1)                     \
      kv_test_##name(const __grid_constant__ TileInstructionParams params) {   \
    GpuBlock block;                                                            \
    __VA_ARGS__(block, params);                                                \
  }
// wgmma exists for sm_90a only, and kernels that rest on clusters.
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define KV_GROUP_INSTRUCTION_KERNEL KV_TILE_INSTRUCTION_KERNEL
#define KV_CLUSTER_INSTRUCTION_KERNEL KV_TILE_INSTRUCTION_KERNEL
#else
#define KV_GROUP_INSTRUCTION_KERNEL(...)
#define KV_CLUSTER_INSTRUCTION_KERNEL(...)
#endif
#include "test/kernels/instructions/TileInstructionKernels.def"
