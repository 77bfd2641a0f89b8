//===- Attention.cuh - How an attention kernel is built ---------*- C++ -*-===//
//
// The build writes a source file for each type: this header, then the rows of
// DeviceKernels.def. Its kernels become images of their own, so that an
// artifact carries those that it uses.
//
//===----------------------------------------------------------------------===//

#include "kernels/cuda/attention/mma/WarpKernel.h"
#include "kernels/cuda/attention/wgmma/ByteTileKernel.h"
#include "kernels/cuda/attention/wgmma/LatentTileKernel.h"
#include "kernels/cuda/ptx/GpuBlock.h"

using namespace kv::cuda;

#ifdef __CUDA_ARCH__
#define KV_SM shapesOfChip(__CUDA_ARCH__ / 10)
#else
#define KV_SM 80
#endif

/// A kernel of one configuration for each kind of chips. On sm_120 one block
/// must fit, or the build makes no image; registers are those of sm_90a.
template <class C80, class C90, class C120, int Blocks80, int Blocks90>
struct Built {
  static_assert(fits(C80::SharedBytes, Blocks80, 80) &&
                fits(C90::SharedBytes, Blocks90, 90));
  using Config = std::conditional_t<KV_SM == 80, C80,
                                    std::conditional_t<KV_SM == 90, C90, C120>>;
  static constexpr int Blocks = KV_SM == 80 ? Blocks80 : Blocks90;
};

#define KV_BUILT(name, ...)                                                    \
  extern "C" __global__ void __launch_bounds__(__VA_ARGS__::Config::Threads,   \
                                               __VA_ARGS__::Blocks)            \
      name(const __grid_constant__ AttentionParams params) {                   \
    GpuBlock block;                                                            \
    beginKernel(block);                                                        \
    WarpKernel<GpuBlock, __VA_ARGS__::Config>(block, params).run();            \
  }
#define KV_KERNEL(name, ...) KV_BUILT(name, Built<__VA_ARGS__>)
#define KV_ATTENTION_KERNEL(kind, type, query, cache, scales, dim, registers,  \
                            blocks80, blocks90)                                \
  KV_KERNEL(kv_attention_##kind##_##type##_##dim,                              \
            KV_ATTENTION_CONFIG(kind, query, cache, scales, dim, 80),          \
            KV_ATTENTION_CONFIG(kind, query, cache, scales, dim, 90),          \
            KV_ATTENTION_CONFIG(kind, query, cache, scales, dim, 120),         \
            blocks80, blocks90)
#define KV_DRAFT_KERNEL(type, query, cache, scales, dim, registers, blocks)    \
  KV_KERNEL(kv_attention_drafts_##type##_##dim,                                \
            KV_DRAFT_CONFIG(query, cache, scales, dim),                        \
            KV_DRAFT_CONFIG(query, cache, scales, dim),                        \
            KV_DRAFT_CONFIG(query, cache, scales, dim), 1, blocks)
/// One for sm_120 alone.
template <class C, int BlocksV> struct BuiltFor120 {
  static_assert(fits(C::SharedBytes, BlocksV, 120));
  using Config = C;
  static constexpr int Blocks = BlocksV;
};
#define KV_BYTE_KERNEL(kind, type, query, cache, dim, registers, blocks)       \
  KV_BUILT(kv_attention_##kind##_##type##_##dim,                               \
           BuiltFor120<KV_BYTE_CONFIG(kind, query, cache, dim), blocks>)
#define KV_TILES_BY(blocks, name, ...)                                         \
  extern "C" __global__ void __launch_bounds__(__VA_ARGS__::LaunchThreads,     \
                                               blocks)                         \
      name(const __grid_constant__ TileParams params) {                        \
    GpuBlock block;                                                            \
    beginKernel(block);                                                        \
    runTiles<__VA_ARGS__>(block, params);                                      \
  }
#define KV_TILES(name, ...) KV_TILES_BY(1, name, __VA_ARGS__)
#define KV_TILE_KERNEL(type, query, cache, scales, dim, registers)             \
  KV_TILES(kv_attention_tiles_##type##_##dim,                                  \
           KV_TILE_CONFIG(query, cache, scales, dim))
#define KV_DRAFT_TILE_KERNEL(type, query, cache, scales, dim, registers,       \
                             blocks)                                           \
  KV_TILES_BY(blocks, kv_attention_draft_tiles_##type##_##dim,                 \
              KV_DRAFT_TILE_CONFIG(query, cache, scales, dim))
#define KV_BYTE_TILE_KERNEL(type, query, cache, dim, registers)                \
  KV_TILES(kv_attention_tiles_##type##_##dim, KV_BYTE_TILE_CONFIG(query, dim))
#define KV_LATENT_TILE_KERNEL(type, query, cache, dim, vDim, registers)        \
  KV_TILES(kv_latent_tiles_##type##_##dim,                                     \
           KV_LATENT_TILE_CONFIG(query, dim, vDim))
#define KV_LATENT_PAIR_KERNEL(type, query, cache, dim, vDim, registers)        \
  KV_TILES(kv_latent_pairs_##type##_##dim,                                     \
           KV_LATENT_PAIR_CONFIG(query, dim, vDim))
#define KV_LATENT_KERNEL(kind, type, query, cache, dim, vDim, registers,       \
                         blocks80, blocks90)                                   \
  KV_KERNEL(kv_latent_##kind##_##type##_##dim,                                 \
            KV_LATENT_CONFIG(kind, query, cache, dim, vDim, 80),               \
            KV_LATENT_CONFIG(kind, query, cache, dim, vDim, 90),               \
            KV_LATENT_CONFIG(kind, query, cache, dim, vDim, 120), blocks80,    \
            blocks90)
