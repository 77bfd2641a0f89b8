//===- ProductNumbers.h - Products that every order sums alike --*- C++ -*-===//

#ifndef KV_TEST_KERNELS_INSTRUCTIONS_PRODUCTNUMBERS_H
#define KV_TEST_KERNELS_INSTRUCTIONS_PRODUCTNUMBERS_H

#include "TileInstructionBodies.h"
#include "kernels/block/Numbers.h"

#include <gtest/gtest.h>

namespace kv::cuda::test {

/// Small whole numbers.
template <class T> std::vector<uint16_t> wholes(size_t count, int seed) {
  std::vector<uint16_t> all(count);
  for (size_t i = 0; i < count; ++i)
    all[i] = narrow<T>(float(int((i * 37 + seed * 11) % 17) - 8)).bits;
  return all;
}

/// The rows of a product, whose factors are a(row, k) and b(k, column): whole
/// numbers, so that every order sums exactly.
template <class A, class B>
void expectProduct(const char *name, const std::vector<float> &out, int rows,
                   int columns, int depth, A a, B b) {
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column) {
      float sum = 0;
      for (int k = 0; k < depth; ++k)
        sum += a(row, k) * b(k, column);
      ASSERT_EQ(out[row * columns + column], sum)
          << name << ": row " << row << ", column " << column;
    }
}

/// The same of two matrices of T, the second behind the first.
template <class T>
void expectProduct(const char *name, const std::vector<float> &out, int rows,
                   int columns, int depth, const std::vector<uint16_t> &in) {
  expectProduct(
      name, out, rows, columns, depth,
      [&](int row, int k) { return widen(T{in[row * depth + k]}); },
      [&](int k, int column) {
        return widen(T{in[rows * depth + k * columns + column]});
      });
}

/// Such a [rows][depth] and b [depth][columns].
template <class T>
std::vector<uint16_t> wholeMatrices(int rows, int columns, int depth) {
  std::vector<uint16_t> both = wholes<T>(rows * depth, 1),
                        second = wholes<T>(depth * columns, 2);
  both.insert(both.end(), second.begin(), second.end());
  return both;
}

} // namespace kv::cuda::test

#endif // KV_TEST_KERNELS_INSTRUCTIONS_PRODUCTNUMBERS_H
