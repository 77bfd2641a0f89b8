//===- FusedProducts.cpp - Products that are summed together --------------===//
//
// Eight columns at once in f32 and in words of 32 bits, where the largest
// exponent of a step lets f32 hold what the cut leaves. Any other sum is made
// by itself, in 64 bits: of NaN, infinities, and numbers near f32's ends.
//
//===----------------------------------------------------------------------===//

#include "FusedProducts.h"

#include <cmath>
#include <cstring>

using namespace kv::cuda;

namespace {

/// A row of B or of the sums.
using Columns = float __attribute__((vector_size(32)));
using Words = uint32_t __attribute__((vector_size(32)));
using Exponents = int32_t __attribute__((vector_size(32)));
using Wide = double __attribute__((vector_size(64)));
using WideWords = uint64_t __attribute__((vector_size(64)));
using WideExponents = int64_t __attribute__((vector_size(64)));

constexpr int SmallestExponent = -126; // of f32, and of each zero
constexpr int NoNumber = 1 << 10;      // that of infinities and NaN
const float NaN = bitsAs<float>(0x7fffffffu);
/// Between these of a step, f32 holds 2^25 over it, and each product.
constexpr int LeastInF32 = -102, MostInF32 = 126;

int exponentOf(float x, int least) {
  int field = bitsAs<uint32_t>(x) >> 23 & 255;
  if (field == 255)
    return NoNumber;
  return field ? std::max(field - 127, least) : SmallestExponent;
}

/// A number as a step sees it: significand * 2^(exponent - 23).
struct Parts {
  int64_t significand;
  int exponent;
};
Parts partsOf(float x, int least) {
  int exponent = exponentOf(x, least);
  return {int64_t(std::ldexp(double(x), 23 - exponent)), exponent};
}

/// `significand` * 2^-shift, cut towards zero.
int64_t cut(int64_t significand, int shift) {
  return shift > 62 ? 0 : significand / (int64_t(1) << shift);
}

/// The first of the products of a step.
struct FusedStep {
  int part, k;
};

/// One sum of a step, whatever its terms are.
template <int StepParts, int StepWords, int WordElements>
[[gnu::noinline]] float sumOne(const Operands<WordElements> &x, int row,
                               int column, FusedStep first, float before,
                               const FusedSum &fused, int least) {
  Parts terms[StepParts * StepWords + 1];
  int count = 0, largest = exponentOf(before, SmallestExponent);
  double plain = before; // a NaN or an infinity, if any term is one
  for (int part = first.part; part < first.part + StepParts; ++part)
    for (int k = first.k; k < first.k + StepWords; ++k) {
      float a = x.a[part][row * 8 + k], b = x.b[part][k * 8 + column];
      plain += double(a) * b;
      if (!std::isfinite(a) || !std::isfinite(b))
        continue;
      Parts pa = partsOf(a, least), pb = partsOf(b, least);
      terms[count] = {pa.significand * pb.significand,
                      pa.exponent + pb.exponent};
      largest = std::max(largest, terms[count++].exponent);
    }
  if (std::isnan(plain))
    return NaN;
  if (std::isinf(plain))
    return float(plain);
  Parts c = partsOf(before, SmallestExponent);
  terms[count++] = {c.significand << 23, c.exponent};
  int64_t sum = 0;
  for (int i = 0; i < count; ++i)
    sum += cut(terms[i].significand,
               46 - fused.fraction + largest - terms[i].exponent);
  double result = std::ldexp(double(sum), largest - fused.fraction);
  int place =
      (sum ? std::max(std::ilogb(result), SmallestExponent) : 0) - fused.kept;
  return float(std::ldexp(std::trunc(std::ldexp(result, -place)), place));
}

/// The exponents of operands, and the least one of those that are not zero.
template <int WordElements> struct OperandExponents {
  int32_t a[WordElements][16 * 8], b[WordElements][8 * 8];
  int lowest;
};
template <int N>
[[gnu::always_inline]] inline int exponentsOf(const float (&x)[N], int least,
                                              int32_t (&exponents)[N]) {
  uint32_t bits[N];
  std::memcpy(bits, x, sizeof(bits));
  int lowest = NoNumber;
  for (int i = 0; i < N; ++i) {
    int field = bits[i] >> 23 & 255, exponent = std::max(field - 127, least);
    exponent = field == 0 ? SmallestExponent : exponent;
    exponents[i] = field == 255 ? NoNumber : exponent;
    lowest = std::min(lowest, bits[i] << 1 ? exponent : NoNumber);
  }
  return lowest;
}
template <int WordElements>
[[gnu::always_inline]] inline void
findExponents(const Operands<WordElements> &x, int least,
              OperandExponents<WordElements> &exponents) {
  int a = NoNumber, b = NoNumber;
  for (int part = 0; part < WordElements; ++part) {
    a = std::min(a, exponentsOf(x.a[part], least, exponents.a[part]));
    b = std::min(b, exponentsOf(x.b[part], least, exponents.b[part]));
  }
  exponents.lowest = a + b;
}

[[gnu::always_inline]] inline Exponents larger(Exponents a, Exponents b) {
  return a > b ? a : b;
}

/// A step of a few rows, so that they stay in registers.
template <int StepParts, int StepWords, int WordElements> class StepOfRows {
public:
  static constexpr int Rows = 4;

  [[gnu::always_inline]] StepOfRows(
      const Operands<WordElements> &x,
      const OperandExponents<WordElements> &exponents, FusedStep step,
      int first)
      : x(x), exponents(exponents), step(step), first(first) {}

  /// sums [16][8], of which it changes its rows.
  [[gnu::always_inline]] void run(float *sums, const FusedSum &fused,
                                  int least) {
    std::memcpy(before, sums + first * 8, sizeof(before));
    findLargest();
    findOthers();
    for (int r = 0; r < Rows; ++r)
      scale[r] = Columns((127 + fused.fraction - largest[r]) << 23);
    Wide exact[Rows] = {};
    add(exact);
    cutSums(exact, fused, sums + first * 8);
    if (!hasOthers())
      return;
    int32_t isOther[Rows * 8];
    float old[Rows * 8];
    std::memcpy(isOther, other, sizeof(isOther));
    std::memcpy(old, before, sizeof(old));
    for (int i = 0; i < Rows * 8; ++i)
      if (isOther[i])
        sums[first * 8 + i] = sumOne<StepParts, StepWords>(
            x, first + i / 8, i % 8, step, old[i], fused, least);
  }

private:
  /// f(part, k) of the products of words [begin, end) of the step.
  template <class Function>
  [[gnu::always_inline]] void eachWord(int begin, int end, Function f) const {
    for (int part = step.part; part < step.part + StepParts; ++part)
      for (int k = step.k + begin; k < step.k + end; ++k)
        f(part, k);
  }
  [[gnu::always_inline]] void findLargest() {
    for (int r = 0; r < Rows; ++r) {
      Exponents field = Exponents(Words(before[r]) >> 23 & 255u);
      largest[r] = field == 255 ? Exponents{} + NoNumber
                                : larger(field, Exponents{} + 1) - 127;
    }
    eachWord(0, StepWords, [&](int part, int k) {
      Exponents b;
      std::memcpy(&b, exponents.b[part] + k * 8, sizeof(b));
      for (int r = 0; r < Rows; ++r)
        largest[r] =
            larger(largest[r], exponents.a[part][(first + r) * 8 + k] + b);
    });
  }
  /// Which sums are not for f32. Where exponents are too small, others have
  /// terms of zero alone.
  [[gnu::always_inline]] void findOthers() {
    Exponents small = Exponents{} - (exponents.lowest < LeastInF32);
    for (int r = 0; r < Rows; ++r) {
      other[r] = (largest[r] > MostInF32) |
                 ((largest[r] < LeastInF32) & (small | (before[r] != 0)));
      largest[r] = larger(largest[r], Exponents{} + LeastInF32);
    }
  }
  [[gnu::always_inline]] bool hasOthers() const {
    Exponents all{};
    for (const Exponents &each : other)
      all |= each;
    uint64_t any[4];
    std::memcpy(any, &all, sizeof(any));
    return any[0] | any[1] | any[2] | any[3];
  }
  /// A word holds the sum of half of the products, each of less than 2^27.
  [[gnu::always_inline]] void add(Wide (&sums)[Rows]) const {
    constexpr int Half = StepWords / 2;
    for (int begin = 0; begin < StepWords; begin += Half) {
      Words some[Rows] = {};
      for (int r = 0; r < Rows && begin == 0; ++r)
        some[r] =
            Words(__builtin_convertvector(before[r] * scale[r], Exponents));
      eachWord(begin, begin + Half, [&](int part, int k) {
        Columns b;
        std::memcpy(&b, x.b[part] + k * 8, sizeof(b));
        for (int r = 0; r < Rows; ++r)
          some[r] += Words(__builtin_convertvector(
              x.a[part][(first + r) * 8 + k] * b * scale[r], Exponents));
      });
      for (int r = 0; r < Rows; ++r)
        sums[r] += __builtin_convertvector(Exponents(some[r]), Wide);
    }
  }
  [[gnu::always_inline]] void cutSums(Wide (&sums)[Rows], const FusedSum &fused,
                                      float *results) const {
    constexpr uint64_t DoubleBits = 52;
    const uint64_t kept = ~uint64_t(0) << (DoubleBits - fused.kept);
    Columns after[Rows];
    for (int r = 0; r < Rows; ++r) {
      WideExponents exponent =
          __builtin_convertvector(largest[r], WideExponents);
      sums[r] *= Wide((1023 - fused.fraction + exponent) << DoubleBits);
      after[r] =
          __builtin_convertvector(Wide(WideWords(sums[r]) & kept), Columns);
    }
    std::memcpy(results, after, sizeof(after));
  }

  const Operands<WordElements> &x;
  const OperandExponents<WordElements> &exponents;
  const FusedStep step;
  const int first; // of the rows
  Columns before[Rows], scale[Rows];
  Exponents largest[Rows], other[Rows];
};

template <int StepParts, int StepWords, int WordElements>
[[gnu::always_inline]] inline void addSteps(const Operands<WordElements> &x,
                                            float *sums, const FusedSum &fused,
                                            int least) {
  OperandExponents<WordElements> exponents;
  findExponents(x, least, exponents);
  for (int part = 0; part < WordElements; part += StepParts)
    for (int k = 0; k < 8; k += StepWords)
      for (int row = 0; row < 16; row += StepOfRows<2, 4, 2>::Rows)
        StepOfRows<StepParts, StepWords, WordElements>(x, exponents, {part, k},
                                                       row)
            .run(sums, fused, least);
}

#ifdef __x86_64__
template <int StepParts, int StepWords, int WordElements>
[[gnu::target("avx2")]] void addStepsAvx2(const Operands<WordElements> &x,
                                          float *sums, const FusedSum &fused,
                                          int least) {
  addSteps<StepParts, StepWords>(x, sums, fused, least);
}
const bool HasAvx2 = __builtin_cpu_supports("avx2");
#endif

template <int StepParts, int StepWords, int WordElements>
void addAll(const Operands<WordElements> &x, float *sums, const FusedSum &fused,
            int least) {
#ifdef __x86_64__
  if (HasAvx2)
    return addStepsAvx2<StepParts, StepWords>(x, sums, fused, least);
#endif
  addSteps<StepParts, StepWords>(x, sums, fused, least);
}

/// A step of sixteen, or eight, is of words' lower, or upper, elements.
template <int WordElements>
void addHalves(const Operands<WordElements> &x, float *sums,
               const FusedSum &fused, int least) {
  if (fused.step == 8)
    addAll<2, 4>(x, sums, fused, least);
  else
    addAll<2, 8>(x, sums, fused, least);
}

} // namespace

void kv::cuda::multiplyAddFused(const Operands<2> &x, float *sums,
                                const FusedSum &fused, int least) {
  addHalves(x, sums, fused, least);
}

void kv::cuda::multiplyAddFused(const Operands<4> &x, float *sums,
                                const FusedSum &fused, int least) {
  if (!fused.unpacked)
    return addAll<4, 8>(x, sums, fused, least);
  float products[16 * 8] = {};
  addHalves(x, products, fused, least);
  for (int i = 0; i < 16 * 8; ++i) {
    float sum = sums[i] + products[i];
    sums[i] = std::isnan(sum) ? NaN : sum;
  }
}
