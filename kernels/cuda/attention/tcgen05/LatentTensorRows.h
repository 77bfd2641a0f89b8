//===- LatentTensorRows.h - Latent leaves from tensor memory ----*- C++ -*-===//
//
// Part of AttentionBody.h: the consumers of the kernels for latent caches that
// have tensor memory. They do what LatentTileRows.h says, but issue no product:
// scores and slices of values come from tensor memory, in the order in which a
// wgmma would leave them in registers.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_ATTENTION_TCGEN05_LATENTTENSORROWS_H
#define KV_KERNELS_CUDA_ATTENTION_TCGEN05_LATENTTENSORROWS_H

#include "LatentTensorIssuer.h"
#include "kernels/cuda/attention/wgmma/LatentTileRows.h"

namespace kv::cuda {

/// Where a warp's lanes of tensor memory begin, behind so many columns. Not
/// kept: leaves need registers more.
template <class C, TensorBlock B>
KV_BODY TensorAddress ownTensor(B &b, int warp, int column) {
  TensorAddress memory = {view<C, slot::TensorPlace, uint32_t>(b).load(0)};
  return memory.below(warp % GroupWarps * WarpReach).behind(column);
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::multiplyQueries()
  requires TensorTiles<C>
{
  b.awaitPhase(b.barrier(C::scored(half)), phase);
  b.fenceAfter();
  b.loadTensor(scores[0], ownTensor<C>(b, warp, half * C::ScoreColumns));
  b.awaitLoads(scores[0]);
  phase ^= 1;
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::foldSlices()
  requires TensorTiles<C>
{
  KV_UNROLL
  for (int slice = 0; slice < C::Slices; ++slice) {
    b.awaitPhase(b.barrier(C::multiplied(half, slices & 1)), slices >> 1 & 1);
    b.fenceAfter();
    TensorAddress at =
        ownTensor<C>(b, warp, C::Values + slicePlace * C::SliceColumns);
    float sliced[C::SliceTiles / 8][8][4];
    KV_UNROLL
    for (int i = 0; i < C::SliceTiles / 8; ++i)
      b.loadTensor(sliced[i], at.behind(i * 64));
    b.awaitLoads(sliced);
    b.fenceBefore();
    b.arriveAt(b.barrier(C::folded(slicePlace)));
    // The slice between was the other warpgroup's.
    slicePlace += C::Groups;
    if (slicePlace >= C::ValuePlaces)
      slicePlace -= C::ValuePlaces;
    ++slices;
    KV_UNROLL
    for (int n = 0; n < C::SliceTiles; ++n)
      foldTile(slice * C::SliceTiles + n, sliced[n / 8][n % 8]);
  }
  leafPhase ^= stage;
}

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_TCGEN05_LATENTTENSORROWS_H
