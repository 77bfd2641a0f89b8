//===- Attention.h - Arguments and shapes of the kernels --------*- C++ -*-===//

#ifndef KV_KERNELS_CUDA_PARAMETERS_ATTENTION_H
#define KV_KERNELS_CUDA_PARAMETERS_ATTENTION_H

#include "SharedLayout.h"
#include "kernels/block/Block.h"
#include "kv/ABI/DeviceKernels.h"
#include "kv/Definition/Fold.h"
#include "kv/Definition/Plan.h"

#include <type_traits>

namespace kv::cuda {

/// A paged cache [page, plane, layer, token, head, dim] by strides in
/// elements; dim is contiguous. All addressing is in 64 bits.
struct CacheView {
  const void *data;
  int64_t pageStride, planeStride, layerStride, tokenStride, headStride;
  int32_t pages;              // page ids are 0 .. pages; others read as zeros
  kv::plan::Divisor pageSize; // at least 1
};

/// The scales of a cache: group g of a row is multiplied by element g of its
/// row here. Strides in elements; a row's groups are contiguous.
struct ScalesView {
  const void *data;
  int64_t pageStride, planeStride, layerStride, tokenStride, headStride;
  int32_t powers;     // 1: they are f8E8M0FNU; 0: f32
  int32_t groups;     // of a row
  int32_t groupShift; // a group has 16 << groupShift elements, of several
};

/// Rows of q and of the cache are read in chunks of 16 bytes: pointers are
/// aligned to that, and so are strides. A value that a row does not see is
/// multiplied by zero. So it must be finite if another row of the tile sees it.
/// Values that no row sees are not read.
struct AttentionParams {
  CacheView cache;
  int64_t layer;
  const int32_t *table; // [sequences, tableColumns]
  int64_t tablePitch;
  int32_t tableColumns;
  kv::plan::Batch batch; // its capacity is tableColumns * pageSize
  kv::plan::Shape shape; // tileRows is the kernel's Rows
  const kv::plan::Header *header;
  const kv::plan::Tile *tiles;
  const kv::plan::Cut *cuts;
  const void *q; // [tokens, query heads, dim], strides in elements
  int64_t qTokenStride, qHeadStride;
  void *out; // like q
  int64_t outTokenStride, outHeadStride;
  float *lse; // [tokens, query heads] or null
  int64_t lseTokenStride, lseHeadStride;
  const float *sinks; // [query heads] or null
  float scale;
  float softcap;  // <= 0: none
  float *scratch; // parts * slots * SlotFloats
  float *totals;  // parts * TotalFloats
  /// [2, parts], zero before and after a launch: groups of a unit that are
  /// complete, by the unit's first part; parts that have done their leaves of a
  /// shared group, by its first part. If a part is several blocks, each of them
  /// has its own counters, because their rows are merged separately.
  uint32_t *counters;
  ScalesView scales; // of kernels that take scales
  /// [tokens] or null: of each token the word of its ancestors. The mask is
  /// causal, or sliding and at least as wide as a tree.
  const int64_t *ancestors;
  /// 1: pieces of units that parts share stay in the scratch; the kernel
  /// `merge` comes next and folds them (MergeBody.h).
  int32_t mergesApart;
};

/// The arguments of the kernel `merge`: those of the attention kernel before
/// it, and for `out` the elements of a row and the type, bf16 or f16.
struct MergeParams {
  AttentionParams attention;
  int32_t headDim; // a multiple of 4
  int32_t type;    // a KvDType
};

/// Columns of a row that a block merges at a time.
constexpr int MergeColumns = 128;
constexpr int MergeSharedBytes = 7680 + 32 * MergeColumns * 4;

using kernels::Scales;

/// The shared memory of kernels whose warps share each leaf. `Places` is the
/// number of keys whose addresses are kept, `ScaleSlots` are those of a cache
/// with scales. A tree's paths lie where finishes do, which come after the last
/// leaf. A merge's tables lie where places of rows, the ring, the queries and
/// weights of leaves did.
template <int RingChunks, int QueryChunks, int WeightWords, int Places,
          int Rows, int KeyWarps, class... ScaleSlots>
using WarpLayout =
    SharedLayout<Slot<slot::Ring, Chunk, RingChunks>,
                 Slot<slot::Queries, Chunk, QueryChunks>,
                 Slot<slot::Weights, uint32_t, WeightWords>,
                 Slot<slot::RowPlaces, int64_t, Places>,
                 Slot<slot::Maxima, float, Rows * KeyWarps>,
                 Slot<slot::GroupWeights, FloatPair, Rows>,
                 Slot<slot::TotalWeights, FloatPair, Rows>,
                 Slot<slot::Finishes, FloatPair, Rows>,
                 Over<slot::Paths, IntPair, Rows, slot::Finishes>,
                 Slot<slot::Bounds, IntPair, Rows>,
                 Slot<slot::OutPlaces, int64_t, Rows>, ScaleSlots...,
                 Slot<slot::Ticket, uint32_t, 4>,
                 Over<slot::PieceSlots, int64_t, Places, slot::RowPlaces>,
                 Over<slot::PieceMaxima, FloatPair, Rows, slot::TotalWeights>,
                 Between<slot::PieceWeights, slot::Ring, slot::RowPlaces>>;

/// One kernel. Four warps work on one tile of 16 * RowTiles packed rows. For
/// the scores each warp has a quarter of a leaf's keys, for the values a
/// quarter of the head dimension. So every element of K and V is read from
/// shared memory once, and nothing is merged between warps at the end. Decode
/// and prefill differ in RowTiles and Stages only, and so give the same bits.
///
/// With `Bytes` both products are of 8 bits (attention/mma/ByteOperands.h).
template <class QueryT, class CacheT, int HeadDimV, int RowTilesV, int StagesV,
          Scales ScalesV = Scales::None, bool Bytes = false>
struct AttentionConfig {
  using Query = QueryT;
  using Cache = CacheT;
  static constexpr bool Widens = sizeof(Cache) == 1;
  static constexpr bool EightBitProducts = Bytes;
  /// The type of multiplied elements. Queries are scaled to f16's range row by
  /// row, by a power of two, and weights are at most 1: nothing is lost.
  using Product =
      std::conditional_t<Bytes, Cache, std::conditional_t<Widens, F16, Query>>;
  static constexpr int ProductBytes = Bytes ? 1 : 2;

  static constexpr bool Scaled = ScalesV != Scales::None;
  static constexpr bool Shares = ScalesV == Scales::Groups;
  static_assert(Widens || !Scaled);
  static_assert(!Bytes || (std::is_same_v<Cache, F8E4M3> && !Scaled &&
                           HeadDimV % 64 == 0),
                "a warp has values of whole chunks");

  /// Elements of a row of the result, and of a query and a key.
  static constexpr int HeadDim = HeadDimV, KeyDim = HeadDim;
  /// Scales of a row, at most.
  static constexpr int ScaleGroups = Shares ? kernels::mostGroups(HeadDim) : 1;
  static_assert(!Shares || (HeadDim & (HeadDim - 1)) == 0,
                "groups are found by shifts");
  static constexpr int RowTiles = RowTilesV;
  static constexpr int Rows = 16 * RowTiles;
  static constexpr int Warps = 4, Threads = Warps * WarpLanes;
  /// Warps that share the keys of a row tile's scores, and the row tiles that
  /// each has scores of.
  static constexpr int KeyWarps = Warps, ScoreTiles = RowTiles;

  /// A leaf is computed in two halves, and loaded as two tiles of K and two of
  /// V. A cache of 8 bits loads one tile of each, which has as many bytes.
  /// Products of 8 bits load two, because their chip has little shared memory.
  static constexpr int Leaf = kv::plan::GpuLeaf;
  static constexpr int HalfKeys = 64, TileHalves = Widens && !Bytes ? 2 : 1;
  static constexpr int TileKeys = HalfKeys * TileHalves;
  static constexpr int TilesPerLeaf = 2 * Leaf / TileKeys;
  static constexpr int Stages = StagesV, Ahead = Stages - 1;
  static_assert(Ahead >= 1 && Ahead <= 2 * TilesPerLeaf,
                "places are known for two leaves ahead");
  static_assert(Threads == Leaf, "a thread looks one key of a leaf up");

  /// In chunks: a row of the queries, a row and a tile of the cache.
  static_assert(HeadDim % 16 == 0, "a product takes sixteen elements");
  static constexpr int QueryChunks = HeadDim * 2 / ChunkBytes;
  static constexpr int RowChunks = HeadDim * int(sizeof(Cache)) / ChunkBytes;
  using QueryRows = SharedRows<QueryChunks * ProductBytes / 2>;
  using CacheRows = SharedRows<RowChunks>;
  static constexpr int StageChunks = TileKeys * CacheRows::Pitch;
  /// Words of a row of weights.
  static constexpr int LeafWords = Leaf * ProductBytes / 4;

  /// Values' columns of a warp, and its accumulators. Where a quarter of a head
  /// is no whole number of tiles, the last warps have columns that are none:
  /// they compute others' there, and store nothing.
  static constexpr int ValueTile = Widens ? 16 : 8;
  static constexpr int WarpColumns =
      (HeadDim / Warps + ValueTile - 1) / ValueTile * ValueTile;
  static constexpr int WarpChunks = WarpColumns / (Widens ? 16 : 8);
  static constexpr int ColumnTiles = WarpColumns / 8;
  static constexpr bool Ragged = WarpColumns * Warps != HeadDim;
  /// Where a warp has a power of two chunks, those of all its columns lie at
  /// constant distances from the first.
  static constexpr bool ValuesAtConstants = isSwizzled(RowChunks);
  static constexpr int ValueLoads =
      ValuesAtConstants ? 1 : (ColumnTiles + 1) / 2;
  static constexpr int KeyTiles = Leaf / KeyWarps / 8;

  /// With 8 bits, one load of V has twice sixteen keys.
  static constexpr int ValueSteps = Widens ? 2 : 1;

  /// All threads together copy CopiedRows rows of a tile at a time, of
  /// CopiedColumns chunks each. A thread copies ThreadColumns chunks of
  /// ThreadRows rows, or one less of each where the columns do not come out
  /// even.
  static constexpr int CopiedColumns =
      (RowChunks & -RowChunks) > 2 ? RowChunks & -RowChunks : 2;
  static constexpr int CopiedRows = Threads / CopiedColumns;
  static constexpr int ThreadRows = TileKeys / CopiedRows;
  static constexpr int ThreadColumns =
      (RowChunks + CopiedColumns - 1) / CopiedColumns;
  static_assert(CopiedRows <= TileKeys);
  /// Places of rows are read in pairs where a thread has more than one.
  static constexpr int PlacesTogether = ThreadRows > 1 ? 2 : 1;

  /// Fragments of the queries stay in registers where there are enough.
  static constexpr bool QueriesInRegisters = RowTiles == 1 && HeadDim <= 128;
  /// So does where a head's keys begin, which is five instructions otherwise.
  static constexpr bool KeepsFirstKey = RowTiles == 1;

  /// Shared memory.
  static constexpr int RowPlaceBuffers = 4;
  using Shared = WarpLayout<
      Stages * StageChunks, Rows * QueryRows::Pitch, Rows * LeafWords,
      RowPlaceBuffers * Leaf, Rows, KeyWarps,
      Slot<slot::QueryScales, float, Widens ? Rows : 0>,
      Slot<slot::LargestScales, float, Scaled ? Rows * Warps : 0>,
      Slot<slot::RowSums, float, Scaled ? Rows * Warps : 0>,
      Slot<slot::RowScales, float, Scaled ? 4 * Leaf : 0>,
      Slot<slot::ScaleShares, uint32_t, Shares ? 4 * ScaleGroups * Leaf : 0>>;
  static constexpr int SharedBytes = Shared::bytes();

  /// A piece: the values of all rows, then (maximum, sum) of each.
  static constexpr int SlotFloats = Rows * (HeadDim + 2);

  /// The total of a unit of several groups, as a third set of accumulators.
  static constexpr bool TotalInRegisters = RowTiles == 1;
  static constexpr int TotalFloats =
      TotalInRegisters ? 0 : Rows * Warps * WarpColumns;
};

/// Thread blocks that have a part of the plan together, as a cluster: each has
/// C::Rows rows of every tile, one after the other.
template <class C>
constexpr int PartBlocks = [] {
  if constexpr (requires { C::PartBlocks; })
    return C::PartBlocks;
  else
    return 1;
}();

/// The most packed rows of a sequence that a decode kernel takes.
constexpr int DecodeRows = 16;

/// The shapes that are built, for chips whose SMs have 228 KiB of shared memory
/// (Sm 90: sm_90a, sm_100a), 100 (120: sm_120) and others (80). Rings are as
/// long as lets two blocks share an SM's memory, or one of large head
/// dimensions and where there is so little. Prefill has as many rows as there
/// are registers for; the eight-bit one fewer; kernels that differ in their
/// scales alone share a plan, and so have as many.
/// Whether a block has 99 KiB: on sm_120, and, for 8 bits, wherever sm_80's
/// code runs, which is also 8.6 and 8.9.
template <class Cache, int Sm>
constexpr bool IsNarrow = Sm == 120 || (Sm == 80 && sizeof(Cache) == 1);

template <class Cache, Scales S, int HeadDim, int Sm>
constexpr int DecodeStages =
    HeadDim == 256               ? (IsNarrow<Cache, Sm> ? 2 : 4)
    : HeadDim == 192             ? (Sm == 80 && sizeof(Cache) == 2 ? 4 : 3)
    : HeadDim >= 112 && Sm == 80 ? 3
    : S == Scales::Groups || (sizeof(Cache) == 1 && Sm == 80) ? 4
                                                              : 5;
template <class Query, class Cache, Scales S, int HeadDim, int Sm = 90>
using DecodeConfig = AttentionConfig<Query, Cache, HeadDim, 1,
                                     DecodeStages<Cache, S, HeadDim, Sm>, S>;

template <class Cache, int HeadDim>
constexpr int PrefillTiles = std::is_same_v<Cache, F8E4M3> && HeadDim == 256 ? 1
                             : HeadDim >= 192                                ? 2
                             : sizeof(Cache) == 1 ? (HeadDim > 64 ? 3 : 4)
                             : HeadDim == 112     ? 3
                                                  : 4;
template <class Cache, int HeadDim, int Sm>
constexpr int PrefillStages = HeadDim >= 192 && IsNarrow<Cache, Sm> ? 2
                              : Sm == 120 || HeadDim == 192         ? 3
                              : HeadDim == 256 ? (sizeof(Cache) == 1 ? 3 : 4)
                              : Sm == 90       ? 4
                              : HeadDim >= 112 ? 2
                              : HeadDim > 64   ? 3
                                               : 4;
template <class Query, class Cache, Scales S, int HeadDim, int Sm = 90>
using PrefillConfig =
    AttentionConfig<Query, Cache, HeadDim, PrefillTiles<Cache, HeadDim>,
                    PrefillStages<Cache, HeadDim, Sm>, S>;

/// A few drafts of each sequence make more rows than a decode kernel takes, and
/// fewer than fill a tile of a prompt: two tiles of an mma. Three blocks share
/// an SM (with scales of groups two), so that one waits while others multiply:
/// values that a leaf does not need are computed anew after it, and no register
/// holds them meanwhile.
template <Scales S, int HeadDim>
constexpr int DraftStages = HeadDim == 64         ? 5
                            : S == Scales::Groups ? 4
                                                  : 3;
template <class Query, class Cache, Scales S, int HeadDim>
struct DraftConfig
    : AttentionConfig<Query, Cache, HeadDim, 2, DraftStages<S, HeadDim>, S> {
  static constexpr bool Drafts = true;
};
template <class C>
concept DraftRows = requires { requires C::Drafts; };
#define KV_DRAFT_CONFIG(query, cache, scales, dim)                             \
  DraftConfig<ElementOf<KV_DTYPE_##query>, ElementOf<KV_DTYPE_##cache>,        \
              Scales::scales, dim>

/// Whether queries and weights are rounded to the cache's 8 bits.
template <class C>
concept ByteProducts = requires { requires C::EightBitProducts; };
/// A leaf's weights are rounded 2^WeightLog times as large then.
constexpr int WeightLog = 8;

/// By mma.sync, for sm_120 alone, where two or three blocks share an SM's
/// memory.
template <class Query, class Cache, int HeadDim>
using ByteDecodeConfig =
    AttentionConfig<Query, Cache, HeadDim, 1, 4, Scales::None, /*Bytes=*/true>;
template <class Query, class Cache, int HeadDim>
using BytePrefillConfig =
    AttentionConfig<Query, Cache, HeadDim, PrefillTiles<Cache, HeadDim>,
                    HeadDim == 64 ? 6 : 3, Scales::None, /*Bytes=*/true>;
#define KV_BYTE_CONFIG_decode ByteDecodeConfig
#define KV_BYTE_CONFIG_prefill BytePrefillConfig
#define KV_BYTE_CONFIG(kind, query, cache, dim)                                \
  KV_BYTE_CONFIG_##kind<ElementOf<KV_DTYPE_##query>,                           \
                        ElementOf<KV_DTYPE_##cache>, dim>

/// The configuration of a row of DeviceKernels.def; an Sm may follow.
#define KV_CONFIG_decode DecodeConfig
#define KV_CONFIG_prefill PrefillConfig
#define KV_ATTENTION_CONFIG(kind, query, cache, scales, ...)                   \
  KV_CONFIG_##kind<ElementOf<KV_DTYPE_##query>, ElementOf<KV_DTYPE_##cache>,   \
                   Scales::scales, __VA_ARGS__>

/// The Sm of the shapes that code for a chip has, of its number: 100 of
/// sm_100a.
constexpr int shapesOfChip(int chip) {
  return chip >= 120 ? 120 : chip >= 90 ? 90 : 80;
}

/// Whether the blocks of code with those shapes may form clusters, and it waits
/// itself for the kernels before it, so that it may begin while they run: code
/// for 9.0 and every later chip (ptx/Cluster.h, ptx/Launch.h).
constexpr bool hasClusters(int sm) { return sm >= 90; }

/// Whether `blocks` blocks find room in an SM's shared memory. Each costs 1 KiB
/// more than it asks for.
constexpr bool fits(int sharedBytes, int blocks, int sm) {
  int room = sm == 90 ? 228 : sm == 120 ? 100 : 164;
  return (sharedBytes + 1024) * blocks <= room * 1024;
}

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_PARAMETERS_ATTENTION_H
