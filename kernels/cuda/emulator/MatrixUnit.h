//===- MatrixUnit.h - Products of 16 x 16 x 8 elements ----------*- C++ -*-===//
//
// The arithmetic of mma.m16n8k16, of which a wgmma is made up as well: sixteen
// products, which are exact, are added to an accumulator in one order. Of
// elements of 8 bits there are 32. That their sums are f32's is an assumption:
// wgmma of 9.0 is known to keep some fourteen bits of them.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_EMULATOR_MATRIXUNIT_H
#define KV_KERNELS_CUDA_EMULATOR_MATRIXUNIT_H

#include "../Block.h"

#include <random>

namespace kv::cuda {

/// What is multiplied.
enum class MatrixElement { Bf16, F16, F8E4M3 };
template <class T>
inline constexpr MatrixElement MatrixElementOf =
    std::is_same_v<T, F8E4M3> ? MatrixElement::F8E4M3
    : std::is_same_v<T, F16>  ? MatrixElement::F16
                              : MatrixElement::Bf16;

/// In which order an mma adds its sixteen or 32 products, which are exact, to
/// the accumulator.
enum class SumOrder { AccumulatorFirst, AccumulatorLast, Pairs, Shuffled };

/// A's pairs along a row, [row][k / 2], and B's along a column, [k /
/// 2][column], or fours of 8 bits; sums [row][column].
struct MatrixTile {
  uint32_t a[16 * 8], b[8 * 8];
  float sums[16 * 8];
};

class MatrixUnit {
public:
  MatrixUnit(SumOrder order, std::mt19937 &random);

  /// tile.sums += A B.
  void multiplyAdd(MatrixTile &tile, MatrixElement element) const;

private:
  SumOrder order;
  int sumOrder[16], byteOrder[32];
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_EMULATOR_MATRIXUNIT_H
