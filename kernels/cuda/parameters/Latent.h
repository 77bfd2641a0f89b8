//===- Latent.h - Shapes of the kernels for latent caches -------*- C++ -*-===//

#ifndef KV_KERNELS_CUDA_PARAMETERS_LATENT_H
#define KV_KERNELS_CUDA_PARAMETERS_LATENT_H

#include "Attention.h"

namespace kv::cuda {

/// Whether rows of the cache begin with their own values.
template <class C>
concept LatentRows = requires { requires C::Latent; };

/// A kernel for a latent cache (absorbed MLA): one row per token, whose first
/// HeadDim elements are its value, for all query heads. A row comes to shared
/// memory once, for scores and values. A leaf is two tiles of 32 keys: larger
/// ones would leave no room for tiles in flight. Four warps share the keys of
/// each row tile's scores, all warps the columns of the values. Decode and
/// prefill differ in RowTiles, chips in Stages; neither changes a bit.
template <class QueryT, class CacheT, int KeyDimV, int HeadDimV, int RowTilesV,
          int StagesV>
struct LatentConfig {
  static constexpr bool Latent = true;
  using Query = QueryT;
  using Cache = CacheT;
  static_assert(std::is_same_v<Query, Cache>);
  static constexpr bool Widens = false, Scaled = false, Shares = false;
  static constexpr int ScaleGroups = 1;
  using Product = Query;

  static constexpr int KeyDim = KeyDimV, HeadDim = HeadDimV;
  static constexpr int RowTiles = RowTilesV;
  static constexpr int Rows = 16 * RowTiles;
  static constexpr int KeyWarps = 4, ScoreTiles = 1;
  static constexpr int Warps = KeyWarps * RowTiles, Threads = Warps * WarpLanes;

  static constexpr int Leaf = kv::plan::LatentLeaf;
  static constexpr int TileKeys = 32, HalfKeys = TileKeys, TilesPerLeaf = 2;
  static constexpr int Stages = StagesV, Ahead = Stages - 1;
  static_assert(Ahead >= 2 && Ahead <= 2 * TilesPerLeaf,
                "a leaf has its tiles at once, places are known for two leaves "
                "ahead");
  static_assert(Leaf == TilesPerLeaf * TileKeys && Leaf == 16 * KeyWarps &&
                Threads >= Leaf);

  /// In chunks: a row of the queries, a row of the cache and its value, a tile.
  static constexpr int QueryChunks = KeyDim * 2 / ChunkBytes;
  static constexpr int RowChunks = QueryChunks;
  static constexpr int ValueChunks = HeadDim * 2 / ChunkBytes;
  using QueryRows = Swizzled<QueryChunks>;
  using CacheRows = Swizzled<RowChunks>;
  static constexpr int StageChunks = TileKeys * RowChunks;
  static constexpr int LeafWords = Leaf / 2; // of a row of weights
  static_assert(KeyDim % 64 == 0 && HeadDim % 128 == 0 && HeadDim <= KeyDim);

  static constexpr int WarpColumns = HeadDim / Warps;
  static constexpr int ColumnTiles = WarpColumns / 8;
  static constexpr int KeyTiles = Leaf / KeyWarps / 8;
  static constexpr int ValueSteps = 1, ValueLoads = 1;
  static constexpr bool Ragged = false;

  /// Eight threads copy a row, so that a place is read once for many chunks:
  /// the rows that all threads copy at a time, and those that each copies.
  static constexpr int CopiedColumns = 8;
  static constexpr int CopiedRows = Threads / CopiedColumns;
  static constexpr int ThreadRows = TileKeys / CopiedRows, PlacesTogether = 1;

  static constexpr bool QueriesInRegisters = false, KeepsFirstKey = false;

  /// Shared memory, as an AttentionConfig has it.
  static constexpr int RowPlaceBuffers = 4;
  using Shared =
      WarpLayout<Stages * StageChunks, Rows * QueryRows::Pitch,
                 Rows * LeafWords, RowPlaceBuffers * Leaf, Rows, KeyWarps>;
  static constexpr int SharedBytes = Shared::bytes();

  static constexpr int SlotFloats = Rows * (HeadDim + 2);
  static constexpr bool TotalInRegisters = false;
  static constexpr int TotalFloats = Rows * HeadDim;
};

/// The shapes that are built, as DecodeConfig and PrefillConfig are. Of 32 rows
/// no more accumulators find room in registers.
template <class Query, class Cache, int KeyDim, int HeadDim, int Sm = 90>
using LatentDecodeConfig =
    LatentConfig<Query, Cache, KeyDim, HeadDim, 1, Sm == 90 ? 5 : 3>;
template <class Query, class Cache, int KeyDim, int HeadDim, int Sm = 90>
using LatentPrefillConfig =
    LatentConfig<Query, Cache, KeyDim, HeadDim, 2, Sm == 90 ? 5 : 3>;

/// The configuration of a row KV_LATENT_KERNEL; an Sm may follow.
#define KV_LATENT_CONFIG_decode LatentDecodeConfig
#define KV_LATENT_CONFIG_prefill LatentPrefillConfig
#define KV_LATENT_CONFIG(kind, query, cache, ...)                              \
  KV_LATENT_CONFIG_##kind<ElementOf<KV_DTYPE_##query>,                         \
                          ElementOf<KV_DTYPE_##cache>, __VA_ARGS__>

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_PARAMETERS_LATENT_H
