//===- Divisor.h - Division by what is known at run time --------*- C++ -*-===//

#ifndef KV_DEFINITION_DIVISOR_H
#define KV_DEFINITION_DIVISOR_H

#include "kv/Definition/HostDevice.h"

namespace kv::plan {

/// A positive number that others are divided by: three instructions on a GPU,
/// which has none for division. Prepared once, where a launch is.
class Divisor {
public:
  constexpr Divisor() = default;
  constexpr Divisor(int32_t divisor) : divisor(divisor) {
    while (uint64_t(1) << shift < uint64_t(divisor))
      ++shift;
    multiplier = uint32_t(
        ((uint64_t(1) << (31 + shift)) + uint64_t(divisor) - 1) / divisor);
  }
  KV_HD constexpr operator int32_t() const { return divisor; }

  /// dividend / *this; the dividend is not negative. The multiplier is less
  /// than 1 above 2^(31 + shift) / divisor; with a dividend below 2^31, the
  /// quotient's error is less than 2^-shift, and so less than 1 / divisor.
  KV_HD constexpr int32_t quotient(int32_t dividend) const {
    return int32_t(
        uint32_t(uint64_t(uint32_t(dividend) * 2) * multiplier >> 32) >> shift);
  }
  KV_HD constexpr int32_t remainder(int32_t dividend) const {
    return dividend - quotient(dividend) * divisor;
  }

private:
  int32_t divisor = 1;
  uint32_t multiplier = uint32_t(1) << 31;
  uint32_t shift = 0;
};

} // namespace kv::plan

#endif // KV_DEFINITION_DIVISOR_H
