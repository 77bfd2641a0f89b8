//===- AttentionTwinsDrafts.cpp - The kernels of a few drafts -------------===//

#include "AttentionTwinsImpl.h"

#include <cstring>

using namespace kv::cuda;

void kv::cuda::runDraftTwin(Machine &machine, const AttentionKernel &kernel,
                            int blocks, const void *params) {
  AttentionParams aligned;
  std::memcpy(static_cast<void *>(&aligned), params, sizeof(aligned));
#define KV_DRAFT_KERNEL(type, query, cache, scales, dim, ...)                  \
  if (kernel.name == "kv_attention_drafts_" #type "_" #dim)                    \
    launchAttention<KV_DRAFT_CONFIG(query, cache, scales, dim)>(               \
        machine, blocks, aligned);
#include "kv/ABI/DeviceKernels.def"
}
