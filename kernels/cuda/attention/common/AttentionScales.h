//===- AttentionScales.h - Caches whose elements have scales ----*- C++ -*-===//
//
// Part of AttentionBody.h. Where a row has one scale, that of a key multiplies
// its scores and that of a value its weights: no element is touched. The
// weights of a row and leaf are divided by a power of two above the largest
// scale of a value that the row sees, so that they stay within 16 bits, and
// what they give is multiplied by it where the leaf folds.
//
// Where groups of a row have scales, the row has a power of two above the
// largest, which is used like that, and elements are multiplied by their
// group's share of it once they are widened.
//
// A thread loads the scales of its key of the next leaf while this leaf's
// scores are computed.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_ATTENTION_COMMON_ATTENTIONSCALES_H
#define KV_KERNELS_CUDA_ATTENTION_COMMON_ATTENTIONSCALES_H

#include "AttentionBody.h"

namespace kv::cuda {

template <Block B, class C> KV_BODY void AttentionBody<B, C>::loadScales() {
  KV_UNROLL
  for (int plane = 0; plane < 2; ++plane)
    KV_UNROLL
  for (int g = 0; g < C::ScaleGroups; ++g) {
    uint32_t &scale = nextScales[plane][g];
    scale = 0;
    if (scaleAt >= 0 && (C::ScaleGroups == 1 || g < p.scales.groups))
      scale =
          loadScale(b, p.scales, scaleAt + plane * p.scales.planeStride + g);
  }
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::storeScales(int leaf) {
  int key = b.thread();
  auto shares = view<C, slot::ScaleShares, uint32_t>(b);
  KV_UNROLL
  for (int plane = 0; plane < 2; ++plane) {
    float row =
        divideScales(p.scales, nextScales[plane], [&](int g, uint32_t share) {
          shares.store(sharePlace(leaf, plane, g) + key, share);
        });
    view<C, slot::RowScales, float>(b).store(scalePlace(leaf, plane) + key,
                                             row);
  }
}

template <Block B, class C>
KV_BODY FloatPair AttentionBody<B, C>::scalesOf(int leaf, int plane,
                                                int n) const {
  if constexpr (TileRows<C>) // of the sixteen rows of a warp, as of all
    return view<C, slot::RowScales, FloatPair>(b).load(
        (scaleBuffer * 2 + plane) * (C::Leaf / 2) + n * 4 + lane % 4);
  else // of constant distances from n to n
    return view<C, slot::RowScales, FloatPair>(b).load(
        scalePlace(leaf, plane) / 2 + warp * 8 + lane % 4 +
        n / 2 * (C::HalfKeys / 2) + n % 2 * 4);
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::applyKeyScales(int leaf) {
  KV_UNROLL
  for (int n = 0; n < C::KeyTiles; ++n) {
    FloatPair scales = scalesOf(leaf, 0, n);
    KV_UNROLL
    for (int m = 0; m < C::ScoreTiles; ++m)
      KV_UNROLL
    for (int i = 0; i < 4; ++i)
      scores[m][n][i] =
          kv::plan::multiply(scores[m][n][i], i % 2 ? scales.y : scales.x);
  }
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::shareLargestScales(int leaf, bool masked) {
  float scales[C::KeyTiles * 2], all = 0;
  KV_UNROLL
  for (int n = 0; n < C::KeyTiles; ++n) {
    FloatPair pair = scalesOf(leaf, 1, n);
    scales[n * 2] = magnitudeOf(pair.x);
    scales[n * 2 + 1] = magnitudeOf(pair.y);
    all = kv::plan::larger(kv::plan::larger(all, scales[n * 2]),
                           scales[n * 2 + 1]);
  }
  if (!masked)
    all = largestOfRow(all);
  KV_UNROLL
  for (int m = 0; m < C::ScoreTiles; ++m)
    KV_UNROLL
  for (int side = 0; side < 2; ++side) {
    if (!hasRows(side))
      continue;
    float most = all;
    if (masked) {
      most = 0;
      KV_UNROLL
      for (int i = 0; i < C::KeyTiles * 2; ++i)
        if (scores[m][i / 2][side * 2 + i % 2] != kv::plan::NoScore)
          most = kv::plan::larger(most, scales[i]);
      most = largestOfRow(most);
    }
    if constexpr (TileRows<C>)
      largestScales[side] = most;
    else if (lane % 4 == 0)
      view<C, slot::LargestScales, float>(b).store(
          rowOf(m, side) * C::Warps + warp, most);
  }
}

template <Block B, class C>
KV_BODY RangePower AttentionBody<B, C>::weightPower(int row) const {
  FloatQuad four = view<C, slot::LargestScales, FloatQuad>(b).load(row);
  return powerAboveScale(kv::plan::larger(kv::plan::larger(four.x, four.y),
                                          kv::plan::larger(four.z, four.w)));
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::shareSum(int row, float sum) {
  sum += b.shuffleXor(sum, 1);
  sum += b.shuffleXor(sum, 2);
  if (lane % 4 == 0)
    view<C, slot::RowSums, float>(b).store(row * C::Warps + warp, sum);
}

template <Block B, class C> KV_BODY void AttentionBody<B, C>::foldSums() {
  auto weights = view<C, slot::GroupWeights, FloatPair>(b);
  KV_UNROLL
  for (int side = 0; side < 2; ++side)
    if (warp < C::RowTiles && hasRows(side)) {
      int row = rowOf(warp, side);
      FloatQuad four = view<C, slot::RowSums, FloatQuad>(b).load(row);
      groupState[side].sum = kv::plan::foldValue(
          groupState[side].sum, (four.x + four.y) + (four.z + four.w),
          {weights.load(row).x, leafWeights[side]});
    }
}

template <Block B, class C>
KV_BODY uint32_t AttentionBody<B, C>::keyShares(int leaf, int half, int d,
                                                int n) const {
  int key = half * C::HalfKeys + warp * 16 + n * 8 + lane / 4;
  return view<C, slot::ScaleShares, uint32_t>(b).load(
      sharePlace(leaf, 0, d >> p.scales.groupShift) + key);
}

template <Block B, class C>
KV_BODY uint32_t AttentionBody<B, C>::valueShares(int leaf, int k, int chunk,
                                                  int high) const {
  int group = (warp * C::WarpChunks + chunk) >> p.scales.groupShift;
  IntPair two = view<C, slot::ScaleShares, IntPair>(b).load(
      sharePlace(leaf, 1, group) / 2 + k * 8 + high * 4 + lane % 4);
  return (uint32_t(two.x) & 0xffff) | uint32_t(two.y) << 16;
}

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_COMMON_ATTENTIONSCALES_H
