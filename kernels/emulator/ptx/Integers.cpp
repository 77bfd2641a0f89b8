//===- Integers.cpp - Instructions of integers and predicates -------------===//

#include "Comparisons.h"

#include <bit>
#include <limits>

using namespace kv::ptx;

namespace {

template <class T> using Unsigned = std::make_unsigned_t<T>;
/// As many bits twice.
template <class T> struct Twice;
template <> struct Twice<int16_t> {
  using Type = int32_t;
};
template <> struct Twice<uint16_t> {
  using Type = uint32_t;
};
template <> struct Twice<int32_t> {
  using Type = int64_t;
};
template <> struct Twice<uint32_t> {
  using Type = uint64_t;
};
template <> struct Twice<int64_t> {
  using Type = __int128;
};
template <> struct Twice<uint64_t> {
  using Type = unsigned __int128;
};
template <class T> using Wide = typename Twice<T>::Type;
template <class T> constexpr int Bits = sizeof(T) * 8;

// Sums and products are those of unsigned numbers, which do not overflow.
template <class T> T add(T a, T b) { return T(uint64_t(a) + uint64_t(b)); }
template <class T> T sub(T a, T b) { return T(uint64_t(a) - uint64_t(b)); }
template <class T> T mulLow(T a, T b) { return T(uint64_t(a) * uint64_t(b)); }
template <class T> T mulHigh(T a, T b) {
  return T(Wide<T>(a) * Wide<T>(b) >> Bits<T>);
}
template <class T> Wide<T> mulWide(T a, T b) { return Wide<T>(a) * Wide<T>(b); }
template <class T> T madLow(T a, T b, T c) { return add(mulLow(a, b), c); }
template <class T> T madHigh(T a, T b, T c) { return add(mulHigh(a, b), c); }
template <class T> Wide<T> madWide(T a, T b, Wide<T> c) {
  return add(mulWide(a, b), c);
}
// PTX leaves open what a division by zero gives.
template <class T> T div(T a, T b) {
  if (b == 0)
    return T(-1);
  return std::is_signed_v<T> && b == T(-1) ? sub(T(0), a) : T(a / b);
}
template <class T> T rem(T a, T b) {
  if (b == 0)
    return a;
  return std::is_signed_v<T> && b == T(-1) ? T(0) : T(a % b);
}
template <class T> T least(T a, T b) { return b < a ? b : a; }
template <class T> T most(T a, T b) { return a < b ? b : a; }
template <class T> T absolute(T a) { return a < 0 ? sub(T(0), a) : a; }
template <class T> T negative(T a) { return sub(T(0), a); }

template <class T> T bitAnd(T a, T b) { return a & b; }
template <class T> T bitOr(T a, T b) { return a | b; }
template <class T> T bitXor(T a, T b) { return a ^ b; }
template <class T> T bitNot(T a) { return T(~a); }
bool notTrue(bool a) { return !a; }
template <class T> T same(T a) { return a; }
template <class T> T select(T a, T b, bool p) { return p ? a : b; }

// Shifts by as many bits as there are, or more, shift all out.
template <class T> T shiftLeft(T a, uint32_t by) {
  return by < Bits<T> ? T(uint64_t(a) << by) : T(0);
}
template <class T> T shiftRight(T a, uint32_t by) {
  if (by < Bits<T>)
    return T(a >> by);
  return a < 0 ? T(-1) : T(0);
}
template <bool Left, bool Wraps>
uint32_t funnel(uint32_t low, uint32_t high, uint32_t by) {
  by = Wraps ? by & 31 : std::min(by, 32u);
  uint64_t both = uint64_t(high) << 32 | low;
  return Left ? uint32_t(both << by >> 32) : uint32_t(both >> by);
}

template <class T> uint32_t popCount(T a) { return uint32_t(std::popcount(a)); }
template <class T> uint32_t leadingZeros(T a) {
  return uint32_t(std::countl_zero(a));
}
template <class T> T reverseBits(T a) {
  T r = 0;
  for (int i = 0; i < Bits<T>; ++i)
    r |= T(a >> i & 1) << (Bits<T> - 1 - i);
  return r;
}
/// The number of the highest bit that differs from the sign; none: -1.
template <class T> uint32_t findBit(T a) {
  Unsigned<T> x = Unsigned<T>(a < 0 ? T(~a) : a);
  return uint32_t(Bits<T> - 1 - std::countl_zero(x));
}

template <class T> T extract(T a, uint32_t from, uint32_t count) {
  from &= 0xff;
  count &= 0xff;
  T sign = 0;
  if (std::is_signed_v<T> && count)
    sign = T(0) - T(a >> std::min<uint32_t>(from + count - 1, Bits<T> - 1) & 1);
  T r = 0;
  for (uint32_t i = 0; i < uint32_t(Bits<T>); ++i)
    r = T(r | T(T(i < count && from + i < uint32_t(Bits<T>) ? a >> (from + i)
                                                            : sign) &
                1) << i);
  return r;
}
template <class T> T insert(T a, T b, uint32_t from, uint32_t count) {
  from &= 0xff;
  count &= 0xff;
  for (uint32_t i = 0; i < count && from + i < uint32_t(Bits<T>); ++i)
    b = T(b & ~(T(1) << (from + i))) | T(a >> i & 1) << (from + i);
  return b;
}

uint32_t permute(uint32_t a, uint32_t b, uint32_t selector) {
  uint64_t both = uint64_t(b) << 32 | a;
  uint32_t r = 0;
  for (int i = 0; i < 4; ++i) {
    uint32_t pick = selector >> 4 * i & 0xf;
    uint32_t byte = uint32_t(both >> 8 * (pick & 7)) & 0xff;
    if (pick & 8) // its sign, eight times
      byte = byte & 0x80 ? 0xff : 0;
    r |= byte << 8 * i;
  }
  return r;
}
uint32_t lookUp(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
  uint32_t r = 0;
  for (int i = 0; i < 8; ++i)
    if (table >> i & 1)
      r |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
  return r;
}

/// Calls f with a type and its name, for each.
template <class... T, class F> void forTypes(std::string kind, F f) {
  (f.template operator()<T>("." + kind + std::to_string(sizeof(T) * 8)), ...);
}

void addArithmetic(Forms &forms) {
  auto all = [&]<class T>(const std::string &type) {
    forms["add" + type] = pure<add<T>>();
    forms["sub" + type] = pure<sub<T>>();
    forms["mul.lo" + type] = pure<mulLow<T>>();
    forms["mul.hi" + type] = pure<mulHigh<T>>();
    forms["mad.lo" + type] = pure<madLow<T>>();
    forms["mad.hi" + type] = pure<madHigh<T>>();
    if constexpr (sizeof(T) < 8) {
      forms["mul.wide" + type] = pure<mulWide<T>>();
      forms["mad.wide" + type] = pure<madWide<T>>();
    }
    forms["div" + type] = pure<div<T>>();
    forms["rem" + type] = pure<rem<T>>();
    forms["min" + type] = pure<least<T>>();
    forms["max" + type] = pure<most<T>>();
    forms["shr" + type] = pure<shiftRight<T>>();
    if constexpr (sizeof(T) > 2) {
      forms["bfe" + type] = pure<extract<T>>();
      forms["bfind" + type] = pure<findBit<T>>();
    }
  };
  forTypes<int16_t, int32_t, int64_t>("s", all);
  forTypes<uint16_t, uint32_t, uint64_t>("u", all);
  forTypes<int16_t, int32_t, int64_t>("s", [&]<class T>(std::string type) {
    forms["abs" + type] = pure<absolute<T>>();
    forms["neg" + type] = pure<negative<T>>();
  });
}

void addComparisons(Forms &forms) {
  auto all = [&]<class T>(const std::string &type) {
    addOrder<T>(forms, type);
    if constexpr (!std::is_signed_v<T>) {
      forms["setp.lo" + type] = pure<less<T>>();
      forms["setp.ls" + type] = pure<atMost<T>>();
      forms["setp.hi" + type] = pure<greater<T>>();
      forms["setp.hs" + type] = pure<atLeast<T>>();
    }
  };
  forTypes<int16_t, int32_t, int64_t>("s", all);
  forTypes<uint16_t, uint32_t, uint64_t>("u", all);
  forTypes<uint16_t, uint32_t, uint64_t>("b", [&]<class T>(std::string type) {
    forms["setp.eq" + type] = pure<equal<T>>();
    forms["setp.ne" + type] = pure<unequal<T>>();
  });
}

void addBits(Forms &forms) {
  auto bits = [&]<class T>(const std::string &type) {
    forms["and" + type] = pure<bitAnd<T>>();
    forms["or" + type] = pure<bitOr<T>>();
    forms["xor" + type] = pure<bitXor<T>>();
    forms["not" + type] = pure<bitNot<T>>();
    forms["shl" + type] = pure<shiftLeft<T>>();
    forms["shr" + type] = pure<shiftRight<T>>();
    if constexpr (sizeof(T) > 2) {
      forms["popc" + type] = pure<popCount<T>>();
      forms["clz" + type] = pure<leadingZeros<T>>();
      forms["brev" + type] = pure<reverseBits<T>>();
      forms["bfi" + type] = pure<insert<T>>();
    }
  };
  forTypes<uint16_t, uint32_t, uint64_t>("b", bits);
  for (const char *kind : {"b", "u", "s", "f"})
    forTypes<uint16_t, uint32_t, uint64_t>(
        kind, [&]<class T>(const std::string &type) {
          forms["mov" + type] = pure<same<T>>();
          forms["selp" + type] = pure<select<T>>();
        });
  forms["and.pred"] = pure<bitAnd<bool>>();
  forms["or.pred"] = pure<bitOr<bool>>();
  forms["xor.pred"] = pure<bitXor<bool>>();
  forms["not.pred"] = pure<notTrue>();
  forms["mov.pred"] = pure<same<bool>>();
  forms["prmt.b32"] = pure<permute>();
  forms["lop3.b32"] = pure<lookUp>();
  forms["shf.l.wrap.b32"] = pure<funnel<true, true>>();
  forms["shf.l.clamp.b32"] = pure<funnel<true, false>>();
  forms["shf.r.wrap.b32"] = pure<funnel<false, true>>();
  forms["shf.r.clamp.b32"] = pure<funnel<false, false>>();
  forms["cvta.to.global.u64"] = forms["cvta.to.param.u64"] =
      forms["cvta.global.u64"] = forms["cvta.param.u64"] =
          pure<same<uint64_t>>();
}

} // namespace

void kv::ptx::addIntegerForms(Forms &forms) {
  addArithmetic(forms);
  addComparisons(forms);
  addBits(forms);
}
