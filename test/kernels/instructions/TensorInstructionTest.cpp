//===- TensorInstructionTest.cpp - What 10.0 alone has, one by one --------===//
//
// The beliefs that kernels with tensor memory rest on: which lane and column a
// thread reaches, what the two descriptors of a product mean, where its sums
// lie, when they are there. All numbers are exact in any order of sums.
//
//===----------------------------------------------------------------------===//

#include "ProductNumbers.h"
#include "TensorInstructionBodies.h"
#include "test/kernels/KernelRun.h"

#include <cmath>

using namespace kv::cuda;
using namespace kv::cuda::test;

/// What a kernel finds where it stored a number for each lane and column, of
/// the lanes that it looks at.
static void testTensorWords(const char *name, int rows) {
  if (!canRun(name))
    GTEST_SKIP() << OtherChips;
  std::vector<float> in(TensorLanes * TensorWords), out(rows * TensorWords, -1);
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = float(i + 1);
  KernelRun run;
  TileInstructionParams p{};
  p.in = run.in(in);
  p.out = run.out(out);
  run(name, 1, p);
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < TensorWords; ++column)
      ASSERT_EQ(out[row * TensorWords + column],
                in[laneOfRow(rows, row) * TensorWords + column])
          << name << ": row " << row << ", column " << column;
}

TEST(Instruction, TensorStoresAndLoads) {
  testTensorWords("kv_test_tensor_words_1", TensorLanes);
  testTensorWords("kv_test_tensor_words_32", TensorLanes);
  testTensorWords("kv_test_tensor_words_fragments", HalfRows);
}

// More blocks than SMs, so that columns are allocated again, and some wait.
TEST(Instruction, TensorAllocations) {
  const char *name = "kv_test_tensor_allocation";
  if (!canRun(name))
    GTEST_SKIP() << OtherChips;
  constexpr int Blocks = 450, Numbers = 1 + GroupWarps;
  std::vector<float> out(Blocks * Numbers, -1);
  KernelRun run;
  TileInstructionParams p{};
  p.out = run.out(out);
  run(name, Blocks, p);
  for (int block = 0; block < Blocks; ++block) {
    TensorAddress at{bitsAs<uint32_t>(out[block * Numbers])};
    EXPECT_EQ(at.lane(), 0) << block;
    EXPECT_LE(at.column() + allocatedBy(block), TensorColumns) << block;
    for (int warp = 0; warp < GroupWarps; ++warp)
      EXPECT_EQ(out[block * Numbers + 1 + warp], 0)
          << "others have stored to what block " << block << " allocated";
  }
}

template <class T>
static void testTensorProduct(const char *name, int rows, int columns) {
  if (!canRun(name))
    GTEST_SKIP() << OtherChips;
  std::vector<uint16_t> in = wholeMatrices<T>(rows, columns, GroupProductK);
  std::vector<float> out(rows * columns, -1);
  KernelRun run;
  TileInstructionParams p{};
  p.in = run.in(in);
  p.out = run.out(out);
  run(name, 1, p);
  expectProduct<T>(name, out, rows, columns, GroupProductK, in);
}

TEST(Instruction, TensorProductsOfSharedMemory) {
  testTensorProduct<Bf16>("kv_test_tensor_bf16_k_128", TensorLanes, 128);
  testTensorProduct<F16>("kv_test_tensor_f16_k_64", TensorLanes, 64);
  testTensorProduct<Bf16>("kv_test_tensor_bf16_other_128", TensorLanes, 128);
}

TEST(Instruction, TensorProductsOfTensorMemory) {
  testTensorProduct<Bf16>("kv_test_tensor_memory_bf16_k_16", TensorLanes, 16);
  testTensorProduct<F16>("kv_test_tensor_memory_f16_other_64", TensorLanes, 64);
}

TEST(Instruction, TensorProductsOf64Rows) {
  testTensorProduct<Bf16>("kv_test_tensor_half_bf16_k_64", HalfRows, 64);
  testTensorProduct<F16>("kv_test_tensor_half_f16_other_128", HalfRows, 128);
}

// Products, their commits, and loads of their sums, in turns.
TEST(Instruction, TensorCommits) {
  const char *name = "kv_test_tensor_turns";
  if (!canRun(name))
    GTEST_SKIP() << OtherChips;
  constexpr int Turns = 21, Columns = 16;
  std::vector<uint16_t> in =
      wholeMatrices<Bf16>(TensorLanes, Columns, GroupProductK);
  std::vector<float> out(Turns * TensorLanes, -1);
  KernelRun run;
  TileInstructionParams p{};
  p.in = run.in(in);
  p.out = run.out(out);
  p.count = Turns;
  run(name, 1, p);
  for (int turn = 0; turn < Turns; ++turn)
    expectProduct(
        name, {out.begin() + turn * TensorLanes, out.end()}, TensorLanes, 1,
        GroupProductK,
        [&](int row, int k) {
          return (turn + 1) * widen(Bf16{in[row * GroupProductK + k]});
        },
        [&](int k, int) {
          return widen(Bf16{in[TensorLanes * GroupProductK + k * Columns]});
        });
}

// Two numbers by one instruction are rounded as by two; one lane of a warp is
// elected.
TEST(Instruction, PairsAndElections) {
  const char *name = "kv_test_tensor_pairs";
  if (!canRun(name))
    GTEST_SKIP() << OtherChips;
  constexpr int Numbers = 6;
  std::vector<float> in(GroupThreads * Numbers), out(in.size(), -1);
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = float(i + 1) / 7 * (i % Numbers == 4 ? -1 : 1);
  constexpr int Negative = 37;
  in[Negative * Numbers] = -3;
  KernelRun run;
  TileInstructionParams p{};
  p.in = run.in(in);
  p.out = run.out(out);
  run(name, 1, p);
  float elected[GroupWarps] = {};
  for (int thread = 0; thread < GroupThreads; ++thread) {
    const float *x = &in[thread * Numbers], *got = &out[thread * Numbers];
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(got[i], x[i] * x[2 + i]) << thread;
      EXPECT_EQ(got[2 + i], std::fma(x[i], x[2 + i], x[4 + i])) << thread;
    }
    elected[thread / WarpLanes] += got[4];
    EXPECT_EQ(got[5], thread / WarpLanes == Negative / WarpLanes) << thread;
  }
  for (float count : elected)
    EXPECT_EQ(count, 1);
}
