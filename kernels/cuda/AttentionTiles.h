//===- AttentionTiles.h - Shapes of kernels that copy tiles -----*- C++ -*-===//
//
// The prefill kernels of sm_90a: a producer warp copies boxes of pages, two
// warpgroups multiply them.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_ATTENTIONTILES_H
#define KV_KERNELS_CUDA_ATTENTIONTILES_H

#include "Attention.h"

#include <bit>
#include <numeric>

namespace kv::cuda {

/// Whether a kernel copies tiles, and each warp has all keys and all columns of
/// its rows.
template <class C>
concept TileRows = requires { requires C::Tiles; };

/// What AttentionParams say, and the tensor maps of K and V of the launch's
/// layer.
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

/// One kernel. Its consumers, two warpgroups of 64 rows each, are what an
/// AttentionBody knows of; a third warpgroup brings them tiles of a leaf's keys
/// or values, in rows of 128 bytes as wgmma reads them.
template <class QueryT, int HeadDimV> struct TileConfig {
  static constexpr bool Tiles = true;
  using Params = TileParams;
  using Query = QueryT;
  using Cache = QueryT;
  using Product = QueryT;
  static constexpr bool Widens = false, Scaled = false, Shares = false;
  static constexpr int ScaleGroups = 1;

  static constexpr int HeadDim = HeadDimV, KeyDim = HeadDim;
  static_assert(HeadDim % 64 == 0, "a slab has 64 elements");
  static constexpr int Groups = 2; // of warps that multiply
  static constexpr int RowTiles = GroupWarps * Groups;
  static constexpr int Rows = 16 * RowTiles;
  static constexpr int KeyWarps = 1, ScoreTiles = 1;
  static constexpr int Warps = RowTiles, Threads = Warps * WarpLanes;
  static constexpr int LaunchThreads = Threads + GroupThreads;
  /// Registers of a thread as it is launched, and of one of either role.
  static constexpr int LaunchRegisters = 168;
  static constexpr int LoaderRegisters = 40, ConsumerRegisters = 232;
  static_assert(LoaderRegisters * GroupThreads + ConsumerRegisters * Threads <=
                LaunchRegisters * LaunchThreads);

  static constexpr int Leaf = kv::plan::GpuLeaf;
  static constexpr int Slabs = HeadDim / 64, SlabBytes = Leaf * SlabRowBytes;
  static constexpr int TileBytes = Slabs * SlabBytes;
  static constexpr int Stages = HeadDim == 64 ? 6 : 4;

  static constexpr int QueryChunks = HeadDim * 2 / ChunkBytes;
  using QueryRows = SlabRows<Rows, QueryChunks>;
  static constexpr int QuerySlabBytes = Rows * SlabRowBytes;
  static constexpr bool QueriesInRegisters = false;

  static constexpr int WarpColumns = HeadDim, ColumnTiles = HeadDim / 8;
  static constexpr int KeyTiles = Leaf / 8, ValueSteps = 1, ValueLoads = 1;
  static constexpr bool Ragged = false, TotalInRegisters = false;

  /// Named barriers.
  static constexpr int ConsumerBarrier = 1, CleanerBarrier = 2;

  /// Shared memory, in bytes.
  static constexpr int Ring = 0;
  static constexpr int Queries = Ring + Stages * TileBytes;
  static constexpr int Totals = Queries + Rows * HeadDim * 2;
  static constexpr int Finishes = Totals + Rows * HeadDim * 4;
  static constexpr int Bounds = Finishes + Rows * 8;
  static constexpr int Ticket = Bounds + Rows * 8;
  static constexpr int Barriers = Ticket + 16;
  static constexpr int SharedBytes = Barriers + 3 * Stages * 8;

  /// A merge has no total: its tables lie there.
  static constexpr int RowPlaces = Totals, MergeTable = 1024;
  static constexpr int GroupWeights = RowPlaces + MergeTable * 4;
  static constexpr int TotalWeights = GroupWeights; // warps keep them
  static constexpr int QueryScales = 0;             // queries have none
  static constexpr int MergeWeights = GroupWeights + Rows * 8,
                       MergeWeightBytes = Finishes - MergeWeights;

  static constexpr int SlotFloats = Rows * (HeadDim + 2), TotalFloats = 0;

  /// The barriers of a stage: its tile is there; all have read it; its boxes
  /// are there, but rows of them are not zero yet.
  static KV_HD constexpr int full(int stage) { return Barriers + stage * 8; }
  static KV_HD constexpr int empty(int stage) { return full(Stages + stage); }
  static KV_HD constexpr int landed(int stage) {
    return full(2 * Stages + stage);
  }
};

/// The configuration of a row KV_TILE_KERNEL.
#define KV_TILE_CONFIG(query, dim) TileConfig<ElementOf<KV_DTYPE_##query>, dim>

/// Tokens of a box: it lies in one page and in one leaf, and has whole atoms.
/// 0: no box does.
constexpr int boxTokens(int pageSize) {
  int tokens = std::gcd(pageSize, 64);
  return tokens >= AtomRows ? tokens : 0;
}

/// Of a cache of elements of 16 bits: the tensor of the keys, plane 0, or the
/// values of a layer, and the box that a tile copy takes of it. Dimensions are
/// ordered by their strides.
constexpr TensorDescription describeTiles(const CacheView &view, int heads,
                                          int dim, int64_t layer, int plane) {
  auto bytes = [](int64_t elements) { return uint64_t(elements) * 2; };
  uint64_t tokens = uint64_t(int32_t(view.pageSize));
  uint32_t rows = uint32_t(boxTokens(int32_t(view.pageSize)));
  TensorDescription tensor{
      static_cast<const char *>(view.data) +
          bytes(layer * view.layerStride + plane * view.planeStride),
      {uint64_t(dim), uint64_t(heads), tokens, uint64_t(view.pages)},
      {bytes(view.headStride), bytes(view.tokenStride), bytes(view.pageStride)},
      {64, 1, rows, 1}};
  if (view.headStride > view.tokenStride) {
    std::swap(tensor.sizes[1], tensor.sizes[2]);
    std::swap(tensor.strides[0], tensor.strides[1]);
    std::swap(tensor.box[1], tensor.box[2]);
  }
  return tensor;
}

/// Whether a cache can be copied by boxes. Each stride must be a multiple of
/// the one before: the driver's manual builds them so.
constexpr bool canTile(const CacheView &view, int heads, int dim) {
  if (boxTokens(int32_t(view.pageSize)) == 0 || view.pages < 1)
    return false;
  TensorDescription tensor = describeTiles(view, heads, dim, 0, 0);
  return !problemOf(tensor) && tensor.strides[0] >= uint64_t(dim) * 2 &&
         tensor.strides[1] % tensor.strides[0] == 0 &&
         tensor.strides[2] % tensor.strides[1] == 0 &&
         tensor.strides[2] >= tensor.strides[1] && view.layerStride % 8 == 0 &&
         view.planeStride % 8 == 0;
}

/// What a launch takes, but for the maps.
constexpr TileParams tileParams(const AttentionParams &p) {
  TileParams tiles{};
  static_cast<AttentionParams &>(tiles) = p;
  tiles.boxShift =
      std::countr_zero(unsigned(boxTokens(int32_t(p.cache.pageSize))));
  tiles.headsFirst = p.cache.headStride <= p.cache.tokenStride;
  return tiles;
}

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTIONTILES_H
