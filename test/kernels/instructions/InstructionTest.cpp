//===- InstructionTest.cpp - One instruction at a time --------------------===//
//
// On a GPU a wrong belief about a fragment or a rounding is found here; on the
// emulator these are tests of the emulator.
//
//===----------------------------------------------------------------------===//

#include "InstructionBodies.h"
#include "test/kernels/Backend.h"
#include "test/kernels/KernelRun.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

/// Runs a kernel on `in` and gives what it left of `count` Out.
template <class Out, class In>
std::vector<Out> runInstruction(const char *name, const std::vector<In> &in,
                                size_t count, int blocks = 1) {
  std::vector<Out> out(count);
  KernelRun run;
  InstructionParams p{run.in(in), run.out(out), nullptr, int32_t(in.size())};
  run(name, blocks, p);
  return out;
}

/// All of a type's bit patterns.
template <class T> std::vector<T> everyPattern() {
  std::vector<T> all(size_t(1) << 8 * sizeof(T));
  for (size_t i = 0; i < all.size(); ++i)
    all[i].bits = i;
  return all;
}

/// Where roundings are decided: every bf16, its neighbours, and what lies
/// halfway between two results of 16 or 8 bits; and random bits.
std::vector<float> roundings() {
  std::vector<float> xs;
  for (uint32_t high = 0; high < 0x10000; high += 3)
    for (uint32_t low : {0u, 1u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu})
      xs.push_back(bitsAs<float>(high << 16 | low));
  for (uint32_t bits = 0x30000000; bits < 0x48000000; bits += 0x1000)
    for (uint32_t more : {0u, 1u, 0xfffu})
      xs.push_back(bitsAs<float>(bits + more));
  std::mt19937 random(1);
  while (xs.size() % 32 || xs.size() < 300000)
    xs.push_back(bitsAs<float>(uint32_t(random())));
  return xs;
}

template <class T> void expectSame(T got, T expected, const std::string &what) {
  float a = widen(got), b = widen(expected);
  if (std::isnan(b))
    EXPECT_TRUE(std::isnan(a)) << what;
  else
    EXPECT_EQ(bitsAs<uint32_t>(a), bitsAs<uint32_t>(b)) << what;
}

template <class T> void testMultiply(const char *name) {
  std::vector<uint16_t> in;
  for (int i = 0; i < 256 + 128; ++i)
    in.push_back(narrow<T>(float(i * 37 % 17 - 8)).bits);
  std::vector<float> c = runInstruction<float>(name, in, 128);
  for (int row = 0; row < 16; ++row)
    for (int column = 0; column < 8; ++column) {
      float sum = 1;
      for (int k = 0; k < 16; ++k)
        sum += widen(T{in[row * 16 + k]}) * widen(T{in[256 + k * 8 + column]});
      EXPECT_EQ(c[row * 8 + column], sum) << row << ' ' << column;
    }
}

template <class T> void testNarrow(const char *name, const char *pairs) {
  std::vector<float> xs = roundings();
  std::vector<T> got = runInstruction<T>(name, xs, xs.size(), 20);
  for (size_t i = 0; i < xs.size(); ++i)
    expectSame(got[i], narrow<T>(xs[i]), "narrow " + std::to_string(xs[i]));
  if (!pairs)
    return;
  std::vector<FloatPair> two;
  for (size_t i = 0; i < xs.size(); i += 2)
    two.push_back({xs[i], xs[i + 1]});
  std::vector<T> halves = runInstruction<T>(pairs, two, xs.size(), 20);
  for (size_t i = 0; i < xs.size(); ++i)
    expectSame(halves[i], narrow<T>(xs[i]), "pair of " + std::to_string(xs[i]));
}

template <class T> void testNarrowFour(const char *name) {
  std::vector<float> xs = roundings();
  std::vector<FloatQuad> four;
  for (size_t i = 0; i < xs.size(); i += 4)
    four.push_back({xs[i], xs[i + 1], xs[i + 2], xs[i + 3]});
  std::vector<T> got = runInstruction<T>(name, four, xs.size(), 20);
  for (size_t i = 0; i < xs.size(); ++i)
    expectSame(got[i], narrow<T>(xs[i]), "four of " + std::to_string(xs[i]));
}

template <class T> void testWiden(const char *name) {
  std::vector<T> all = everyPattern<T>();
  std::vector<float> got = runInstruction<float>(name, all, all.size(), 20);
  for (size_t i = 0; i < all.size(); ++i)
    expectSame(got[i], widen(all[i]), "widen " + std::to_string(i));
}

} // namespace

TEST(Instruction, Multiply) {
  testMultiply<Bf16>("kv_test_mma_bf16");
  testMultiply<F16>("kv_test_mma_f16");
}

// Sums of at most thirteen bits: wgmma of 9.0 keeps fourteen.
TEST(Instruction, MultiplyOf8Bits) {
  if (!canRun("kv_test_mma_e4m3"))
    GTEST_SKIP() << OtherChips;
  std::vector<uint8_t> in;
  for (int i = 0; i < (16 + 8) * 32; ++i)
    in.push_back(narrow<F8E4M3>(float(i * 37 % 15 - 7)).bits);
  std::vector<float> c = runInstruction<float>("kv_test_mma_e4m3", in, 16 * 8);
  for (int row = 0; row < 16; ++row)
    for (int column = 0; column < 8; ++column) {
      float sum = 1;
      for (int k = 0; k < 32; ++k)
        sum += widen(F8E4M3{in[row * 32 + k]}) *
               widen(F8E4M3{in[(16 + column) * 32 + k]});
      EXPECT_EQ(c[row * 8 + column], sum) << row << ' ' << column;
    }
}

TEST(Instruction, LoadMatrix) {
  std::vector<uint16_t> in(256);
  for (int i = 0; i < 256; ++i)
    in[i] = i;
  for (bool transposed : {false, true}) {
    auto r = runInstruction<uint16_t>(
        transposed ? "kv_test_ldmatrix_trans" : "kv_test_ldmatrix", in, 256);
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < 4; ++i)
        for (int half = 0; half < 2; ++half) {
          // Registers 2 and 3 of what was transposed are the next 8 columns.
          Place place = transposed ? fragmentB(lane, i % 2, half)
                                   : fragmentA(lane, i, half);
          if (transposed)
            place.column += i / 2 * 8;
          EXPECT_EQ(r[(lane * 4 + i) * 2 + half], place.row * 16 + place.column)
              << "lane " << lane << ", register " << i;
        }
  }
}

TEST(Instruction, AsynchronousCopies) {
  std::vector<uint64_t> in;
  for (int i = 0; i < CopyGroups * WarpLanes * 2; ++i)
    in.push_back(0x100 + i);
  auto out = runInstruction<uint64_t>("kv_test_cp_async", in, in.size());
  for (size_t i = 0; i < in.size(); ++i)
    EXPECT_EQ(out[i], copies(i / 2 % WarpLanes) ? in[i] : 0) << i;
}

TEST(Instruction, Shuffle) {
  auto out =
      runInstruction<float>("kv_test_shuffle", std::vector<float>(), 160);
  for (int i = 0; i < 5; ++i)
    for (int lane = 0; lane < WarpLanes; ++lane)
      EXPECT_EQ(out[i * WarpLanes + lane], lane ^ (1 << i));
}

TEST(Instruction, Scratch) {
  auto out =
      runInstruction<float>("kv_test_scratch", std::vector<float>(), 288);
  for (int i = 0; i < 288; ++i)
    EXPECT_EQ(out[i], i % 96) << i;
}

TEST(Instruction, Arrive) {
  constexpr int Blocks = 200;
  std::vector<uint32_t> counter(1);
  std::vector<float> out(1 + Blocks);
  KernelRun run;
  auto *results = run.out(out);
  InstructionParams p{nullptr, results, run.out(counter), 0};
  run("kv_test_arrive", Blocks, p);
  EXPECT_EQ(counter[0], uint32_t(Blocks));
  EXPECT_EQ(out[0], Blocks * 10 + Blocks * (Blocks - 1) / 2);
}

TEST(Instruction, Widen) {
  testWiden<Bf16>("kv_test_widen_bf16");
  testWiden<F16>("kv_test_widen_f16");
}

template <class T> void testWidenFour(const char *name) {
  std::vector<uint32_t> in;
  for (uint32_t i = 0; i < 256; ++i) // every byte at every place
    for (int place = 0; place < 4; ++place)
      in.push_back((i * 0x01010101u) ^ (0x9du << 8 * place));
  auto out = runInstruction<F16>(name, in, in.size() * 8);
  constexpr int Order[] = {0, 1, 2, 3, 0, 2, 1, 3};
  for (size_t i = 0; i < out.size(); ++i)
    expectSame(out[i],
               narrow<F16>(widen(T{uint8_t(in[i / 8] >> Order[i % 8] * 8)})),
               "byte " + std::to_string(i));
}

TEST(Instruction, WidenFour) {
  testWidenFour<F8E4M3>("kv_test_widen_four_f8");
  testWidenFour<F8E5M2>("kv_test_widen_four_e5");
  testWidenFour<I8>("kv_test_widen_four_i8");
}

TEST(Instruction, MultiplyPair) {
  std::vector<IntPair> in;
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i)
    in.push_back({int32_t(random()), int32_t(random())});
  auto out = runInstruction<uint32_t>("kv_test_multiply_pair", in, in.size());
  for (size_t i = 0; i < in.size(); ++i)
    for (int half : {0, 1})
      expectSame(F16{uint16_t(out[i] >> 16 * half)},
                 narrow<F16>(widenHalf<F16>(in[i].x, half) *
                             widenHalf<F16>(in[i].y, half)),
                 "product " + std::to_string(i));
}

TEST(Instruction, Narrow) {
  testNarrow<Bf16>("kv_test_narrow_bf16", "kv_test_narrow_pair_bf16");
  testNarrow<F16>("kv_test_narrow_f16", "kv_test_narrow_pair_f16");
  testNarrow<F8E4M3>("kv_test_narrow_f8", nullptr);
  testNarrow<F8E5M2>("kv_test_narrow_e5", nullptr);
  testNarrow<I8>("kv_test_narrow_i8", nullptr);
}

TEST(Instruction, NarrowFour) {
  testNarrowFour<F8E4M3>("kv_test_narrow_four_f8");
}

TEST(Instruction, LargerOrNaN) {
  std::vector<float> xs = {0, 1, -1, 3.5f, 1e-40f, INFINITY, -INFINITY, NAN};
  std::vector<FloatPair> in;
  for (float x : xs)
    for (float y : xs)
      in.push_back({x, y});
  auto out = runInstruction<float>("kv_test_larger_or_nan", in, in.size());
  for (size_t i = 0; i < in.size(); ++i)
    if (std::isnan(in[i].x) || std::isnan(in[i].y))
      EXPECT_TRUE(std::isnan(out[i])) << in[i].x << ' ' << in[i].y;
    else
      EXPECT_EQ(out[i], std::max(in[i].x, in[i].y));
}

TEST(Instruction, Functions) {
  std::vector<float> xs = {0, -0.0f, 1, -INFINITY, INFINITY, -150, 120};
  for (int i = -4000; i < 4000; ++i)
    xs.push_back(i / 37.0f);
  auto out = runInstruction<FloatQuad>("kv_test_functions", xs, xs.size(), 3);
  EXPECT_EQ(out[0].x, 1); // 2^0
  EXPECT_EQ(out[3].x, 0); // 2^-inf
  EXPECT_EQ(out[4].y, 0); // 1 / inf
  for (size_t i = 0; i < xs.size(); ++i) {
    double x = xs[i], power = std::exp2(x);
    if (power < 0x1p-126) { // flushed
      EXPECT_EQ(out[i].x, 0) << x;
    } else if (std::isfinite(float(power))) {
      // Two units in the last place, as the PTX ISA has it for ex2.approx.
      EXPECT_NEAR(out[i].x, power, power * 0x1p-21) << x;
    }
    if (!std::isfinite(x))
      continue;
    EXPECT_EQ(out[i].w, std::fma(xs[i], xs[i], xs[i])) << x;
    if (x != 0) {
      EXPECT_NEAR(out[i].y, 1 / x, std::fabs(1 / x) * 0x1p-22) << x;
    }
    if (x > 0) {
      double log = std::log(x);
      EXPECT_NEAR(out[i].z, log, 1e-6 + std::fabs(log) * 1e-6) << x;
    }
  }
}
