//===- Widen.h - 8-bit elements to 16 bits ----------------------*- C++ -*-===//
//
// Eight-bit caches are multiplied as f16, which has every number of theirs. Two
// numbers of f8E4M3 take one instruction from sm_89 on. f8E5M2 is f16's upper
// half. i8 becomes f16 as a mantissa, from which a number is subtracted.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_BLOCK_WIDEN_H
#define KV_KERNELS_BLOCK_WIDEN_H

#include "Numbers.h"

#include <type_traits>

namespace kv::cuda {

#ifdef __CUDA_ARCH__
/// Two 16-bit floats times 2^8, exactly; subnormals are no special case.
__device__ __forceinline__ uint32_t rebias(uint32_t pair) {
  uint32_t result;
  asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(result) : "r"(pair), "r"(0x5c005c00u));
  return result;
}
#endif

/// The bytes of a, 0 to 3, and b, 4 to 7, that the selector's digits say, the
/// first of them the lowest.
KV_HD uint32_t permuteBytes(uint32_t a, uint32_t b, uint32_t selector) {
#ifdef __CUDA_ARCH__
  return __byte_perm(a, b, selector);
#else
  uint64_t both = a | uint64_t(b) << 32;
  uint32_t result = 0;
  for (int i = 0; i < 4; ++i)
    result |= uint32_t(both >> 8 * (selector >> 4 * i & 7) & 0xff) << 8 * i;
  return result;
#endif
}

/// Two products of f16, each rounded once.
KV_HD uint32_t multiplyPair(uint32_t a, uint32_t b) {
#ifdef __CUDA_ARCH__
  uint32_t result;
  asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
  return result;
#else
  return narrowPair<F16>(widenHalf<F16>(a, 0) * widenHalf<F16>(b, 0),
                         widenHalf<F16>(a, 1) * widenHalf<F16>(b, 1));
#endif
}

#ifdef __CUDA_ARCH__
/// i8 plus 128, in the mantissas of 1024 and on, to f16.
__device__ __forceinline__ uint32_t fromMantissas(uint32_t pair) {
  uint32_t result;
  asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(result) : "r"(pair), "r"(0x64806480u));
  return result;
}
#endif

/// Cache to f16, exactly: elements 0, 1 and 2, 3 of four.
template <class Cache>
KV_HD void widenFour(uint32_t four, uint32_t &low, uint32_t &high) {
#ifdef __CUDA_ARCH__
  if constexpr (std::is_same_v<Cache, F8E5M2>) {
    low = __byte_perm(four, 0, 0x1404);
    high = __byte_perm(four, 0, 0x3424);
    return;
  } else if constexpr (std::is_same_v<Cache, I8>) {
    four ^= 0x80808080u;
    low = fromMantissas(__byte_perm(four, 0x64646464u, 0x4140));
    high = fromMantissas(__byte_perm(four, 0x64646464u, 0x4342));
    return;
  }
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
  asm("{\n\t.reg .b16 first, second;\n\tmov.b32 {first, second}, %2;\n\t"
      "cvt.rn.f16x2.e4m3x2 %0, first;\n\tcvt.rn.f16x2.e4m3x2 %1, second;\n\t}"
      : "=r"(low), "=r"(high)
      : "r"(four));
#elif defined(__CUDA_ARCH__)
  // Bytes 0, 1 and 2, 3 to the upper halves of 16 bits each. The bits moved to
  // where f16 has sign, exponent and mantissa are the value times 2^-8.
  uint32_t first = __byte_perm(four, 0, 0x1404);
  uint32_t second = __byte_perm(four, 0, 0x3424);
  low = rebias((first & 0x80008000u) | ((first & 0x7f007f00u) >> 1));
  high = rebias((second & 0x80008000u) | ((second & 0x7f007f00u) >> 1));
  // A NaN is the one magnitude that carries into the sign's place.
  uint32_t nan = ((four & 0x7f7f7f7fu) + 0x01010101u) & 0x80808080u;
  if (nan) {
    low |= (__byte_perm(nan, 0, 0x1404) >> 15 & 0x00010001u) * 0x7fff;
    high |= (__byte_perm(nan, 0, 0x3424) >> 15 & 0x00010001u) * 0x7fff;
  }
#else
  float x[4];
  for (int i = 0; i < 4; ++i)
    x[i] = widen(Cache{uint8_t(four >> 8 * i)});
  low = narrowPair<F16>(x[0], x[1]);
  high = narrowPair<F16>(x[2], x[3]);
#endif
}

/// Elements 0, 2 and 1, 3 of four.
template <class Cache>
KV_HD void widenEvenOdd(uint32_t four, uint32_t &even, uint32_t &odd) {
#ifdef __CUDA_ARCH__
  if constexpr (std::is_same_v<Cache, F8E5M2>) {
    even = __byte_perm(four, 0, 0x2404);
    odd = four & 0xff00ff00u;
  } else if constexpr (std::is_same_v<Cache, I8>) {
    four ^= 0x80808080u;
    even = fromMantissas(__byte_perm(four, 0x64646464u, 0x4240));
    odd = fromMantissas(__byte_perm(four, 0x64646464u, 0x4341));
  } else {
    widenFour<Cache>(__byte_perm(four, 0, 0x3120), even, odd);
  }
#else
  uint32_t inner = four >> 8;
  widenFour<Cache>((four & 0xff0000ff) | (four >> 8 & 0xff00) |
                       (inner & 0xff) << 16,
                   even, odd);
#endif
}

/// The power of two that takes a largest magnitude to [2^14, 2^15), where f16
/// has eleven bits and room; of less than 2^-111 one that is smaller.
struct RangeScale {
  float factor, inverse;
};
KV_HD RangeScale rangeScale(float largest) {
  uint32_t exponent = bitsAs<uint32_t>(largest) >> 23;
  exponent = exponent < 15 ? 15 : exponent;
  return {bitsAs<float>((268 - exponent) << 23),
          bitsAs<float>((exponent - 14) << 23)};
}

/// The scale of a row for f8E4M3, to [128, 256). Numbers below 2^-119 get a
/// smaller one. An infinity becomes a NaN, which f8E4M3 has, so that its row is
/// NaN.
KV_HD RangeScale byteScale(float largest) {
  uint32_t exponent = bitsAs<uint32_t>(largest) >> 23;
  exponent = exponent < 8 ? 8 : exponent;
  return {bitsAs<float>(exponent == 255 ? 0x7fc00000u : (261 - exponent) << 23),
          bitsAs<float>((exponent - 7) << 23)};
}

/// The power of two above a scale, 2^-64 at least: what is far below counts for
/// nothing. Its inverse and its logarithm.
struct RangePower {
  float power, inverse, log;
};
KV_HD RangePower powerAboveScale(float scale) {
  uint32_t exponent = bitsAs<uint32_t>(scale) >> 23;
  exponent = exponent < 62 ? 62 : exponent > 251 ? 251 : exponent;
  return {bitsAs<float>((exponent + 1) << 23),
          bitsAs<float>((253 - exponent) << 23), float(int(exponent) - 126)};
}

/// 2^(exponent - 127), which is f8E8M0FNU; 255 is NaN.
KV_HD float powerOfExponent(uint32_t exponent) {
  uint32_t bits = exponent == 255 ? 0x7fc00000u : exponent << 23;
  return bitsAs<float>(bits < 0x00400000u ? 0x00400000u : bits);
}

} // namespace kv::cuda

#endif // KV_KERNELS_BLOCK_WIDEN_H
