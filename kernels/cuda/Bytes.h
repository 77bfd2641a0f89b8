//===- Bytes.h - Operands of products of 8 bits -----------------*- C++ -*-===//
//
// What products of f8E4M3FN need beside the bytes of a cache: rows of queries
// in the type's range, weights of that type, and values with four keys of a
// column in a word (docs/products.md).
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_BYTES_H
#define KV_KERNELS_CUDA_BYTES_H

#include "Widen.h"

namespace kv::cuda {

/// Weights of 8 bits are multiplied by 2^WeightPower before they are rounded.
constexpr int WeightPower = 8;

/// The power of two that takes a largest magnitude to [2^7, 2^8), and its
/// inverse; of less than 2^-119 that of 2^-119. Of infinity NaN, for what is
/// multiplied by it would become the type's largest number.
KV_HD RangeScale byteScale(float largest) {
  uint32_t exponent = bitsAs<uint32_t>(largest) >> 23;
  uint32_t atLeast = exponent < 8 ? 8 : exponent;
  return {bitsAs<float>(exponent == 255 ? 0x7fc00000u : (261 - atLeast) << 23),
          bitsAs<float>((atLeast - 7) << 23)};
}

/// Four floats to f8E4M3FN, to nearest even; what is too large becomes the
/// largest number. The first lies in the lowest byte.
KV_HD uint32_t narrowFour(float x0, float x1, float x2, float x3) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
  uint32_t result;
  asm("{\n\t.reg .b16 low, high;\n\t"
      "cvt.rn.satfinite.e4m3x2.f32 low, %2, %1;\n\t"
      "cvt.rn.satfinite.e4m3x2.f32 high, %4, %3;\n\t"
      "mov.b32 %0, {low, high};\n\t}"
      : "=r"(result)
      : "f"(x0), "f"(x1), "f"(x2), "f"(x3));
  return result;
#else
  return narrow<F8E4M3>(x0).bits | uint32_t(narrow<F8E4M3>(x1).bits) << 8 |
         uint32_t(narrow<F8E4M3>(x2).bits) << 16 |
         uint32_t(narrow<F8E4M3>(x3).bits) << 24;
#endif
}

/// Of two words with two neighbouring columns of two keys each, as a transposed
/// ldmatrix gives them: the even column of all four keys, and the odd one.
KV_HD void splitColumns(uint32_t first, uint32_t second, uint32_t &even,
                        uint32_t &odd) {
#ifdef __CUDA_ARCH__
  even = __byte_perm(first, second, 0x6420);
  odd = __byte_perm(first, second, 0x7531);
#else
  auto pick = [](uint32_t word) {
    return (word & 0xff) | (word >> 8 & 0xff00);
  };
  even = pick(first) | pick(second) << 16;
  odd = pick(first >> 8) | pick(second >> 8) << 16;
#endif
}

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_BYTES_H
