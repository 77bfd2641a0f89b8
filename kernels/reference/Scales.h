//===- Scales.h - What 8-bit elements are multiplied with -------*- C++ -*-===//
//
// #kv.scale in numbers: a group of neighbouring elements of a row has a scale,
// of f32 or a power of two (f8E8M0FNU).
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_REFERENCE_SCALES_H
#define KV_KERNELS_REFERENCE_SCALES_H

#include "Elements.h"
#include "PagedCache.h"

#include <cmath>

namespace kv::reference {

/// 2^(exponent - 127); 255 is NaN.
inline float powerOfTwo(uint8_t exponent) {
  uint32_t bits = exponent == 0     ? 0x00400000
                  : exponent == 255 ? 0x7fc00000
                                    : uint32_t(exponent) << 23;
  return std::bit_cast<float>(bits);
}

/// The exponent of the least power of two that is not below `ratio` >= 0.
inline uint8_t exponentAbove(float ratio) {
  uint32_t bits = std::bit_cast<uint32_t>(ratio) & 0x7fffffff;
  return static_cast<uint8_t>(
      std::min<uint32_t>((bits >> 23) + ((bits & 0x7fffff) != 0), 255));
}

/// One layer of a cache's scales; `view` may be null.
class LayerScales {
public:
  LayerScales(const KvTensorView *scales, const KvTensorView &blocks,
              int64_t layer)
      : view(scales), layer(layer),
        group(scales ? blocks.sizes[5] / scales->sizes[5] : 0) {}

  explicit operator bool() const { return view != nullptr; }
  int64_t groupSize() const { return group; }

  /// Element index of a row of scales.
  int64_t row(int64_t plane, int64_t page, int64_t slot, int64_t head) const {
    return LayerBlocks(*view, layer).row(plane, page, slot, head);
  }
  float load(int64_t row, int64_t g) const {
    int64_t at = row + g * view->strides[5];
    return isPower() ? powerOfTwo(static_cast<const uint8_t *>(view->data)[at])
                     : static_cast<const float *>(view->data)[at];
  }
  /// Stores the scale of a group whose largest element should become `max`,
  /// and returns it as it is read back.
  float store(int64_t row, int64_t g, float largest, float max) const {
    int64_t at = row + g * view->strides[5];
    float ratio = largest / max;
    if (!isPower())
      return static_cast<float *>(view->data)[at] = ratio;
    uint8_t exponent = exponentAbove(ratio);
    static_cast<uint8_t *>(view->data)[at] = exponent;
    return powerOfTwo(exponent);
  }

private:
  bool isPower() const { return view->dtype == KV_DTYPE_F8E8M0FNU; }

  const KvTensorView *view;
  int64_t layer;
  int64_t group;
};

/// The largest magnitude; NaN if there is one.
inline float largestMagnitude(const float *values, int64_t count) {
  float largest = 0;
  for (int64_t i = 0; i < count; ++i) {
    float magnitude = std::fabs(values[i]);
    if (magnitude != magnitude)
      return magnitude;
    largest = std::max(largest, magnitude);
  }
  return largest;
}

} // namespace kv::reference

#endif // KV_KERNELS_REFERENCE_SCALES_H
