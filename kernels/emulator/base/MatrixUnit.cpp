//===- MatrixUnit.cpp - Products of 16 x 16 x 8 elements ------------------===//

#include "MatrixUnit.h"
#include "FusedProducts.h"

#include <algorithm>
#include <cstring>
#include <numeric>

using namespace kv::cuda;

MatrixUnit::MatrixUnit(SumOrder order, std::mt19937 &random) : order(order) {
  std::iota(sumOrder, sumOrder + 16, 0);
  std::iota(byteOrder, byteOrder + 32, 0);
  if (order == SumOrder::Shuffled) {
    std::shuffle(sumOrder, sumOrder + 16, random);
    std::shuffle(byteOrder, byteOrder + 32, random);
  }
}

namespace {

/// Both halves of pairs of T.
template <class T, int N>
void widenPairs(const uint32_t (&pairs)[N], float (&halves)[2][N]) {
  for (int half = 0; half < 2; ++half)
    for (int i = 0; i < N; ++i)
      halves[half][i] = widenHalf<T>(pairs[i], half);
}

template <class T> void widenTile(const MatrixTile &tile, Operands<2> &x) {
  widenPairs<T>(tile.a, x.a);
  widenPairs<T>(tile.b, x.b);
}

template <int N>
void widenFours(const uint32_t (&fours)[N], float (&bytes)[4][N]) {
  for (int byte = 0; byte < 4; ++byte)
    for (int i = 0; i < N; ++i)
      bytes[byte][i] = widen(F8E4M3{uint8_t(fours[i] >> 8 * byte)});
}

/// A row of B or of the sums.
using Columns = float __attribute__((vector_size(32)));

template <int WordElements>
[[gnu::always_inline]] inline void
multiplyAddOperands(const Operands<WordElements> &x, float *allSums,
                    SumOrder order, const int *sumOrder) {
  Columns b[WordElements][8];
  std::memcpy(b, x.b, sizeof(b));
  constexpr int Rows = 8; // at a time, so that sums stay in registers
  for (int first = 0; first < 16; first += Rows) {
    Columns before[Rows], sums[Rows] = {};
    std::memcpy(before, allSums + first * 8, sizeof(before));
    const float *a[WordElements];
    for (int i = 0; i < WordElements; ++i)
      a[i] = x.a[i] + first * 8;
    if (order != SumOrder::AccumulatorLast)
      for (int r = 0; r < Rows; ++r)
        sums[r] = before[r];
    if (order == SumOrder::Pairs) {
      for (int k = 0; k < 8; ++k)
        for (int i = 0; i < WordElements; i += 2)
          for (int r = 0; r < Rows; ++r)
            sums[r] +=
                a[i][r * 8 + k] * b[i][k] + a[i + 1][r * 8 + k] * b[i + 1][k];
    } else {
      for (int i = 0; i < 8 * WordElements; ++i) {
        int part = sumOrder[i] % WordElements, k = sumOrder[i] / WordElements;
        for (int r = 0; r < Rows; ++r)
          sums[r] += a[part][r * 8 + k] * b[part][k];
      }
    }
    if (order == SumOrder::AccumulatorLast)
      for (int r = 0; r < Rows; ++r)
        sums[r] += before[r];
    std::memcpy(allSums + first * 8, sums, sizeof(sums));
  }
}

#ifdef __x86_64__
template <int WordElements>
[[gnu::target("avx2")]] void multiplyAddAvx2(const Operands<WordElements> &x,
                                             float *sums, SumOrder order,
                                             const int *sumOrder) {
  multiplyAddOperands(x, sums, order, sumOrder);
}
const bool HasAvx2 = __builtin_cpu_supports("avx2");
#endif

template <int WordElements>
void multiplyAddWidened(const Operands<WordElements> &x, float *sums,
                        SumOrder order, const int *sumOrder) {
#ifdef __x86_64__
  if (HasAvx2)
    return multiplyAddAvx2(x, sums, order, sumOrder);
#endif
  multiplyAddOperands(x, sums, order, sumOrder);
}

} // namespace

void MatrixUnit::multiplyAdd(MatrixTile &tile, MatrixElement element,
                             const FusedSum &fused) const {
  if (element == MatrixElement::F8E4M3) {
    Operands<4> fours;
    widenFours(tile.a, fours.a);
    widenFours(tile.b, fours.b);
    if (order == SumOrder::Fused)
      return multiplyAddFused(fours, tile.sums, fused, /*least=*/-6);
    return multiplyAddWidened(fours, tile.sums, order, byteOrder);
  }
  Operands<2> pairs;
  if (element == MatrixElement::F16)
    widenTile<F16>(tile, pairs);
  else
    widenTile<Bf16>(tile, pairs);
  if (order == SumOrder::Fused)
    return multiplyAddFused(pairs, tile.sums, fused,
                            element == MatrixElement::F16 ? -14 : -126);
  multiplyAddWidened(pairs, tile.sums, order, sumOrder);
}
