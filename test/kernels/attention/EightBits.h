//===- EightBits.h - Products of 8 bits in double precision -----*- C++ -*-===//
//
// What docs/reference/products.md says of queries and weights, and what a
// chip's sums of their products may lose.
//
//===----------------------------------------------------------------------===//

#ifndef KV_TEST_KERNELS_ATTENTION_EIGHTBITS_H
#define KV_TEST_KERNELS_ATTENTION_EIGHTBITS_H

#include "kernels/emulator/base/FusedSum.h"
#include "kv/ABI/DeviceKernels.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

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

/// How the products of a kernel's chip are summed: those of 9.0's by wgmma. A
/// body without a name is another's.
inline FusedSum byteSumOf(std::string_view kernel) {
  return kernels::onlyChipOf(kernel) == "sm_90a"
             ? fusedSumOf(90, MatrixInstruction::Wgmma, MatrixElement::F8E4M3)
             : fusedSumOf(120, MatrixInstruction::Mma, MatrixElement::F8E4M3);
}

/// A number's power of two: 2^e of f * 2^e.
inline float powerOf(float x) {
  return bitsAs<float>(bitsAs<uint32_t>(x) & 0x7f800000);
}

/// Adds to `losses` what sums that begin at zero may lose as the chip makes
/// them, `lanes` of them side by side: terms[i * lanes + lane]. What f32 loses
/// as well is left to other bounds.
///
/// A step cuts at 2^-fraction of the largest power of two among its terms and
/// the sum before. Neither is smaller here than on the chip, and what a term
/// has below a power of two is no less than what it has below a smaller one.
/// All cuts are towards zero, so what positive and negative terms lose has
/// other signs. The sum before has bits to lose only beside larger terms, the
/// sum behind only if it is larger than all of them.
inline void addLosses(const FusedSum &fused, const std::vector<float> &terms,
                      int lanes, double *losses) {
  if (fused.kept == 23)
    return;
  constexpr float More = 1.01f; // than sums are here, as they lose some
  const float fraction = std::ldexp(1.0f, -fused.fraction),
              kept = std::ldexp(More, -fused.kept);
  std::vector<float> sums(lanes), largest(lanes), units(lanes), positive(lanes),
      negative(lanes);
  const size_t step = size_t(fused.step) * lanes;
  for (size_t first = 0; first < terms.size(); first += step) {
    const size_t end = std::min(terms.size(), first + step);
    std::fill(largest.begin(), largest.end(), 0x1p-100f);
    for (size_t i = first; i < end; i += lanes)
      for (int lane = 0; lane < lanes; ++lane)
        largest[lane] = std::max(largest[lane], std::fabs(terms[i + lane]));
    for (int lane = 0; lane < lanes; ++lane) {
      float before = std::fabs(sums[lane]) * More;
      units[lane] = powerOf(std::max(before, largest[lane])) * fraction;
      float lost =
          before > 0 && largest[lane] * More * More > before ? units[lane] : 0;
      positive[lane] += lost;
      negative[lane] += lost;
    }
    for (size_t i = first; i < end; i += lanes)
      for (int lane = 0; lane < lanes; ++lane) {
        float term = terms[i + lane], unit = units[lane],
              rest = term - float(int(term / unit)) * unit;
        sums[lane] += term;
        positive[lane] += std::max(rest, 0.0f);
        negative[lane] += std::max(-rest, 0.0f);
      }
    for (int lane = 0; lane < lanes; ++lane) {
      float after = std::fabs(sums[lane]),
            lost = after * More * fraction >= units[lane] ? after * kept : 0;
      positive[lane] += lost;
      negative[lane] += lost;
    }
  }
  for (int lane = 0; lane < lanes; ++lane)
    losses[lane] += std::max(positive[lane], negative[lane]);
}

/// That of the product of a query, as it is multiplied, and a key.
inline double scoreLoss(const FusedSum &fused, const float *query,
                        const float *key, int dim) {
  if (fused.kept == 23)
    return 0;
  std::vector<float> terms(dim);
  for (int d = 0; d < dim; ++d)
    terms[d] = query[d] * key[d];
  double loss = 0;
  addLosses(fused, terms, 1, &loss);
  return loss;
}

/// A key's weight as it is multiplied, in numbers of 8 bits, and what these are
/// as a part of the row's largest one.
struct RoundedWeight {
  double rounded, share;
  double value() const { return rounded * share; }
};

/// Those of a row's sums over keys: leaves are summed from zero, and folded in
/// f32.
class LeafLosses {
public:
  LeafLosses(const FusedSum &fused, int dim)
      : values(dim), fused(fused), dim(dim) {}

  /// Keys come in their order.
  void add(int64_t key, const RoundedWeight &weight, const float *value) {
    if (fused.kept == 23)
      return;
    if (key / EightBitLeaf != leaf)
      endLeaf();
    leaf = key / EightBitLeaf;
    share = weight.share;
    weights.resize(EightBitLeaf);
    terms.resize(size_t(EightBitLeaf) * dim);
    int at = key % EightBitLeaf;
    weights[at] = float(weight.rounded);
    for (int d = 0; d < dim; ++d)
      terms[size_t(at) * dim + d] = weights[at] * value[d];
  }
  void endLeaf() {
    double lost = 0;
    std::vector<double> lostValues(dim);
    addLosses(fused, weights, 1, &lost);
    addLosses(fused, terms, dim, lostValues.data());
    sum += lost * share;
    for (int d = 0; d < dim; ++d)
      values[d] += lostValues[d] * share;
    weights.clear();
    terms.clear();
  }

  double sum = 0;             // of weights
  std::vector<double> values; // of weights times values

private:
  FusedSum fused;
  int dim;
  int64_t leaf = 0;
  double share = 0;                  // of the leaf
  std::vector<float> weights, terms; // likewise
};

/// A key's weight of 8 bits, whose leaf's largest score is `leaf` and the row's
/// `maximum`. Where f32's errors, those of scores, of at most `loss`, or those
/// of the polynomials that a leaf's last quarter may have (PolynomialPower.h)
/// may round it otherwise, by how much.
inline RoundedWeight roundedWeight(int64_t key, double score, double leaf,
                                   double maximum, double loss, double &slack) {
  bool polynomial = key % EightBitLeaf >= EightBitLeaf * 3 / 4;
  double weight = 256 * std::exp(score - leaf),
         share = std::exp(leaf - maximum) / 256,
         // The leaf's largest score is one as well.
      error = (polynomial ? 0.002 : 0x1p-13) + std::fabs(score) * 0x1p-19 +
              std::expm1(2 * loss);
  auto rounded = [](double x) {
    return double(widen(narrow<F8E4M3>(float(x))));
  };
  slack =
      (rounded(weight * (1 + error)) - rounded(weight * (1 - error))) * share +
      // A leaf's weights share the error of its largest score.
      rounded(weight) * share * std::expm1(loss);
  return {rounded(weight), share};
}

} // namespace kv::cuda::test

#endif // KV_TEST_KERNELS_ATTENTION_EIGHTBITS_H
