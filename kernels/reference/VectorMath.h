//===- VectorMath.h - exp, log and tanh with fixed bits ---------*- C++ -*-===//
//
// The C library chooses among variants by the machine, and they differ in the
// last bit. These use only exactly rounded operations, lane by lane, so the
// number of lanes changes no bit either.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_REFERENCE_VECTORMATH_H
#define KV_KERNELS_REFERENCE_VECTORMATH_H

#include "Elements.h"

#include <limits>

namespace kv::reference {

/// Vectors of `Lanes` doubles and of as many integers.
template <int Lanes> struct Vector {
  typedef double D __attribute__((vector_size(Lanes * sizeof(double))));
  typedef int64_t I __attribute__((vector_size(Lanes * sizeof(int64_t))));
  typedef uint64_t U __attribute__((vector_size(Lanes * sizeof(uint64_t))));
};

/// e^x for x <= 0, and for NaN. Below -708 it is 0. About one unit in the last
/// place.
template <int Lanes>
KV_ALWAYS_INLINE void expNonPositive(typename Vector<Lanes>::D &x) {
  using V = typename Vector<Lanes>::D;
  using U = typename Vector<Lanes>::U; // wraps where x has no use for it
  const V magic = V{} + 0x1.8p52;
  V n = x * 0x1.71547652b82fep+0 + magic; // the low bits hold round(x/ln 2)
  U exponent = (U)n << 52;
  n = n - magic;
  // ln 2 in two parts, the first short enough for n * part to be exact.
  V r = (x - n * 0x1.62e42feep-1) - n * 0x1.a39ef35793c76p-33;
  // The Taylor series on |r| <= ln 2 / 2, cut where it is below 2^-56.
  V p = V{} + 1.0 / 6227020800.0;
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
  V result = (V)((U)p + exponent);
  x = x < -708.0 ? V{} : (x == x ? result : x);
}

/// tanh(x), accurate to about 2^-52 in absolute terms.
template <int Lanes>
KV_ALWAYS_INLINE void tanhVector(typename Vector<Lanes>::D &x) {
  using V = typename Vector<Lanes>::D;
  using I = typename Vector<Lanes>::I;
  const I sign = I{} + std::numeric_limits<int64_t>::min();
  I signs = (I)x & sign;
  V t = (V)((I)x | sign) * 2.0; // -2|x|
  expNonPositive<Lanes>(t);
  V magnitude = (1.0 - t) / (1.0 + t);
  x = (V)((I)magnitude | signs);
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
