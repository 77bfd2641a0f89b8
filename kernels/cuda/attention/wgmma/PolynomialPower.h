//===- PolynomialPower.h - Powers of two without exponentials ---*- C++ -*-===//
//
// An SM computes sixteen exponentials a cycle, and a leaf whose products are
// bytes' has little that takes longer. So some of its weights come from the
// units that multiply and add, as FlashAttention 4 has them on 10.0.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_ATTENTION_WGMMA_POLYNOMIALPOWER_H
#define KV_KERNELS_CUDA_ATTENTION_WGMMA_POLYNOMIALPOWER_H

#include "kernels/block/Numbers.h"
#include "kv/Definition/Fold.h"

namespace kv::cuda {

/// Of a row's scores: two to the score times `factor` less `base`, within 0.2 %
/// of it for exponents from -16 to 15, and exact for whole ones. Those below
/// count as -16, which weights of 8 bits have no number for; so do those that
/// are none, so that who takes a maximum has to keep these.
class PolynomialPower {
public:
  KV_HD PolynomialPower(float factor, float base)
      : factor(factor * (1 / Range)), offset(0.5f - base * (1 / Range)) {}

  KV_HD float operator()(float score) const {
    float place = saturated(score); // 0 is 2^-16, 1 is 2^16
    // The sum's last bit is worth 1 / Range: its lowest bits are a whole
    // exponent.
    float whole = add(place, Shift), rest = add(place, -add(whole, -Shift));
    float power = kv::plan::fusedMultiplyAdd(
        rest, kv::plan::fusedMultiplyAdd(rest, Quadratic, Linear), Least);
    return bitsAs<float>((bitsAs<uint32_t>(whole) << 23) +
                         bitsAs<uint32_t>(power));
  }

private:
  static constexpr float Range = 32, Least = 0x1p-16f, Shift = 0x1.8p18f;
  /// 2^x from -1/2 to 1/2 is 1 + 0.702942 x + 0.239864 x^2. Of the polynomials
  /// that are 1 at 0, this one has the least largest relative error: 0.00196.
  static constexpr float Linear = 0.702942f * Range * Least,
                         Quadratic = 0.239864f * Range * Range * Least;

  /// Where the exponent lies in the range; its beginning for NaN.
  KV_HD float saturated(float score) const {
#ifdef __CUDA_ARCH__
    return __saturatef(__fmaf_rn(score, factor, offset)); // one instruction
#else
    float place = kv::plan::fusedMultiplyAdd(score, factor, offset);
    return place > 0 ? (place < 1 ? place : 1) : 0;
#endif
  }
  /// a + b, never fused with a multiplication.
  static KV_HD float add(float a, float b) {
#ifdef __CUDA_ARCH__
    return __fadd_rn(a, b);
#else
    return a + b;
#endif
  }

  float factor, offset;
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_WGMMA_POLYNOMIALPOWER_H
