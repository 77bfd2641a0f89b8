//===- Conversions.cpp - Numbers of one type as those of another ----------===//

#include "Program.h"
#include "kernels/block/Numbers.h"

#include <cmath>
#include <limits>

using namespace kv::ptx;
using namespace kv::cuda;

namespace {

template <class To, class From> To convert(From x) { return To(x); }

enum class Rounding { Nearest, Zero, Down, Up };
template <Rounding R, class T> T toWhole(T x) {
  switch (R) {
  case Rounding::Nearest:
    return std::nearbyint(x);
  case Rounding::Zero:
    return std::trunc(x);
  case Rounding::Down:
    return std::floor(x);
  case Rounding::Up:
    return std::ceil(x);
  }
}
/// Saturates. NaN becomes 0, or of 64 bits the highest bit.
template <class To, Rounding R, class From> To toInteger(From x) {
  using Limits = std::numeric_limits<To>;
  if (std::isnan(x))
    return sizeof(To) == 8 || sizeof(From) == 8
               ? To(uint64_t(1) << (sizeof(To) * 8 - 1))
               : To(0);
  From whole = toWhole<R>(x);
  if (whole <= From(Limits::min()))
    return Limits::min();
  if (whole >= From(Limits::max())) // which may have been rounded up
    return Limits::max();
  return To(whole);
}
float saturate(float x) { return x > 0 ? std::min(x, 1.0f) : 0.0f; }

uint16_t narrowF16(float x) { return narrow<F16>(x).bits; }
uint16_t narrowBf16(float x) { return narrow<Bf16>(x).bits; }
float widenF16(uint16_t x) { return widen(F16{x}); }
float widenBf16(uint16_t x) { return widen(Bf16{x}); }
// Of a pair, the first operand is the upper half.
template <class T> uint32_t narrowBoth(float high, float low) {
  return narrowPair<T>(low, high);
}
template <class T> uint16_t narrowBytes(float high, float low) {
  return uint16_t(narrow<T>(low).bits | narrow<T>(high).bits << 8);
}
template <class T> uint32_t widenBytes(uint16_t pair) {
  return narrowPair<F16>(widen(T{uint8_t(pair)}), widen(T{uint8_t(pair >> 8)}));
}

template <class T> struct Tag {};
template <class F> void forIntegers(F f) {
  f(".s8", Tag<int8_t>()), f(".s16", Tag<int16_t>());
  f(".s32", Tag<int32_t>()), f(".s64", Tag<int64_t>());
  f(".u8", Tag<uint8_t>()), f(".u16", Tag<uint16_t>());
  f(".u32", Tag<uint32_t>()), f(".u64", Tag<uint64_t>());
}

template <class From>
void addToIntegers(Forms &forms, const std::string &from) {
  forIntegers([&]<class To>(const char *to, Tag<To>) {
    std::string both = to + from;
    forms["cvt.rni" + both] = pure<toInteger<To, Rounding::Nearest, From>>();
    forms["cvt.rzi" + both] = pure<toInteger<To, Rounding::Zero, From>>();
    forms["cvt.rmi" + both] = pure<toInteger<To, Rounding::Down, From>>();
    forms["cvt.rpi" + both] = pure<toInteger<To, Rounding::Up, From>>();
  });
  forms["cvt.rni" + from + from] = pure<toWhole<Rounding::Nearest, From>>();
  forms["cvt.rzi" + from + from] = pure<toWhole<Rounding::Zero, From>>();
  forms["cvt.rmi" + from + from] = pure<toWhole<Rounding::Down, From>>();
  forms["cvt.rpi" + from + from] = pure<toWhole<Rounding::Up, From>>();
}

} // namespace

void kv::ptx::addConversionForms(Forms &forms) {
  forIntegers([&]<class From>(const std::string &from, Tag<From>) {
    forIntegers([&]<class To>(const char *to, Tag<To>) {
      forms["cvt" + (to + from)] = pure<convert<To, From>>();
    });
    forms["cvt.rn.f32" + from] = pure<convert<float, From>>();
    forms["cvt.rn.f64" + from] = pure<convert<double, From>>();
  });
  addToIntegers<float>(forms, ".f32");
  addToIntegers<double>(forms, ".f64");
  forms["cvt.f64.f32"] = pure<convert<double, float>>();
  forms["cvt.rn.f32.f64"] = pure<convert<float, double>>();
  forms["cvt.sat.f32.f32"] = pure<saturate>();
  forms["cvt.f32.f16"] = pure<widenF16>();
  forms["cvt.f32.bf16"] = pure<widenBf16>();
  forms["cvt.rn.f16.f32"] = pure<narrowF16>();
  forms["cvt.rn.bf16.f32"] = pure<narrowBf16>();
  forms["cvt.rn.f16x2.f32"] = pure<narrowBoth<F16>>();
  forms["cvt.rn.bf16x2.f32"] = pure<narrowBoth<Bf16>>();
  forms["cvt.rn.f16x2.e4m3x2"] = pure<widenBytes<F8E4M3>>();
  forms["cvt.rn.f16x2.e5m2x2"] = pure<widenBytes<F8E5M2>>();
  forms["cvt.rn.satfinite.e4m3x2.f32"] = pure<narrowBytes<F8E4M3>>();
  forms["cvt.rn.satfinite.e5m2x2.f32"] = pure<narrowBytes<F8E5M2>>();
}
