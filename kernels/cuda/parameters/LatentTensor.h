//===- LatentTensor.h - Shapes for latent caches, tensor memory -*- C++ -*-===//
//
// The kernels of sm_100a for more rows of a latent cache than a decode kernel
// has. Tiles, rows and their owners are those of sm_90a (LatentTiles.h); one
// thread issues all products, whose sums lie in tensor memory.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_PARAMETERS_LATENTTENSOR_H
#define KV_KERNELS_CUDA_PARAMETERS_LATENTTENSOR_H

#include "LatentTiles.h"
#include "kernels/block/TensorBlock.h"

namespace kv::cuda {

/// One kernel. Products have 64 rows: the group of twice as many would fill all
/// registers, or all of tensor memory. Of a pair of leaves are issued
///
///   scores of both, values of the first, values of the second
///
/// the values a slice at a time, by turns one of each warpgroup's columns.
template <class QueryT, int KeyDimV, int HeadDimV>
struct LatentTensorConfig : LatentTileConfig<QueryT, KeyDimV, HeadDimV> {
  using Base = LatentTileConfig<QueryT, KeyDimV, HeadDimV>;
  static constexpr bool Tensor = true;
  static_assert(Base::Rows == HalfRows);

  /// Tensor memory, in columns: a place of scores for each stage, and slices of
  /// values, which take their places in turn.
  static constexpr int ScoreColumns = Base::Leaf;
  static constexpr int Values = Base::Stages * ScoreColumns;
  static constexpr int SliceColumns = Base::SliceTiles * 8;
  static constexpr int ValuePlaces = 3;
  static_assert(ValuePlaces > Base::Groups &&
                Values + ValuePlaces * SliceColumns <= TensorColumns);

  /// Shared memory: what those of sm_90a have, and more barriers.
  using Shared = Base::Shared::template With<
      Slot<slot::TensorPlace, Chunk, 1>,
      Slot<slot::Scored, uint64_t, Base::Stages>,
      Slot<slot::Weighed, uint64_t, Base::Stages>,
      Slot<slot::Multiplied, uint64_t, 2 * Base::Groups>,
      Slot<slot::Folded, uint64_t, ValuePlaces>, Slot<slot::Asked, uint64_t, 1>,
      Slot<slot::Drained, uint64_t, 1>>;
  static constexpr int SharedBytes = Shared::bytes();

  /// A commit says that a slab was read.
  static KV_HD constexpr int readers(int) { return 1; }
  /// The barriers of a stage, with one phase per leaf: its scores are there,
  /// its weights are there. A barrier for every second slice of a warpgroup:
  /// its values are there. A barrier of a place of values: they were loaded.
  static KV_HD constexpr int scored(int stage) {
    return barrierOf<LatentTensorConfig, slot::Scored>(stage);
  }
  static KV_HD constexpr int weighed(int stage) {
    return barrierOf<LatentTensorConfig, slot::Weighed>(stage);
  }
  static KV_HD constexpr int multiplied(int half, int slice) {
    return barrierOf<LatentTensorConfig, slot::Multiplied>(half * 2 +
                                                           slice % 2);
  }
  static KV_HD constexpr int folded(int place) {
    return barrierOf<LatentTensorConfig, slot::Folded>(place);
  }
  /// A phase a unit: its queries are there. And one alone: no product and no
  /// commit is under way.
  static KV_HD constexpr int asked() {
    return barrierOf<LatentTensorConfig, slot::Asked>(0);
  }
  static KV_HD constexpr int drained() {
    return barrierOf<LatentTensorConfig, slot::Drained>(0);
  }
};

/// The configuration of a row KV_LATENT_TENSOR_KERNEL.
#define KV_LATENT_TENSOR_CONFIG(query, dim, vDim)                              \
  LatentTensorConfig<ElementOf<KV_DTYPE_##query>, dim, vDim>

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_PARAMETERS_LATENTTENSOR_H
