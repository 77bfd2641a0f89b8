//===- TileInstructionTest.cpp - What 9.0 has, one by one -----------------===//
//
// The beliefs that kernels with tile copies rest on: how a box lies in shared
// memory, which phase a barrier is in, what a descriptor means, which thread
// holds which element of a product. All numbers are exact in any order of sums.
//
//===----------------------------------------------------------------------===//

#include "ProductNumbers.h"
#include "test/kernels/KernelRun.h"

#include <cstring>

using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

/// Rows of `columns` elements of 16 bits; a box has 64 x 64.
TensorDescription matrix(const void *data, int rows, int columns) {
  uint64_t pitch = uint64_t(columns) * 2, all = pitch * rows;
  return {data,
          {uint64_t(columns), uint64_t(rows), 1, 1},
          {pitch, all, all},
          {64, 64, 1, 1}};
}

} // namespace

static void testTileCopies(int rows, int columns, std::vector<TileAt> boxes) {
  std::vector<uint16_t> in(rows * columns);
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = uint16_t(i + 1);
  for (bool plain : {false, true})
    for (TileAt at : boxes) {
      KernelRun run;
      std::vector<uint16_t> out(RingBox / 2), expected(RingBox / 2);
      TensorDescription tensor = matrix(run.in(in), rows, columns);
      tensor.plain = plain;
      TileInstructionParams p{};
      p.a = run.encode(tensor);
      p.out = run.out(out);
      p.at = at;
      run("kv_test_tile_copy", 1, p);
      for (int i = 0; i < RingBox / 2; ++i) {
        int64_t from = boxElement(tensor, at, i);
        uint32_t to = plain ? i * 2 : swizzled(i * 2);
        expected[to / 2] = from < 0 ? 0 : in[from / 2];
      }
      for (int i = 0; i < RingBox / 2; ++i)
        ASSERT_EQ(out[i], expected[i])
            << (plain ? "plain" : "swizzled") << " box at " << at.at[0] << ", "
            << at.at[1] << " of " << columns << " columns: row " << i / 64
            << ", column " << i % 64;
    }
}

// Also of boxes that lie beside the matrix in part.
TEST(Instruction, TileCopies) {
  if (!canRun("kv_test_tile_copy"))
    GTEST_SKIP() << OtherChips;
  testTileCopies(150, 136,
                 {{{0, 0, 0, 0}},
                  {{64, 40, 0, 0}},
                  {{8, 120, 0, 0}},
                  {{128, -3, 0, 0}},
                  {{-16, 64, 0, 0}}});
}

// Half of what is filled is zeros: heads of 64 elements of 8 bits are copied
// so.
TEST(Instruction, BoxesWiderThanTheTensor) {
  if (!canRun("kv_test_tile_copy"))
    GTEST_SKIP() << OtherChips;
  testTileCopies(150, 32, {{{0, 0, 0, 0}}, {{0, 40, 0, 0}}, {{0, 120, 0, 0}}});
}

TEST(Instruction, BarrierPhases) {
  if (!canRun("kv_test_phases"))
    GTEST_SKIP() << OtherChips;
  constexpr int Rounds = 37;
  std::vector<float> out(Rounds * WarpLanes, -1);
  KernelRun run;
  TileInstructionParams p{};
  p.out = run.out(out);
  p.count = Rounds;
  run("kv_test_phases", 1, p);
  for (int i = 0; i < Rounds * WarpLanes; ++i)
    EXPECT_EQ(out[i], float(i ^ 1)) << i;
}

TEST(Instruction, NamedBarriers) {
  if (!canRun("kv_test_named_barriers"))
    GTEST_SKIP() << OtherChips;
  std::vector<float> out(3 * WarpLanes, -1);
  KernelRun run;
  TileInstructionParams p{};
  p.out = run.out(out);
  run("kv_test_named_barriers", 1, p);
  for (int i = 0; i < 3 * WarpLanes; ++i)
    EXPECT_EQ(out[i],
              float(i < WarpLanes ? i ^ 3 : (i + WarpLanes) ^ WarpLanes))
        << i;
}

template <class T> void testGroupProduct(const char *name, int columns) {
  if (!canRun(name))
    GTEST_SKIP() << OtherChips;
  constexpr int K = GroupProductK, Rows = GroupProductRows;
  std::vector<uint16_t> in = wholeMatrices<T>(Rows, columns, K);
  std::vector<float> out(Rows * columns, -1);
  KernelRun run;
  TileInstructionParams p{};
  p.in = run.in(in);
  p.out = run.out(out);
  run(name, 1, p);
  expectProduct<T>(name, out, Rows, columns, K, in);
}

TEST(Instruction, GroupProductsOfSharedMemory) {
  testGroupProduct<Bf16>("kv_test_wgmma_bf16_k_64", 64);
  testGroupProduct<F16>("kv_test_wgmma_f16_k_128", 128);
  testGroupProduct<Bf16>("kv_test_wgmma_bf16_other_128", 128);
}

TEST(Instruction, GroupProductsOfRegisters) {
  testGroupProduct<Bf16>("kv_test_wgmma_registers_bf16_k_64", 64);
  testGroupProduct<F16>("kv_test_wgmma_registers_f16_other_64", 64);
  testGroupProduct<Bf16>("kv_test_wgmma_registers_bf16_other_128", 128);
}

static void testByteProduct(const char *name, int columns) {
  if (!canRun(name))
    GTEST_SKIP() << OtherChips;
  constexpr int K = ByteProductK, Rows = GroupProductRows;
  std::vector<uint8_t> in((Rows + columns) * K);
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = narrow<F8E4M3>(float(int(i * 37 % 15) - 7)).bits;
  std::vector<float> out(Rows * columns, -1);
  KernelRun run;
  TileInstructionParams p{};
  p.in = run.in(in);
  p.out = run.out(out);
  run(name, 1, p);
  expectProduct(
      name, out, Rows, columns, K,
      [&](int row, int k) { return widen(F8E4M3{in[row * K + k]}); },
      [&](int k, int column) {
        return widen(F8E4M3{in[(Rows + column) * K + k]});
      });
}

// Sums of at most thirteen bits: wgmma of 9.0 keeps fourteen.
TEST(Instruction, GroupProductsOf8Bits) {
  testByteProduct("kv_test_wgmma_e4m3_64", 64);
  testByteProduct("kv_test_wgmma_e4m3_128", 128);
  testByteProduct("kv_test_wgmma_registers_e4m3_64", 64);
  testByteProduct("kv_test_wgmma_registers_e4m3_72", 72);
}

// What ldmatrix loads of a row's chunk, stmatrix stores there.
TEST(Instruction, StoreMatrix) {
  if (!canRun("kv_test_stmatrix"))
    GTEST_SKIP() << OtherChips;
  std::vector<uint16_t> in(WarpLanes * 8), out(WarpLanes * 8);
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = uint16_t(i + 1);
  KernelRun run;
  TileInstructionParams p{};
  p.in = run.in(in);
  p.out = run.out(out);
  run("kv_test_stmatrix", 1, p);
  for (int lane = 0; lane < WarpLanes; ++lane)
    for (int i = 0; i < 4; ++i)
      for (int half = 0; half < 2; ++half)
        // Row lane / 4 of matrix i, elements 2 (lane % 4) and the next one.
        EXPECT_EQ(out[(i * 8 + lane / 4) * 8 + lane % 4 * 2 + half],
                  in[(lane * 4 + i) * 2 + half])
            << "lane " << lane << ", register " << i;
}

// Copies, products, registers that change hands, and rows that threads clear
// between a copy and a product. Some rows multiply by zero all but these.
TEST(Instruction, RingOfTiles) {
  constexpr int Tiles = 7, K = Tiles * 64, Live = K - 20, Rows = 128,
                Columns = 64;
  std::vector<uint16_t> a = wholes<Bf16>(Rows * K, 3),
                        b = wholes<Bf16>(K * Columns, 4);
  for (size_t i = 0; i < b.size(); ++i)
    if (i / Columns >= Live)
      b[i] = 0x7fff; // NaN
  for (int row = 5; row < Rows; row += 16)
    std::fill_n(&a[row * K], Live, 0);
  for (const char *name : {"kv_test_ring_shared", "kv_test_ring_registers"}) {
    if (!canRun(name))
      GTEST_SKIP() << OtherChips;
    std::vector<float> c(Rows * Columns, -1);
    KernelRun run;
    TileInstructionParams p{};
    p.a = run.encode(matrix(run.in(a), Rows, K));
    p.b = run.encode(matrix(run.in(b), K, Columns));
    p.c = run.out(c);
    p.tiles = Tiles;
    p.live = Live;
    run(name, 1, p);
    for (int row = 0; row < Rows; ++row)
      for (int column = 0; column < Columns; ++column) {
        float sum = 0;
        for (int k = 0; k < Live; ++k)
          sum += widen(Bf16{a[row * K + k]}) *
                 widen(Bf16{b[k * Columns + column]});
        ASSERT_EQ(c[row * Columns + column], sum)
            << name << ": row " << row << ", column " << column;
      }
  }
}
