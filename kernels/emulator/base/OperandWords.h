//===- OperandWords.h - Operands of products, word by word ------*- C++ -*-===//

#ifndef KV_KERNELS_EMULATOR_BASE_OPERANDWORDS_H
#define KV_KERNELS_EMULATOR_BASE_OPERANDWORDS_H

#include "kernels/block/Tiles.h"

#include <cstdint>
#include <vector>

namespace kv::cuda {

/// b[word * columns + column]: with 16 bits the elements 2 word and 2 word + 1
/// of a column of the second operand, with 8 bits four. wordOf(major, column,
/// k) is the word in shared memory that begins with element k of the column, in
/// elements of 16 bits along the major dimension, along which its others lie.
template <class WordOf>
void readColumns(std::vector<uint32_t> &b, int columns, Major major,
                 int elementBytes, WordOf wordOf) {
  b.assign(8 * columns, 0);
  if (major == Major::K) {
    for (int column = 0; column < columns; ++column)
      for (int word = 0; word < 8; ++word)
        b[word * columns + column] = wordOf(Major::K, column, word * 2);
    return;
  }
  // Squares of as many columns as there are elements in a word, transposed.
  const int side = int(sizeof(uint32_t)) / elementBytes,
            bits = elementBytes * 8;
  const uint32_t mask = (uint32_t(1) << bits) - 1;
  for (int word = 0; word < 8; ++word)
    for (int column = 0; column < columns; column += side)
      for (int k = 0; k < side; ++k) {
        uint32_t along =
            wordOf(Major::Other, column * elementBytes / 2, word * side + k);
        for (int i = 0; i < side; ++i)
          b[word * columns + column + i] |= (along >> i * bits & mask)
                                            << k * bits;
      }
}

} // namespace kv::cuda

#endif // KV_KERNELS_EMULATOR_BASE_OPERANDWORDS_H
