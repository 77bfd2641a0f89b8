//===- AttentionTiles.h - Shapes of kernels that copy tiles -----*- C++ -*-===//
//
// The prefill kernels of sm_90a: a producer warp copies boxes of pages, two
// warpgroups multiply them.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_PARAMETERS_ATTENTIONTILES_H
#define KV_KERNELS_CUDA_PARAMETERS_ATTENTIONTILES_H

#include "Attention.h"

#include <bit>
#include <numeric>

namespace kv::cuda {

/// Whether a kernel copies tiles, and each warp has all keys and all columns of
/// its rows.
template <class C>
concept TileRows = requires { requires C::Tiles; };

/// Whether what only the end of a unit needs waits in shared memory: leaves
/// need registers more.
template <class C>
concept KeepsUnit = requires { requires C::KeepsUnit; };

/// AttentionParams, and the tensor maps of K and V of the launch's layer.
struct TileParams : AttentionParams {
  TensorMap maps[2];
  int32_t boxShift;   // a box has 1 << boxShift tokens of a page
  int32_t headsFirst; // coordinates are (element, head, token, page), else
                      // (element, token, head, page)
};

/// Rows of `rows` queries as an operand of wgmma: slabs of 64 elements.
template <int QueryRowsV, int Columns> struct SlabRows {
  static constexpr int Pitch = Columns;
  static KV_HD constexpr int chunk(int row, int column) {
    constexpr int RowChunks = SlabRowBytes / ChunkBytes;
    return int(swizzled(
               uint32_t((column / RowChunks * QueryRowsV + row) * SlabRowBytes +
                        column % RowChunks * ChunkBytes))) /
           ChunkBytes;
  }
};

/// One kernel. Its consumers, up to three warpgroups of 64 rows each, are what
/// a TileConsumer knows of; another warpgroup brings them tiles of a leaf's
/// keys or values, in rows of 128 bytes as wgmma reads them. Heads of up to 128
/// elements are one tile; wider ones come in parts of a slab each, so that a
/// thread has room for the sums of one part of a leaf beside those of a group.
template <class QueryT, class CacheT, int HeadDimV,
          Scales ScalesV = Scales::None,
          int GroupsV = sizeof(CacheT) == 1 && HeadDimV == 256 ? 1 : 2,
          int BlocksV = 1>
struct TileConfig {
  static constexpr bool Tiles = true;
  using Params = TileParams;
  using Query = QueryT;
  using Cache = CacheT;
  /// Elements of 8 bits are copied as they are and widened on the way to where
  /// they are multiplied.
  static constexpr bool Widens = sizeof(Cache) == 1;
  using Product = std::conditional_t<Widens, F16, Query>;
  static constexpr bool Scaled = ScalesV != Scales::None;
  static constexpr bool Shares = ScalesV == Scales::Groups;
  static_assert(Widens || !Scaled);

  static constexpr int HeadDim = HeadDimV, KeyDim = HeadDim;
  static_assert(HeadDim % 64 == 0, "a slab has 64 elements");
  static constexpr int ScaleGroups = Shares ? kernels::mostGroups(HeadDim) : 1;
  /// Warpgroups that multiply: one where two would not have enough registers.
  static constexpr int Groups = GroupsV;
  /// Blocks that share an SM.
  static constexpr int Blocks = BlocksV;
  static constexpr int RowTiles = GroupWarps * Groups;
  static constexpr int Rows = 16 * RowTiles;
  static constexpr int KeyWarps = 1, ScoreTiles = 1;
  static constexpr int Warps = RowTiles, Threads = Warps * WarpLanes;
  static constexpr int LaunchThreads = Threads + GroupThreads;
  /// Warps that widen: all of the other warpgroup but the one that copies.
  static constexpr int Wideners = GroupWarps - 1,
                       WidenThreads = Wideners * WarpLanes;

  static constexpr int Leaf = kv::plan::GpuLeaf;
  static constexpr int SlabColumns = 64, Slabs = HeadDim / SlabColumns;
  static constexpr int SlabBytes = Leaf * SlabRowBytes;
  static constexpr int TileSlabs = HeadDim <= 128 ? Slabs : 1;
  static constexpr int Parts = Slabs / TileSlabs;
  static constexpr int TileBytes = TileSlabs * SlabBytes;
  static constexpr int PartTiles = TileSlabs * SlabColumns / 8;
  static constexpr int Stages = HeadDim == 64    ? 6 / Blocks
                                : HeadDim == 128 ? (Widens ? 4 - Blocks : 4)
                                                 : (Widens ? 6 : 8);

  /// Registers of a thread as it is launched, and of one of either role. If one
  /// multiplying warpgroup has an SM, all threads have the most registers that
  /// there can be.
  static constexpr bool DividesRegisters = Groups * Blocks > 1;
  static constexpr int LaunchRegisters =
      kv::plan::lesser(65536 / (Blocks * LaunchThreads) / 8 * 8, 255);
  static constexpr int LoaderRegisters = Widens ? 56 : 40;
  static constexpr int ConsumerRegisters = Blocks > 1 ? 200
                                           : Widens   ? 224
                                                      : 232;

  /// The target of boxes: the ring itself or, with 8 bits, a ring of slabs.
  static constexpr int CopySlabs = Widens ? 1 : TileSlabs;
  static constexpr int CopyParts = Slabs / CopySlabs;
  static constexpr int CopyRowBytes = SlabColumns * int(sizeof(Cache));
  static constexpr int CopySlabBytes = Leaf * CopyRowBytes;
  static constexpr int CopyBytes = CopySlabs * CopySlabBytes;
  static constexpr int CopyStages = !Widens                        ? Stages
                                    : HeadDim == 64 && Blocks == 1 ? 6
                                    : Shares && Blocks > 1         ? 2
                                                                   : 3;

  static constexpr int QueryChunks = HeadDim * 2 / ChunkBytes;
  using QueryRows = SlabRows<Rows, QueryChunks>;
  static constexpr int QuerySlabBytes = Rows * SlabRowBytes;
  static constexpr bool QueriesInRegisters = false;

  static constexpr int WarpColumns = HeadDim, ColumnTiles = HeadDim / 8;
  static constexpr int KeyTiles = Leaf / 8, ValueSteps = 1, ValueLoads = 1;
  static constexpr bool Ragged = false, TotalInRegisters = false;
  /// Whether the total waits in shared memory, or else in global memory.
  static constexpr bool TotalInShared = HeadDim * Blocks <= 128;

  /// The group's last part waits in shared memory while others are multiplied:
  /// the scores, their weights and all of a group are more registers than there
  /// are.
  static constexpr bool PartWaits = HeadDim > 128;
  /// Values for the end of a unit also wait in shared memory if widening warps
  /// need registers (8 bits), or if two blocks share the registers.
  static constexpr bool KeepsUnit = Widens && (PartWaits || Blocks > 1);

  /// Named barriers; more are of turns (TileRing.h).
  static constexpr int ConsumerBarrier = 1, WidenersBarrier = 5;

  /// Leaves whose scales are there at a time. When a leaf's scales are written,
  /// those of the leaf ScaleBuffers before it are not read any more.
  static constexpr int ScaleBuffers = (Stages + 3 * Parts - 1) / (2 * Parts);

  /// The buffer of the leaf after one that has `buffer`: of the next work, too.
  static KV_HD constexpr int scalesAfter(int buffer) {
    return buffer + 1 == ScaleBuffers ? 0 : buffer + 1;
  }

  /// Shared memory. A merge has no total, and no queries any more: its tables
  /// lie there.
  using Shared = SharedLayout<
      Slot<slot::Ring, Chunk, Stages * TileBytes / ChunkBytes>,
      Slot<slot::Copies, Chunk,
           Widens ? CopyStages * CopyBytes / ChunkBytes : 0>,
      Slot<slot::Queries, Chunk, Rows * QueryChunks>,
      Slot<slot::Totals, float, TotalInShared ? Rows * HeadDim : 0>,
      Slot<slot::Finishes, FloatPair, Rows>,
      Over<slot::Paths, IntPair, Rows, slot::Finishes>,
      Slot<slot::Bounds, IntPair, Rows>,
      Slot<slot::WaitingPart, FloatQuad, PartWaits ? Threads * PartTiles : 0>,
      Slot<slot::QueryScales, float, Widens ? Rows : 0>,
      Slot<slot::RowScales, float, Scaled ? ScaleBuffers * 2 * Leaf : 0>,
      Slot<slot::ScaleShares, uint32_t, Shares ? 2 * ScaleGroups * Leaf : 0>,
      Slot<slot::Ticket, uint32_t, 4>,
      Slot<slot::KeptUnit, Chunk, KeepsUnit ? 4 : 0>,
      Slot<slot::TotalStates, FloatQuad, KeepsUnit ? Threads : 0>,
      Slot<slot::Full, uint64_t, Stages>, Slot<slot::Empty, uint64_t, Stages>,
      Slot<slot::Landed, uint64_t, CopyStages>,
      Slot<slot::Widened, uint64_t, CopyStages>,
      Over<slot::PieceSlots, int32_t, 1024,
           std::conditional_t<TotalInShared, slot::Totals, slot::Queries>>,
      Over<slot::PieceMaxima, FloatPair, Rows, After<slot::PieceSlots>>,
      Between<slot::PieceWeights, After<slot::PieceMaxima>, slot::Finishes>>;
  static constexpr int SharedBytes = Shared::bytes();

  static constexpr int SlotFloats = Rows * (HeadDim + 2);
  static constexpr int TotalFloats = TotalInShared ? 0 : Rows * HeadDim;

  /// The barriers of a stage: its tile is there; all have read it.
  static KV_HD constexpr int full(int stage) {
    return barrierOf<TileConfig, slot::Full>(stage);
  }
  static KV_HD constexpr int empty(int stage) {
    return barrierOf<TileConfig, slot::Empty>(stage);
  }
  /// Of 16 bits: its boxes are there, but rows of them are not zero yet. Of 8:
  /// the slab is there; all that widen have read it.
  static KV_HD constexpr int landed(int stage) {
    return barrierOf<TileConfig, slot::Landed>(stage);
  }
  static KV_HD constexpr int widened(int stage) {
    return barrierOf<TileConfig, slot::Widened>(stage);
  }
};

/// Whether boxes are copied to another place than where they are multiplied.
template <class C> constexpr bool CopiesApart = BytesOf<C, slot::Copies> > 0;
/// Where they are copied to.
template <class C>
constexpr int CopiesBegin =
    OffsetOf<C, std::conditional_t<CopiesApart<C>, slot::Copies, slot::Ring>>;

/// Whether a block has the registers and the shared memory that it needs.
template <class C>
constexpr bool FitsMultiprocessor =
    fits(C::SharedBytes, C::Blocks, 90) &&
    (!C::DividesRegisters ||
     C::LoaderRegisters * GroupThreads + C::ConsumerRegisters * C::Threads <=
         C::LaunchRegisters * C::LaunchThreads);

/// The configuration of a row KV_TILE_KERNEL.
#define KV_TILE_CONFIG(query, cache, scales, dim)                              \
  TileConfig<ElementOf<KV_DTYPE_##query>, ElementOf<KV_DTYPE_##cache>, dim,    \
             Scales::scales>

/// The configuration of a row KV_DRAFT_TILE_KERNEL: up to 64 rows a sequence,
/// which one warpgroup has. Two blocks share an SM, so that one multiplies
/// while the other weighs.
template <class Query, class Cache, Scales S, int HeadDim>
struct DraftTileConfig : TileConfig<Query, Cache, HeadDim, S, 1, 2> {
  static constexpr bool Drafts = true;
};
#define KV_DRAFT_TILE_CONFIG(query, cache, scales, dim)                        \
  DraftTileConfig<ElementOf<KV_DTYPE_##query>, ElementOf<KV_DTYPE_##cache>,    \
                  Scales::scales, dim>

/// Tokens of a box: it lies in one page and in what a block asks for of a leaf,
/// and has whole atoms. 0: no box does.
constexpr int boxTokens(int pageSize, int partBlocks = 1) {
  int tokens = std::gcd(pageSize, 64 / partBlocks);
  return tokens >= AtomRows ? tokens : 0;
}

/// The tensor of the keys (plane 0) or values of a layer, and the box of one
/// tile copy, in elements of 16 bits. The cache's elements have 1 or 2 bytes.
/// `partBlocks` is the kernel's number of blocks per part. Dimensions are
/// ordered by their strides. For products of 8 bits, rows of a box have 128
/// bytes, and zeros follow the head's.
constexpr TensorDescription describeTiles(const CacheView &view, int size,
                                          int heads, int dim, int64_t layer,
                                          int plane, int partBlocks = 1,
                                          bool eightBitProducts = false) {
  auto bytes = [&](int64_t elements) { return uint64_t(elements) * size; };
  uint64_t tokens = uint64_t(int32_t(view.pageSize));
  uint32_t rows = uint32_t(boxTokens(int32_t(view.pageSize), partBlocks));
  TensorDescription tensor{
      static_cast<const char *>(view.data) +
          bytes(layer * view.layerStride + plane * view.planeStride),
      {bytes(dim) / 2, uint64_t(heads), tokens, uint64_t(view.pages)},
      {bytes(view.headStride), bytes(view.tokenStride), bytes(view.pageStride)},
      {eightBitProducts ? SlabRowBytes / 2 : uint32_t(bytes(64) / 2), 1, rows,
       1},
      size == 1 && !eightBitProducts};
  if (view.headStride > view.tokenStride) {
    std::swap(tensor.sizes[1], tensor.sizes[2]);
    std::swap(tensor.strides[0], tensor.strides[1]);
    std::swap(tensor.box[1], tensor.box[2]);
  }
  return tensor;
}

/// Whether a cache can be copied by boxes. Each stride must be a multiple of
/// the one before: the driver's manual builds them so.
constexpr bool canTile(const CacheView &view, int size, int heads, int dim) {
  if (boxTokens(int32_t(view.pageSize)) == 0 || view.pages < 1)
    return false;
  TensorDescription tensor = describeTiles(view, size, heads, dim, 0, 0);
  return !problemOf(tensor) && tensor.strides[0] >= uint64_t(dim) * size &&
         tensor.strides[1] % tensor.strides[0] == 0 &&
         tensor.strides[2] % tensor.strides[1] == 0 &&
         tensor.strides[2] >= tensor.strides[1] &&
         view.layerStride * size % 16 == 0 && view.planeStride * size % 16 == 0;
}

/// The parameters of a launch with `partBlocks` blocks per part, except the
/// maps.
constexpr TileParams tileParams(const AttentionParams &p, int partBlocks = 1) {
  TileParams tiles{};
  static_cast<AttentionParams &>(tiles) = p;
  tiles.boxShift = std::countr_zero(
      unsigned(boxTokens(int32_t(p.cache.pageSize), partBlocks)));
  tiles.headsFirst = p.cache.headStride <= p.cache.tokenStride;
  return tiles;
}

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_PARAMETERS_ATTENTIONTILES_H
