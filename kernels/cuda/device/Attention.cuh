//===- Attention.cuh - How an attention kernel is built ---------*- C++ -*-===//
//
// The build writes a source file for each type: this header, then the rows of
// AttentionKernels.def. Its kernels become images of their own, so that an
// artifact carries those that it uses.
//
//===----------------------------------------------------------------------===//

#include "../AttentionBody.h"
#include "../GpuBlock.h"

using namespace kv::cuda;

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define KV_SM 90
#else
#define KV_SM 80
#endif

#define KV_ATTENTION_KERNEL(kind, config, type, query, cache, dim, registers,  \
                            blocks80, blocks90)                                \
  static_assert(                                                               \
      fits(config<query, cache, dim, 80>::SharedBytes, blocks80, 80) &&        \
      fits(config<query, cache, dim, 90>::SharedBytes, blocks90, 90));         \
  extern "C" __global__ void __launch_bounds__(                                \
      config<query, cache, dim, KV_SM>::Threads,                               \
      KV_SM == 80 ? blocks80 : blocks90)                                       \
      kv_attention_##kind##_##type##_##dim(                                    \
          const __grid_constant__ AttentionParams params) {                    \
    GpuBlock block;                                                            \
    AttentionBody<GpuBlock, config<query, cache, dim, KV_SM>>(block, params)   \
        .run();                                                                \
  }
