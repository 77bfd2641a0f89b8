//===- TensorUnit.h - A thread's row of a unit ------------------*- C++ -*-===//

#ifndef KV_KERNELS_CUDA_ATTENTION_TCGEN05_TENSORUNIT_H
#define KV_KERNELS_CUDA_ATTENTION_TCGEN05_TENSORUNIT_H

#include "kernels/cuda/attention/common/Rows.h"
#include "kernels/cuda/attention/common/ScoreScale.h"
#include "kernels/cuda/parameters/AttentionTensor.h"

namespace kv::cuda {

/// The state that every part of a kernel reads whose threads have one row each.
template <TensorBlock BlockT, class ConfigT> struct TensorUnit {
  using B = BlockT;
  using C = ConfigT;

  KV_BODY TensorUnit(B &b, const TileParams &p)
      : b(b), p(p), scale(b, p), rows(b, p) {}

  /// This thread's of the unit's rows, and which tile that is in.
  KV_BODY int row() const { return b.thread(); }
  KV_BODY int tile() const { return b.thread() / GroupThreads; }
  /// Where this warp's lanes of tensor memory begin. Not kept: leaves need
  /// registers more.
  KV_BODY TensorAddress ownTensor() const {
    TensorAddress memory = {view<C, slot::TensorPlace, uint32_t>(b).load(0)};
    return memory.below(b.thread() % GroupThreads / WarpLanes * WarpReach);
  }

  /// The keys that the row sees and, in a tree, the path of those up to its
  /// own. Kept in shared memory where leaves need registers more.
  struct Sight {
    IntPair seen;
    uint64_t path;
  };
  KV_BODY void see(const kv::plan::Sequence &sequence) {
    Sight sight{{0, 0}, 0};
    if (row() < rows.liveRows) {
      sight.seen = rows.visible(sequence, row());
      if (p.ancestors)
        sight.path = rows.pathOf(sequence, row(), sight.seen);
    }
    if constexpr (C::KeepsWork)
      keptSights().store(row(), sight);
    else
      ownSight = sight;
  }
  KV_BODY Sight sight() const {
    if constexpr (C::KeepsWork)
      return keptSights().load(row());
    else
      return ownSight;
  }

  /// A row's scores times this are in units of log2.
  KV_BODY float factor() const {
    if constexpr (ByteProducts<C>)
      return ownFactor;
    else
      return scale.toLog2;
  }

  B &b;
  const TileParams &p;
  ScoreScale<B, C> scale;
  Rows<B, C> rows;
  float ownFactor = 0; // of products of 8 bits
  Sight ownSight;      // unless it is kept

private:
  KV_BODY auto keptSights() const {
    return view<C, slot::KeptSights, Sight>(b);
  }
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_TCGEN05_TENSORUNIT_H
