//===- FusedSum.h - What tensor cores do with products ----------*- C++ -*-===//
//
// MMA-Sim (Xie et al., arXiv 2511.10909) found it on ten chips, bit by bit. An
// instruction makes one or several steps. In each of them
//  - products are exact, and a product's exponent is the sum of its factors'.
//    A subnormal has its type's least exponent, a zero that of f32;
//  - the largest exponent of the products and of the accumulator is chosen;
//  - the products and the accumulator are cut, towards zero, to some
//    fractional bits below it, and these are added exactly;
//  - the sum is cut to f32, or to fewer bits. A zero is positive.
// A NaN is 0x7fffffff.
//
// Each step takes its products together, so their order within it, which of the
// operands is A, and how many rows and columns there are change no bit.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_EMULATOR_BASE_FUSEDSUM_H
#define KV_KERNELS_EMULATOR_BASE_FUSEDSUM_H

#include "kernels/block/Block.h"

namespace kv::cuda {

/// The type of multiplied elements.
enum class MatrixElement { Bf16, F16, F8E4M3 };
template <class T>
inline constexpr MatrixElement MatrixElementOf =
    std::is_same_v<T, F8E4M3> ? MatrixElement::F8E4M3
    : std::is_same_v<T, F16>  ? MatrixElement::F16
                              : MatrixElement::Bf16;

/// By what: instructions of a warp, of 9.0's warpgroups, of 10.0's tensor
/// memory.
enum class MatrixInstruction { Mma, Wgmma, Tcgen05 };

struct FusedSum {
  int fraction; // bits below the largest exponent that a step looks at
  int kept;     // fractional bits of its result; f32 has 23
  int step;     // products that are summed together
  /// ptxas makes two instructions of f16 of it, of the lower and of the upper
  /// elements of each pair of pairs. The first one's accumulator is zero, and
  /// the sum is added to what was there, rounded to nearest, at the end.
  bool unpacked = false;

  bool operator==(const FusedSum &) const = default;
};

/// The sum of an instruction on a chip, by the chip's number: 80, 90, 100 or
/// 120.
constexpr FusedSum fusedSumOf(int chip, MatrixInstruction instruction,
                              MatrixElement element) {
  FusedSum halves =
      chip < 90 ? FusedSum{24, 23, /*step=*/8} : FusedSum{25, 23, /*step=*/16};
  if (element != MatrixElement::F8E4M3)
    return halves;
  if (instruction == MatrixInstruction::Wgmma)
    return {13, 13, /*step=*/32};
  if (instruction == MatrixInstruction::Tcgen05 || chip >= 120)
    return {25, 23, /*step=*/32};
  halves.unpacked = true;
  return halves;
}

} // namespace kv::cuda

#endif // KV_KERNELS_EMULATOR_BASE_FUSEDSUM_H
