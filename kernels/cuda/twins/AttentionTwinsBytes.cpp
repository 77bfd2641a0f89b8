//===- AttentionTwinsBytes.cpp - The kernels of products of 8 bits --------===//

#include "AttentionTwinsImpl.h"
#include "LaunchRoles.h"
#include "kernels/cuda/attention/wgmma/ByteTileKernel.h"

#include <cstring>

using namespace kv::cuda;

template <class Config>
static void run(Machine &machine, int blocks, const TileParams &params) {
  launchRoles<Config>(machine, blocks, [&](Machine &m, int thread) {
    CpuBlock b(m, thread);
    if (beginKernel(b))
      runTiles<Config>(b, params);
  });
}

void kv::cuda::runByteTileTwin(Machine &machine, const AttentionKernel &kernel,
                               int blocks, const void *params) {
  if (!kernel.eightBitProducts)
    return;
  TileParams aligned;
  std::memcpy(static_cast<void *>(&aligned), params, sizeof(aligned));
#define KV_BYTE_TILE_KERNEL(type, query, cache, dim, ...)                      \
  if (kernel.name == "kv_attention_tiles_" #type "_" #dim)                     \
    run<KV_BYTE_TILE_CONFIG(query, dim)>(machine, blocks, aligned);
#include "kv/ABI/DeviceKernels.def"
}

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
