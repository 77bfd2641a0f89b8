//===- Widen.h - 8-bit elements to 16 bits ----------------------*- C++ -*-===//
//
// Eight-bit caches are multiplied as f16, which has every number that f8E4M3
// has: two elements are one instruction where there is one (sm_89 and on).
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_WIDEN_H
#define KV_KERNELS_CUDA_WIDEN_H

#include "Numbers.h"

namespace kv::cuda {

#ifdef __CUDA_ARCH__
/// Two 16-bit floats times 2^8, exactly; subnormals are no special case.
__device__ __forceinline__ uint32_t rebias(uint32_t pair) {
  uint32_t result;
  asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(result) : "r"(pair), "r"(0x5c005c00u));
  return result;
}
#endif

/// f8E4M3 to f16, exactly: elements 0, 1 and 2, 3 of four.
KV_HD void widenFour(uint32_t four, uint32_t &low, uint32_t &high) {
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
    x[i] = widen(F8E4M3{uint8_t(four >> 8 * i)});
  low = narrowPair<F16>(x[0], x[1]);
  high = narrowPair<F16>(x[2], x[3]);
#endif
}

/// Elements 0, 2 and 1, 3 of four.
KV_HD void widenEvenOdd(uint32_t four, uint32_t &even, uint32_t &odd) {
#ifdef __CUDA_ARCH__
  widenFour(__byte_perm(four, 0, 0x3120), even, odd);
#else
  uint32_t inner = four >> 8;
  widenFour((four & 0xff0000ff) | (four >> 8 & 0xff00) | (inner & 0xff) << 16,
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

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_WIDEN_H
