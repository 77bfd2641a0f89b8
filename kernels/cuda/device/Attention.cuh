//===- Attention.cuh - How an attention kernel is built ---------*- C++ -*-===//
//
// The build writes a source file for each type: this header, then the rows of
// DeviceKernels.def. Its kernels become images of their own, so that an
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

#define KV_ATTENTION_KERNEL(kind, type, query, cache, scales, dim, registers,  \
                            blocks80, blocks90)                                \
  static_assert(fits(KV_ATTENTION_CONFIG(kind, query, cache, scales, dim,      \
                                         80)::SharedBytes,                     \
                     blocks80, 80) &&                                          \
                fits(KV_ATTENTION_CONFIG(kind, query, cache, scales, dim,      \
                                         90)::SharedBytes,                     \
                     blocks90, 90));                                           \
  extern "C" __global__ void __launch_bounds__(                                \
      KV_ATTENTION_CONFIG(kind, query, cache, scales, dim, KV_SM)::Threads,    \
      KV_SM == 80 ? blocks80 : blocks90)                                       \
      kv_attention_##kind##_##type##_##dim(                                    \
          const __grid_constant__ AttentionParams params) {                    \
    GpuBlock block;                                                            \
    AttentionBody<GpuBlock, KV_ATTENTION_CONFIG(kind, query, cache, scales,    \
                                                dim, KV_SM)>(block, params)    \
        .run();                                                                \
  }
