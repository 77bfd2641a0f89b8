//===- BytesTest.cpp - Operands and sums of products of 8 bits ------------===//

#include "kernels/block/Layout.h"
#include "kernels/block/Widen.h"
#include "kernels/emulator/CpuBlock.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <set>

using namespace kv::cuda;

TEST(Bytes, ScaleOfARow) {
  for (float largest : {1.0f, 255.9f, 256.0f, 3e-30f, 3e38f, 0x1p-119f}) {
    RangeScale scale = byteScale(largest);
    EXPECT_GE(largest * scale.factor, 128) << largest;
    EXPECT_LT(largest * scale.factor, 256) << largest;
    EXPECT_EQ(scale.factor * scale.inverse, 1) << largest;
  }
  for (float less : {0.0f, 0x1p-149f, 0x1p-120f})
    EXPECT_EQ(byteScale(less).factor, byteScale(0x1p-119f).factor) << less;
  RangeScale none = byteScale(INFINITY);
  EXPECT_TRUE(std::isnan(none.factor));
  EXPECT_TRUE(std::isfinite(none.inverse));
}

TEST(Bytes, WordsOfFour) {
  EXPECT_EQ(narrowFour<F8E4M3>(1, -2, 0.5f, 1e9f), 0x7e30c038u);
  EXPECT_EQ(narrowFour<F8E4M3>(NAN, 256, 0, -0.0f), 0x8000787fu);
  // Of two columns, a and b, of keys 1 to 4.
  EXPECT_EQ(permuteBytes(0xb2a2b1a1, 0xb4a4b3a3, 0x6420), 0xa4a3a2a1);
  EXPECT_EQ(permuteBytes(0xb2a2b1a1, 0xb4a4b3a3, 0x7531), 0xb4b3b2b1);
}

namespace {

/// C = A B + C by the emulator, elements by the PTX manual's formulas.
void product(MachineOptions options, const float (&a)[16][32],
             const float (&bm)[32][8], float (&c)[16][8]) {
  Machine machine(options);
  machine.launch(1, 32, 0, [&](Machine &m, int thread) {
    CpuBlock b(m, thread);
    int group = thread >> 2, in = thread % 4;
    uint32_t fa[4], fb[2];
    for (int i = 0; i < 4; ++i) {
      const float *x = &a[group + (i & 1) * 8][in * 4 + (i >> 1) * 16];
      fa[i] = narrowFour<F8E4M3>(x[0], x[1], x[2], x[3]);
    }
    for (int i = 0; i < 2; ++i) {
      auto at = [&](int j) { return bm[in * 4 + j + i * 16][group]; };
      fb[i] = narrowFour<F8E4M3>(at(0), at(1), at(2), at(3));
    }
    float fc[4];
    for (int i = 0; i < 4; ++i)
      fc[i] = c[group + (i >> 1) * 8][in * 2 + (i & 1)];
    b.multiplyAdd<F8E4M3>(fc, fa, fb[0], fb[1]);
    for (int i = 0; i < 4; ++i)
      c[group + (i >> 1) * 8][in * 2 + (i & 1)] = fc[i];
  });
  EXPECT_TRUE(machine.reports().empty());
}

} // namespace

TEST(Bytes, Products) {
  std::mt19937 random(1);
  float a[16][32], bm[32][8], c[16][8];
  auto draw = [&](auto &matrix) {
    for (auto &row : matrix)
      for (float &x : row)
        x = widen(narrow<F8E4M3>(float(int(random() % 20001) - 10000) / 3000));
  };
  draw(a);
  draw(bm);
  for (auto &row : c)
    for (float &x : row)
      x = float(random() % 20001) / 3000;
  a[3][17] = 0x1p-9f; // subnormal
  bm[17][5] = 448;
  std::set<std::vector<float>> different;
  for (SumOrder order : SumOrders) {
    float result[16][8];
    std::memcpy(result, c, sizeof(c));
    product({.order = order, .seed = 9}, a, bm, result);
    for (int m = 0; m < 16; ++m)
      for (int n = 0; n < 8; ++n) {
        double expected = c[m][n];
        for (int k = 0; k < 32; ++k)
          expected += double(a[m][k]) * bm[k][n];
        EXPECT_NEAR(result[m][n], expected, 1e-3);
      }
    different.insert({result[0], result[0] + 128});
  }
  EXPECT_GT(different.size(), 1u);
}
