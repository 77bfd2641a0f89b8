//===- WarpScales.h - Caches whose elements have scales ---------*- C++ -*-===//
//
// Where a row has one scale, the scale of a key multiplies its scores, and the
// scale of a value multiplies its weights: no element is touched. The weights
// of a row and leaf are divided by a power of two above the largest scale of a
// value that the row sees. So the weights stay within 16 bits. The leaf's
// result is multiplied by that power where the leaf folds.
//
// Where groups of a row have scales, a power of two above the largest takes the
// place of the row's scale. Elements are multiplied by their group's share of
// that power once they are widened.
//
// A thread loads the scales of its key of the next leaf while this leaf's
// scores are computed.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_ATTENTION_MMA_WARPSCALES_H
#define KV_KERNELS_CUDA_ATTENTION_MMA_WARPSCALES_H

#include "kernels/cuda/attention/common/RowScales.h"
#include "kernels/cuda/attention/common/Unit.h"

namespace kv::cuda {

template <class U> class WarpScales {
  using B = typename U::B;
  using C = typename U::C;

public:
  /// Loads the scales of this thread's key from `at`; zero where nothing may be
  /// read.
  KV_BODY void load(U &u, int64_t at) {
    KV_UNROLL for (int plane = 0; plane < 2; ++plane) KV_UNROLL
      for (int g = 0; g < C::ScaleGroups; ++g) {
        uint32_t &scale = next[plane][g];
        scale = 0;
        if (at >= 0 && (C::ScaleGroups == 1 || g < u.p.scales.groups))
          scale = loadScale(u.b, u.p.scales,
                            at + plane * u.p.scales.planeStride + g);
      }
  }
  /// For all threads, what was loaded.
  KV_BODY void store(U &u, int leaf) {
    int key = u.b.thread();
    auto shares = view<C, slot::ScaleShares, uint32_t>(u.b);
    KV_UNROLL for (int plane = 0; plane < 2; ++plane) {
      float row =
          divideScales(u.p.scales, next[plane], [&](int g, uint32_t share) {
            shares.store(sharePlace(leaf, plane, g) + key, share);
          });
      view<C, slot::RowScales, float>(u.b).store(scalePlace(leaf, plane) + key,
                                                 row);
    }
  }

  /// The scales of rows of the keys of scores n, 0 and n, 1 of this thread, of
  /// constant distances from n to n.
  KV_BODY FloatPair of(U &u, int leaf, int plane, int n) const {
    return view<C, slot::RowScales, FloatPair>(u.b).load(
        scalePlace(leaf, plane) / 2 + u.map.warp * 8 + u.map.lane % 4 +
        n / 2 * (C::HalfKeys / 2) + n % 2 * 4);
  }
  /// The factors of a group's elements, as a pair: of a key, or of two
  /// neighbouring values. Elements are multiplied once they are widened.
  KV_BODY uint32_t keyShares(U &u, int leaf, int half, int d, int n) const {
    int key = half * C::HalfKeys + u.map.warp * 16 + n * 8 + u.map.lane / 4;
    return view<C, slot::ScaleShares, uint32_t>(u.b).load(
        sharePlace(leaf, 0, d >> u.p.scales.groupShift) + key);
  }
  KV_BODY uint32_t valueShares(U &u, int leaf, int k, int chunk,
                               int high) const {
    int group = (u.map.warp * C::WarpChunks + chunk) >> u.p.scales.groupShift;
    IntPair two = view<C, slot::ScaleShares, IntPair>(u.b).load(
        sharePlace(leaf, 1, group) / 2 + k * 8 + high * 4 + u.map.lane % 4);
    return (uint32_t(two.x) & 0xffff) | uint32_t(two.y) << 16;
  }

  /// The largest scale of a value that a row sees, over this warp's keys.
  KV_BODY void keepLargest(U &u, int m, int side, float most) {
    if (u.map.lane % 4 == 0)
      view<C, slot::LargestScales, float>(u.b).store(
          u.map.rowOf(m, side) * C::Warps + u.map.warp, most);
  }
  /// The divisor of a row's weights of this leaf.
  KV_BODY RangePower weightPower(U &u, int row) const {
    FloatQuad four = view<C, slot::LargestScales, FloatQuad>(u.b).load(row);
    return powerAboveScale(kv::plan::larger(kv::plan::larger(four.x, four.y),
                                            kv::plan::larger(four.z, four.w)));
  }
  /// A row's sum of weights, which are f32 here, over this warp's keys, and
  /// over all.
  KV_BODY void shareSum(U &u, int row, float sum) {
    sum += u.b.shuffleXor(sum, 1);
    sum += u.b.shuffleXor(sum, 2);
    if (u.map.lane % 4 == 0)
      view<C, slot::RowSums, float>(u.b).store(row * C::Warps + u.map.warp,
                                               sum);
  }
  KV_BODY float sumOf(U &u, int row) const {
    FloatQuad four = view<C, slot::RowSums, FloatQuad>(u.b).load(row);
    return (four.x + four.y) + (four.z + four.w);
  }

private:
  /// Where the scales of a plane lie, of the leaf and of the next in turn.
  static KV_BODY int scalePlace(int leaf, int plane) {
    return ((leaf & 1) * 2 + plane) * C::Leaf;
  }
  /// Where the shares of a group lie, of the leaf and of the next in turn.
  static KV_BODY int sharePlace(int leaf, int plane, int group) {
    return scalePlace(leaf, plane) * C::ScaleGroups + group * C::Leaf;
  }

  uint32_t next[2][C::ScaleGroups]; // of this thread's key
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_MMA_WARPSCALES_H
