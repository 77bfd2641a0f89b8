//===- Tensor.cuh - How a kernel with tensor memory is built ----*- C++ -*-===//
//
// As Attention.cuh, for sm_100a alone.
//
//===----------------------------------------------------------------------===//

#include "../GpuTensorBlock.h"
#include "../TensorKernel.h"

using namespace kv::cuda;

#define KV_TENSOR_KERNEL(type, query, cache, dim, registers)                   \
  static_assert(fits(KV_TENSOR_CONFIG(query, dim)::SharedBytes, 1, 90));       \
  extern "C" __global__ void __launch_bounds__(                                \
      KV_TENSOR_CONFIG(query, dim)::LaunchThreads, 1)                          \
      kv_attention_tensor_##type##_##dim(                                      \
          const __grid_constant__ TileParams params) {                         \
    GpuTensorBlock block;                                                      \
    beginKernel(block);                                                        \
    runTensor<KV_TENSOR_CONFIG(query, dim)>(block, params);                    \
  }
