//===- Floats.cpp - Instructions of floating-point numbers ----------------===//
//
// Sums and products are the host's, so a NaN keeps its payload where a GPU
// makes it 0x7fffffff. Approximations are the nearest numbers, as the bodies'.
//
//===----------------------------------------------------------------------===//

#include "Comparisons.h"
#include "kernels/block/Numbers.h"

#include <cfenv>
#include <cmath>

using namespace kv::ptx;
using kv::cuda::bitsAs;

namespace {

constexpr uint32_t NaNBits = 0x7fffffff;

float flush(float x) {
  return std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x;
}

template <class T> T add(T a, T b) { return a + b; }
template <class T> T sub(T a, T b) { return a - b; }
template <class T> T mul(T a, T b) { return a * b; }
template <class T> T div(T a, T b) { return a / b; }
template <class T> T fma(T a, T b, T c) { return std::fma(a, b, c); }
template <class T> T absolute(T a) { return std::fabs(a); }
template <class T> T negative(T a) { return -a; }
template <class T> T root(T a) { return std::sqrt(a); }
template <class T> T inverse(T a) { return 1 / a; }
/// With the sign of the first.
template <class T> T withSign(T sign, T a) { return std::copysign(a, sign); }

/// A number where one of both is; of zeros the positive one is larger.
template <bool Larger, bool KeepsNaN> float choose(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) {
    if (KeepsNaN || (std::isnan(a) && std::isnan(b)))
      return bitsAs<float>(NaNBits);
    return std::isnan(a) ? b : a;
  }
  if (a == b)
    return std::signbit(a) == Larger ? b : a;
  return (a < b) == Larger ? b : a;
}

template <bool Larger, bool KeepsNaN>
float chooseOf3(float a, float b, float c) {
  auto two = choose<Larger, KeepsNaN>;
  return two(two(a, b), c);
}

float exp2Approximate(float x) { return x < -126.0f ? 0.0f : std::exp2(x); }
float log2Approximate(float x) { return std::log2(flush(x)); }
float rcpApproximate(float x) { return flush(1 / flush(x)); }
float rsqrtApproximate(float x) { return 1 / std::sqrt(flush(x)); }
float sqrtApproximate(float x) { return std::sqrt(flush(x)); }
float sinApproximate(float x) { return std::sin(x); }
float cosApproximate(float x) { return std::cos(x); }
float tanhApproximate(float x) { return std::tanh(x); }
float divApproximate(float a, float b) { return a / b; }

/// What f gives where the processor rounds so.
template <int Mode, auto F, class... T>
[[gnu::noinline]] float rounded(T... arguments) {
  std::fesetround(Mode);
  volatile float inputs[] = {arguments...};
  volatile float result;
  if constexpr (sizeof...(T) == 3)
    result = F(inputs[0], inputs[1], inputs[2]);
  else
    result = F(inputs[0], inputs[1]);
  std::fesetround(FE_TONEAREST);
  return result;
}

struct Pair {
  float x, y;
};
Pair addTwo(Pair a, Pair b) { return {a.x + b.x, a.y + b.y}; }
Pair mulTwo(Pair a, Pair b) { return {a.x * b.x, a.y * b.y}; }
Pair fmaTwo(Pair a, Pair b, Pair c) {
  return {std::fma(a.x, b.x, c.x), std::fma(a.y, b.y, c.y)};
}

/// Of halves: in floats sums and products are rounded once and again, which
/// changes no bit, as they have more than twice as many digits.
template <class T, auto F> uint32_t ofHalves(uint32_t a, uint32_t b) {
  using namespace kv::cuda;
  return narrowPair<T>(F(widenHalf<T>(a, 0), widenHalf<T>(b, 0)),
                       F(widenHalf<T>(a, 1), widenHalf<T>(b, 1)));
}

template <class T> bool areNumbers(T a, T b) {
  return !std::isnan(a) && !std::isnan(b);
}
/// Holds where the other does not: also of NaN.
template <auto F> struct Not;
template <class T, bool (*F)(T, T)> struct Not<F> {
  static bool call(T a, T b) { return !F(a, b); }
};

void addArithmetic(Forms &forms) {
  auto both = [&]<class T>(const std::string &type) {
    for (const char *mode : {"", ".rn"}) {
      forms["add" + (mode + type)] = pure<add<T>>();
      forms["sub" + (mode + type)] = pure<sub<T>>();
      forms["mul" + (mode + type)] = pure<mul<T>>();
    }
    forms["fma.rn" + type] = pure<fma<T>>();
    forms["div.rn" + type] = pure<div<T>>();
    forms["sqrt.rn" + type] = pure<root<T>>();
    forms["rcp.rn" + type] = pure<inverse<T>>();
    forms["abs" + type] = pure<absolute<T>>();
    forms["neg" + type] = pure<negative<T>>();
    forms["copysign" + type] = pure<withSign<T>>();
  };
  both.operator()<float>(".f32");
  both.operator()<double>(".f64");
#define KV_ROUNDED(name, mode)                                                 \
  forms["add." name ".f32"] = pure<rounded<mode, add<float>, float, float>>(); \
  forms["sub." name ".f32"] = pure<rounded<mode, sub<float>, float, float>>(); \
  forms["mul." name ".f32"] = pure<rounded<mode, mul<float>, float, float>>(); \
  forms["fma." name ".f32"] =                                                  \
      pure<rounded<mode, fma<float>, float, float, float>>();
  KV_ROUNDED("rz", FE_TOWARDZERO)
  KV_ROUNDED("rm", FE_DOWNWARD)
  KV_ROUNDED("rp", FE_UPWARD)
#undef KV_ROUNDED
  forms["max.f32"] = pure<choose<true, false>>();
  forms["min.f32"] = pure<choose<false, false>>();
  forms["max.NaN.f32"] = pure<choose<true, true>>();
  forms["min.NaN.f32"] = pure<choose<false, true>>();
  forms["max3.f32"] = pure<chooseOf3<true, false>>();
  forms["min3.f32"] = pure<chooseOf3<false, false>>();
  forms["max3.NaN.f32"] = pure<chooseOf3<true, true>>();
  forms["min3.NaN.f32"] = pure<chooseOf3<false, true>>();
}

void addPairs(Forms &forms) {
  using namespace kv::cuda;
  for (const char *mode : {"", ".rn"}) {
    forms[std::string("add") + mode + ".f32x2"] = pure<addTwo>();
    forms[std::string("mul") + mode + ".f32x2"] = pure<mulTwo>();
  }
  forms["fma.rn.f32x2"] = pure<fmaTwo>();
  for (const char *mode : {"", ".rn"}) {
    auto put = [&](const char *name, Form half, Form brain) {
      forms[std::string(name) + mode + ".f16x2"] = half;
      forms[std::string(name) + mode + ".bf16x2"] = brain;
    };
    put("add", pure<ofHalves<F16, add<float>>>(),
        pure<ofHalves<Bf16, add<float>>>());
    put("sub", pure<ofHalves<F16, sub<float>>>(),
        pure<ofHalves<Bf16, sub<float>>>());
    put("mul", pure<ofHalves<F16, mul<float>>>(),
        pure<ofHalves<Bf16, mul<float>>>());
  }
}

void addApproximations(Forms &forms) {
  for (const char *mode : {".approx.f32", ".approx.ftz.f32"}) {
    forms[std::string("ex2") + mode] = pure<exp2Approximate>();
    forms[std::string("lg2") + mode] = pure<log2Approximate>();
    forms[std::string("rcp") + mode] = pure<rcpApproximate>();
    forms[std::string("rsqrt") + mode] = pure<rsqrtApproximate>();
    forms[std::string("sqrt") + mode] = pure<sqrtApproximate>();
    forms[std::string("sin") + mode] = pure<sinApproximate>();
    forms[std::string("cos") + mode] = pure<cosApproximate>();
    forms[std::string("div") + mode] = pure<divApproximate>();
  }
  forms["tanh.approx.f32"] = pure<tanhApproximate>();
  forms["div.full.f32"] = pure<divApproximate>();
}

void addComparisons(Forms &forms) {
  auto both = [&]<class T>(const std::string &type) {
    addOrder<T>(forms, type);
    forms["setp.num" + type] = pure<areNumbers<T>>();
    forms["setp.nan" + type] = pure<Not<areNumbers<T>>::call>();
    forms["setp.equ" + type] = pure<Not<unequal<T>>::call>();
    forms["setp.neu" + type] = pure<Not<equal<T>>::call>();
    forms["setp.ltu" + type] = pure<Not<atLeast<T>>::call>();
    forms["setp.leu" + type] = pure<Not<greater<T>>::call>();
    forms["setp.gtu" + type] = pure<Not<atMost<T>>::call>();
    forms["setp.geu" + type] = pure<Not<less<T>>::call>();
  };
  both.operator()<float>(".f32");
  both.operator()<double>(".f64");
}

} // namespace

void kv::ptx::addFloatForms(Forms &forms) {
  addArithmetic(forms);
  addPairs(forms);
  addApproximations(forms);
  addComparisons(forms);
}
