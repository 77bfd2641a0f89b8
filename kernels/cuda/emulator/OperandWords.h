//===- OperandWords.h - Operands of products, word by word ------*- C++ -*-===//

#ifndef KV_KERNELS_CUDA_EMULATOR_OPERANDWORDS_H
#define KV_KERNELS_CUDA_EMULATOR_OPERANDWORDS_H

#include "../ptx/Tiles.h"

#include <cstdint>
#include <vector>

namespace kv::cuda {

/// b[pair * columns + column]: elements 2 pair and 2 pair + 1 of a column of
/// the second operand. wordOf(major, column, k) is the word in shared memory
/// that begins with element k of the column; its other half is the next one
/// along the major dimension.
template <class WordOf>
void readColumns(std::vector<uint32_t> &b, int columns, Major major,
                 WordOf wordOf) {
  b.resize(8 * columns);
  if (major == Major::K) {
    for (int column = 0; column < columns; ++column)
      for (int pair = 0; pair < 8; ++pair)
        b[pair * columns + column] = wordOf(Major::K, column, pair * 2);
    return;
  }
  for (int pair = 0; pair < 8; ++pair)
    for (int column = 0; column < columns; column += 2) {
      uint32_t even = wordOf(Major::Other, column, pair * 2),
               odd = wordOf(Major::Other, column, pair * 2 + 1);
      b[pair * columns + column] = (even & 0xffff) | odd << 16;
      b[pair * columns + column + 1] = even >> 16 | (odd & 0xffff0000);
    }
}

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_EMULATOR_OPERANDWORDS_H
