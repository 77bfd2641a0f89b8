#include "kernels/cuda/ptx/GpuTensorBlock.h"
#include "test/kernels/instructions/TensorInstructionBodies.h"

using namespace kv::cuda;
using namespace kv::cuda::test;

#define KV_TENSOR_INSTRUCTION_KERNEL(name, ...)                                \
  extern "C" __global__ void __launch_bounds__(GroupThreads, 1)                \
      kv_test_##name(const __grid_constant__ TileInstructionParams params) {   \
    GpuTensorBlock block;                                                      \
    __VA_ARGS__(block, params);                                                \
  }
#include "test/kernels/instructions/TensorInstructionKernels.def"
