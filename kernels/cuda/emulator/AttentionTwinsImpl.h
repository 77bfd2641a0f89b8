//===- AttentionTwinsImpl.h - The attention kernels of one type -*- C++ -*-===//

#ifndef KV_KERNELS_CUDA_EMULATOR_ATTENTIONTWINSIMPL_H
#define KV_KERNELS_CUDA_EMULATOR_ATTENTIONTWINSIMPL_H

#include "../AttentionBody.h"
#include "AttentionTwins.h"
#include "CpuBlock.h"

template <class Query, class Cache>
void kv::cuda::runAttentionTwin(Machine &machine, const AttentionKernel &kernel,
                                int blocks, const AttentionParams &params) {
  auto with = [&]<class Config>() {
    machine.launch(blocks, Config::Threads, Config::SharedBytes,
                   [&](Machine &m, int thread) {
                     CpuBlock b(m, thread);
                     AttentionBody<CpuBlock, Config>(b, params).run();
                   });
  };
  switch (kernel.headDim + kernel.prefill) {
  case 64:
    return with.template operator()<DecodeConfig<Query, Cache, 64>>();
  case 65:
    return with.template operator()<PrefillConfig<Query, Cache, 64>>();
  case 128:
    return with.template operator()<DecodeConfig<Query, Cache, 128>>();
  case 129:
    return with.template operator()<PrefillConfig<Query, Cache, 128>>();
  case 256:
    return with.template operator()<DecodeConfig<Query, Cache, 256>>();
  default:
    return with.template operator()<PrefillConfig<Query, Cache, 256>>();
  }
}

#endif // KV_KERNELS_CUDA_EMULATOR_ATTENTIONTWINSIMPL_H
