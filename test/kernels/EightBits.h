//===- EightBits.h - Products of 8 bits in double precision -----*- C++ -*-===//
//
// What docs/products.md says of queries and weights.
//
//===----------------------------------------------------------------------===//

#ifndef KV_TEST_KERNELS_EIGHTBITS_H
#define KV_TEST_KERNELS_EIGHTBITS_H

#include "../../kernels/cuda/Numbers.h"

#include <algorithm>
#include <cmath>

namespace kv::cuda::test {

/// The keys that share a largest score.
constexpr int EightBitLeaf = 128;

/// Makes a query of `dim` elements what is multiplied: rounded to 8 bits, and
/// divided by its power again.
inline void roundQuery(float *query, int dim) {
  float largest = 0x1p-119f;
  for (int d = 0; d < dim; ++d)
    largest = std::max(largest, std::fabs(query[d]));
  int power = 7 - std::ilogb(largest);
  for (int d = 0; d < dim; ++d)
    query[d] =
        std::ldexp(widen(narrow<F8E4M3>(std::ldexp(query[d], power))), -power);
}

/// A key's weight of 8 bits, whose leaf's largest score is `leaf` and the row's
/// `maximum`. Where f32's errors, or those of the polynomials that a leaf's
/// last quarter may have (PolynomialPower.h), may round it otherwise, by how
/// much.
inline double roundedWeight(int64_t key, double score, double leaf,
                            double maximum, double &slack) {
  bool polynomial = key % EightBitLeaf >= EightBitLeaf * 3 / 4;
  double weight = 256 * std::exp(score - leaf),
         share = std::exp(leaf - maximum) / 256,
         error = (polynomial ? 0.002 : 0x1p-13) + std::fabs(score) * 0x1p-19;
  auto rounded = [](double x) {
    return double(widen(narrow<F8E4M3>(float(x))));
  };
  slack =
      (rounded(weight * (1 + error)) - rounded(weight * (1 - error))) * share;
  return rounded(weight) * share;
}

} // namespace kv::cuda::test

#endif // KV_TEST_KERNELS_EIGHTBITS_H
