//===- VectorMath.h - exp, log and tanh with fixed bits ----------*- C++
//-*-===//
//
// The C library chooses among variants by the machine, and they differ in the
// last bit. These use only exactly rounded operations, on eight lanes.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_REFERENCE_VECTORMATH_H
#define KV_KERNELS_REFERENCE_VECTORMATH_H

#include "Elements.h"

#include <limits>

namespace kv::reference {

typedef double V8 __attribute__((vector_size(64)));
typedef int64_t I8 __attribute__((vector_size(64)));

/// e^x for x <= 0, and for NaN. Below -708 it is 0. About one unit in the last
/// place.
KV_ALWAYS_INLINE void expNonPositive(V8 &x) {
  const V8 magic = V8{} + 0x1.8p52;
  V8 n = x * 0x1.71547652b82fep+0 + magic; // the low bits hold round(x/ln 2)
  I8 exponent = (I8)n << 52;
  n = n - magic;
  // ln 2 in two parts, the first short enough for n * part to be exact.
  V8 r = (x - n * 0x1.62e42feep-1) - n * 0x1.a39ef35793c76p-33;
  // The Taylor series on |r| <= ln 2 / 2, cut where it is below 2^-56.
  V8 p = V8{} + 1.0 / 6227020800.0;
  p = p * r + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  V8 result = (V8)((I8)p + exponent);
  x = x < -708.0 ? V8{} : (x == x ? result : x);
}

/// tanh(x), accurate to about 2^-52 in absolute terms.
KV_ALWAYS_INLINE void tanhVector(V8 &x) {
  const I8 sign = I8{} + std::numeric_limits<int64_t>::min();
  I8 signs = (I8)x & sign;
  V8 t = (V8)((I8)x | sign) * 2.0; // -2|x|
  expNonPositive(t);
  V8 magnitude = (1.0 - t) / (1.0 + t);
  x = (V8)((I8)magnitude | signs);
}

/// ln x for normal x > 0.
inline double logPositive(double x) {
  uint64_t bits = std::bit_cast<uint64_t>(x);
  int64_t exponent = int64_t(bits >> 52) - 1023;
  double m =
      std::bit_cast<double>((bits & 0xfffffffffffff) | 0x3ff0000000000000);
  if (m > 0x1.6a09e667f3bcdp+0) {
    m *= 0.5;
    ++exponent;
  }
  // 2 artanh(s); |s| <= 0.1716, so s^23 / 23 is below 2^-62.
  double s = (m - 1.0) / (m + 1.0), s2 = s * s, sum = 0;
  for (int k = 21; k >= 1; k -= 2)
    sum = sum * s2 + 1.0 / k;
  return double(exponent) * 0x1.62e42fefa39efp-1 + 2.0 * s * sum;
}

} // namespace kv::reference

#endif // KV_KERNELS_REFERENCE_VECTORMATH_H
