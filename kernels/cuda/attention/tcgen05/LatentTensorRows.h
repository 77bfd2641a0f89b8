//===- LatentTensorRows.h - Latent leaves from tensor memory ----*- C++ -*-===//
//
// The consumers of the kernels for latent caches that have tensor memory. The
// consumers work as LatentLeaves.h says, but issue no product: scores and
// slices of values come from tensor memory, in the order in which a wgmma would
// leave them in registers.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_ATTENTION_TCGEN05_LATENTTENSORROWS_H
#define KV_KERNELS_CUDA_ATTENTION_TCGEN05_LATENTTENSORROWS_H

#include "kernels/cuda/attention/common/LatentLeaves.h"
#include "kernels/cuda/parameters/LatentTensor.h"

namespace kv::cuda {

template <class U> class LatentTensorProducts {
  using B = typename U::B;
  using C = typename U::C;

public:
  KV_BODY explicit LatentTensorProducts(U &u) : slicePlace(u.map.half) {}

  KV_BODY void queriesStored(U &u) { u.b.arriveAt(u.b.barrier(C::asked())); }

  KV_BODY void multiplyQueries(U &u, Scores<U> &scores) {
    B &b = u.b;
    b.awaitPhase(b.barrier(C::scored(u.map.half)), phase);
    b.fenceAfter();
    b.loadTensor(scores.tiles[0], ownTensor(u, u.map.half * C::ScoreColumns));
    b.awaitLoads(scores.tiles[0]);
    phase ^= 1;
  }

  KV_BODY void awaitScores(U &) {}
  KV_BODY void passWeights(U &u) {
    u.b.fenceBefore();
    u.b.arriveAt(u.b.barrier(C::weighed(u.map.half)));
  }
  KV_BODY void awaitWeights(U &u, int stage) {
    u.b.awaitPhase(u.b.barrier(C::weighed(stage)), leafPhase);
  }

  KV_BODY void foldSlices(U &u, Group<U> &group, const Folds<U> &folds,
                          int stage) {
    B &b = u.b;
    KV_UNROLL for (int slice = 0; slice < C::Slices; ++slice) {
      b.awaitPhase(b.barrier(C::multiplied(u.map.half, slices & 1)),
                   slices >> 1 & 1);
      b.fenceAfter();
      TensorAddress at = ownTensor(u, C::Values + slicePlace * C::SliceColumns);
      float sliced[C::SliceTiles / 8][8][4];
      KV_UNROLL for (int i = 0; i < C::SliceTiles / 8; ++i)
        b.loadTensor(sliced[i], at.behind(i * 64));
      b.awaitLoads(sliced);
      b.fenceBefore();
      b.arriveAt(b.barrier(C::folded(slicePlace)));
      // The slice between was the other warpgroup's.
      slicePlace += C::Groups;
      if (slicePlace >= C::ValuePlaces)
        slicePlace -= C::ValuePlaces;
      ++slices;
      KV_UNROLL for (int n = 0; n < C::SliceTiles; ++n)
        group.foldTile(folds, slice * C::SliceTiles + n, sliced[n / 8][n % 8]);
    }
    leafPhase ^= stage;
  }

private:
  /// Where a warp's lanes of tensor memory begin, after `column` columns. Not
  /// kept: leaves need registers more.
  static KV_BODY TensorAddress ownTensor(U &u, int column) {
    TensorAddress memory = {view<C, slot::TensorPlace, uint32_t>(u.b).load(0)};
    return memory.below(u.map.warp % GroupWarps * WarpReach).behind(column);
  }

  int phase = 0; // of this warpgroup's stage
  /// Of the warp's slices in tensor memory: where the next is, how many there
  /// were, and the phase of the next leaf.
  int slicePlace, slices = 0, leafPhase = 0;
};

template <class U>
using LatentTensorLeaves = LatentLeaves<U, LatentTensorProducts<U>>;

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_TCGEN05_LATENTTENSORROWS_H
