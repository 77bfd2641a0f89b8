//===- TileWeights.h - Weights where a warp has its rows --------*- C++ -*-===//

#ifndef KV_KERNELS_CUDA_ATTENTION_WGMMA_TILEWEIGHTS_H
#define KV_KERNELS_CUDA_ATTENTION_WGMMA_TILEWEIGHTS_H

#include "PolynomialPower.h"
#include "kernels/cuda/attention/common/Group.h"
#include "kernels/cuda/attention/common/RowScales.h"
#include "kernels/cuda/attention/common/RowWeights.h"

namespace kv::cuda {

/// The scales of a leaf's keys and values, which who widens has brought.
template <class U> class TileScales {
  using C = typename U::C;

public:
  KV_BODY void next() { buffer = C::scalesAfter(buffer); }

  /// The scales of rows of the keys of scores n, 0 and n, 1 of this thread.
  KV_BODY FloatPair of(U &u, int leaf, int plane, int n) const {
    return view<C, slot::RowScales, FloatPair>(u.b).load(
        (buffer * 2 + plane) * (C::Leaf / 2) + n * 4 + u.map.lane % 4);
  }
  KV_BODY void keepLargest(U &, int, int side, float most) {
    largest[side] = most;
  }

  float largest[2]; // of values that a row sees

private:
  int buffer = 0; // of the leaf
};

/// A leaf's weights, how they fold and, of weights of 16 bits, their sums.
template <class U> class TileWeights {
  using C = typename U::C;

public:
  template <class Scales>
  KV_BODY void weigh(U &u, int leaf, Scores<U> &scores, Scales &scales,
                     Group<U> &group, Folds<U> &folds,
                     WeightFragments<C> &fragments) {
    RowPowers powers;
    KV_UNROLL for (int side = 0; side < 2; ++side) {
      float &factor = powers.factor[side], &base = powers.base[side];
      factor = u.scale.powerFactor(u.map.rowOf(u.map.rowTile(), side));
      float maximum = scores.largest(u, 0, side) * factor;
      base = kv::plan::scoreBase(maximum);
      kv::plan::Weights fold =
          kv::plan::foldMaximum(group.states[side].maximum, maximum);
      if constexpr (ByteProducts<C>) { // weights are 2^WeightLog times as large
        base -= WeightLog;
        fold.right = kv::plan::multiply(fold.right, 1.0f / (1 << WeightLog));
      }
      folds.leafWeights[side] = fold.right;
      if constexpr (C::Scaled) {
        RangePower &power = powers.power[side];
        power = powerAboveScale(scales.largest[side]);
        base += power.log;
        fold.right = kv::plan::multiply(fold.right, power.power);
      }
      folds.template announce<slot::GroupWeights>(u, 0, side, fold);
    }
    if constexpr (ByteProducts<C>)
      narrowBytes(scores, powers, fragments);
    else
      rows.narrow(u, leaf, scores, scales, powers, fragments);
  }

  /// The rows' sums of weights of a leaf into the group's.
  static KV_BODY void foldSums(Group<U> &group, const Folds<U> &folds,
                               const float (&sums)[4]) {
    KV_UNROLL for (int side = 0; side < 2; ++side)
      group.states[side].sum = kv::plan::foldValue(
          group.states[side].sum, sums[side * 2],
          {folds.rowWeights[side].x, folds.leafWeights[side]});
  }
  KV_BODY void foldSums(U &u, Group<U> &group, const Folds<U> &folds) const {
    foldSums(group, folds, rows.sums);
  }

private:
  /// Weights of 8 bits. The weights of a leaf's last keys are polynomials,
  /// which lose a NaN. A row's maximum keeps the NaN, and so every other weight
  /// of the leaf is one. A thread has four neighbours of a fragment, of two
  /// column tiles.
  KV_BODY void narrowBytes(const Scores<U> &scores, const RowPowers &powers,
                           WeightFragments<C> &weights) {
    KV_UNROLL for (int n = 0; n < C::KeyTiles; n += 2) KV_UNROLL
      for (int side = 0; side < 2; ++side) {
        const float factor = powers.factor[side], base = powers.base[side];
        const PolynomialPower power(factor, base);
        float four[4];
        KV_UNROLL for (int i = 0; i < 4; ++i) {
          float score = scores.tiles[0][n + i / 2][side * 2 + i % 2];
          four[i] = n < C::ExponentialTiles
                        ? Scores<U>::weightOf(score, factor, base)
                        : power(score);
        }
        weights[n / 4][n / 2 % 2 * 2 + side] =
            narrowFour<typename C::Product>(four[0], four[1], four[2], four[3]);
      }
  }

  RowWeights<U> rows;
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_WGMMA_TILEWEIGHTS_H
