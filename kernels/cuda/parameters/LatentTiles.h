//===- LatentTiles.h - Shapes for latent caches of tile copies --*- C++ -*-===//
//
// The kernels of sm_90a for more rows of a latent cache than a decode kernel
// has: prompts, and decoding with many query heads. A producer warp copies
// tiles, which are keys and values at once; two warpgroups share the rows.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_PARAMETERS_LATENTTILES_H
#define KV_KERNELS_CUDA_PARAMETERS_LATENTTILES_H

#include "AttentionTiles.h"

namespace kv::cuda {

/// Whether two warpgroups have the same rows, and each half of the columns.
template <class C>
concept LatentTiles = TileRows<C> && requires { requires C::SharesRows; };
/// Latent tiles whose sums come from tensor memory (LatentTensor.h).
template <class C>
concept TensorTiles = LatentTiles<C> && requires { requires C::Tensor; };

/// One kernel. Leaves go to two stages in turn; a warpgroup computes the scores
/// and weights of those in its own stage, and its half of the values of all.
/// The weights change hands in the stage itself: the last slab of a row is no
/// value, and no warp reads it once the scores are there.
template <class QueryT, int KeyDimV, int HeadDimV> struct LatentTileConfig {
  static constexpr bool Tiles = true, SharesRows = true, KeepsUnit = true;
  using Params = TileParams;
  using Query = QueryT;
  using Cache = QueryT;
  using Product = QueryT;
  static constexpr bool Widens = false, Scaled = false, Shares = false;
  static constexpr int ScaleGroups = 1;

  static constexpr int KeyDim = KeyDimV, HeadDim = HeadDimV;
  static constexpr int RowTiles = GroupWarps, Rows = 16 * RowTiles;
  static constexpr int Groups = 2; // of warps that multiply
  static constexpr int KeyWarps = 1, ScoreTiles = 1;
  static constexpr int Warps = RowTiles * Groups, Threads = Warps * WarpLanes;
  static constexpr int LaunchThreads = Threads + GroupThreads;
  /// Registers of a thread as it is launched, and of one of either role.
  static constexpr bool DividesRegisters = true;
  static constexpr int LaunchRegisters = 168;
  static constexpr int LoaderRegisters = 40, ConsumerRegisters = 232;
  static_assert(LoaderRegisters * GroupThreads + ConsumerRegisters * Threads <=
                LaunchRegisters * LaunchThreads);

  static constexpr int Leaf = kv::plan::LatentLeaf;
  static constexpr int Slabs = KeyDim / 64, ValueSlabs = HeadDim / 64;
  static constexpr int SlabBytes = Leaf * SlabRowBytes;
  static constexpr int TileBytes = Slabs * SlabBytes;
  static constexpr int Stages = Groups;
  static_assert(KeyDim == HeadDim + 64 && SlabBytes == Leaf * Rows * 2,
                "the weights find room beside the values");

  static constexpr int QueryChunks = KeyDim * 2 / ChunkBytes;
  using QueryRows = SlabRows<Rows, QueryChunks>;
  static constexpr int QuerySlabBytes = Rows * SlabRowBytes;
  using WeightRows = SlabRows<Rows, SlabRowBytes / ChunkBytes>;
  static constexpr bool QueriesInRegisters = false;

  /// A warpgroup's columns, and those that it multiplies at a time: for more,
  /// no register would be left next to its group's.
  static constexpr int WarpColumns = HeadDim / Groups;
  static constexpr int ColumnTiles = WarpColumns / 8;
  static constexpr int SliceTiles = kv::plan::lesser(ColumnTiles, 16);
  static constexpr int Slices = ColumnTiles / SliceTiles;
  static constexpr int SliceSlabs = SliceTiles / 8;
  static_assert(WarpColumns % 64 == 0 && ColumnTiles % SliceTiles == 0);
  static constexpr int KeyTiles = Leaf / 8, ValueSteps = 1, ValueLoads = 1;
  static constexpr bool Ragged = false, TotalInRegisters = false;

  /// Named barriers: of consumers; the weights of a stage are there; a
  /// warpgroup has its scores.
  static constexpr int ConsumerBarrier = 1;
  static constexpr int WeightsBarrier = 3, ScoresBarrier = 5;

  /// Shared memory: the values of a stage, then the slab that its weights come
  /// to. Of four leaves there are states. A merge needs no queries: its tables
  /// lie there.
  using Shared = SharedLayout<
      Slot<slot::Ring, Chunk, Stages * TileBytes / ChunkBytes>,
      Slot<slot::Queries, Chunk, Rows * QueryChunks>,
      Slot<slot::Bounds, IntPair, Rows>, Slot<slot::Finishes, FloatPair, Rows>,
      Over<slot::Paths, IntPair, Rows, slot::Finishes>,
      Slot<slot::LeafStates, FloatPair, 4 * Rows>,
      Slot<slot::Ticket, uint32_t, 4>, Slot<slot::KeptUnit, Chunk, 4>,
      Slot<slot::TotalStates, FloatQuad, Threads>,
      Slot<slot::Full, uint64_t, Stages * Slabs>,
      Slot<slot::Empty, uint64_t, Stages * Slabs>,
      Slot<slot::Landed, uint64_t, Stages>,
      Over<slot::PieceSlots, int32_t, 1024, slot::Queries>,
      Over<slot::PieceMaxima, FloatPair, Rows, After<slot::PieceSlots>>,
      Between<slot::PieceWeights, After<slot::PieceMaxima>, slot::Bounds>>;
  static constexpr int SharedBytes = Shared::bytes();
  /// Where a stage's weights lie, from its begin on.
  static constexpr int StageWeights = ValueSlabs * SlabBytes;

  static constexpr int SlotFloats = Rows * (HeadDim + 2),
                       TotalFloats = Rows * HeadDim;

  /// The barriers of a slab of a stage: it is there; all have read it. The
  /// barrier of a stage: its boxes are there, but unseen rows are not zero yet.
  static KV_HD constexpr int full(int stage, int slab) {
    return barrierOf<LatentTileConfig, slot::Full>(stage * Slabs + slab);
  }
  static KV_HD constexpr int empty(int stage, int slab) {
    return barrierOf<LatentTileConfig, slot::Empty>(stage * Slabs + slab);
  }
  static KV_HD constexpr int landed(int stage) {
    return barrierOf<LatentTileConfig, slot::Landed>(stage);
  }
  /// The number of warps that read a slab last. Both warpgroups read weights.
  static KV_HD constexpr int readers(int slab) {
    return slab < ValueSlabs ? GroupWarps : Warps;
  }
};

/// A latent tile kernel by two blocks of a cluster: a tile of the plan has the
/// rows of both. Each block asks for half of every slab of the latent rows, for
/// both blocks, so that rows are read once. Only these copies, and the arrivals
/// of their readers, go between the two.
template <class QueryT, int KeyDimV, int HeadDimV>
struct LatentPairConfig : LatentTileConfig<QueryT, KeyDimV, HeadDimV> {
  using Base = LatentTileConfig<QueryT, KeyDimV, HeadDimV>;
  static constexpr int PartBlocks = 2;
  static constexpr int SlotFloats = PartBlocks * Base::SlotFloats;
  static KV_HD constexpr int readers(int slab) {
    return PartBlocks * Base::readers(slab);
  }
};

/// The configuration of a row KV_LATENT_TILE_KERNEL.
#define KV_LATENT_TILE_CONFIG(query, dim, vDim)                                \
  LatentTileConfig<ElementOf<KV_DTYPE_##query>, dim, vDim>
/// The configuration of a row KV_LATENT_PAIR_KERNEL.
#define KV_LATENT_PAIR_CONFIG(query, dim, vDim)                                \
  LatentPairConfig<ElementOf<KV_DTYPE_##query>, dim, vDim>

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_PARAMETERS_LATENTTILES_H
