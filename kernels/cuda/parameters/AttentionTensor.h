//===- AttentionTensor.h - Shapes of kernels with tensor memory -*- C++ -*-===//
//
// The prefill kernels of sm_100a, and those of operations with products of 8
// bits (docs/reference/products.md), of prompts and of decoding. A warp copies
// boxes of pages, one thread issues all products, and two warpgroups, of which
// each thread has a row, weigh the scores and fold the values.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_PARAMETERS_ATTENTIONTENSOR_H
#define KV_KERNELS_CUDA_PARAMETERS_ATTENTIONTENSOR_H

#include "AttentionTiles.h"
#include "kernels/block/Body.h"
#include "kernels/block/TensorBlock.h"

namespace kv::cuda {

/// One kernel. A unit's rows are two tiles of 128, of which the second one may
/// have none (liveTiles): its products are left out. Of leaf i the products of
/// tile t of T have the number n = T i + t; they are issued in the order
///
///   scores 0, scores 1, values 0, scores 2, values 1, scores 3, values 2, ...
///
/// so that one tile's weights are computed while the other's are multiplied.
/// Scores have three places in tensor memory, which they take in turn: the
/// scores n + 2 come while the values of n are still read from where the
/// scores n were. The values of a leaf are folded while scores are multiplied.
template <class QueryT, class CacheT, int HeadDimV> struct TensorConfig {
  static constexpr bool Tiles = true, Tensor = true;
  using Params = TileParams;
  using Query = QueryT;
  using Cache = CacheT;
  using Product = CacheT;
  /// A cache of 8 bits is for products of 8 bits: queries are scaled, row by
  /// row, and rounded when they are stored.
  static constexpr bool EightBitProducts = sizeof(Cache) == 1;
  static constexpr bool Widens = EightBitProducts;
  static constexpr bool Scaled = false, Shares = false;
  static constexpr int ScaleGroups = 1;
  static_assert(std::is_same_v<Cache, F8E4M3> || std::is_same_v<Cache, Query>);

  static constexpr int HeadDim = HeadDimV, KeyDim = HeadDim;
  static_assert(HeadDim % 64 == 0 && HeadDim <= 128,
                "a thread has registers for a row");
  static constexpr int RowGroups = 2; // tiles of rows, of a warpgroup each
  static constexpr int Rows = TensorLanes * RowGroups;
  static constexpr int Warps = GroupWarps * RowGroups;
  static constexpr int Threads = Warps * WarpLanes;
  static constexpr int LaunchThreads = Threads + GroupThreads;
  /// Registers of a thread as it is launched, and of one of either role.
  static constexpr int LaunchRegisters = 168;
  static constexpr int LoaderRegisters = 40, ConsumerRegisters = 232;
  static_assert(LoaderRegisters * GroupThreads + ConsumerRegisters * Threads <=
                LaunchRegisters * LaunchThreads);

  /// The bytes of a row that one product sums over.
  static constexpr int StepBytes = 32;
  static constexpr int StepElements = StepBytes / int(sizeof(Product));
  static constexpr int KeySteps = KeyDim / StepElements;

  static constexpr int Leaf = kv::plan::GpuLeaf;
  /// A slab has rows of 128 bytes; 64 elements of 8 bits fill one half.
  static constexpr int SlabColumns = SlabRowBytes / int(sizeof(Cache));
  static constexpr int Slabs = (HeadDim + SlabColumns - 1) / SlabColumns;
  static constexpr int SlabBytes = Leaf * SlabRowBytes;
  static constexpr int TileBytes = Slabs * SlabBytes;
  static constexpr int Stages = EightBitProducts ? 8 : HeadDim == 64 ? 6 : 5;
  static constexpr int TileSlabs = Slabs, Parts = 1;

  /// Boxes are copied to the ring, a tile at a time.
  static constexpr int CopySlabs = TileSlabs, CopyParts = 1;
  static constexpr int CopyRowBytes = SlabRowBytes, CopySlabBytes = SlabBytes;
  static constexpr int CopyBytes = TileBytes, CopyStages = Stages;

  static constexpr int QueryChunks = HeadDim * 2 / ChunkBytes;
  using QueryRows = SlabRows<Rows, Slabs * SlabRowBytes / ChunkBytes>;
  static constexpr int QuerySlabBytes = Rows * SlabRowBytes;

  static constexpr int RowTiles = Warps; // of sixteen rows

  /// Tensor memory, in columns. Weights lie where their scores were, in half of
  /// the columns or, of 8 bits, a quarter, and among these their sums, of which
  /// one column counts.
  static constexpr int ScorePlaces = 3, ScoreColumns = Leaf;
  static constexpr int Sums = 48, SumColumns = 16;
  static constexpr int Values = ScorePlaces * ScoreColumns;
  /// Columns of scores that are loaded, and as weights stored, at a time, and
  /// parts in which weights are passed on.
  static constexpr int Piece = 32, WeightParts = 2;
  static constexpr int WordWeights = 4 / int(sizeof(Product));
  /// Where the weights of a key are.
  static KV_HD constexpr int weightsOf(int key) {
    int word = key / WordWeights;
    return word < Sums ? word : word + SumColumns;
  }
  /// A leaf's values come in slices, of a slab each, which take places in turn
  /// and are folded while the next one is multiplied. Of 8 bits there is one
  /// place: an operand with neighbours along its columns has whole slabs.
  /// SliceValues of a slice's columns belong to the head.
  static constexpr int SliceColumns = SlabColumns, Slices = Slabs;
  static constexpr int SliceValues = kv::plan::lesser(HeadDim, SliceColumns);
  static constexpr int ValuePlaces = (TensorColumns - Values) / SliceColumns;
  static_assert(Slices <= ValuePlaces);
  static KV_HD constexpr int valuesOf(int tile, int slice) {
    return Values + (tile * Slices + slice) % ValuePlaces * SliceColumns;
  }

  /// Named barriers.
  static constexpr int ConsumerBarrier = 1;

  /// Whether what leaves do not need waits in shared memory: weights of 8 bits
  /// are words of their own, while those of 16 take their scores' registers.
  static constexpr bool KeepsWork = EightBitProducts;
  /// Shared memory. A merge has no queries: its tables lie there.
  static constexpr int QueryBytes = 65536;
  static_assert(QueryBytes >= Slabs * QuerySlabBytes);
  static constexpr int OnesBytes = SumColumns * SlabRowBytes;
  using Shared = SharedLayout<
      Slot<slot::Ring, Chunk, Stages * TileBytes / ChunkBytes>,
      Slot<slot::Queries, Chunk, QueryBytes / ChunkBytes>,
      Slot<slot::Ones, Chunk, OnesBytes / ChunkBytes>,
      Slot<slot::QueryScales, float, Widens ? Rows : 0>,
      Slot<slot::Ticket, uint32_t, 4>, Slot<slot::TensorPlace, Chunk, 1>,
      Slot<slot::KeptSights, Chunk, KeepsWork ? Rows : 0>,
      Slot<slot::KeptWork, Chunk, KeepsWork ? 2 : 0>,
      Slot<slot::Full, uint64_t, Stages>, Slot<slot::Empty, uint64_t, Stages>,
      Slot<slot::Landed, uint64_t, Stages>,
      Slot<slot::Scored, uint64_t, ScorePlaces>,
      Slot<slot::Weighed, uint64_t, WeightParts * RowGroups>,
      Slot<slot::Multiplied, uint64_t, Slices * RowGroups>,
      Slot<slot::Folded, uint64_t, Slices * RowGroups>,
      Slot<slot::Asked, uint64_t, 1>,
      Over<slot::PieceSlots, int32_t, 1024, slot::Queries>,
      Over<slot::PieceMaxima, FloatPair, Rows, After<slot::PieceSlots>>,
      Between<slot::PieceWeights, After<slot::PieceMaxima>, slot::Ones>>;
  static_assert(sizeof(kv::plan::Work) <= 32);
  static constexpr int SharedBytes = Shared::bytes();

  static constexpr int SlotFloats = Rows * (HeadDim + 2);
  static constexpr int TotalFloats = SlotFloats;

  /// The barriers of a stage: its tile is there; all have read it; its boxes
  /// are there, but rows of them are not zero yet.
  static KV_HD constexpr int full(int stage) {
    return barrierOf<TensorConfig, slot::Full>(stage);
  }
  static KV_HD constexpr int empty(int stage) {
    return barrierOf<TensorConfig, slot::Empty>(stage);
  }
  static KV_HD constexpr int landed(int stage) {
    return barrierOf<TensorConfig, slot::Landed>(stage);
  }
  /// The barrier of a place of scores: they are there. If a tile had a single
  /// barrier, two phases could complete before a thread awaits the first,
  /// because scores are multiplied before the earlier ones are weighed.
  static KV_HD constexpr int scored(int place) {
    return barrierOf<TensorConfig, slot::Scored>(place);
  }
  /// The barriers of a tile of rows, with one phase per leaf: its weights are
  /// there, its values are there, its values are folded.
  static KV_HD constexpr int weighed(int tile, int part) {
    return barrierOf<TensorConfig, slot::Weighed>(part * RowGroups + tile);
  }
  static KV_HD constexpr int multiplied(int tile, int slice) {
    return barrierOf<TensorConfig, slot::Multiplied>(slice * RowGroups + tile);
  }
  static KV_HD constexpr int folded(int tile, int slice) {
    return barrierOf<TensorConfig, slot::Folded>(slice * RowGroups + tile);
  }
  /// A phase a unit: its queries are there.
  static KV_HD constexpr int asked() {
    return barrierOf<TensorConfig, slot::Asked>(0);
  }
};

/// The number of a unit's tiles that have rows. The second tile has none in a
/// decode step, and at the end of many prompts.
KV_BODY int liveTiles(int64_t rows) { return rows > TensorLanes ? 2 : 1; }

/// The configuration of a row KV_TENSOR_KERNEL.
#define KV_TENSOR_CONFIG(query, cache, dim)                                    \
  TensorConfig<ElementOf<KV_DTYPE_##query>, ElementOf<KV_DTYPE_##cache>, dim>

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_PARAMETERS_ATTENTIONTENSOR_H
