//===- RowScales.h - The scales of a key's row ------------------*- C++ -*-===//

#ifndef KV_KERNELS_CUDA_ATTENTION_COMMON_ROWSCALES_H
#define KV_KERNELS_CUDA_ATTENTION_COMMON_ROWSCALES_H

#include "kernels/block/Body.h"
#include "kernels/block/Widen.h"
#include "kernels/cuda/parameters/Attention.h"

namespace kv::cuda {

/// Of a cache without any.
struct NoScales {};

/// One of them, as it lies in memory.
template <class B>
KV_BODY uint32_t loadScale(B &b, const ScalesView &scales, int64_t at) {
  if (scales.powers)
    return b.load(static_cast<const uint8_t *>(scales.data) + at);
  return b.load(static_cast<const uint32_t *>(scales.data) + at);
}

/// The scale that was loaded. Where there is no scale, zero was loaded, which
/// gives a small number.
KV_BODY float scaleOf(const ScalesView &scales, uint32_t loaded) {
  if (scales.powers)
    return powerOfExponent(loaded);
  return bitsAs<float>(loaded);
}

/// The factor of a row's scores or weights. With one scale, it is that scale.
/// With several, it is a power of two above the largest, and store(group,
/// share) gets the share of each group's elements, as a pair.
template <int Groups, class Store>
KV_BODY float divideScales(const ScalesView &scales,
                           const uint32_t (&loaded)[Groups], Store store) {
  float row = scaleOf(scales, loaded[0]);
  if constexpr (Groups > 1) {
    float largest = fabsf(row);
    KV_UNROLL for (int g = 1; g < Groups; ++g)
      largest = kv::plan::larger(largest, fabsf(scaleOf(scales, loaded[g])));
    RangePower power = powerAboveScale(largest);
    KV_UNROLL for (int g = 0; g < Groups; ++g) {
      float share =
          kv::plan::multiply(scaleOf(scales, loaded[g]), power.inverse);
      if (g < scales.groups)
        store(g, narrowPair<F16>(share, share));
    }
    row = power.power;
  }
  return row;
}

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_COMMON_ROWSCALES_H
