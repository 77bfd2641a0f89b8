//===- MoverCase.h - Rows that movers get, and what is near -----*- C++ -*-===//

#ifndef KV_TEST_KERNELS_MOVERS_MOVERCASE_H
#define KV_TEST_KERNELS_MOVERS_MOVERCASE_H

#include "kernels/block/Widen.h"
#include "kernels/cuda/parameters/Movers.h"
#include "test/kernels/KernelRun.h"

#include <cmath>
#include <cstring>
#include <random>

namespace kv::cuda::test {

/// The same numbers in every run of a program's tests in this order.
inline std::mt19937 moverRandom(1);

template <class T> std::vector<T> draw(size_t count) {
  std::vector<T> data(count);
  for (T &x : data)
    x = narrow<T>(float(int(moverRandom() % 4001) - 2000) / 512);
  return data;
}

template <class T> std::vector<T> nothing(size_t count) {
  std::vector<T> data(count);
  if (count)
    std::memset(static_cast<void *>(data.data()), 0xff, count * sizeof(T));
  return data;
}

template <class T>
inline constexpr int32_t TypeOf =
    std::is_same_v<T, float>    ? KV_DTYPE_F32
    : std::is_same_v<T, F16>    ? KV_DTYPE_F16
    : std::is_same_v<T, Bf16>   ? KV_DTYPE_BF16
    : std::is_same_v<T, I8>     ? KV_DTYPE_I8
    : std::is_same_v<T, F8E5M2> ? KV_DTYPE_F8E5M2
                                : KV_DTYPE_F8E4M3FN;

template <class T> bool sameBytes(const T &a, const T &b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

template <class T>
inline constexpr double UnitOf = std::is_same_v<T, F16>    ? 1e-3
                                 : std::is_same_v<T, Bf16> ? 8e-3
                                                           : 2e-6;

/// Within a unit in the last place of the type, or so.
template <class T>
void expectNear(T got, double expected, double unit = UnitOf<T>) {
  if (std::isnan(expected))
    EXPECT_TRUE(std::isnan(widen(got)));
  else if (std::isinf(expected))
    EXPECT_EQ(widen(got), expected);
  else
    EXPECT_NEAR(widen(got), expected, unit * (std::fabs(expected) + 1));
}

} // namespace kv::cuda::test

#endif // KV_TEST_KERNELS_MOVERS_MOVERCASE_H
