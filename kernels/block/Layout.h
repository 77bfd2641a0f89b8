//===- Layout.h - Where an element lies ------------------------*- C++ -*-===//
//
// Maps between an element of a matrix and the thread, register or place in
// shared memory that holds it, as the PTX ISA describes them for mma.m16n8k16
// and ldmatrix. All functions are pure, so that a host tests them exhaustively.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_BLOCK_LAYOUT_H
#define KV_KERNELS_BLOCK_LAYOUT_H

#include "kv/Definition/HostDevice.h"

#include <type_traits>

namespace kv::cuda {

/// The unit of cp.async and of a row of ldmatrix.
struct alignas(16) Chunk {
  uint32_t words[4];
};
constexpr int ChunkBytes = 16;

/// A matrix in shared memory with `Columns` chunks per row. A row's chunks are
/// exchanged within runs of eight by the row's number. So the eight rows of a
/// column that ldmatrix reads at a time lie in different banks. Two rows of
/// four chunks lie in one run.
template <int Columns> struct Swizzled {
  static_assert(Columns % 8 == 0 || Columns == 4);
  static constexpr int Pitch = Columns; // chunks from a row to the next
  static KV_HD constexpr int exchanged(int row) {
    return Columns == 4 ? row / 2 & 3 : row & 7;
  }
  static KV_HD constexpr int chunk(int row, int column) {
    return row * Columns + (column ^ exchanged(row));
  }
  /// The chunk `columns` columns after `chunk`, whose column has none of the
  /// bits of `columns`. On a GPU this takes one instruction, or none if
  /// `columns` is a multiple of eight: a constant distance is part of an
  /// access.
  static KV_HD constexpr int moved(int chunk, int columns) {
    return (chunk ^ (columns & 7)) + (columns & ~7);
  }
  /// The chunk `rows` rows below `chunk`. The low three bits of its row have
  /// none of the bits of `rows`.
  static KV_HD constexpr int below(int chunk, int rows) {
    return (chunk ^ exchanged(rows)) + rows * Columns;
  }
};

/// A matrix whose rows are an odd number of chunks apart; the last chunk is
/// unused if `Columns` is even. So eight rows of a column lie in different
/// banks as they are, and all distances are constants.
template <int Columns> struct Padded {
  static constexpr int Pitch = Columns | 1;
  static KV_HD constexpr int chunk(int row, int column) {
    return row * Pitch + column;
  }
  static KV_HD constexpr int moved(int chunk, int columns) {
    return chunk + columns;
  }
  static KV_HD constexpr int below(int chunk, int rows) {
    return chunk + rows * Pitch;
  }
};

/// Whether rows of `columns` chunks are swizzled in shared memory.
KV_HD constexpr bool isSwizzled(int columns) {
  return columns >= 4 && (columns & (columns - 1)) == 0;
}
template <int Columns>
using SharedRows =
    std::conditional_t<isSwizzled(Columns), Swizzled<Columns>, Padded<Columns>>;

struct Place {
  int row;
  int column;
};

/// mma.m16n8k16: the element that half `half` of register `index` of a lane
/// holds. A is 16 x 16 (row, k); B is 16 x 8 (k, column); C is 16 x 8.
KV_HD constexpr Place fragmentA(int lane, int index, int half) {
  return {lane / 4 + index % 2 * 8, lane % 4 * 2 + half + index / 2 * 8};
}
KV_HD constexpr Place fragmentB(int lane, int index, int half) {
  return {lane % 4 * 2 + half + index * 8, lane / 4};
}
KV_HD constexpr Place fragmentC(int lane, int index) {
  return {lane / 4 + index / 2 * 8, lane % 4 * 2 + index % 2};
}

/// ldmatrix.x4: lane l names row l % 8 of the 8 x 8 matrix l / 8; register i
/// of every lane comes from matrix i. Which rows to name, as (row, chunk)
/// within a block of 16 x 16 elements:
/// A row-major gives the four registers of A,
KV_HD constexpr Place loadA(int lane) {
  return {lane / 8 % 2 * 8 + lane % 8, lane / 16};
}
/// a matrix that holds B transposed (one row per column of B) gives registers
/// 0, 1 of columns 0-7 and then of columns 8-15,
KV_HD constexpr Place loadTransposedB(int lane) {
  return {lane / 16 * 8 + lane % 8, lane / 8 % 2};
}
/// and B row-major with .trans gives the same.
KV_HD constexpr Place loadB(int lane) {
  return {lane / 8 % 2 * 8 + lane % 8, lane / 16};
}
/// The element of an 8 x 8 matrix that a lane receives.
KV_HD constexpr Place matrixElement(int lane, int half, bool transposed) {
  return transposed ? Place{lane % 4 * 2 + half, lane / 4}
                    : Place{lane / 4, lane % 4 * 2 + half};
}

} // namespace kv::cuda

#endif // KV_KERNELS_BLOCK_LAYOUT_H
