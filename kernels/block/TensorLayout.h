//===- TensorLayout.h - Tensor memory and its operands ----------*- C++ -*-===//
//
// Operands of the fifth generation of tensor cores (tcgen05, sm_100a), as the
// PTX ISA describes them: addresses in tensor memory, descriptors of operands
// in shared memory, and of the instruction itself. One set of functions encodes
// them for a kernel and decodes them for the emulator.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_BLOCK_TENSORLAYOUT_H
#define KV_KERNELS_BLOCK_TENSORLAYOUT_H

#include "Numbers.h"
#include "Tiles.h"

namespace kv::cuda {

/// Tensor memory of an SM: words of 32 bits. Allocations are of whole columns,
/// a power of two of them.
constexpr int TensorLanes = 128, TensorColumns = 512, FewestColumns = 32;

/// Lanes that a warp reaches: those of its number in its warpgroup.
constexpr int WarpReach = 32;

/// A word of tensor memory.
struct TensorAddress {
  uint32_t bits; // the lane in the upper half, the column in the lower

  KV_HD constexpr int lane() const { return int(bits >> 16); }
  KV_HD constexpr int column() const { return int(bits & 0xffffu); }
  /// The address `columns` columns after this one.
  KV_HD constexpr TensorAddress behind(int columns) const {
    return {bits + uint32_t(columns)};
  }
  /// The address `lanes` lanes below this one.
  KV_HD constexpr TensorAddress below(int lanes) const {
    return {bits + (uint32_t(lanes) << 16)};
  }
};
KV_HD constexpr TensorAddress tensorAt(int lane, int column) {
  return {uint32_t(lane) << 16 | uint32_t(column)};
}

/// How tcgen05.mma takes an operand in shared memory; other bits than wgmma's.
struct TensorDescriptor {
  uint64_t bits;
  /// The operand `bytes` bytes after this one; a multiple of 16.
  KV_HD constexpr TensorDescriptor behind(int bytes) const {
    return {bits + uint64_t(bytes >> 4)};
  }
};

/// Bits 46 to 48 of a descriptor are the version of its format, 61 to 63 say
/// that rows of 128 bytes are swizzled.
constexpr uint64_t TensorVersion = 1, TensorSwizzle = 2;

KV_HD constexpr TensorDescriptor encodeTensor(Operand operand) {
  auto field = [](uint32_t bytes) { return uint64_t(bytes >> 4 & 0x3fffu); };
  return {field(operand.address) | field(operand.leading) << 16 |
          field(operand.stride) << 32 | TensorVersion << 46 |
          TensorSwizzle << 61};
}
KV_HD constexpr Operand decode(TensorDescriptor descriptor) {
  auto field = [&](int from) {
    return uint32_t(descriptor.bits >> from & 0x3fffu) << 4;
  };
  return {field(0), field(16), field(32)};
}
/// Whether decode() says all of it.
KV_HD constexpr bool isUnderstood(TensorDescriptor descriptor) {
  return descriptor.bits == encodeTensor(decode(descriptor)).bits;
}

/// The elements that an instruction multiplies: of 16 bits, sixteen of which
/// are summed over, or of 8 bits, 32 of which are. The only type of 8 bits in
/// this project is f8E4M3.
enum class TensorKind { F16, F8F6F4 };
template <class T>
inline constexpr TensorKind TensorKindOf =
    std::is_same_v<T, F8E4M3> ? TensorKind::F8F6F4 : TensorKind::F16;

/// An element type's number among those of its kind.
template <class T> inline constexpr uint32_t TensorFormat = 0;
template <> inline constexpr uint32_t TensorFormat<Bf16> = 1;

/// D [rows, columns] += A [rows, K] B [K, columns], K being what the kind says,
/// with sums in f32. A lies by rows along K, B's neighbours are along `majorB`.
struct TensorProduct {
  uint32_t format; // of A's elements and of B's
  Major majorB;
  int columns;            // a multiple of 16, of 64 rows 8, up to 256
  int rows = TensorLanes; // or half of them
};
constexpr int HalfRows = TensorLanes / 2;

/// The lane of a row of D. If D has half as many rows as there are lanes, each
/// warp reaches sixteen, in the first of its lanes.
KV_HD constexpr int laneOfRow(int rows, int row) {
  return rows == HalfRows ? row / 16 * WarpReach + row % 16 : row;
}

/// The instruction descriptor of a product.
struct TensorInstruction {
  uint32_t bits;
};
KV_HD constexpr TensorInstruction encode(TensorProduct product) {
  constexpr uint32_t SumsF32 = 1;
  return {SumsF32 << 4 | product.format << 7 | product.format << 10 |
          uint32_t(product.majorB == Major::Other) << 16 |
          uint32_t(product.columns >> 3) << 17 |
          uint32_t(product.rows >> 4) << 24};
}
KV_HD constexpr TensorProduct decode(TensorInstruction instruction) {
  return {instruction.bits >> 7 & 7,
          instruction.bits >> 16 & 1 ? Major::Other : Major::K,
          int(instruction.bits >> 17 & 0x3f) << 3,
          int(instruction.bits >> 24 & 0x1f) << 4};
}
/// Whether decode() says all of it, and a format is one of those above.
KV_HD constexpr bool isUnderstood(TensorInstruction instruction,
                                  TensorKind kind = TensorKind::F16) {
  TensorProduct product = decode(instruction);
  return instruction.bits == encode(product).bits &&
         product.format <= (kind == TensorKind::F16 ? 1 : 0) &&
         product.columns > 0 && product.columns <= 256 &&
         (product.rows == TensorLanes ? product.columns % 16 == 0
                                      : product.rows == HalfRows);
}

/// The words that hold A in tensor memory: of row `row`, elements k and k + 1,
/// k even, the first in the lower half; of 8 bits, elements 2 k to 2 k + 3.
KV_HD constexpr TensorAddress tensorElementA(TensorAddress a, int row, int k) {
  return a.below(row).behind(k / 2);
}

} // namespace kv::cuda

#endif // KV_KERNELS_BLOCK_TENSORLAYOUT_H
