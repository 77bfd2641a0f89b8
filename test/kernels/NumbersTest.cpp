//===- NumbersTest.cpp - Conversions and layouts, exhaustively ------------===//

#include "kernels/block/Numbers.h"
#include "kernels/block/Layout.h"
#include "kernels/block/Widen.h"
#include "kernels/cuda/attention/wgmma/PolynomialPower.h"
#include "kernels/reference/Elements.h"
#include "kv/Definition/Divisor.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <set>

using namespace kv::cuda;

namespace {

/// The nearest of a type's finite numbers, ties to the even pattern.
template <class T, class Bits> void expectNearest(int patterns, float top) {
  std::mt19937 random(1);
  std::vector<float> positive; // by pattern
  for (int i = 0; i < patterns; ++i)
    positive.push_back(widen(T{Bits(i)}));
  for (int n = 0; n < 200000; ++n) {
    float x = bitsAs<float>(uint32_t(random()) & 0x7fffffff);
    if (n % 2) // near what the type holds
      x = positive[random() % patterns] *
          (1 + float(int(random() % 2001) - 1000) / 4096);
    if (!(x < top))
      continue;
    int above = std::upper_bound(positive.begin(), positive.end(), x) -
                positive.begin();
    int below = above - 1;
    int expected = below;
    if (above < patterns) {
      double down = double(x) - positive[below],
             up = double(positive[above]) - x;
      expected = down < up   ? below
                 : up < down ? above
                 : above & 1 ? below
                             : above;
    }
    ASSERT_EQ(narrow<T>(x).bits, expected) << x;
    ASSERT_EQ(widen(narrow<T>(-x)), -positive[expected]) << x;
  }
}

} // namespace

TEST(Numbers, NarrowToTheNearest) {
  expectNearest<F16, uint16_t>(0x7c00, 65504);
  expectNearest<Bf16, uint16_t>(0x7f80, 3.3e38f);
  expectNearest<F8E4M3, uint8_t>(0x7f, 448);
  expectNearest<F8E5M2, uint8_t>(0x7c, 57344);
}

TEST(Numbers, EightBits) {
  EXPECT_EQ(widen(F8E4M3{0x38}), 1.0f);
  EXPECT_EQ(widen(F8E4M3{0x01}), 0x1p-9f);
  EXPECT_EQ(widen(F8E4M3{0x7e}), 448.0f);
  EXPECT_TRUE(std::isnan(widen(F8E4M3{0x7f})));
  EXPECT_TRUE(std::isnan(widen(F8E4M3{0xff})));
  EXPECT_EQ(narrow<F8E4M3>(1e9f).bits, 0x7e);
  EXPECT_EQ(narrow<F8E4M3>(-INFINITY).bits, 0xfe);
  for (int i = 0; i < 256; ++i) {
    uint32_t low, high;
    widenFour<F8E4M3>(uint32_t(i) << 16 | uint32_t(255 - i), low, high);
    float first = widenHalf<F16>(low, 0), third = widenHalf<F16>(high, 0);
    EXPECT_TRUE(i == 0x7f || i == 0xff ? std::isnan(third)
                                       : third == widen(F8E4M3{uint8_t(i)}));
    EXPECT_TRUE(i == 0x80 || i == 0 ? std::isnan(first)
                                    : first == widen(F8E4M3{uint8_t(255 - i)}));
    EXPECT_EQ(widenHalf<F16>(high, 1), 0);
    uint32_t even, odd;
    widenEvenOdd<F8E4M3>(uint32_t(i) << 16 | 0x38 << 8 | 0x40 << 24, even, odd);
    EXPECT_EQ(even, narrowPair<F16>(0, widen(F8E4M3{uint8_t(i)})));
    EXPECT_EQ(odd, narrowPair<F16>(1, 2));
  }
}

TEST(Numbers, SameAsTheReference) {
  for (uint32_t i = 0; i < 0x10000; ++i) {
    float ours = widen(F16{uint16_t(i)}), theirs = kv::reference::F16::widen(i);
    ASSERT_TRUE(std::isnan(ours) ? std::isnan(theirs) : ours == theirs) << i;
  }
  std::mt19937 random(2);
  for (int n = 0; n < 1000000; ++n) {
    float x = bitsAs<float>(uint32_t(random()));
    if (std::isnan(x))
      continue;
    ASSERT_EQ(narrow<F16>(x).bits, kv::reference::F16::narrow(x)) << x;
    ASSERT_EQ(narrow<Bf16>(x).bits, kv::reference::BF16::narrow(x)) << x;
  }
}

//===--- Layouts
//------------------------------------------------------------===//

TEST(Layout, FragmentsAsInThePtxManual) {
  // groupID = lane >> 2, threadID_in_group = lane % 4 (PTX ISA, mma.m16n8k16).
  std::set<std::pair<int, int>> a, b, c;
  for (int lane = 0; lane < 32; ++lane) {
    int groupId = lane >> 2, inGroup = lane % 4;
    for (int i = 0; i < 8; ++i) { // a0 .. a7
      Place place = fragmentA(lane, i / 2, i % 2);
      EXPECT_EQ(place.row,
                (i < 2 || (i >= 4 && i < 6)) ? groupId : groupId + 8);
      EXPECT_EQ(place.column, inGroup * 2 + (i & 1) + (i < 4 ? 0 : 8));
      a.insert({place.row, place.column});
    }
    for (int i = 0; i < 4; ++i) { // b0 .. b3
      Place place = fragmentB(lane, i / 2, i % 2);
      EXPECT_EQ(place.row, inGroup * 2 + (i & 1) + (i < 2 ? 0 : 8));
      EXPECT_EQ(place.column, groupId);
      b.insert({place.row, place.column});
    }
    for (int i = 0; i < 4; ++i) { // c0 .. c3
      Place place = fragmentC(lane, i);
      EXPECT_EQ(place.row, i < 2 ? groupId : groupId + 8);
      EXPECT_EQ(place.column, inGroup * 2 + (i & 1));
      c.insert({place.row, place.column});
    }
  }
  EXPECT_EQ(a.size(), 256u);
  EXPECT_EQ(b.size(), 128u);
  EXPECT_EQ(c.size(), 128u);
}

TEST(Layout, LoadsGiveFragments) {
  // Register i of a lane is an element of matrix i, whose rows are those that
  // lanes 8 i .. 8 i + 7 name.
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 4; ++i)
      for (int half = 0; half < 2; ++half) {
        Place plain = matrixElement(lane, half, false);
        Place named = loadA(i * 8 + plain.row);
        Place element = fragmentA(lane, i, half);
        EXPECT_EQ(named.row, element.row);
        EXPECT_EQ(named.column * 8 + plain.column, element.column);

        // Registers 0, 1 are B of columns 0-7, registers 2, 3 of 8-15.
        element = fragmentB(lane, i % 2, half);
        element.column += i / 2 * 8;
        named = loadTransposedB(i * 8 + plain.row);
        EXPECT_EQ(named.row, element.column);
        EXPECT_EQ(named.column * 8 + plain.column, element.row);

        Place turned = matrixElement(lane, half, true);
        named = loadB(i * 8 + turned.row);
        EXPECT_EQ(named.row, element.row);
        EXPECT_EQ(named.column * 8 + turned.column, element.column);
      }
}

template <int Columns> void expectRows() {
  using Rows = SharedRows<Columns>;
  std::set<int> chunks;
  for (int row = 0; row < 64; ++row)
    for (int column = 0; column < Columns; ++column) {
      int chunk = Rows::chunk(row, column);
      EXPECT_TRUE(chunk >= row * Rows::Pitch &&
                  chunk < (row + 1) * Rows::Pitch);
      chunks.insert(chunk);
      if (!isSwizzled(Columns))
        EXPECT_EQ(chunk,
                  Rows::below(Rows::moved(Rows::chunk(0, 0), column), row));
    }
  EXPECT_EQ(chunks.size(), size_t(64 * Columns));
  // Eight rows of a column lie in eight different groups of four banks.
  for (int row = 0; row < 64; row += 8)
    for (int column = 0; column < Columns; ++column) {
      std::set<int> banks;
      for (int i = 0; i < 8; ++i)
        banks.insert(Rows::chunk(row + i, column) % 8);
      EXPECT_EQ(banks.size(), 8u);
    }
}

TEST(Layout, RowsInSharedMemory) {
  [&]<int... Columns>(std::integer_sequence<int, Columns...>) {
    (expectRows<Columns>(), ...);
  }(std::integer_sequence<int, 4, 5, 6, 7, 8, 10, 12, 14, 16, 24, 32>());
}

TEST(Layout, NeighboursOfAChunk) {
  using Matrix = Swizzled<16>;
  for (int row = 0; row < 8; ++row)
    for (int column = 0; column < 16; ++column) {
      int chunk = Matrix::chunk(row, column);
      for (int more = 0; more < 16; ++more)
        if (!(more & column))
          EXPECT_EQ(Matrix::moved(chunk, more),
                    Matrix::chunk(row, column + more));
      for (int rows = 0; rows < 64; ++rows)
        if (!(rows & row & 7))
          EXPECT_EQ(Matrix::below(chunk, rows),
                    Matrix::chunk(row + rows, column));
    }
}

TEST(Divisor, DividesAsTheLanguageDoes) {
  std::mt19937 random(1);
  auto expectSame = [](int32_t dividend, int32_t divisor) {
    kv::plan::Divisor d = divisor;
    ASSERT_EQ(d.quotient(dividend), dividend / divisor)
        << dividend << " / " << divisor;
    ASSERT_EQ(d.remainder(dividend), dividend % divisor)
        << dividend << " / " << divisor;
  };
  auto expectAll = [&](int32_t divisor) {
    ASSERT_EQ(int32_t(kv::plan::Divisor(divisor)), divisor);
    // Where a quotient changes, first, last and at random.
    for (int64_t i = 0; i < 50; ++i) {
      int64_t most = INT32_MAX / divisor;
      int64_t multiple = (i < 3   ? i
                          : i < 6 ? most - (i - 3)
                                  : int64_t(random()) % (most + 1)) *
                         divisor;
      for (int64_t near = multiple - 1; near <= multiple + 1; ++near)
        if (near >= 0 && near <= INT32_MAX)
          expectSame(int32_t(near), divisor);
    }
    expectSame(INT32_MAX, divisor);
  };
  for (int32_t divisor = 1; divisor < 3000; ++divisor)
    expectAll(divisor);
  for (int bit = 11; bit < 31; ++bit)
    for (int32_t near : {-1, 0, 1})
      expectAll((int32_t(1) << bit) + near);
  for (int i = 0; i < 2000; ++i)
    expectAll(1 + int32_t(random() % INT32_MAX));
  expectAll(INT32_MAX);
}

TEST(PolynomialPower, NearTheExponential) {
  const float factor = 0.37f, base = 11.25f;
  PolynomialPower power(factor, base);
  double worst = 0;
  for (int i = -12'000; i <= 13'000; ++i) {
    double exponent = i / 1000.0, exact = std::exp2(exponent);
    double got = power(float((exponent + base) / factor));
    worst = std::max(worst, std::abs(got - exact) / exact);
  }
  EXPECT_LT(worst, 0.002);
  EXPECT_GT(worst, 0.0015); // else the bound says too little
}

TEST(PolynomialPower, WholeExponentsAreExact) {
  PolynomialPower power(1, -3);
  for (int i = -19; i < 13; ++i)
    EXPECT_EQ(power(i), std::ldexp(1.0f, i + 3)) << i;
}

TEST(PolynomialPower, WhatIsNoExponent) {
  PolynomialPower power(1, 0);
  EXPECT_EQ(power(-INFINITY), 0x1p-16f);
  EXPECT_EQ(power(-1000), 0x1p-16f);
  EXPECT_EQ(power(NAN), 0x1p-16f);
  EXPECT_EQ(narrow<F8E4M3>(power(-INFINITY)).bits, 0);
}

TEST(Fold, LargerOrNaN) {
  using kv::plan::largerOrNaN;
  EXPECT_EQ(largerOrNaN(1, 2), 2);
  EXPECT_EQ(largerOrNaN(2, 1), 2);
  EXPECT_EQ(largerOrNaN(-INFINITY, -INFINITY), -INFINITY);
  EXPECT_TRUE(std::isnan(largerOrNaN(NAN, 1)));
  EXPECT_TRUE(std::isnan(largerOrNaN(1, NAN)));
}
