//===- Fold.h - Two partial softmaxes become one ----------------*- C++ -*-===//
//
// A partial softmax over some keys is (maximum, sum, values): the largest
// score in units of log2, the sum of 2^(score - maximum), and the sum of
// 2^(score - maximum) * value. Leaves fold into groups and groups into the
// total with the function below and no other, left to right, so that it does
// not matter who computed a leaf. Every multiplication and addition is written
// out: a compiler that fuses one of them in one kernel and not in another
// would change bits.
//
// A partial softmax over no keys is (-inf, 0, 0). Folding it into another from
// the right changes no bit.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_PLAN_FOLD_H
#define KV_KERNELS_PLAN_FOLD_H

#include "HostDevice.h"

#include <cmath>
#include <limits>

namespace kv::plan {

constexpr float NoScore = -std::numeric_limits<float>::infinity();

/// 2^x; exactly 1 at 0 and 0 at -inf. On a GPU the hardware's approximation,
/// which flushes subnormal results: so does the host's form.
KV_HD float powerOfTwo(float x) {
#ifdef __CUDA_ARCH__
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
#else
  return x < -126.0f ? 0.0f : std::exp2(x);
#endif
}

KV_HD float fusedMultiplyAdd(float a, float b, float c) {
#ifdef __CUDA_ARCH__
  return __fmaf_rn(a, b, c);
#else
  return std::fma(a, b, c);
#endif
}

KV_HD float multiply(float a, float b) {
#ifdef __CUDA_ARCH__
  return __fmul_rn(a, b);
#else
  return a * b;
#endif
}

/// 1 / x, or an approximation to a unit in the last place; 0 for infinity.
KV_HD float reciprocal(float x) {
#ifdef __CUDA_ARCH__
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
#else
  return 1 / x;
#endif
}

/// What a score is measured from: a row that has seen nothing must not compute
/// -inf - -inf.
KV_HD float scoreBase(float maximum) {
  return maximum == NoScore ? 0.0f : maximum;
}

struct Softmax {
  float maximum = NoScore;
  float sum = 0;
};

/// What the left and the right side's sums and values are multiplied by.
struct Weights {
  float left;
  float right;
};

KV_HD float foldValue(float left, float right, Weights weights) {
  return fusedMultiplyAdd(left, weights.left, multiply(right, weights.right));
}

/// Raises `left` to the larger maximum.
KV_HD Weights foldMaximum(float &left, float right) {
  float maximum = right > left ? right : left;
  float base = scoreBase(maximum);
  Weights weights{powerOfTwo(left - base), powerOfTwo(right - base)};
  left = maximum;
  return weights;
}

/// Folds `right` into `left`; the same weights then fold the values.
KV_HD Weights fold(Softmax &left, Softmax right) {
  Weights weights = foldMaximum(left.maximum, right.maximum);
  left.sum = foldValue(left.sum, right.sum, weights);
  return weights;
}

/// What all values of a row are multiplied by, one after the other, at the
/// end. A row that saw nothing gives zeros.
struct Finish {
  float weight;
  float inverse;
};

/// Ends a row: folds in a sink, a logit without a value (or nothing).
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

/// The natural logarithm of a finished row's denominator; -inf if it has none.
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

#endif // KV_KERNELS_PLAN_FOLD_H
