//===- AttentionTwinsImpl.h - The attention kernels of one type -*- C++ -*-===//

#ifndef KV_KERNELS_CUDA_EMULATOR_ATTENTIONTWINSIMPL_H
#define KV_KERNELS_CUDA_EMULATOR_ATTENTIONTWINSIMPL_H

#include "../AttentionBody.h"
#include "AttentionTwins.h"
#include "CpuBlock.h"

template <class Query, class Cache, kv::cuda::Scales S>
void kv::cuda::runAttentionTwin(Machine &machine, const AttentionKernel &kernel,
                                int blocks, const AttentionParams &params) {
  auto with = [&]<class Config>() {
    machine.launch(blocks, Config::Threads, Config::SharedBytes,
                   [&](Machine &m, int thread) {
                     CpuBlock b(m, thread);
                     AttentionBody<CpuBlock, Config>(b, params).run();
                   });
  };
#define KV_ATTENTION_KERNEL(kind, type, query, cache, scales, dim, ...)        \
  if constexpr (std::is_same_v<Query, ElementOf<KV_DTYPE_##query>> &&          \
                std::is_same_v<Cache, ElementOf<KV_DTYPE_##cache>> &&          \
                S == Scales::scales)                                           \
    if (kernel.name == "kv_attention_" #kind "_" #type "_" #dim) {             \
      if (machine.sm() == 90)                                                  \
        with.template operator()<KV_ATTENTION_CONFIG(kind, query, cache,       \
                                                     scales, dim, 90)>();      \
      else                                                                     \
        with.template operator()<KV_ATTENTION_CONFIG(kind, query, cache,       \
                                                     scales, dim, 80)>();      \
    }
#include "kv/ABI/DeviceKernels.def"
}

#endif // KV_KERNELS_CUDA_EMULATOR_ATTENTIONTWINSIMPL_H
