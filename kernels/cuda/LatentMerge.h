//===- LatentMerge.h - Merges of rows of many columns -----------*- C++ -*-===//
//
// Part of AttentionBody.h, for a latent cache. A row's result has so many
// columns that a thread folds several of its quads: the weights of its pieces
// are computed once, a row a thread, and lie in the ring, which is empty.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_LATENTMERGE_H
#define KV_KERNELS_CUDA_LATENTMERGE_H

#include "AttentionBody.h"

namespace kv::cuda {

/// Pieces whose weights find room, at most.
template <class C>
constexpr int32_t PieceWeights =
    kv::plan::lesser(C::MergeTable, C::Queries / (C::Rows * 8));

template <Block B, class C, Fault F>
KV_BODY void AttentionBody<B, C, F>::weighPieces(int32_t count)
  requires LatentRows<C>
{
  constexpr int Together = 8;
  static_assert(C::Rows <= C::Threads &&
                PieceWeights<C> >= kv::plan::LeavesPerGroup);
  auto slots = b.template shared<int32_t>(C::RowPlaces, C::MergeTable);
  auto weights =
      b.template shared<FloatPair>(C::Ring, C::Rows * PieceWeights<C>);
  int32_t known = kv::plan::lesser(count, PieceWeights<C>);
  int row = b.thread();
  if (row < liveRows) {
    Softmax state;
    KV_UNROLL_BY(1)
    for (int32_t first = 0; first < known; first += Together) {
      FloatPair its[Together];
      KV_UNROLL
      for (int j = 0; j < Together; ++j) {
        int32_t slot = first + j < known ? slots.load(first + j) : -1;
        // As in foldPieces: where no piece begins the first is read again.
        its[j] =
            b.loadScratch(pieceState(slot < 0 ? slots.load(0) : slot, row));
        if (slot < 0)
          its[j] = {kv::plan::NoScore, 0};
      }
      KV_UNROLL
      for (int j = 0; j < Together; ++j) {
        kv::plan::Weights each = kv::plan::fold(state, {its[j].x, its[j].y});
        if (first + j < known)
          weights.store((first + j) * C::Rows + row, {each.left, each.right});
      }
    }
    b.template shared<FloatPair>(C::TotalWeights, C::Rows)
        .store(row, {state.maximum, state.sum});
  }
  if constexpr (F != Fault::MissingPieceWeightsBarrier)
    b.sync();
}

template <Block B, class C, Fault F>
KV_BODY kv::plan::Softmax
AttentionBody<B, C, F>::foldPieces(const Shared &s, int row, int quad,
                                   int32_t count, bool groups,
                                   float (&values)[4])
  requires LatentRows<C>
{
  constexpr int Together = 8;
  auto slots = b.template shared<int32_t>(C::RowPlaces, C::MergeTable);
  auto weights =
      b.template shared<FloatPair>(C::Ring, C::Rows * PieceWeights<C>);
  int32_t known = kv::plan::lesser(count, PieceWeights<C>);
  KV_UNROLL
  for (float &value : values)
    value = 0;
  KV_UNROLL_BY(1)
  for (int32_t first = 0; first < known; first += Together) {
    FloatQuad quads[Together];
    KV_UNROLL
    for (int j = 0; j < Together; ++j) {
      int32_t slot = first + j < known ? slots.load(first + j) : -1;
      quads[j] =
          b.loadScratch(pieceQuad(slot < 0 ? slots.load(0) : slot, row, quad));
      if (slot < 0)
        quads[j] = {0, 0, 0, 0};
    }
    KV_UNROLL
    for (int j = 0; j < Together; ++j) {
      int32_t i = kv::plan::lesser(first + j, known - 1);
      FloatPair pair = weights.load(i * C::Rows + row);
      if (first + j >= known)
        pair = {1, 0}; // which changes nothing
      foldQuad(values, quads[j], {pair.x, pair.y});
    }
  }
  FloatPair folded =
      b.template shared<FloatPair>(C::TotalWeights, C::Rows).load(row);
  Softmax state{folded.x, folded.y};
  // Of a unit of so many groups that their weights find no room.
  KV_UNROLL_BY(1)
  for (int32_t i = known; i < count; ++i) {
    FloatPair its;
    FloatQuad four;
    loadPiece(groupSlot(s, i), row, quad, its, four);
    foldPiece(state, values, its, four);
  }
  return state;
}

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_LATENTMERGE_H
