//===- AttentionTwinsBytes.cpp - Kernels with products of 8 bits
//--------------===//

#include "AttentionTwinsImpl.h"

#include <cstring>

using namespace kv::cuda;

void kv::cuda::runByteTwin(Machine &machine, const AttentionKernel &kernel,
                           int blocks, const void *params) {
  AttentionParams aligned;
  std::memcpy(static_cast<void *>(&aligned), params, sizeof(aligned));
#define KV_BYTE_KERNEL(kind, type, query, cache, dim, ...)                     \
  if (kernel.name == "kv_attention_" #kind "_" #type "_" #dim)                 \
    launchAttention<KV_BYTE_CONFIG(kind, query, cache, dim)>(machine, blocks,  \
                                                             aligned);
#include "kv/ABI/DeviceKernels.def"
}
