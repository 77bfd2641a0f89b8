//===- Tensor.cuh - How a kernel with tensor memory is built ----*- C++ -*-===//
//
// Wraps bodies with tensor memory as kernels, like Attention.cuh, for sm_100a
// alone.
//
//===----------------------------------------------------------------------===//

#include "kernels/cuda/attention/tcgen05/TensorKernel.h"
#include "kernels/cuda/ptx/GpuTensorBlock.h"

using namespace kv::cuda;

#define KV_TENSORS(name, ...)                                                  \
  static_assert(fits(__VA_ARGS__::SharedBytes, 1, 90));                        \
  extern "C" __global__ void __launch_bounds__(__VA_ARGS__::LaunchThreads, 1)  \
      name(const __grid_constant__ TileParams params) {                        \
    GpuTensorBlock block;                                                      \
    beginKernel(block);                                                        \
    runTensor<__VA_ARGS__>(block, params);                                     \
  }
#define KV_TENSOR_KERNEL(type, query, cache, dim, registers)                   \
  KV_TENSORS(kv_attention_tensor_##type##_##dim,                               \
             KV_TENSOR_CONFIG(query, cache, dim))
#define KV_LATENT_TENSOR_KERNEL(type, query, cache, dim, vDim, registers)      \
  KV_TENSORS(kv_latent_tensor_##type##_##dim,                                  \
             KV_LATENT_TENSOR_CONFIG(query, dim, vDim))
