//===- Elements.h - Conversions of single elements --------------*- C++ -*-===//
//
// In software, so that every machine gives the same bits, NaNs included, and
// branch-free, so that a loop over them can be vectorised.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_REFERENCE_ELEMENTS_H
#define KV_KERNELS_REFERENCE_ELEMENTS_H

#include "kv/ABI/TensorView.h"

#include <bit>
#include <cstdint>

#define KV_ALWAYS_INLINE inline __attribute__((always_inline))

namespace kv::reference {

struct F32 {
  using Storage = float;
  static KV_ALWAYS_INLINE float widen(float x) { return x; }
  static KV_ALWAYS_INLINE float narrow(float x) { return x; }
};

struct BF16 {
  using Storage = uint16_t;
  static KV_ALWAYS_INLINE float widen(uint16_t x) {
    return std::bit_cast<float>(uint32_t(x) << 16);
  }
  static KV_ALWAYS_INLINE uint16_t narrow(float x) {
    uint32_t bits = std::bit_cast<uint32_t>(x);
    uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    uint32_t quiet = (bits >> 16) | 0x40;
    return (bits & 0x7fffffff) > 0x7f800000 ? quiet : rounded;
  }
};

struct F16 {
  using Storage = uint16_t;
  static KV_ALWAYS_INLINE float widen(uint16_t x) {
    // The exponent bias differs by 112; the multiplication is exact and also
    // normalises subnormals.
    uint32_t sign = uint32_t(x & 0x8000) << 16;
    uint32_t magnitude = uint32_t(x & 0x7fff) << 13;
    uint32_t finite =
        std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112f);
    uint32_t special = magnitude | 0x7f800000;
    return std::bit_cast<float>(sign |
                                ((x & 0x7c00) == 0x7c00 ? special : finite));
  }
  static KV_ALWAYS_INLINE uint16_t narrow(float x) {
    uint32_t bits = std::bit_cast<uint32_t>(x);
    uint32_t sign = (bits >> 16) & 0x8000;
    uint32_t magnitude = bits & 0x7fffffff;
    // Normal results: rebias, round to nearest even; overflow reaches
    // infinity by carry or by the clamp.
    uint32_t normal =
        (magnitude - (112u << 23) + 0xfff + ((magnitude >> 13) & 1)) >> 13;
    // Subnormal results: adding 0.5 lets the FPU round at bit 2^-24.
    uint32_t subnormal =
        std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) -
        std::bit_cast<uint32_t>(0.5f);
    uint32_t half = magnitude < (113u << 23) ? subnormal : normal;
    half = magnitude >= 0x47800000 ? 0x7c00u : half;
    half =
        magnitude > 0x7f800000 ? 0x7e00u | ((magnitude >> 13) & 0x3ff) : half;
    return static_cast<uint16_t>(sign | half);
  }
};

constexpr bool isFloat(int64_t dtype) {
  return dtype == KV_DTYPE_F32 || dtype == KV_DTYPE_BF16 ||
         dtype == KV_DTYPE_F16;
}

/// Calls fn with the format of a dtype for which isFloat holds.
template <class Fn> KV_ALWAYS_INLINE void withFormat(int64_t dtype, Fn &&fn) {
  if (dtype == KV_DTYPE_F32)
    fn(F32());
  else if (dtype == KV_DTYPE_BF16)
    fn(BF16());
  else
    fn(F16());
}

} // namespace kv::reference

#endif // KV_KERNELS_REFERENCE_ELEMENTS_H
