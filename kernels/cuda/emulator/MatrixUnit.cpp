//===- MatrixUnit.cpp - Products of 16 x 16 x 8 elements ------------------===//

#include "MatrixUnit.h"

#include <algorithm>
#include <cstring>
#include <numeric>

using namespace kv::cuda;

MatrixUnit::MatrixUnit(SumOrder order, std::mt19937 &random) : order(order) {
  std::iota(sumOrder, sumOrder + 16, 0);
  if (order == SumOrder::Shuffled)
    std::shuffle(sumOrder, sumOrder + 16, random);
}

namespace {

/// What is multiplied and added, widened. A's columns and B's rows, k, are
/// split: a[k % 2][row * 8 + k / 2], b[k % 2][k / 2 * 8 + column].
struct Operands {
  float a[2][16 * 8];
  float b[2][8 * 8];
};

/// Both halves of pairs of T.
template <class T, int N>
void widenPairs(const uint32_t (&pairs)[N], float (&halves)[2][N]) {
  for (int half = 0; half < 2; ++half)
    for (int i = 0; i < N; ++i)
      halves[half][i] = widenHalf<T>(pairs[i], half);
}

template <class T> void widenTile(const MatrixTile &tile, Operands &x) {
  widenPairs<T>(tile.a, x.a);
  widenPairs<T>(tile.b, x.b);
}

/// A row of B or of the sums.
using Columns = float __attribute__((vector_size(32)));

[[gnu::always_inline]] inline void multiplyAddOperands(const Operands &x,
                                                       float *allSums,
                                                       SumOrder order,
                                                       const int *sumOrder) {
  Columns b[2][8];
  std::memcpy(b, x.b, sizeof(b));
  constexpr int Rows = 8; // at a time, so that sums stay in registers
  for (int first = 0; first < 16; first += Rows) {
    Columns before[Rows], sums[Rows] = {};
    std::memcpy(before, allSums + first * 8, sizeof(before));
    const float *a[2] = {x.a[0] + first * 8, x.a[1] + first * 8};
    if (order != SumOrder::AccumulatorLast)
      for (int r = 0; r < Rows; ++r)
        sums[r] = before[r];
    if (order == SumOrder::Pairs) {
      for (int k = 0; k < 8; ++k)
        for (int r = 0; r < Rows; ++r)
          sums[r] += a[0][r * 8 + k] * b[0][k] + a[1][r * 8 + k] * b[1][k];
    } else {
      for (int i = 0; i < 16; ++i) {
        int half = sumOrder[i] % 2, k = sumOrder[i] / 2;
        for (int r = 0; r < Rows; ++r)
          sums[r] += a[half][r * 8 + k] * b[half][k];
      }
    }
    if (order == SumOrder::AccumulatorLast)
      for (int r = 0; r < Rows; ++r)
        sums[r] += before[r];
    std::memcpy(allSums + first * 8, sums, sizeof(sums));
  }
}

#ifdef __x86_64__
[[gnu::target("avx2")]] void multiplyAddAvx2(const Operands &x, float *sums,
                                             SumOrder order,
                                             const int *sumOrder) {
  multiplyAddOperands(x, sums, order, sumOrder);
}
const bool HasAvx2 = __builtin_cpu_supports("avx2");
#endif

} // namespace

void MatrixUnit::multiplyAdd(MatrixTile &tile, bool f16) const {
  Operands operands;
  if (f16)
    widenTile<F16>(tile, operands);
  else
    widenTile<Bf16>(tile, operands);
#ifdef __x86_64__
  if (HasAvx2)
    return multiplyAddAvx2(operands, tile.sums, order, sumOrder);
#endif
  multiplyAddOperands(operands, tile.sums, order, sumOrder);
}
