//===- MatrixUnit.h - Products of 16 x 16 x 8 elements ----------*- C++ -*-===//
//
// The arithmetic of mma.m16n8k16, of which products of warpgroups and of tensor
// memory are made up as well: sixteen products, or of elements of 8 bits 32,
// are added to an accumulator, as the chip does (FusedSum.h), or each rounded
// to f32, in one of several orders.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_EMULATOR_BASE_MATRIXUNIT_H
#define KV_KERNELS_EMULATOR_BASE_MATRIXUNIT_H

#include "FusedSum.h"

#include <random>

namespace kv::cuda {

/// How an mma adds its sixteen or 32 products, which are exact, to the
/// accumulator: together, or one after the other in f32.
enum class SumOrder {
  Fused,
  AccumulatorFirst,
  AccumulatorLast,
  Pairs,
  Shuffled
};
constexpr SumOrder SumOrders[] = {SumOrder::Fused, SumOrder::AccumulatorFirst,
                                  SumOrder::AccumulatorLast, SumOrder::Pairs,
                                  SumOrder::Shuffled};
/// Fused, but where the environment's KV_SUM_ORDER names another: `first`,
/// `last`, `pairs`, `shuffled`.
SumOrder usualOrder();

/// A's pairs along a row, [row][k / 2], and B's along a column, [k /
/// 2][column], or fours of 8 bits; sums [row][column].
struct MatrixTile {
  uint32_t a[16 * 8], b[8 * 8];
  float sums[16 * 8];
};

class MatrixUnit {
public:
  MatrixUnit(SumOrder order, std::mt19937 &random);

  /// tile.sums += A B; `fused` of order Fused.
  void multiplyAdd(MatrixTile &tile, MatrixElement element,
                   const FusedSum &fused) const;

private:
  SumOrder order;
  int sumOrder[16], byteOrder[32];
};

} // namespace kv::cuda

#endif // KV_KERNELS_EMULATOR_BASE_MATRIXUNIT_H
