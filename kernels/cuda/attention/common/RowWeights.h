//===- RowWeights.h - Weights where a warp has all keys ---------*- C++ -*-===//

#ifndef KV_KERNELS_CUDA_ATTENTION_COMMON_ROWWEIGHTS_H
#define KV_KERNELS_CUDA_ATTENTION_COMMON_ROWWEIGHTS_H

#include "Scores.h"
#include "kernels/block/Widen.h"

namespace kv::cuda {

/// A leaf's weights: the accumulators of two column tiles of the scores are the
/// fragment of sixteen keys, or those of four that of 32.
template <class C>
using WeightFragments = uint32_t[C::KeyTiles / (ByteTiles<C> ? 4 : 2)][4];

/// Of the two rows of a thread: a weight is two to the score times `factor`
/// less `base`, for which values' scales were divided by `power`.
struct RowPowers {
  float factor[2], base[2];
  RangePower power[2];
};

/// Makes weights of 16 bits of scores, and each row's sum of them.
template <class U> class RowWeights {
  using B = typename U::B;
  using C = typename U::C;

public:
  template <class Scales>
  KV_BODY void narrow(U &u, int leaf, const Scores<U> &scores, Scales &scales,
                      const RowPowers &powers, WeightFragments<C> &weights) {
    // With scales, as the four warps of the other kernels add them up, which
    // have every fourth sixteen of the keys each.
    float partial[2][4] = {};
    KV_UNROLL for (int n = 0; n < C::KeyTiles; ++n) {
      FloatPair its{1, 1};
      if constexpr (C::Scaled)
        its = scales.of(u, leaf, 1, n);
      KV_UNROLL for (int side = 0; side < 2; ++side) {
        const float *two = scores.tiles[0][n] + side * 2;
        float low = Scores<U>::weightOf(two[0], powers.factor[side],
                                        powers.base[side]),
              high = Scores<U>::weightOf(two[1], powers.factor[side],
                                         powers.base[side]);
        if constexpr (C::Scaled) {
          partial[side][n / 2 % 4] += low + high;
          low = kv::plan::multiply(low, its.x);
          high = kv::plan::multiply(high, its.y);
        }
        weights[n / 2][n % 2 * 2 + side] =
            narrowPair<typename C::Product>(low, high);
      }
    }
    KV_UNROLL for (int i = 0; i < 4; ++i)
      sums[i] = 0;
    if constexpr (C::Scaled) {
      KV_UNROLL for (int side = 0; side < 2; ++side) {
        float *four = partial[side];
        KV_UNROLL for (int i = 0; i < 4; ++i) {
          four[i] = kv::plan::multiply(four[i], powers.power[side].power);
          four[i] += u.b.shuffleXor(four[i], 1);
          four[i] += u.b.shuffleXor(four[i], 2);
        }
        sums[side * 2] = (four[0] + four[1]) + (four[2] + four[3]);
      }
    } else {
      constexpr uint32_t One = OnePair<typename C::Product>;
      KV_UNROLL for (int k = 0; k < C::KeyTiles / 2; ++k)
        u.b.template multiplyAdd<typename C::Product>(sums, weights[k], One,
                                                      One);
    }
  }

  float sums[4]; // 0: of the upper row; 2: of the lower
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_COMMON_ROWWEIGHTS_H
