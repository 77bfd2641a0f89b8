//===- AttentionTwinsDrafts.cpp - The kernels of a few drafts -------------===//

#include "../AttentionBody.h"
#include "AttentionTwins.h"
#include "CpuBlock.h"

#include <cstring>

using namespace kv::cuda;

template <class Config>
static void run(Machine &machine, int blocks, const AttentionParams &params) {
  machine.launch(blocks, Config::Threads, Config::SharedBytes,
                 [&](Machine &m, int thread) {
                   CpuBlock b(m, thread);
                   if (beginKernel(b))
                     AttentionBody<CpuBlock, Config>(b, params).run();
                 });
}

void kv::cuda::runDraftTwin(Machine &machine, const AttentionKernel &kernel,
                            int blocks, const void *params) {
  AttentionParams aligned;
  std::memcpy(static_cast<void *>(&aligned), params, sizeof(aligned));
#define KV_DRAFT_KERNEL(type, query, cache, scales, dim, ...)                  \
  if (kernel.name == "kv_attention_drafts_" #type "_" #dim)                    \
    run<KV_DRAFT_CONFIG(query, cache, scales, dim)>(machine, blocks, aligned);
#include "kv/ABI/DeviceKernels.def"
}
