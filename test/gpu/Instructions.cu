#include "kernels/cuda/ptx/GpuBlock.h"
#include "test/kernels/instructions/InstructionBodies.h"

using namespace kv::cuda;
using namespace kv::cuda::test;

#define KV_INSTRUCTION_KERNEL(name, ...)                                       \
  extern "C" __global__ void __launch_bounds__(InstructionThreads)             \
      kv_test_##name(const __grid_constant__ InstructionParams params) {       \
    GpuBlock block;                                                            \
    __VA_ARGS__(block, params);                                                \
  }
// Kernels with products of 8 bits by mma.sync are of sm_120 only.
#if __CUDA_ARCH__ >= 1200
#define KV_BYTE_INSTRUCTION_KERNEL KV_INSTRUCTION_KERNEL
#else
#define KV_BYTE_INSTRUCTION_KERNEL(...)
#endif
#include "test/kernels/instructions/InstructionKernels.def"
