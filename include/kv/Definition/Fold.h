//===- Fold.h - Two partial softmaxes become one ----------------*- C++ -*-===//
//
// A partial softmax over some keys is (maximum, sum, values): the largest
// score, the sum of 2^(score - maximum), and the sum of 2^(score - maximum) *
// value. Scores are multiplied by log2(e) beforehand, so that powers of 2
// replace powers of e. Leaves are folded into leaf groups, and leaf groups into
// the total, from left to right and with fold() only, so that no bit depends on
// which worker computed a leaf. All multiplications and fused operations are
// calls of functions of this file. A compiler that fused an operation in one
// kernel and not in another would change bits.
//
// A partial softmax over no keys is (-inf, 0, 0). Folding it into another from
// the right changes no bit.
//
//===----------------------------------------------------------------------===//

#ifndef KV_DEFINITION_FOLD_H
#define KV_DEFINITION_FOLD_H

#include "kv/Definition/HostDevice.h"

#include <cmath>
#include <limits>

namespace kv::plan {

constexpr float NoScore = -std::numeric_limits<float>::infinity();

/// 2^x; exactly 1 for 0 and exactly 0 for -inf. A GPU computes the hardware's
/// approximation, which replaces subnormal results by 0; so does the host.
KV_HD float powerOfTwo(float x) {
#ifdef __CUDA_ARCH__
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
#else
  return x < -126.0f ? 0.0f : std::exp2(x);
#endif
}

/// a * b + c with one rounding.
KV_HD float fusedMultiplyAdd(float a, float b, float c) {
#ifdef __CUDA_ARCH__
  return __fmaf_rn(a, b, c);
#else
  return std::fma(a, b, c);
#endif
}

/// a * b, never fused with an addition (-ffp-contract=off on the host).
KV_HD float multiply(float a, float b) {
#ifdef __CUDA_ARCH__
  return __fmul_rn(a, b);
#else
  return a * b;
#endif
}

/// 1 / x; on a GPU an approximation that differs by at most one unit in the
/// last place. 0 for infinity.
KV_HD float reciprocal(float x) {
#ifdef __CUDA_ARCH__
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
#else
  return 1 / x;
#endif
}

/// The larger of a, which is a number, and b; a where b is NaN.
KV_HD float larger(float a, float b) {
#ifdef __CUDA_ARCH__
  return fmaxf(a, b); // one instruction
#else
  return b > a ? b : a;
#endif
}
/// The larger of two numbers; NaN if one of them is NaN.
KV_HD float largerOrNaN(float a, float b) {
#ifdef __CUDA_ARCH__
  float result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
#else
  return a >= b ? a : b > a ? b : a + b;
#endif
}

/// The number that is subtracted from scores: the maximum, or 0 where no key
/// has been seen yet, since -inf - -inf is not a number.
KV_HD float scoreBase(float maximum) {
  return maximum == NoScore ? 0.0f : maximum;
}

/// The maximum and the sum of a partial softmax, without its values.
struct Softmax {
  float maximum = NoScore;
  float sum = 0;
};

/// The factors of the sums and values of the left and of the right partial
/// softmax when the two are folded.
struct Weights {
  float left;
  float right;
};

/// Folds one element of the values, or the sums.
KV_HD float foldValue(float left, float right, Weights weights) {
  return fusedMultiplyAdd(left, weights.left, multiply(right, weights.right));
}

/// Sets `left` to the larger of both maxima and returns the weights of the
/// fold.
KV_HD Weights foldMaximum(float &left, float right) {
  float maximum = right > left ? right : left;
  float base = scoreBase(maximum);
  Weights weights{powerOfTwo(left - base), powerOfTwo(right - base)};
  left = maximum;
  return weights;
}

/// Folds the maximum and the sum of `right` into `left`. Returns the weights,
/// with which the caller folds each element of the values.
KV_HD Weights fold(Softmax &left, Softmax right) {
  Weights weights = foldMaximum(left.maximum, right.maximum);
  left.sum = foldValue(left.sum, right.sum, weights);
  return weights;
}

/// The two factors of a row's values at its end; finishValue() multiplies by
/// them one after the other. A row that has seen no key becomes zeros.
struct Finish {
  float weight;
  float inverse;
};

/// Ends a row: folds the sink into `total`, a logit without a value. Without a
/// sink, `sink` is a partial softmax over no keys.
KV_HD Finish finish(Softmax &total, Softmax sink) {
  Weights weights = fold(total, sink);
#ifdef __CUDA_ARCH__
  float inverse = __frcp_rn(total.sum);
#else
  float inverse = 1 / total.sum;
#endif
  return {weights.left, total.sum == 0 ? 0 : inverse};
}

KV_HD float finishValue(float value, Finish finish) {
  return multiply(multiply(value, finish.weight), finish.inverse);
}

constexpr float Log2E = 1.4426950408889634f, Ln2 = 0.6931471805599453f;

/// The natural logarithm of the denominator of a finished row's softmax; -inf
/// if the row has seen no key and has no sink.
KV_HD float logOfSum(const Softmax &total) {
  if (total.sum == 0)
    return NoScore;
#ifdef __CUDA_ARCH__
  float log;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(log) : "f"(total.sum));
#else
  float log = std::log2(total.sum);
#endif
  return (total.maximum + log) * Ln2;
}

} // namespace kv::plan

#endif // KV_DEFINITION_FOLD_H
