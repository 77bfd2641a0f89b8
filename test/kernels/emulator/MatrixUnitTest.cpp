//===- MatrixUnitTest.cpp - What the emulator's products sum to -----------===//
//
// The rules of FusedSum.h: sums worked out by hand, and a second, slow account
// of them in double precision on random operands.
//
//===----------------------------------------------------------------------===//

#include "kernels/emulator/base/MatrixUnit.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>
#include <numeric>

using namespace kv::cuda;

namespace {

constexpr FusedSum Ampere = fusedSumOf(80, MatrixInstruction::Mma,
                                       MatrixElement::Bf16),
                   Hopper = fusedSumOf(90, MatrixInstruction::Mma,
                                       MatrixElement::Bf16),
                   HopperBytes = fusedSumOf(90, MatrixInstruction::Wgmma,
                                            MatrixElement::F8E4M3),
                   Unpacked = fusedSumOf(90, MatrixInstruction::Mma,
                                         MatrixElement::F8E4M3),
                   BlackwellBytes = fusedSumOf(100, MatrixInstruction::Tcgen05,
                                               MatrixElement::F8E4M3);

/// A [16][k] B [k][8] + C [16][8]; k is 16, of 8 bits 32.
template <class T> struct Operands {
  static constexpr int K = 32 / int(sizeof(T)), WordElements = K / 8;
  T a[16][K] = {}, b[K][8] = {};
  float c[16][8] = {};

  void multiply(const FusedSum &fused) {
    std::mt19937 random;
    MatrixTile tile{};
    for (int k = 0; k < K; ++k) {
      int word = k / WordElements, shift = k % WordElements * 8 * sizeof(T);
      for (int row = 0; row < 16; ++row)
        tile.a[row * 8 + word] |= uint32_t(a[row][k].bits) << shift;
      for (int column = 0; column < 8; ++column)
        tile.b[word * 8 + column] |= uint32_t(b[k][column].bits) << shift;
    }
    std::memcpy(tile.sums, c, sizeof(c));
    MatrixUnit(SumOrder::Fused, random)
        .multiplyAdd(tile, MatrixElementOf<T>, fused);
    std::memcpy(c, tile.sums, sizeof(c));
  }
};

using Factors = std::pair<float, float>;

/// c and products, the first one of k = 0, summed in every row and column.
template <class T = Bf16>
float sumOf(const FusedSum &fused, float c, std::vector<Factors> products) {
  Operands<T> x;
  for (int k = 0; k < int(products.size()); ++k) {
    for (auto &row : x.a)
      row[k] = narrow<T>(products[k].first);
    for (T &column : x.b[k])
      column = narrow<T>(products[k].second);
  }
  std::fill_n(&x.c[0][0], 16 * 8, c);
  x.multiply(fused);
  for (int i = 1; i < 16 * 8; ++i)
    EXPECT_EQ(bitsAs<uint32_t>((&x.c[0][0])[i]), bitsAs<uint32_t>(x.c[0][0]));
  return x.c[0][0];
}

/// So many of the same.
std::vector<Factors> times(int count, Factors factors) {
  return std::vector<Factors>(count, factors);
}
std::vector<Factors> operator+(std::vector<Factors> a,
                               const std::vector<Factors> &b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

//===--- The second account -----------------------------------------------===//

/// x as significand * 2^exponent, a subnormal's significand below 1.
struct Scientific {
  double significand;
  int exponent;
};
Scientific scientific(double x, int least) {
  if (x == 0)
    return {0, -126};
  int exponent = std::max(std::ilogb(x), least);
  return {std::ldexp(x, -exponent), exponent};
}

template <class T> constexpr int LeastExponent = -126;
template <> constexpr int LeastExponent<F16> = -14;
template <> constexpr int LeastExponent<F8E4M3> = -6;

/// One step, of `count` elements of a row and of a column.
template <class T>
float step(const std::vector<T> &a, const std::vector<T> &b, float c,
           const FusedSum &fused) {
  double plain = c;
  std::vector<Scientific> terms = {scientific(c, -126)};
  for (size_t i = 0; i < a.size(); ++i) {
    double x = widen(a[i]), y = widen(b[i]);
    plain += x * y;
    Scientific p = scientific(x, LeastExponent<T>),
               q = scientific(y, LeastExponent<T>);
    terms.push_back({p.significand * q.significand, p.exponent + q.exponent});
  }
  if (std::isnan(plain))
    return bitsAs<float>(0x7fffffffu);
  if (std::isinf(plain))
    return float(plain);
  int largest = -1000;
  for (const Scientific &term : terms)
    largest = std::max(largest, term.exponent);
  double sum = 0; // of whole numbers: exact
  for (const Scientific &term : terms)
    sum += std::trunc(
        std::ldexp(term.significand, fused.fraction + term.exponent - largest));
  if (sum == 0)
    return 0;
  Scientific result =
      scientific(std::ldexp(sum, largest - fused.fraction), -126);
  double kept = std::trunc(std::ldexp(result.significand, fused.kept));
  if (kept == 0)
    return 0;
  return float(std::ldexp(kept, result.exponent - fused.kept));
}

template <class T>
float sum(const Operands<T> &x, int row, int column, const FusedSum &fused) {
  auto some = [&](std::vector<int> ks, float c) {
    std::vector<T> a, b;
    for (int k : ks) {
      a.push_back(x.a[row][k]);
      b.push_back(x.b[k][column]);
    }
    return step(a, b, c, fused);
  };
  float c = fused.unpacked ? 0 : x.c[row][column];
  std::vector<int> order(Operands<T>::K);
  std::iota(order.begin(), order.end(), 0);
  if (fused.unpacked)
    std::sort(order.begin(), order.end(), [](int i, int k) {
      return std::pair(i % 4 / 2, i) < std::pair(k % 4 / 2, k);
    });
  for (size_t i = 0; i < order.size(); i += fused.step)
    c = some({order.begin() + i, order.begin() + i + fused.step}, c);
  if (!fused.unpacked)
    return c;
  c += x.c[row][column];
  return std::isnan(c) ? bitsAs<float>(0x7fffffffu) : c;
}

/// Operands of one kind of difficulty.
template <class T> void draw(Operands<T> &x, int kind, std::mt19937 &random) {
  using Bits = decltype(T::bits);
  auto any = [&](int spread) {
    float value = float(int(random() % 4001) - 2000) / 1000;
    return narrow<T>(std::ldexp(value, int(random() % spread) - spread / 2));
  };
  auto element = [&]() -> T {
    switch (kind) {
    case 0: // a kernel's
      return any(4);
    case 1:
      return any(24);
    case 2: // of any size, also infinite and NaN
      return T{Bits(random())};
    case 3: // many zeros, and small numbers
      return random() % 3
                 ? T{Bits(random() % 3 == 0 ? 1u << (8 * sizeof(T) - 1) : 0u)}
                 : T{Bits(random() & 0x83)};
    default: // few infinities and NaN
      return random() % 100 ? any(8) : T{Bits(random() | 0x7f << 7)};
    }
  };
  for (auto &row : x.a)
    std::generate(std::begin(row), std::end(row), element);
  for (auto &row : x.b)
    std::generate(std::begin(row), std::end(row), element);
  for (auto &row : x.c)
    for (float &c : row)
      c = kind == 2 ? bitsAs<float>(uint32_t(random()))
          : kind == 3
              ? bitsAs<float>(uint32_t(random() & 0x80000003))
              : std::ldexp(float(int32_t(random())), int(random() % 20) - 40);
  // Of some rows, products that cancel.
  for (int row = 0; row < 16; row += 3)
    for (int k = 0; k + 1 < Operands<T>::K; k += 2) {
      x.a[row][k + 1] = T{Bits(x.a[row][k].bits ^ 1u << (8 * sizeof(T) - 1))};
      if (row % 2)
        std::copy_n(x.b[k], 8, x.b[k + 1]);
    }
}

template <class T> void compare(const FusedSum &fused) {
  std::mt19937 random(fused.fraction + fused.step);
  for (int i = 0; i < 150; ++i) {
    Operands<T> x;
    draw(x, i % 5, random);
    Operands<T> given = x;
    x.multiply(fused);
    for (int row = 0; row < 16; ++row)
      for (int column = 0; column < 8; ++column)
        ASSERT_EQ(bitsAs<uint32_t>(x.c[row][column]),
                  bitsAs<uint32_t>(sum(given, row, column, fused)))
            << "operands " << i << ", row " << row << ", column " << column
            << ": " << x.c[row][column] << ", expected "
            << sum(given, row, column, fused);
  }
}

} // namespace

TEST(MatrixUnit, TermsAreCutBelowTheLargest) {
  // Two bits more than f32 has behind 1, or one.
  EXPECT_EQ(sumOf(Hopper, 1, times(4, {0x1p-25f, 1})), 1 + 0x1p-23f);
  EXPECT_EQ(sumOf(Ampere, 1, times(4, {0x1p-25f, 1})), 1);
  EXPECT_EQ(sumOf(Ampere, 1, times(2, {0x1p-24f, 1})), 1 + 0x1p-23f);
  EXPECT_EQ(sumOf(Hopper, 1, times(8, {0x1p-26f, 1})), 1);
  // Towards zero, before the sum.
  EXPECT_EQ(sumOf(Hopper, 1, times(1, {-0x1.8p-24f, 1})), 1 - 0x1p-23f);
  EXPECT_EQ(sumOf(Ampere, 1, times(1, {-0x1.8p-24f, 1})), 1 - 0x1p-24f);
  // Also the accumulator, and the sum.
  EXPECT_EQ(sumOf(Hopper, 1 + 0x1p-23f, {{4, 2}}), 9);
  EXPECT_EQ(sumOf(Hopper, 1, {{0x1.8p-24f, 1}}), 1);
  EXPECT_EQ(sumOf(Hopper, -1, {{-0x1.8p-24f, 1}}), -1);
}

// 1.5 * 1.5 counts as 2.25 * 2^0.
TEST(MatrixUnit, ProductsAreNotNormalised) {
  EXPECT_EQ(sumOf(Hopper, 0, times(1, {1.5f, 1.5f}) + times(8, {0x1p-25f, 1})),
            2.25f + 0x1p-22f);
}

// 1 and 2^-24 do not survive the first of two steps.
TEST(MatrixUnit, StepsOfEight) {
  std::vector<Factors> products = times(1, {1, 1}) +
                                  times(1, {0x1p-12f, 0x1p-12f}) +
                                  times(6, {0, 0}) + times(1, {-1, 1});
  EXPECT_EQ(sumOf(Ampere, 0, products), 0);
  EXPECT_EQ(sumOf(Hopper, 0, products), 0x1p-24f);
  std::swap(products[2], products[8]);
  EXPECT_EQ(sumOf(Ampere, 0, products), 0x1p-24f);
}

TEST(MatrixUnit, ThirteenBits) {
  auto bytes = [](const FusedSum &fused, float c,
                  const std::vector<Factors> &products) {
    return sumOf<F8E4M3>(fused, c, products);
  };
  auto small = times(20, {0x1p-6f, 0x1p-8f});
  EXPECT_EQ(bytes(HopperBytes, 0, times(1, {1, 1}) + small), 1);
  EXPECT_EQ(bytes(BlackwellBytes, 0, times(1, {1, 1}) + small),
            1 + 20 * 0x1p-14f);
  EXPECT_EQ(bytes(HopperBytes, 1, times(3, {0x1p-6f, 0x1p-7f})),
            1 + 3 * 0x1p-13f);
  // Two such bits at 2 are one too many, as are an accumulator's own.
  EXPECT_EQ(bytes(HopperBytes, 2, {{0x1p-6f, 0x1p-7f}}), 2);
  EXPECT_EQ(bytes(HopperBytes, 1.5f + 0x1p-14f, {}), 1.5f);
  EXPECT_EQ(bytes(BlackwellBytes, 1.5f + 0x1p-23f, {}), 1.5f + 0x1p-23f);
  // Beside 2^12 each of these counts as a half.
  EXPECT_EQ(bytes(HopperBytes, 4096, times(17, {0.9375f, 1})), 4096 + 8.5f);
  EXPECT_EQ(bytes(BlackwellBytes, 4096, times(17, {0.9375f, 1})),
            4096 + 17 * 0.9375f);
}

// mma.sync of 9.0, whose two instructions know nothing of the accumulator.
TEST(MatrixUnit, UnpackedBytes) {
  auto bytes = [](float c, const std::vector<Factors> &products) {
    return sumOf<F8E4M3>(Unpacked, c, products);
  };
  // Beside 64 this is three halves of f32's last place.
  Factors small = {3 * 0x1p-9f, 0x1p-9f};
  EXPECT_EQ(bytes(64, {small}), 64 + 0x1p-16f);
  EXPECT_EQ(sumOf<F8E4M3>(BlackwellBytes, 64, {small}), 64 + 0x1p-17f);
  // Elements 0 and 1 of four are of the first instruction, which cuts 2^-10
  // beside 2^16.
  Factors large = {256, 256}, minus = {-256, 256}, lost = {0x1p-5f, 0x1p-5f};
  EXPECT_EQ(bytes(0, {large, minus, lost}), 0x1p-10f);
  EXPECT_EQ(bytes(0, {large, lost, minus}), 0);
  EXPECT_EQ(bytes(0, times(4, {0, 0}) + std::vector{large, minus, lost}),
            0x1p-10f);
}

TEST(MatrixUnit, ZerosAndSmallNumbers) {
  auto bits = [](float x) { return bitsAs<uint32_t>(x); };
  EXPECT_EQ(bits(sumOf(Hopper, -0.0f, {})), 0u);
  EXPECT_EQ(bits(sumOf(Hopper, 1, {{-1, 1}})), 0u);
  EXPECT_EQ(bits(sumOf(Hopper, 0, {{-0x1p-100f, 0x1p-100f}})), 0u);
  EXPECT_EQ(sumOf(Hopper, 0x1p-149f, {}), 0x1p-149f);
  EXPECT_EQ(sumOf(Hopper, 0, {{0x1p-75f, 0x1p-74f}}), 0x1p-149f);
  EXPECT_EQ(sumOf(Hopper, 0, {{0x1.8p-75f, 0x1p-74f}}), 0x1p-149f);
  // A zero has an exponent, which that of its other factor is added to.
  EXPECT_EQ(sumOf(Hopper, 0x1p-149f, {{0, 0x1p100f}}), 0);
  // f16's subnormals are of 2^-14.
  EXPECT_EQ(sumOf<F16>(Hopper, 0x1p-39f, {{0x1p-24f, 1}}), 0x1p-24f + 0x1p-39f);
  EXPECT_EQ(sumOf<F16>(Hopper, 0x1p-40f, {{0x1p-24f, 1}}), 0x1p-24f);
}

TEST(MatrixUnit, WhatIsNoNumber) {
  auto isNaN = [](float x) { return bitsAs<uint32_t>(x) == 0x7fffffffu; };
  for (const FusedSum &fused : {Ampere, Hopper}) {
    EXPECT_TRUE(isNaN(sumOf(fused, 1, {{NAN, 1}})));
    EXPECT_TRUE(isNaN(sumOf(fused, NAN, {})));
    EXPECT_TRUE(isNaN(sumOf(fused, 1, {{INFINITY, 0}})));
    EXPECT_TRUE(isNaN(sumOf(fused, -INFINITY, {{INFINITY, 1}})));
    EXPECT_EQ(sumOf(fused, -1, {{INFINITY, 0x1p-100f}}), INFINITY);
    EXPECT_EQ(sumOf(fused, 0x1p127f, {{-0x1p100f, -0x1p27f}}), INFINITY);
    EXPECT_EQ(sumOf(fused, -0x1p127f, {{0x1p100f, 0x1p27f}, {1, 1}}), 0);
  }
  EXPECT_TRUE(isNaN(sumOf<F8E4M3>(Unpacked, NAN, {})));
  EXPECT_TRUE(isNaN(sumOf<F8E4M3>(HopperBytes, 1, {{NAN, 0}})));
}

TEST(MatrixUnit, IsTheSecondAccount) {
  compare<Bf16>(Ampere);
  compare<Bf16>(Hopper);
  compare<F16>(Ampere);
  compare<F16>(Hopper);
  compare<F8E4M3>(HopperBytes);
  compare<F8E4M3>(BlackwellBytes);
  compare<F8E4M3>(Unpacked);
}

// Which of the instructions, and in what order the sixteen are given.
TEST(MatrixUnit, EqualBitsOnOneChip) {
  for (MatrixElement element : {MatrixElement::Bf16, MatrixElement::F16}) {
    EXPECT_EQ(fusedSumOf(90, MatrixInstruction::Mma, element),
              fusedSumOf(90, MatrixInstruction::Wgmma, element));
    EXPECT_EQ(fusedSumOf(100, MatrixInstruction::Mma, element),
              fusedSumOf(100, MatrixInstruction::Tcgen05, element));
  }
  EXPECT_NE(Unpacked, HopperBytes);
  std::mt19937 random(3);
  Operands<Bf16> x, other;
  draw(x, 0, random);
  int order[16];
  std::iota(order, order + 16, 0);
  std::shuffle(order, order + 16, random);
  other = x;
  for (int k = 0; k < 16; ++k) {
    for (int row = 0; row < 16; ++row)
      other.a[row][k] = x.a[row][order[k]];
    std::copy_n(x.b[order[k]], 8, other.b[k]);
  }
  x.multiply(Hopper);
  other.multiply(Hopper);
  EXPECT_EQ(0, std::memcmp(x.c, other.c, sizeof(x.c)));
}

// Another process, as one looks at the variable once.
TEST(MatrixUnitDeathTest, OrdersByTheEnvironment) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto leaveWith = [](const char *order) {
    setenv("KV_SUM_ORDER", order, 1);
    std::exit(int(usualOrder()) + 10);
  };
  EXPECT_EXIT(leaveWith("pairs"),
              ::testing::ExitedWithCode(int(SumOrder::Pairs) + 10), "");
  EXPECT_EXIT(
      leaveWith("second"), ::testing::ExitedWithCode(1),
      "KV_SUM_ORDER is \"second\", and may be fused, first, last, pairs "
      "or shuffled");
}

// What docs/reference/products.md says of row sums by wgmma: of a leaf's 128
// weights, rounded to 8 bits, of scores with a normal distribution of several
// widths.
TEST(MatrixUnit, RowSumsOf8BitsOnHopperAreLow) {
  std::mt19937 random(1);
  std::normal_distribution<float> score;
  struct {
    float width;
    double mean, most; // by how much they are low
  } expected[] = {
      {0.5f, 0, 0}, {1, 3.6e-5, 2e-4}, {2, 5.7e-4, 3e-3}, {3, 1e-3, 4e-3}};
  for (auto [width, mean, most] : expected) {
    double worst = 0, all = 0;
    constexpr int Tiles = 60;
    for (int i = 0; i < Tiles; ++i) {
      float weights[16][128];
      for (auto &row : weights) {
        for (float &weight : row)
          weight = score(random) * width;
        float largest = *std::max_element(row, row + 128);
        for (float &weight : row)
          weight = 256 * std::exp(weight - largest);
      }
      Operands<F8E4M3> x;
      std::fill_n(&x.b[0][0], 32 * 8, narrow<F8E4M3>(1));
      double exact[16] = {};
      for (int first = 0; first < 128; first += 32) {
        for (int row = 0; row < 16; ++row)
          for (int k = 0; k < 32; ++k) {
            x.a[row][k] = narrow<F8E4M3>(weights[row][first + k]);
            exact[row] += widen(x.a[row][k]);
          }
        x.multiply(HopperBytes);
      }
      for (int row = 0; row < 16; ++row) {
        double loss = 1 - x.c[row][0] / exact[row];
        EXPECT_GE(loss, 0);
        worst = std::max(worst, loss);
        all += loss / (16 * Tiles);
      }
    }
    std::printf("width %g: row sums are low by %.2g in the mean, by %.2g at "
                "most\n",
                width, all, worst);
    EXPECT_NEAR(all, mean, mean * 0.1);
    EXPECT_LE(worst, most);
  }
}
