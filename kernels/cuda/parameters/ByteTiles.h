//===- ByteTiles.h - Shapes of tiles whose products are bytes' --*- C++ -*-===//
//
// The kernels of sm_90a for operations with products of 8 bits
// (docs/reference/products.md), of prompts and of decoding: a row has its bits
// by one instruction only. Keys are multiplied as boxes bring them; three warps
// transpose values, since an operand of 8 bits has neighbours along what is
// summed over.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_PARAMETERS_BYTETILES_H
#define KV_KERNELS_CUDA_PARAMETERS_BYTETILES_H

#include "AttentionTiles.h"

namespace kv::cuda {

/// Configurations with products of 8 bits by wgmma.
template <class C>
concept ByteTiles =
    TileRows<C> && ByteProducts<C> && !requires { requires C::Tensor; };

/// Rows of queries of 8 bits as an operand of wgmma: one slab.
struct ByteQueryRows {
  static constexpr int Pitch = SlabRowBytes / ChunkBytes;
  static KV_HD constexpr int chunk(int row, int column) {
    return int(swizzled(uint32_t(row * SlabRowBytes + column * ChunkBytes))) /
           ChunkBytes;
  }
};

/// One kernel, of three warpgroups that multiply: two do not hide each other's
/// weights (docs/reference/products.md). All other constants are those of a
/// TileConfig. Rows of keys and values have 128 bytes in shared memory, of
/// which 64 elements fill one half.
template <class QueryT, int HeadDimV>
struct ByteTileConfig : TileConfig<QueryT, F8E4M3, HeadDimV, Scales::None, 3> {
  using Base = TileConfig<QueryT, F8E4M3, HeadDimV, Scales::None, 3>;
  using Base::HeadDim, Base::Leaf, Base::Rows;
  static_assert(Leaf == SlabRowBytes, "a row of transposed values is a leaf's");
  static_assert(HeadDim <= SlabRowBytes && HeadDim % 32 == 0);

  static constexpr bool EightBitProducts = true;
  using Product = F8E4M3;

  /// Columns are summed 64 at a time, so that some fold while others are
  /// multiplied; with the last ones, in one column tile more, weights: below
  /// transposed values eight rows of ones lie.
  static constexpr int Parts = HeadDim / 64, PartTiles = 8;
  static_assert(Parts <= 2 && HeadDim % 64 == 0);
  /// Column tiles of scores whose powers are the hardware's exponentials; those
  /// of the others are polynomials (docs/reference/products.md).
  static constexpr int ExponentialTiles = Base::KeyTiles * 3 / 4;
  static constexpr int ValueAtoms = HeadDim / AtomRows, SumTiles = 1;
  static constexpr int SlabBytes = Leaf * SlabRowBytes;
  static constexpr int ValueBytes = (ValueAtoms + SumTiles) * AtomBytes;
  /// Stages are of keys and of values in turn.
  static constexpr int Stages = HeadDim == 64 ? 6 : 4;
  static constexpr int TileBytes =
      SlabBytes > ValueBytes ? SlabBytes : ValueBytes;

  /// The target of copied values; keys are copied to the ring.
  static constexpr int CopySlabs = 1, CopyRowBytes = SlabRowBytes;
  static constexpr int CopySlabBytes = SlabBytes, CopyBytes = SlabBytes;
  static constexpr int CopyStages = HeadDim == 64 ? 2 : 1;
  static constexpr bool KeepsUnit = true;

  /// Registers of a thread of either role, chosen so that the code takes the
  /// fewest cycles by tools/sass/cycles.py and spills none.
  static constexpr int LoaderRegisters = HeadDim == 64 ? 64 : 32;
  static constexpr int ConsumerRegisters = HeadDim == 64 ? 144 : 160;

  /// Warps that transpose. WidenersBarrier is the third warpgroup's turn.
  static constexpr int Transposers = Base::Wideners;

  using QueryRows = ByteQueryRows;

  /// Shared memory. KeptWorks are those of who copies and transposes.
  using Shared = SharedLayout<
      Slot<slot::Ring, Chunk, Stages * TileBytes / ChunkBytes>,
      Slot<slot::Copies, Chunk, CopyStages * CopyBytes / ChunkBytes>,
      Slot<slot::Queries, Chunk, Rows * SlabRowBytes / ChunkBytes>,
      Slot<slot::Totals, float, Rows * HeadDim>,
      Slot<slot::Finishes, FloatPair, Rows>,
      Over<slot::Paths, IntPair, Rows, slot::Finishes>,
      Slot<slot::Bounds, IntPair, Rows>, Slot<slot::QueryScales, float, Rows>,
      Slot<slot::Ticket, uint32_t, 4>, Slot<slot::KeptUnit, Chunk, 4>,
      Slot<slot::TotalStates, FloatQuad, Base::Threads>,
      Slot<slot::KeptWorks, kv::plan::Work, GroupThreads>,
      Slot<slot::Full, uint64_t, Stages>, Slot<slot::Empty, uint64_t, Stages>,
      Slot<slot::Landed, uint64_t, CopyStages>,
      Slot<slot::Transposed, uint64_t, CopyStages>,
      Over<slot::PieceSlots, int32_t, 1024, slot::Totals>,
      Over<slot::PieceMaxima, FloatPair, Rows, After<slot::PieceSlots>>,
      Between<slot::PieceWeights, After<slot::PieceMaxima>, slot::Finishes>>;
  static constexpr int SharedBytes = Shared::bytes();

  /// As a TileConfig's; of copied values alone: they are there; all that
  /// transpose have read them.
  static KV_HD constexpr int full(int stage) {
    return barrierOf<ByteTileConfig, slot::Full>(stage);
  }
  static KV_HD constexpr int empty(int stage) {
    return barrierOf<ByteTileConfig, slot::Empty>(stage);
  }
  static KV_HD constexpr int landed(int copy) {
    return barrierOf<ByteTileConfig, slot::Landed>(copy);
  }
  static KV_HD constexpr int transposed(int copy) {
    return barrierOf<ByteTileConfig, slot::Transposed>(copy);
  }
};

/// The configuration of a row KV_BYTE_TILE_KERNEL.
#define KV_BYTE_TILE_CONFIG(query, dim)                                        \
  ByteTileConfig<ElementOf<KV_DTYPE_##query>, dim>

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_PARAMETERS_BYTETILES_H
