//===- AttentionTwinsImpl.h - The attention kernels of one type -*- C++ -*-===//

#ifndef KV_KERNELS_CUDA_TWINS_ATTENTIONTWINSIMPL_H
#define KV_KERNELS_CUDA_TWINS_ATTENTIONTWINSIMPL_H

#include "AttentionTwins.h"
#include "LaunchRoles.h"
#include "kernels/cuda/attention/mma/WarpKernel.h"
#include "kernels/emulator/CpuBlock.h"

namespace kv::cuda {
template <class Config>
void launchAttention(Machine &machine, int blocks,
                     const AttentionParams &params) {
  launchWarps<Config>(machine, blocks, [&](Machine &m, int thread) {
    CpuBlock b(m, thread);
    if (beginKernel(b))
      WarpKernel<CpuBlock, Config>(b, params).run();
  });
}
} // namespace kv::cuda

template <class Query, class Cache, kv::cuda::Scales S>
void kv::cuda::runAttentionTwin(Machine &machine, const AttentionKernel &kernel,
                                int blocks, const AttentionParams &params) {
  auto with = [&]<class Config>() {
    launchAttention<Config>(machine, blocks, params);
  };
#define KV_TWIN(config, query, cache, scales, twin, ...)                       \
  if constexpr (std::is_same_v<Query, ElementOf<KV_DTYPE_##query>> &&          \
                std::is_same_v<Cache, ElementOf<KV_DTYPE_##cache>> &&          \
                S == Scales::scales)                                           \
    if (kernel.name == twin) {                                                 \
      if (machine.sm() == 90)                                                  \
        with.template operator()<config(__VA_ARGS__, 90)>();                   \
      else if (machine.sm() == 120)                                            \
        with.template operator()<config(__VA_ARGS__, 120)>();                  \
      else                                                                     \
        with.template operator()<config(__VA_ARGS__, 80)>();                   \
    }
#define KV_ATTENTION_KERNEL(kind, type, query, cache, scales, dim, ...)        \
  KV_TWIN(KV_ATTENTION_CONFIG, query, cache, scales,                           \
          "kv_attention_" #kind "_" #type "_" #dim, kind, query, cache,        \
          scales, dim)
#define KV_LATENT_KERNEL(kind, type, query, cache, dim, vDim, ...)             \
  KV_TWIN(KV_LATENT_CONFIG, query, cache, None,                                \
          "kv_latent_" #kind "_" #type "_" #dim, kind, query, cache, dim,      \
          vDim)
#include "kv/ABI/DeviceKernels.def"
}

#endif // KV_KERNELS_CUDA_TWINS_ATTENTIONTWINSIMPL_H
