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

/// An 8-bit float of `Mantissa` bits, with the exponent bias `Bias`. Numbers
/// beyond `Largest` become it: infinities too, but not NaN.
template <int Mantissa, int Bias, int Largest> struct F8 {
  using Storage = uint8_t;
  static constexpr float Max = Largest;
  static constexpr int Shift = 23 - Mantissa;
  // 1 + the last mantissa at the top exponent: what is above is no number.
  static constexpr bool HasInfinity = Mantissa == 2;
  static constexpr uint32_t FirstSpecial = HasInfinity ? 0x7c : 0x7f;

  static KV_ALWAYS_INLINE float widen(uint8_t x) {
    uint32_t sign = uint32_t(x & 0x80) << 24, rest = x & 0x7f;
    // The multiplication is exact and also normalises subnormals.
    constexpr float Rebias =
        std::bit_cast<float>(uint32_t(127 + 127 - Bias) << 23);
    uint32_t finite =
        std::bit_cast<uint32_t>(std::bit_cast<float>(rest << Shift) * Rebias);
    uint32_t special = HasInfinity ? 0x7f800000 | rest << Shift : 0x7fc00000;
    return std::bit_cast<float>(sign |
                                (rest >= FirstSpecial ? special : finite));
  }
  static KV_ALWAYS_INLINE uint8_t narrow(float x) {
    uint32_t bits = std::bit_cast<uint32_t>(x), sign = bits >> 24 & 0x80;
    uint32_t magnitude = bits & 0x7fffffff;
    bool isNaN = magnitude > 0x7f800000;
    magnitude = magnitude > std::bit_cast<uint32_t>(Max)
                    ? std::bit_cast<uint32_t>(Max)
                    : magnitude;
    uint32_t normal = (magnitude - (uint32_t(127 - Bias) << 23) +
                       ((1u << (Shift - 1)) - 1) + (magnitude >> Shift & 1)) >>
                      Shift;
    // Adding this number lets the FPU round at the last bit of subnormals.
    constexpr float Magic =
        std::bit_cast<float>(uint32_t(127 + 1 - Bias + Shift) << 23);
    uint32_t subnormal =
        std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + Magic) -
        std::bit_cast<uint32_t>(Magic);
    uint32_t result =
        magnitude < (uint32_t(128 - Bias) << 23) ? subnormal : normal;
    return static_cast<uint8_t>(sign | (isNaN ? 0x7f : result));
  }
};
using F8E4M3FN = F8<3, 7, 448>;
using F8E5M2 = F8<2, 15, 57344>;

struct I8 {
  using Storage = int8_t;
  static constexpr float Max = 127;
  static KV_ALWAYS_INLINE float widen(int8_t x) { return x; }
  static KV_ALWAYS_INLINE int8_t narrow(float x) {
    x = x < -Max ? -Max : x > Max ? Max : x;
    // Adding 1.5 * 2^23 rounds to nearest even, into the low mantissa bits.
    float rounded = x + 0x1.8p23f;
    int8_t result = static_cast<int8_t>(std::bit_cast<uint32_t>(rounded));
    return x == x ? result : 0;
  }
};

/// Elements that may have a scale.
constexpr bool isScalable(int64_t dtype) {
  return dtype == KV_DTYPE_F8E4M3FN || dtype == KV_DTYPE_F8E5M2 ||
         dtype == KV_DTYPE_I8;
}

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

/// Calls fn with the format of any type that a cache may have.
template <class Fn>
KV_ALWAYS_INLINE void withCacheFormat(int64_t dtype, Fn &&fn) {
  if (dtype == KV_DTYPE_F8E4M3FN)
    fn(F8E4M3FN());
  else if (dtype == KV_DTYPE_F8E5M2)
    fn(F8E5M2());
  else if (dtype == KV_DTYPE_I8)
    fn(I8());
  else
    withFormat(dtype, fn);
}

} // namespace kv::reference

#endif // KV_KERNELS_REFERENCE_ELEMENTS_H
