//===- AttentionTwinsTiles.cpp - The kernels that copy tiles --------------===//

#include "AttentionTwins.h"
#include "LaunchRoles.h"
#include "kernels/cuda/attention/wgmma/LatentTileKernel.h"
#include "kernels/emulator/CpuBlock.h"

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

void kv::cuda::runTileTwin(Machine &machine, const AttentionKernel &kernel,
                           int blocks, const void *params) {
  TileParams aligned;
  std::memcpy(static_cast<void *>(&aligned), params, sizeof(aligned));
#define KV_TILE_KERNEL(type, query, cache, scales, dim, ...)                   \
  if (kernel.name == "kv_attention_tiles_" #type "_" #dim)                     \
    run<KV_TILE_CONFIG(query, cache, scales, dim)>(machine, blocks, aligned);
#define KV_DRAFT_TILE_KERNEL(type, query, cache, scales, dim, ...)             \
  if (kernel.name == "kv_attention_draft_tiles_" #type "_" #dim)               \
    run<KV_DRAFT_TILE_CONFIG(query, cache, scales, dim)>(machine, blocks,      \
                                                         aligned);
#define KV_LATENT_TILE_KERNEL(type, query, cache, dim, vDim, ...)              \
  if (kernel.name == "kv_latent_tiles_" #type "_" #dim)                        \
    run<KV_LATENT_TILE_CONFIG(query, dim, vDim)>(machine, blocks, aligned);
#define KV_LATENT_PAIR_KERNEL(type, query, cache, dim, vDim, ...)              \
  if (kernel.name == "kv_latent_pairs_" #type "_" #dim)                        \
    run<KV_LATENT_PAIR_CONFIG(query, dim, vDim)>(machine, blocks, aligned);
#include "kv/ABI/DeviceKernels.def"
}
