//===- Numbers.h - Element types of caches and activations ------*- C++ -*-===//
//
// On a GPU the conversions are the hardware's; the host's forms give the same
// numbers (round to nearest even), so that a body computes the same on both.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_BLOCK_NUMBERS_H
#define KV_KERNELS_BLOCK_NUMBERS_H

#include "kv/ABI/TensorView.h"
#include "kv/Definition/HostDevice.h"

#include <type_traits>

namespace kv::cuda {

template <class To, class From> KV_HD To bitsAs(From x) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, x);
}

struct Bf16 {
  uint16_t bits;
};
struct F16 {
  uint16_t bits;
};
/// 1 sign, 4 exponent, 3 mantissa bits; no infinity, one NaN a sign.
struct F8E4M3 {
  uint8_t bits;
};

/// 1 sign, 5 exponent, 2 mantissa bits: the upper half of an f16.
struct F8E5M2 {
  uint8_t bits;
};
struct I8 {
  uint8_t bits; // in two's complement
};
template <class T> inline constexpr float LargestOf = 0;
template <> inline constexpr float LargestOf<F8E4M3> = 448;
template <> inline constexpr float LargestOf<F8E5M2> = 57344;
template <> inline constexpr float LargestOf<I8> = 127;

/// The C++ type of a KvDType that kernels know.
template <KvDType> struct ElementOfDType;
template <> struct ElementOfDType<KV_DTYPE_F32> {
  using Type = float;
};
template <> struct ElementOfDType<KV_DTYPE_F16> {
  using Type = F16;
};
template <> struct ElementOfDType<KV_DTYPE_BF16> {
  using Type = Bf16;
};
template <> struct ElementOfDType<KV_DTYPE_F8E4M3FN> {
  using Type = F8E4M3;
};
template <> struct ElementOfDType<KV_DTYPE_F8E5M2> {
  using Type = F8E5M2;
};
template <> struct ElementOfDType<KV_DTYPE_I8> {
  using Type = I8;
};
template <KvDType type> using ElementOf = typename ElementOfDType<type>::Type;

KV_HD float widen(float x) { return x; }
KV_HD float widen(Bf16 x) { return bitsAs<float>(uint32_t(x.bits) << 16); }
KV_HD float widen(F16 x) {
#ifdef __CUDA_ARCH__
  float result;
  asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(x.bits));
  return result;
#else
  // The bias differs by 112; the multiplication normalises subnormals.
  uint32_t sign = uint32_t(x.bits & 0x8000) << 16;
  uint32_t magnitude = uint32_t(x.bits & 0x7fff) << 13;
  if (magnitude >= 0x0f800000)
    return bitsAs<float>(sign | magnitude | 0x7f800000);
  return bitsAs<float>(sign |
                       bitsAs<uint32_t>(bitsAs<float>(magnitude) * 0x1p112f));
#endif
}
KV_HD float widen(F8E4M3 x) {
  uint32_t sign = uint32_t(x.bits & 0x80) << 24;
  uint32_t magnitude = x.bits & 0x7f;
  if (magnitude == 0x7f)
    return bitsAs<float>(sign | 0x7fc00000);
  // The same shift of the exponent, from a bias of 7.
  return bitsAs<float>(
      sign | bitsAs<uint32_t>(bitsAs<float>(magnitude << 20) * 0x1p120f));
}

KV_HD float widen(F8E5M2 x) { return widen(F16{uint16_t(x.bits << 8)}); }
KV_HD float widen(I8 x) { return float(int8_t(x.bits)); }

/// float to T; two at a time as the kernels need them, `low` in the low half.
template <class T> KV_HD T narrow(float x);
template <class T> KV_HD uint32_t narrowPair(float low, float high);

template <> KV_HD float narrow<float>(float x) { return x; }

template <> KV_HD Bf16 narrow<Bf16>(float x) {
#ifdef __CUDA_ARCH__
  Bf16 result;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result.bits) : "f"(x));
  return result;
#else
  uint32_t bits = bitsAs<uint32_t>(x);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return {0x7fff};
  return {uint16_t((bits + 0x7fff + ((bits >> 16) & 1)) >> 16)};
#endif
}

template <> KV_HD F16 narrow<F16>(float x) {
#ifdef __CUDA_ARCH__
  F16 result;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result.bits) : "f"(x));
  return result;
#else
  uint32_t bits = bitsAs<uint32_t>(x);
  uint32_t sign = (bits >> 16) & 0x8000, magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000)
    return {0x7fff};
  if (magnitude >= 0x477ff000) // 65520 and more round to infinity
    return {uint16_t(sign | 0x7c00)};
  uint32_t half;
  if (magnitude < 0x38800000) // subnormal: let an addition round at 2^-24
    half = bitsAs<uint32_t>(bitsAs<float>(magnitude) + 0.5f) - 0x3f000000;
  else
    half = (magnitude - 0x38000000 + 0xfff + ((magnitude >> 13) & 1)) >> 13;
  return {uint16_t(sign | half)};
#endif
}

/// Saturates, as every cache of this type does.
template <> KV_HD F8E4M3 narrow<F8E4M3>(float x) {
  uint32_t bits = bitsAs<uint32_t>(x);
  uint32_t sign = (bits >> 24) & 0x80, magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000)
    return {uint8_t(sign | 0x7f)};
  if (magnitude >= 0x43e00000) // 448
    return {uint8_t(sign | 0x7e)};
  uint32_t eighth;
  if (magnitude < 0x3c800000) // subnormal below 2^-6: round at 2^-9
    eighth = bitsAs<uint32_t>(bitsAs<float>(magnitude) + 0x1p14f) - 0x46800000;
  else
    eighth = (magnitude - 0x3c000000 + 0x7ffff + ((magnitude >> 20) & 1)) >> 20;
  return {uint8_t(sign | eighth)};
}

/// Saturates, as the one above.
template <> KV_HD F8E5M2 narrow<F8E5M2>(float x) {
  uint32_t bits = bitsAs<uint32_t>(x);
  uint32_t sign = (bits >> 24) & 0x80, magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000)
    return {uint8_t(sign | 0x7f)};
  if (magnitude >= 0x47600000) // 57344
    return {uint8_t(sign | 0x7b)};
  uint32_t eighth;
  if (magnitude < 0x38800000) // subnormal below 2^-14: round at 2^-16
    eighth = bitsAs<uint32_t>(bitsAs<float>(magnitude) + 0x1p7f) - 0x43000000;
  else
    eighth = (magnitude - 0x38000000 + 0xfffff + ((magnitude >> 21) & 1)) >> 21;
  return {uint8_t(sign | eighth)};
}

/// To the nearest, at most 127 from zero; NaN becomes 0.
template <> KV_HD I8 narrow<I8>(float x) {
  x = x < -127.0f ? -127.0f : x > 127.0f ? 127.0f : x;
  // In the last bits of a number so large that it has no fraction.
  uint32_t bits = bitsAs<uint32_t>(x + 0x1.8p23f);
  return {x == x ? uint8_t(bits) : uint8_t(0)};
}

template <> KV_HD uint32_t narrowPair<Bf16>(float low, float high) {
#ifdef __CUDA_ARCH__
  uint32_t result;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
  return result;
#else
  return narrow<Bf16>(low).bits | uint32_t(narrow<Bf16>(high).bits) << 16;
#endif
}

template <> KV_HD uint32_t narrowPair<F16>(float low, float high) {
#ifdef __CUDA_ARCH__
  uint32_t result;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
  return result;
#else
  return narrow<F16>(low).bits | uint32_t(narrow<F16>(high).bits) << 16;
#endif
}

/// Four of 8 bits, the first in the lowest byte; saturates.
template <class T>
KV_HD uint32_t narrowFour(float x0, float x1, float x2, float x3) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
  if constexpr (std::is_same_v<T, F8E4M3>) {
    uint32_t result;
    asm("{\n\t.reg .b16 low, high;\n\t"
        "cvt.rn.satfinite.e4m3x2.f32 low, %2, %1;\n\t"
        "cvt.rn.satfinite.e4m3x2.f32 high, %4, %3;\n\t"
        "mov.b32 %0, {low, high};\n\t}"
        : "=r"(result)
        : "f"(x0), "f"(x1), "f"(x2), "f"(x3));
    return result;
  }
#endif
  return narrow<T>(x0).bits | uint32_t(narrow<T>(x1).bits) << 8 |
         uint32_t(narrow<T>(x2).bits) << 16 |
         uint32_t(narrow<T>(x3).bits) << 24;
}

/// One half of a pair.
template <class T> KV_HD float widenHalf(uint32_t pair, int half) {
  return widen(T{uint16_t(pair >> 16 * half)});
}

/// Two ones.
template <class T> inline constexpr uint32_t OnePair = 0;
template <> inline constexpr uint32_t OnePair<Bf16> = 0x3f803f80;
template <> inline constexpr uint32_t OnePair<F16> = 0x3c003c00;
/// Four ones, for products of 8 bits.
template <> inline constexpr uint32_t OnePair<F8E4M3> = 0x38383838;

} // namespace kv::cuda

#endif // KV_KERNELS_BLOCK_NUMBERS_H
