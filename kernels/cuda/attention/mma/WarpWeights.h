//===- WarpWeights.h - Weights of warps that share keys ---------*- C++ -*-===//

#ifndef KV_KERNELS_CUDA_ATTENTION_MMA_WARPWEIGHTS_H
#define KV_KERNELS_CUDA_ATTENTION_MMA_WARPWEIGHTS_H

#include "WarpScales.h"
#include "kernels/cuda/attention/common/Group.h"
#include "kernels/cuda/attention/common/Scores.h"

namespace kv::cuda {

/// Exchanges largest scores and weights between the warps of a row, through
/// shared memory.
template <class U> class WarpWeights {
  using B = typename U::B;
  using C = typename U::C;

public:
  /// Weights of rows that are none, once a unit.
  static KV_BODY void clearUpper(U &u) {
    if (u.rows.hasRows(1))
      return;
    auto weights = view<C, slot::Weights, FloatQuad>(u.b);
    for (int i = u.b.thread(); i < 8 * C::LeafWords / 4; i += C::Threads)
      weights.store(8 * C::LeafWords / 4 + i, {0, 0, 0, 0});
  }

  /// Each row's largest score over this warp's keys.
  static KV_BODY void shareMaxima(U &u, Scores<U> &scores) {
    auto maxima = view<C, slot::Maxima, float>(u.b);
    KV_UNROLL for (int m = 0; m < C::ScoreTiles; ++m) KV_UNROLL
      for (int side = 0; side < 2; ++side) {
        if (!u.rows.hasRows(side))
          continue;
        float largest = scores.largest(u, m, side);
        if (u.map.lane % 4 == 0)
          maxima.store(u.map.rowOf(u.map.scoreTile(m), side) * C::KeyWarps +
                           u.map.keyWarp(),
                       largest);
      }
  }

  /// Scores to weights for all warps. Who keeps a row tile's state says how the
  /// leaf folds into the group.
  static KV_BODY void share(U &u, int leaf, const Scores<U> &scores,
                            WarpScales<U> &scales, Group<U> &group,
                            Folds<U> &folds) {
    auto maxima = view<C, slot::Maxima, FloatQuad>(u.b);
    FloatPair valueScales[C::KeyTiles];
    if constexpr (C::Scaled) {
      KV_UNROLL for (int n = 0; n < C::KeyTiles; ++n)
        valueScales[n] = scales.of(u, leaf, 1, n);
    }
    KV_UNROLL for (int m = 0; m < C::ScoreTiles; ++m) KV_UNROLL
      for (int side = 0; side < 2; ++side) {
        if (!u.rows.hasRows(side))
          continue;
        int row = u.map.rowOf(u.map.scoreTile(m), side);
        FloatQuad four = maxima.load(row);
        float factor = u.scale.powerFactor(row);
        float maximum = kv::plan::larger(kv::plan::larger(four.x, four.y),
                                         kv::plan::larger(four.z, four.w)) *
                        factor;
        float base = kv::plan::scoreBase(maximum);
        RangePower power{1, 1, 0};
        if constexpr (C::Scaled) {
          power = scales.weightPower(u, row);
          base += power.log; // of these weights only: the same for a row's leaf
        }
        float sum = 0;
        if constexpr (ByteProducts<C>)
          storeBytes(u, scores, m, side, factor, base);
        else
          sum = storePairs(u, scores, valueScales, m, side, factor, base);
        if constexpr (C::Scaled)
          scales.shareSum(u, row, kv::plan::multiply(sum, power.power));
        if (u.map.scoreTile(m) == u.map.stateTile()) {
          kv::plan::Weights weights =
              kv::plan::foldMaximum(group.states[side].maximum, maximum);
          folds.leafWeights[side] = weights.right;
          if constexpr (C::Scaled)
            weights.right = kv::plan::multiply(weights.right, power.power);
          if constexpr (ByteProducts<C>)
            weights.right =
                kv::plan::multiply(weights.right, 1.0f / (1 << WeightLog));
          folds.template announce<slot::GroupWeights>(u, row, side, weights);
        }
      }
  }

private:
  /// Weights of 16 bits of a row tile's upper or lower rows. Returns the sum of
  /// a row's weights, where they have scales.
  static KV_BODY float storePairs(U &u, const Scores<U> &scores,
                                  const FloatPair (&valueScales)[C::KeyTiles],
                                  int m, int side, float factor, float base) {
    using Matrix = Swizzled<C::LeafWords / 4>;
    auto weights = view<C, slot::Weights, uint32_t>(u.b);
    int row = u.map.rowOf(u.map.scoreTile(m), side);
    float sum = 0;
    KV_UNROLL for (int n = 0; n < C::KeyTiles; ++n) {
      float w[2];
      KV_UNROLL for (int i = 0; i < 2; ++i)
        w[i] =
            Scores<U>::weightOf(scores.tiles[m][n][side * 2 + i], factor, base);
      if constexpr (C::Scaled) {
        sum += w[0] + w[1];
        w[0] = kv::plan::multiply(w[0], valueScales[n].x);
        w[1] = kv::plan::multiply(w[1], valueScales[n].y);
      }
      weights.store(Matrix::moved(Matrix::chunk(row, u.map.keyWarp() * 2),
                                  n / 2 * 8 + n % 2) *
                            4 +
                        u.map.lane % 4,
                    narrowPair<typename C::Product>(w[0], w[1]));
    }
    return sum;
  }

  /// Weights of 8 bits.
  static KV_BODY void storeBytes(U &u, const Scores<U> &scores, int m, int side,
                                 float factor, float base) {
    using Matrix = Swizzled<C::LeafWords / 4>;
    auto weights = view<C, slot::Weights, uint32_t>(u.b);
    int chunk =
        Matrix::chunk(u.map.rowOf(u.map.scoreTile(m), side), u.map.keyWarp());
    KV_UNROLL for (int half = 0; half < 2; ++half) {
      float w[4];
      KV_UNROLL for (int i = 0; i < 4; ++i) {
        w[i] = Scores<U>::weightOf(
            scores.tiles[m][half * 2 + i / 2][side * 2 + i % 2], factor,
            base - WeightLog);
      }
      weights.store(Matrix::moved(chunk, half * C::KeyWarps) * 4 +
                        u.map.lane % 4,
                    narrowFour<F8E4M3>(w[0], w[1], w[2], w[3]));
    }
  }
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_MMA_WARPWEIGHTS_H
