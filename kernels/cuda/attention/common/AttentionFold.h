//===- AttentionFold.h - Values of a leaf, group and total ------*- C++ -*-===//
//
// Part of AttentionBody.h: O = P V and how it folds.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_ATTENTION_COMMON_ATTENTIONFOLD_H
#define KV_KERNELS_CUDA_ATTENTION_COMMON_ATTENTIONFOLD_H

#include "AttentionBody.h"

namespace kv::cuda {

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::computeValues(int leaf) {
  clear(values);
  KV_UNROLL
  for (int i = 0; i < 4; ++i)
    sums[i] = 0;
  KV_UNROLL
  for (int half = 0; half < 2; ++half) {
    valueHalf(leaf, half, nextHalf(leaf, 1, half));
  }
  if constexpr (C::Scaled)
    foldSums();
  else
    foldProductSums();
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::foldProductSums() {
  KV_UNROLL
  for (int side = 0; side < 2; ++side)
    if (stateTile() < C::RowTiles && hasRows(side)) {
      FloatPair pair = announced(OffsetOf<C, slot::GroupWeights>,
                                 rowOf(stateTile(), side), side);
      groupState[side].sum = kv::plan::foldValue(
          groupState[side].sum, sums[side * 2], {pair.x, pair.y});
    }
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::loadValues(ValueFragments &fragments,
                                             const ValuePlaces &places,
                                             int tile, int leaf, int half,
                                             int k) {
  using Matrix = typename C::CacheRows;
  auto v = ringView();
  KV_UNROLL
  for (int n = 0; n < C::ColumnTiles; n += 2) {
    uint32_t loaded[4];
    int chunk = C::ValuesAtConstants
                    ? Matrix::moved(places[0], n / C::ValueSteps)
                    : places[C::ValuesAtConstants ? 0 : n / 2];
    b.loadMatrixTransposed(loaded, v, tile + chunk + k * 16 * Matrix::Pitch);
    KV_UNROLL
    for (int i = 0; i < 4; ++i)
      if constexpr (C::Widens) {
        uint32_t &even = fragments[i / 2][n][i % 2];
        uint32_t &odd = fragments[i / 2][n + 1][i % 2];
        widenEvenOdd<typename C::Cache>(loaded[i], even, odd);
        if constexpr (C::Shares) {
          uint32_t shares = valueShares(
              leaf, half * (C::HalfKeys / 16) + k + i / 2, n / 2, i % 2);
          even = multiplyPair(even, shares);
          odd = multiplyPair(odd, shares);
        }
      } else if (n + i / 2 < C::ColumnTiles)
        fragments[0][n + i / 2][i % 2] = loaded[i];
  }
}

template <Block B, class C>
KV_BODY int AttentionBody<B, C>::valueChunk(int n) const {
  Place vt = C::Widens ? Place{lane, 0} : loadB(lane);
  int column = warp * C::WarpChunks + n / C::ValueSteps;
  // A last tile without a neighbour is read twice.
  if (n + 1 < C::ColumnTiles)
    column += vt.column;
  if (C::Ragged)
    column = kv::plan::lesser(column, C::RowChunks - 1);
  return C::CacheRows::chunk(vt.row, column);
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::valueHalf(int leaf, int half, int tile) {
  ValuePlaces places;
  KV_UNROLL
  for (int i = 0; i < C::ValueLoads; ++i)
    places[i] = valueChunk(i * 2);
  KV_UNROLL
  for (int k = 0; k < C::HalfKeys / 16; k += C::ValueSteps) {
    ValueFragments vFragments;
    loadValues(vFragments, places, tile, leaf, half, k);
    KV_UNROLL
    for (int step = 0; step < C::ValueSteps; ++step)
      multiplyValues(half * (C::HalfKeys / 16) + k + step, vFragments[step]);
  }
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::loadWeights(uint32_t (&fragment)[4], int m,
                                              int k) {
  using Matrix = Swizzled<C::LeafWords / 4>;
  Place a = loadA(lane);
  b.loadMatrix(fragment, view<C, slot::Weights, Chunk>(b),
               Matrix::moved(Matrix::chunk(a.row, a.column), k * 2) +
                   m * 16 * (C::LeafWords / 4));
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::sumWeights(int k) {
  // Loaded again: to pick a fragment by the warp's number would take an array
  // in memory.
  if (C::RowTiles > 1 && stateTile() < C::RowTiles) {
    uint32_t pFragment[4];
    loadWeights(pFragment, stateTile(), k);
    sumWeights(pFragment);
  }
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::multiplyValues(
    int k, const uint32_t (&vFragments)[C::ColumnTiles][2]) {
  using Product = typename C::Product;
  KV_UNROLL
  for (int m = 0; m < C::RowTiles; ++m) {
    uint32_t pFragment[4];
    loadWeights(pFragment, m, k);
    KV_UNROLL
    for (int n = 0; n < C::ColumnTiles; ++n)
      b.template multiplyAdd<Product>(values[m][n], pFragment, vFragments[n][0],
                                      vFragments[n][1]);
    // Warps that do not need it would lose more by looking.
    if constexpr (C::RowTiles == 1 && !C::Scaled)
      sumWeights(pFragment);
  }
  if constexpr (!C::Scaled)
    sumWeights(k);
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::clear(Accumulators &x) {
  KV_UNROLL
  for (int m = 0; m < ValueTiles; ++m)
    KV_UNROLL
  for (int n = 0; n < C::ColumnTiles; ++n)
    KV_UNROLL
  for (int i = 0; i < 4; ++i)
    x[m][n][i] = 0;
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::foldLeaf(int part) {
  KV_UNROLL
  for (int m = 0; m < ValueTiles; ++m)
    KV_UNROLL
  for (int side = 0; side < 2; ++side) {
    if (!hasRows(side))
      continue;
    FloatPair pair = announced(OffsetOf<C, slot::GroupWeights>,
                               rowOf(valueTile(m), side), side);
    KV_UNROLL
    for (int n = 0; n < PartTiles; ++n)
      KV_UNROLL
    for (int i = side * 2; i < side * 2 + 2; ++i) {
      float &x = group[m][part * PartTiles + n][i];
      x = kv::plan::foldValue(x, values[m][n][i], {pair.x, pair.y});
    }
  }
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::foldTile(int n, const float (&tile)[4]) {
  KV_UNROLL
  for (int i = 0; i < 4; ++i) {
    float &sum = group[0][n][i];
    sum = kv::plan::foldValue(sum, tile[i],
                              {rowWeights[i / 2].x, rowWeights[i / 2].y});
  }
}

template <Block B, class C> KV_BODY void AttentionBody<B, C>::putPartAside() {
  if constexpr (KeepsPart) {
    auto part = view<C, slot::WaitingPart, FloatQuad>(b);
    KV_UNROLL
    for (int n = 0; n < PartTiles; ++n) {
      const float *x = group[0][C::ColumnTiles - PartTiles + n];
      part.store(n * C::Threads + b.thread(), {x[0], x[1], x[2], x[3]});
    }
  }
}

template <Block B, class C> KV_BODY void AttentionBody<B, C>::takePartBack() {
  if constexpr (KeepsPart) {
    auto part = view<C, slot::WaitingPart, FloatQuad>(b);
    KV_UNROLL
    for (int n = 0; n < PartTiles; ++n) {
      FloatQuad quad = part.load(n * C::Threads + b.thread());
      float *x = group[0][C::ColumnTiles - PartTiles + n];
      x[0] = quad.x;
      x[1] = quad.y;
      x[2] = quad.z;
      x[3] = quad.w;
    }
  }
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::foldGroup(bool first, bool last) {
  KV_UNROLL
  for (int side = 0; side < 2; ++side)
    if (stateTile() < C::RowTiles) {
      kv::plan::Weights weights =
          kv::plan::fold(totalState[side], groupState[side]);
      if (!first)
        announce(OffsetOf<C, slot::TotalWeights>, rowOf(stateTile(), side),
                 side, weights);
    }
  if (first) {
    takePartBack();
    if (!last)
      keepTotal(0, C::ColumnTiles);
    return;
  }
  if constexpr (!TileRows<C>)
    b.sync();
  // A part that waits is taken back when the others need no more registers.
  constexpr int Early = C::ColumnTiles - (KeepsPart ? PartTiles : 0);
  foldTotal(0, Early);
  if (!LatentTiles<C> && !last)
    keepTotal(0, Early);
  if constexpr (KeepsPart) {
    takePartBack();
    foldTotal(Early, C::ColumnTiles);
    if (!last)
      keepTotal(Early, C::ColumnTiles);
  }
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::storeTotal(int index, FloatPair pair) {
  if constexpr (C::TotalFloats == 0)
    view<C, slot::Totals, FloatPair>(b).store(index * C::Threads + b.thread(),
                                              pair);
  else
    b.storeScratch(totalPlace(index), pair);
}

template <Block B, class C>
KV_BODY FloatPair AttentionBody<B, C>::loadTotal(int index) const {
  if constexpr (C::TotalFloats == 0)
    return view<C, slot::Totals, FloatPair>(b).load(index * C::Threads +
                                                    b.thread());
  else
    return b.loadScratch(totalPlace(index));
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::keepTotal(int from, int to) {
  KV_UNROLL
  for (int m = 0; m < ValueTiles; ++m)
    KV_UNROLL
  for (int n = from; n < to; ++n)
    KV_UNROLL
  for (int side = 0; side < 2; ++side) {
    float *pair = group[m][n] + side * 2;
    if constexpr (C::TotalInRegisters) {
      total[m][n][side * 2] = pair[0];
      total[m][n][side * 2 + 1] = pair[1];
    } else {
      storeTotal(accumulator(m, n, side), FloatPair{pair[0], pair[1]});
    }
  }
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::foldTotal(int from, int to) {
  KV_UNROLL
  for (int m = 0; m < ValueTiles; ++m)
    KV_UNROLL
  for (int side = 0; side < 2; ++side) {
    FloatPair pair = announced(OffsetOf<C, slot::TotalWeights>,
                               rowOf(valueTile(m), side), side);
    KV_UNROLL
    for (int n = from; n < to; ++n) {
      // A compiler would load all before it folds any, and has no registers
      // for that: so what is folded is stored, behind which it loads no more.
      if constexpr (LatentTiles<C>)
        if (n % 16 == 0 && n + side > 0)
          b.syncNamed(C::ScoresBarrier + half, GroupThreads);
      FloatPair left;
      if constexpr (C::TotalInRegisters)
        left = {total[m][n][side * 2], total[m][n][side * 2 + 1]};
      else
        left = loadTotal(accumulator(m, n, side));
      float *right = group[m][n] + side * 2;
      right[0] = kv::plan::foldValue(left.x, right[0], {pair.x, pair.y});
      right[1] = kv::plan::foldValue(left.y, right[1], {pair.x, pair.y});
      if constexpr (LatentTiles<C>)
        storeTotal(accumulator(m, n, side), {right[0], right[1]});
    }
  }
}

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_COMMON_ATTENTIONFOLD_H
