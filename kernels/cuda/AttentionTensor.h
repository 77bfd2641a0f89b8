//===- AttentionTensor.h - Shapes of kernels with tensor memory -*- C++ -*-===//
//
// The prefill kernels of sm_100a. A warp copies boxes of pages, one thread
// issues all products, and two warpgroups, of which each thread has a row,
// weigh the scores and fold the values.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_ATTENTIONTENSOR_H
#define KV_KERNELS_CUDA_ATTENTIONTENSOR_H

#include "AttentionTiles.h"
#include "TensorBlock.h"

namespace kv::cuda {

/// One kernel. A unit's rows are two tiles of 128. Of leaf i the products of
/// tile t have the number n = 2 i + t; they are issued in the order
///
///   scores 0, scores 1, values 0, scores 2, values 1, scores 3, values 2, ...
///
/// so that one tile's weights are computed while the other's are multiplied.
/// Scores have three places in tensor memory, which tiles take in turn: the
/// scores n + 2 come while the values of n are still read from where the
/// scores n were. The values of a leaf have one place: they are folded while
/// scores are multiplied.
template <class QueryT, int HeadDimV> struct TensorConfig {
  static constexpr bool Tiles = true, Tensor = true;
  using Params = TileParams;
  using Query = QueryT;
  using Cache = QueryT;
  using Product = QueryT;
  static constexpr bool Widens = false, Scaled = false, Shares = false;
  static constexpr int ScaleGroups = 1;

  static constexpr int HeadDim = HeadDimV, KeyDim = HeadDim;
  static_assert(HeadDim % 64 == 0 && HeadDim <= 128,
                "a slab has 64 elements, and a thread registers for a row");
  static constexpr int RowGroups = 2; // tiles of rows, of a warpgroup each
  static constexpr int Rows = TensorLanes * RowGroups;
  static constexpr int Warps = GroupWarps * RowGroups;
  static constexpr int Threads = Warps * WarpLanes;
  static constexpr int LaunchThreads = Threads + GroupThreads;
  /// Of the first warpgroup: the others are the loader's.
  static constexpr int IssuerWarp = 2;
  /// Registers of a thread as it is launched, and of one of either role.
  static constexpr int LaunchRegisters = 168;
  static constexpr int LoaderRegisters = 40, ConsumerRegisters = 232;
  static_assert(LoaderRegisters * GroupThreads + ConsumerRegisters * Threads <=
                LaunchRegisters * LaunchThreads);

  static constexpr int Leaf = kv::plan::GpuLeaf;
  static constexpr int Slabs = HeadDim / 64, SlabBytes = Leaf * SlabRowBytes;
  static constexpr int TileBytes = Slabs * SlabBytes;
  static constexpr int Stages = HeadDim == 64 ? 6 : 5;
  static constexpr int TileSlabs = Slabs, Parts = 1;

  /// Boxes are copied to the ring, a tile at a time.
  static constexpr int CopySlabs = TileSlabs, CopyParts = 1;
  static constexpr int CopyRowBytes = SlabRowBytes, CopySlabBytes = SlabBytes;
  static constexpr int CopyBytes = TileBytes, CopyStages = Stages;

  static constexpr int QueryChunks = HeadDim * 2 / ChunkBytes;
  using QueryRows = SlabRows<Rows, QueryChunks>;
  static constexpr int QuerySlabBytes = Rows * SlabRowBytes;

  // What an AttentionBody has of the other kernels, and nothing here uses.
  static constexpr bool QueriesInRegisters = false;
  static constexpr int RowTiles = Warps, KeyWarps = 1, ScoreTiles = 1;
  static constexpr int ColumnTiles = 1, KeyTiles = 2;
  static constexpr int ValueSteps = 1, ValueLoads = 1;
  static constexpr bool Ragged = false, TotalInRegisters = false;

  /// Tensor memory, in columns. Weights lie where their scores were, in half of
  /// the columns, and their sums, of which one column counts, behind them.
  static constexpr int ScorePlaces = 3, ScoreColumns = Leaf;
  static constexpr int Sums = 48, SumColumns = 16;
  static constexpr int Values = ScorePlaces * ScoreColumns;
  /// Columns of scores that are loaded, and as weights stored, at a time, and
  /// parts in which weights are passed on.
  static constexpr int Piece = 32, WeightParts = 2;
  /// Where the weights of a key are.
  static KV_HD constexpr int weightsOf(int key) {
    return key / 2 < Sums ? key / 2 : key / 2 + SumColumns;
  }
  /// Of a leaf's values, slices of which two find room: each place is used in
  /// turn, and folded while the next one is multiplied.
  static constexpr int SliceColumns = 64, Slices = HeadDim / SliceColumns;
  static constexpr int ValuePlaces = 2;
  static_assert(Slices <= ValuePlaces &&
                Values + ValuePlaces * SliceColumns <= TensorColumns);

  /// Named barriers.
  static constexpr int ConsumerBarrier = 1, CleanerBarrier = 2;

  /// Shared memory, in bytes. A merge has no queries: its tables lie there.
  static constexpr int Ring = 0, Copies = Ring;
  static constexpr int Queries = Ring + Stages * TileBytes;
  static constexpr int QueryBytes = 65536;
  static_assert(QueryBytes >= Rows * HeadDim * 2);
  static constexpr int Ones = Queries + QueryBytes;
  static constexpr int OnesBytes = SumColumns * SlabRowBytes;
  static constexpr int Ticket = Ones + OnesBytes;
  static constexpr int TensorPlace = Ticket + 16;
  static constexpr int Barriers = TensorPlace + 16;
  static constexpr int SharedBytes =
      Barriers +
      (3 * Stages + (1 + WeightParts + 2 * Slices) * RowGroups + 1) * 8;

  static constexpr int RowPlaces = Queries, MergeTable = 1024;
  static constexpr int GroupWeights = RowPlaces + MergeTable * 4;
  static constexpr int TotalWeights = GroupWeights;
  static constexpr int QueryScales = 0; // queries have none
  static constexpr int MergeWeights = GroupWeights + Rows * 8,
                       MergeWeightBytes = Ones - MergeWeights;

  static constexpr int SlotFloats = Rows * (HeadDim + 2);
  static constexpr int TotalFloats = SlotFloats;

  /// The barriers of a stage: its tile is there; all have read it; its boxes
  /// are there, but rows of them are not zero yet.
  static KV_HD constexpr int full(int stage) { return Barriers + stage * 8; }
  static KV_HD constexpr int empty(int stage) { return full(Stages + stage); }
  static KV_HD constexpr int landed(int stage) {
    return full(2 * Stages + stage);
  }
  /// The barriers of a tile of rows, a phase a leaf: its scores are there; its
  /// weights; its values; these are folded.
  static KV_HD constexpr int scored(int tile) {
    return full(3 * Stages + tile);
  }
  static KV_HD constexpr int weighed(int tile, int part) {
    return scored(2 + part * 2 + tile);
  }
  static KV_HD constexpr int multiplied(int tile, int slice) {
    return weighed(tile, WeightParts + slice);
  }
  static KV_HD constexpr int folded(int tile, int slice) {
    return multiplied(tile, Slices + slice);
  }
  /// A phase a unit: its queries are there.
  static constexpr int Asked = SharedBytes - 8;
};

/// The configuration of a row KV_TENSOR_KERNEL.
#define KV_TENSOR_CONFIG(query, dim)                                           \
  TensorConfig<ElementOf<KV_DTYPE_##query>, dim>

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTIONTENSOR_H
