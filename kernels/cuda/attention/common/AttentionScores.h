//===- AttentionScores.h - Scores and weights of a leaf ---------*- C++ -*-===//
//
// Part of AttentionBody.h: S = Q K^T, the largest score of each row, and the
// weights 2^(S - maximum).
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_ATTENTION_COMMON_ATTENTIONSCORES_H
#define KV_KERNELS_CUDA_ATTENTION_COMMON_ATTENTIONSCORES_H

#include "AttentionBody.h"

namespace kv::cuda {

template <Block B, class C> KV_BODY void AttentionBody<B, C>::clearScores() {
  KV_UNROLL
  for (int m = 0; m < C::ScoreTiles; ++m)
    KV_UNROLL
  for (int n = 0; n < C::KeyTiles; ++n)
    KV_UNROLL
  for (int i = 0; i < 4; ++i)
    scores[m][n][i] = 0;
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::computeScores(int leaf) {
  clearScores();
  KV_UNROLL
  for (int half = 0; half < 2; ++half) {
    scoreHalf(leaf, half, nextHalf(leaf, 0, half));
  }
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::scoreHalf(int leaf, int half, int tile) {
  using Matrix = typename C::CacheRows;
  // Of a chunk, eight elements of 16 bits or sixteen of 8.
  constexpr int ChunkSteps = C::Widens ? 2 : 1;
  auto k = ringView();
  Place kt = loadTransposedB(lane);
  constexpr bool OneTile = C::KeyWarps * 16 <= C::HalfKeys;
  int firstKey = OneTile ? keyWarp() * 16 : keyWarp() * 16 % C::HalfKeys;
  int kChunk = Matrix::chunk(firstKey + kt.row, kt.column);
  KV_UNROLL
  for (int d = 0; d < C::KeyDim / 16; d += ChunkSteps) {
    uint32_t loaded[4];
    // Of a last chunk without a neighbour, all lanes read that one.
    bool alone = d + ChunkSteps > C::KeyDim / 16;
    b.loadMatrix(loaded, k,
                 tile + Matrix::moved(alone ? kChunk - kt.column : kChunk,
                                      d * 2 / ChunkSteps));
    KV_UNROLL
    for (int step = 0; step < ChunkSteps && d + step < C::KeyDim / 16; ++step) {
      uint32_t kFragment[4];
      KV_UNROLL
      for (int n = 0; n < 2; ++n) {
        if constexpr (C::Widens) {
          widenFour<typename C::Cache>(loaded[n * 2 + step], kFragment[n * 2],
                                       kFragment[n * 2 + 1]);
          if constexpr (C::Shares) {
            uint32_t shares = keyShares(leaf, half, d + step, n);
            kFragment[n * 2] = multiplyPair(kFragment[n * 2], shares);
            kFragment[n * 2 + 1] = multiplyPair(kFragment[n * 2 + 1], shares);
          }
        } else {
          kFragment[n * 2] = loaded[n * 2];
          kFragment[n * 2 + 1] = loaded[n * 2 + 1];
        }
      }
      multiplyScores(half, d + step, kFragment);
    }
  }
}

template <Block B, class C>
KV_BODY void
AttentionBody<B, C>::multiplyScores(int half, int d,
                                    const uint32_t (&kFragment)[4]) {
  KV_UNROLL
  for (int m = 0; m < C::ScoreTiles; ++m) {
    uint32_t loaded[4];
    if constexpr (!C::QueriesInRegisters)
      loadQueryFragment(loaded, scoreTile(m), d);
    const uint32_t (&qFragment)[4] =
        C::QueriesInRegisters ? queryFragments[d] : loaded;
    KV_UNROLL
    for (int n = 0; n < 2; ++n)
      b.template multiplyAdd<typename C::Product>(scores[m][half * 2 + n],
                                                  qFragment, kFragment[n * 2],
                                                  kFragment[n * 2 + 1]);
  }
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::loadQueryFragment(uint32_t (&fragment)[4],
                                                    int m, int d) {
  using Matrix = typename C::QueryRows;
  Place a = loadA(lane);
  b.loadMatrix(fragment, queriesView(),
               Matrix::moved(Matrix::chunk(a.row, a.column), d * 2) +
                   m * 16 * Matrix::Pitch);
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::clearUpperWeights() {
  if (hasRows(1))
    return;
  auto weights = view<C, slot::Weights, FloatQuad>(b);
  for (int i = b.thread(); i < 8 * C::LeafWords / 4; i += C::Threads)
    weights.store(8 * C::LeafWords / 4 + i, {0, 0, 0, 0});
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::prepareScores(int leaf) {
  if constexpr (C::Scaled)
    applyKeyScales(leaf);
  if (scaleFirst)
    scaleScores();
  int first = leaf * C::Leaf;
  bool masked = first < allSeeFrom || first > allSeeTo - C::Leaf;
  if (masked)
    maskScores(first);
  if constexpr (C::Scaled)
    shareLargestScales(leaf, masked);
}

template <Block B, class C>
KV_BODY float AttentionBody<B, C>::largestScore(int m, int side) {
  // Where nothing else hides them, in chains side by side.
  constexpr int Chains = ByteTiles<C> ? 4 : 1;
  auto larger = [](float a, float b) {
    return ByteTiles<C> ? kv::plan::largerOrNaN(a, b) : kv::plan::larger(a, b);
  };
  float chains[Chains];
  KV_UNROLL
  for (float &chain : chains)
    chain = kv::plan::NoScore;
  KV_UNROLL
  for (int n = 0; n < C::KeyTiles; ++n)
    KV_UNROLL
  for (int i = 0; i < 2; ++i) {
    float &chain = chains[(n * 2 + i) % Chains];
    chain = larger(chain, scores[m][n][side * 2 + i]);
  }
  float largest = chains[0];
  KV_UNROLL
  for (int i = 1; i < Chains; ++i)
    largest = larger(largest, chains[i]);
  largest = larger(largest, b.shuffleXor(largest, 1));
  return larger(largest, b.shuffleXor(largest, 2));
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::computeMaxima(int leaf) {
  prepareScores(leaf);
  auto maxima = view<C, slot::Maxima, float>(b);
  KV_UNROLL
  for (int m = 0; m < C::ScoreTiles; ++m)
    KV_UNROLL
  for (int side = 0; side < 2; ++side) {
    if (!hasRows(side))
      continue;
    float largest = largestScore(m, side);
    if (lane % 4 == 0)
      maxima.store(rowOf(scoreTile(m), side) * C::KeyWarps + keyWarp(),
                   largest);
  }
}

template <Block B, class C> KV_BODY void AttentionBody<B, C>::scaleScores() {
  float before = p.softcap > 0 ? p.scale / p.softcap : p.scale;
  KV_UNROLL
  for (int m = 0; m < C::ScoreTiles; ++m)
    KV_UNROLL
  for (int n = 0; n < C::KeyTiles; ++n)
    KV_UNROLL
  for (int i = 0; i < 4; ++i) {
    float &score = scores[m][n][i];
    score = kv::plan::multiply(
        score, before * scoreFactor(rowOf(scoreTile(m), i / 2)));
    if (p.softcap > 0)
      score = kv::plan::multiply(hyperbolicTangent(score), p.softcap);
  }
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::maskScores(int first) {
  auto bounds = view<C, slot::Bounds, IntPair>(b);
  KV_UNROLL
  for (int m = 0; m < C::ScoreTiles; ++m)
    KV_UNROLL
  for (int side = 0; side < 2; ++side) {
    // From this thread's first key on, so that all others are constants.
    IntPair seen = bounds.load(rowOf(scoreTile(m), side));
    int from = seen.x - first - keyOf(0, 0), to = seen.y - first - keyOf(0, 0);
    KV_UNROLL
    for (int n = 0; n < C::KeyTiles; ++n)
      KV_UNROLL
    for (int i = 0; i < 2; ++i) {
      int key = keyOf(n, i) - keyOf(0, 0);
      if (key < from || key >= to)
        scores[m][n][side * 2 + i] = kv::plan::NoScore;
    }
  }
  if (p.ancestors)
    maskPaths(first);
}

/// Of the 64 keys up to its own a row sees those of its path.
template <Block B, class C>
KV_BODY void AttentionBody<B, C>::maskPaths(int first) {
  auto bounds = view<C, slot::Bounds, IntPair>(b);
  KV_UNROLL
  for (int m = 0; m < C::ScoreTiles; ++m)
    KV_UNROLL
  for (int side = 0; side < 2; ++side) {
    int row = rowOf(scoreTile(m), side);
    int last = bounds.load(row).y - 1;
    IntPair path = pathsView().load(row);
    KV_UNROLL
    for (int n = 0; n < C::KeyTiles; ++n)
      KV_UNROLL
    for (int i = 0; i < 2; ++i) {
      int behind = last - (first + keyOf(n, i));
      uint32_t word = behind < 32 ? path.x : path.y;
      if (uint32_t(behind) < 64u && !(word >> (31 - (behind & 31)) & 1))
        scores[m][n][side * 2 + i] = kv::plan::NoScore;
    }
  }
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::computeWeights(int leaf) {
  using Matrix = Swizzled<C::LeafWords / 4>;
  auto maxima = view<C, slot::Maxima, FloatQuad>(b);
  [[maybe_unused]] auto weights = view<C, slot::Weights, uint32_t>(b);
  FloatPair scales[C::KeyTiles];
  if constexpr (C::Scaled) {
    KV_UNROLL
    for (int n = 0; n < C::KeyTiles; ++n)
      scales[n] = scalesOf(leaf, 1, n);
  }
  KV_UNROLL
  for (int m = 0; m < C::ScoreTiles; ++m)
    KV_UNROLL
  for (int side = 0; side < 2; ++side) {
    if (!hasRows(side))
      continue;
    int row = rowOf(scoreTile(m), side);
    FloatQuad four = maxima.load(row);
    float factor = powerFactor(row);
    float maximum = kv::plan::larger(kv::plan::larger(four.x, four.y),
                                     kv::plan::larger(four.z, four.w)) *
                    factor;
    float base = kv::plan::scoreBase(maximum);
    float sum = 0;
    RangePower power{1, 1, 0};
    if constexpr (C::Scaled) {
      power = weightPower(row);
      base += power.log; // of these weights only: the same for a row's leaf
    }
    if constexpr (ByteProducts<C>)
      storeWeights(m, side, factor, base);
    else
      KV_UNROLL
    for (int n = 0; n < C::KeyTiles; ++n) {
      float w[2];
      KV_UNROLL
      for (int i = 0; i < 2; ++i)
        w[i] = weightOf(scores[m][n][side * 2 + i], factor, base);
      if constexpr (C::Scaled) {
        sum += w[0] + w[1];
        w[0] = kv::plan::multiply(w[0], scales[n].x);
        w[1] = kv::plan::multiply(w[1], scales[n].y);
      }
      weights.store(
          Matrix::moved(Matrix::chunk(row, keyWarp() * 2), n / 2 * 8 + n % 2) *
                  4 +
              lane % 4,
          narrowPair<typename C::Product>(w[0], w[1]));
    }
    if constexpr (C::Scaled)
      shareSum(row, kv::plan::multiply(sum, power.power));
    if (scoreTile(m) == stateTile()) {
      kv::plan::Weights weights =
          kv::plan::foldMaximum(groupState[side].maximum, maximum);
      leafWeights[side] = weights.right;
      if constexpr (C::Scaled)
        weights.right = kv::plan::multiply(weights.right, power.power);
      if constexpr (ByteProducts<C>)
        weights.right =
            kv::plan::multiply(weights.right, 1.0f / (1 << WeightLog));
      announce(OffsetOf<C, slot::GroupWeights>, row, side, weights);
    }
  }
}

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_COMMON_ATTENTIONSCORES_H
