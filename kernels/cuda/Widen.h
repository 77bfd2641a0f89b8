//===- Widen.h - Four 8-bit elements to 16 bits -----------------*- C++ -*-===//

#ifndef KV_KERNELS_CUDA_WIDEN_H
#define KV_KERNELS_CUDA_WIDEN_H

#include "Numbers.h"

namespace kv::cuda {

/// f8E4M3 to bf16, exactly, one element after the other.
KV_HD void widenFourSlowly(uint32_t four, uint32_t &low, uint32_t &high) {
  float x[4];
  for (int i = 0; i < 4; ++i)
    x[i] = widen(F8E4M3{uint8_t(four >> 8 * i)});
  low = narrowPair<Bf16>(x[0], x[1]);
  high = narrowPair<Bf16>(x[2], x[3]);
}

#ifdef __CUDA_ARCH__
/// Two 16-bit floats times 2^120, exactly; subnormals are no special case.
__device__ __forceinline__ uint32_t rebias(uint32_t pair) {
  uint32_t result;
  asm("fma.rn.bf16x2 %0, %1, %2, %3;"
      : "=r"(result)
      : "r"(pair), "r"(0x7b807b80u), "r"(0x80008000u));
  return result;
}
#endif

/// The element's bits moved to where bf16 has sign, exponent and mantissa are
/// its value times 2^-120.
KV_HD void widenFour(uint32_t four, uint32_t &low, uint32_t &high) {
#ifdef __CUDA_ARCH__
  // A NaN is the one magnitude that carries into the sign's place.
  if (((four & 0x7f7f7f7fu) + 0x01010101u) & 0x80808080u)
    return widenFourSlowly(four, low, high);
  // Bytes 0, 1 and 2, 3 to the upper halves of 16 bits each.
  uint32_t first = __byte_perm(four, 0, 0x1404);
  uint32_t second = __byte_perm(four, 0, 0x3424);
  low = rebias((first & 0x80008000u) | ((first & 0x7f007f00u) >> 4));
  high = rebias((second & 0x80008000u) | ((second & 0x7f007f00u) >> 4));
#else
  widenFourSlowly(four, low, high);
#endif
}

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_WIDEN_H
