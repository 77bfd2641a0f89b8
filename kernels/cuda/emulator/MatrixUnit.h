//===- MatrixUnit.h - Products of 16 x 16 x 8 elements ----------*- C++ -*-===//
//
// The arithmetic of mma.m16n8k16, of which a wgmma is made up as well: sixteen
// products, which are exact, are added to an accumulator in one order.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_EMULATOR_MATRIXUNIT_H
#define KV_KERNELS_CUDA_EMULATOR_MATRIXUNIT_H

#include "../Block.h"

#include <random>

namespace kv::cuda {

/// In which order an mma adds its sixteen products, which are exact, to the
/// accumulator.
enum class SumOrder { AccumulatorFirst, AccumulatorLast, Pairs, Shuffled };

/// A's pairs along a row, [row][k / 2], and B's along a column, [k /
/// 2][column]; sums [row][column].
struct MatrixTile {
  uint32_t a[16 * 8], b[8 * 8];
  float sums[16 * 8];
};

class MatrixUnit {
public:
  MatrixUnit(SumOrder order, std::mt19937 &random);

  /// tile.sums += A B, of F16 or of Bf16.
  void multiplyAdd(MatrixTile &tile, bool f16) const;

private:
  SumOrder order;
  int sumOrder[16];
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_EMULATOR_MATRIXUNIT_H
