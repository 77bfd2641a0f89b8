//===- FusedProducts.h - Products that are summed together ------*- C++ -*-===//

#ifndef KV_KERNELS_EMULATOR_BASE_FUSEDPRODUCTS_H
#define KV_KERNELS_EMULATOR_BASE_FUSEDPRODUCTS_H

#include "FusedSum.h"

namespace kv::cuda {

/// Operands of products and sums, widened. A's columns and B's rows, k, are
/// split by the elements of a word: with two, a[k % 2][row * 8 + k / 2], b[k %
/// 2][k / 2 * 8 + column].
template <int WordElements> struct Operands {
  float a[WordElements][16 * 8];
  float b[WordElements][8 * 8];
};

/// sums [16][8] += A B, as the hardware does it. No nonzero operand has an
/// exponent below `least`, as the type's subnormals count.
void multiplyAddFused(const Operands<2> &x, float *sums, const FusedSum &fused,
                      int least);
void multiplyAddFused(const Operands<4> &x, float *sums, const FusedSum &fused,
                      int least);

} // namespace kv::cuda

#endif // KV_KERNELS_EMULATOR_BASE_FUSEDPRODUCTS_H
