//===- AttentionMerge.h - Results, and units that parts share ---*- C++ -*-===//
//
// Part of AttentionBody.h: the end of a unit. A part that has all of it
// finishes it; else each leaves pieces, and the last to arrive merges them.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_ATTENTIONMERGE_H
#define KV_KERNELS_CUDA_ATTENTIONMERGE_H

#include "AttentionBody.h"

namespace kv::cuda {

template <Block B, class C, Fault F>
KV_BODY void AttentionBody<B, C, F>::finishRows() {
  auto finishes = b.template shared<FloatPair>(C::Finishes, C::Rows);
  KV_UNROLL
  for (int side = 0; side < 2; ++side) {
    int row = rowOf(warp, side);
    if (warp < C::RowTiles && row < liveRows) {
      kv::plan::Finish finish = kv::plan::finish(totalState[side], sinkOf(row));
      if (lane % 4 == 0) {
        finishes.store(row, {finish.weight, finish.inverse});
        storeLogOfSum(row, totalState[side]);
      }
    }
  }
  b.sync();
  auto places = placesView();
  KV_UNROLL
  for (int m = 0; m < C::RowTiles; ++m)
    KV_UNROLL
  for (int side = 0; side < 2; ++side) {
    int64_t place = places.load(rowOf(m, side));
    if (place < 0)
      continue;
    FloatPair pair = finishes.load(rowOf(m, side));
    kv::plan::Finish finish{pair.x, pair.y};
    KV_UNROLL
    for (int n = 0; n < C::ColumnTiles; ++n) {
      FloatPair two = pairOf(group[m], n, side);
      storeOut(place, columnOf(n), finishValue(two.x, finish),
               finishValue(two.y, finish));
    }
  }
}

template <Block B, class C, Fault F>
KV_BODY void AttentionBody<B, C, F>::storePiece(int64_t slot) {
  float *piece = p.scratch + slot * C::SlotFloats;
  KV_UNROLL
  for (int m = 0; m < C::RowTiles; ++m)
    KV_UNROLL
  for (int side = 0; side < 2; ++side) {
    int row = rowOf(m, side);
    if (row >= liveRows)
      continue;
    float *target = piece + row * C::HeadDim;
    KV_UNROLL
    for (int n = 0; n < C::ColumnTiles; ++n)
      b.storeScratch(reinterpret_cast<FloatPair *>(target + columnOf(n)),
                     pairOf(group[m], n, side));
    if (m == warp && lane % 4 == 0)
      b.storeScratch(
          reinterpret_cast<FloatPair *>(piece + C::Rows * C::HeadDim) + row,
          FloatPair{groupState[side].maximum, groupState[side].sum});
  }
}

template <Block B, class C, Fault F>
KV_BODY void
AttentionBody<B, C, F>::arriveAndMerge(const Work &work,
                                       const kv::plan::Tile &tile) {
  kv::plan::Parts parts =
      kv::plan::unitParts(p.shape, *p.header, tile, work.head);
  auto ticket = b.template shared<uint32_t>(C::Ticket, 1);
  b.sync(); // all pieces are stored: one thread's fence is for all
  if (b.thread() == 0) {
    if constexpr (F != Fault::MissingFence)
      b.fence();
    uint32_t number = b.arrive(p.counters + parts.first);
    b.fence();
    bool last = number == parts.last - parts.first;
    if (last) // for the next launch
      b.store(p.counters + parts.first, 0u);
    ticket.store(0, last);
  }
  b.sync();
  if (ticket.load(0))
    mergePieces(tile, parts);
}

template <Block B, class C, Fault F>
KV_BODY void AttentionBody<B, C, F>::mergePieces(const kv::plan::Tile &tile,
                                                 kv::plan::Parts parts) {
  constexpr int Quads = C::HeadDim / 4;
  for (int i = b.thread(); i < liveRows * Quads; i += C::Threads)
    mergeRow(tile, parts, i / Quads, i % Quads);
}

template <Block B, class C, Fault F>
KV_BODY void AttentionBody<B, C, F>::mergeRow(const kv::plan::Tile &tile,
                                              kv::plan::Parts parts, int row,
                                              int quad) {
  // So many pieces are read before they are folded: what costs is latency.
  constexpr int Together = 4;
  Softmax totals, groups;
  float totalValues[4] = {}, groupValues[4] = {};
  for (int64_t part = parts.first; part <= parts.last; ++part) {
    kv::plan::Leaves leaves =
        kv::plan::partLeaves(p.shape, *p.header, tile, head, parts, part);
    int leaf = leaves.begin;
    for (int64_t index = 0; leaf < leaves.end; index += Together) {
      FloatPair state[Together];
      FloatQuad quads[Together];
      bool opensGroup[Together];
      KV_UNROLL
      for (int j = 0; j < Together; ++j) {
        opensGroup[j] = leaf % kv::plan::LeavesPerGroup == 0;
        state[j] = {kv::plan::NoScore, 0};
        quads[j] = {0, 0, 0, 0};
        if (leaf < leaves.end) {
          const float *piece =
              p.scratch +
              kv::plan::slotOf(p.shape, part, part == parts.first, index + j) *
                  C::SlotFloats;
          state[j] = b.loadScratch(reinterpret_cast<const FloatPair *>(
                                       piece + C::Rows * C::HeadDim) +
                                   row);
          quads[j] = b.loadScratch(
              reinterpret_cast<const FloatQuad *>(piece + row * C::HeadDim) +
              quad);
          leaf = int(kv::plan::pieceEnd(leaf, leaves.end));
        }
      }
      KV_UNROLL
      for (int j = 0; j < Together; ++j) {
        if (opensGroup[j]) {
          foldFour(totals, totalValues, groups, groupValues);
          groups = Softmax();
          KV_UNROLL
          for (float &value : groupValues)
            value = 0;
        }
        float four[4] = {quads[j].x, quads[j].y, quads[j].z, quads[j].w};
        foldFour(groups, groupValues, {state[j].x, state[j].y}, four);
      }
    }
  }
  foldFour(totals, totalValues, groups, groupValues);
  kv::plan::Finish finish = kv::plan::finish(totals, sinkOf(row));
  KV_UNROLL
  for (int i = 0; i < 4; i += 2)
    storeOut(outPlace(row), quad * 4 + i, finishValue(totalValues[i], finish),
             finishValue(totalValues[i + 1], finish));
  if (quad == 0)
    storeLogOfSum(row, totals);
}

template <Block B, class C, Fault F>
KV_BODY void AttentionBody<B, C, F>::foldFour(Softmax &left,
                                              float (&leftValues)[4],
                                              const Softmax &right,
                                              const float (&rightValues)[4]) {
  kv::plan::Weights weights = kv::plan::fold(left, right);
  KV_UNROLL
  for (int i = 0; i < 4; ++i)
    leftValues[i] = kv::plan::foldValue(leftValues[i], rightValues[i], weights);
}

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTIONMERGE_H
