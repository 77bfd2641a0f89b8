//===- QuantTest.cpp - Quantised weights against plain loops --------------===//

#include "QuantCase.h"
#include "kernels/cuda/parameters/StepErrors.h"

using namespace kv::cuda;
using namespace kv::cuda::test;

TEST(Mover, RoundRows) {
  constexpr int Rows = 5, Width = 160;
  auto x = randomRows(Rows, Width);
  std::fill_n(&x[0], 32, 0.0f);
  std::fill_n(&x[32], 32, 1e-32f); // too small to be told from nothing
  x[70] = NAN;
  x[100] = INFINITY;
  x[128] = 0.5f; // ties
  x[129] = 127;
  x[130] = -2.5f;
  for (int i = 131; i < 160; ++i)
    x[i] = float(i % 7) - 3.5f;
  Rounded rounded = roundRows(x, Rows, Width);
  for (int r = 0; r < Rows; ++r)
    for (int g = 0; g < Width / 32; ++g) {
      float largest = 0;
      const float *in = &x[r * Width + g * 32];
      for (int i = 0; i < 32; ++i)
        largest = std::isnan(in[i]) || std::isnan(largest)
                      ? NAN
                      : std::max(largest, std::fabs(in[i]));
      float scale = rounded.scale(r, g, Width);
      if (std::isnan(largest))
        EXPECT_TRUE(std::isnan(scale));
      else
        EXPECT_EQ(scale, largest / 127) << r << ' ' << g;
      for (int i = 0; std::isfinite(largest) && i < 32; ++i) {
        float factor = largest >= 1e-30f ? 127 / largest : 0;
        EXPECT_EQ(rounded.value(r, g * 32 + i), std::nearbyint(in[i] * factor))
            << r << ' ' << g << ' ' << i;
      }
    }
}

TEST(Mover, QuantMatmul) {
  for (const Format &f : Formats)
    // One group and two; more than the warps of a block have at a time.
    for (int depth : {std::max(f.group, int64_t(32)),
                      f.group > 32 ? 2 * f.group : int64_t(288)}) {
      constexpr int Rows = 19, Columns = 32; // a tile of rows and some
      SCOPED_TRACE(f.name);
      PackedWeight weight(f, Columns, depth);
      Rounded x = roundRows(randomRows(Rows, depth), Rows, depth);
      std::vector<float> expected;
      for (int r = 0; r < Rows; ++r)
        for (int n = 0; n < Columns; ++n)
          expected.push_back(productOf(weight, x, r, n));
      // Equal bits, whatever the blocks and the rows beside.
      for (auto [blocks, rows] : {std::pair(1, Rows), {7, Rows}, {2, 3}}) {
        std::vector<float> out(Rows * Columns, -1);
        KernelRun run;
        QuantMatmulParams p{run.in(x.bytes), weight.view(run),
                            run.out(out),    x.stride,
                            Columns,         rows,
                            Columns,         depth,
                            KV_DTYPE_F32,    f.format};
        run("kv_quant_matmul", blocks, p);
        for (int i = 0; i < Rows * Columns; ++i)
          ASSERT_EQ(out[i], i < rows * Columns ? expected[i] : -1)
              << depth << ' ' << rows << ' ' << i;
      }
    }
}

TEST(Mover, QuantMatmulOfOtherTypes) {
  constexpr int Rows = 3, Columns = 16, Depth = 64, Stride = 24;
  PackedWeight weight(Formats[0], Columns, Depth);
  Rounded x = roundRows(randomRows(Rows, Depth), Rows, Depth);
  std::vector<Bf16> out(Rows * Stride, Bf16{0x7fc0});
  KernelRun run;
  QuantMatmulParams p{run.in(x.bytes), weight.view(run),
                      run.out(out),    x.stride,
                      Stride,          Rows,
                      Columns,         Depth,
                      KV_DTYPE_BF16,   weight.format};
  run("kv_quant_matmul", 1, p);
  for (int i = 0; i < Rows * Stride; ++i) {
    int row = i / Stride, n = i % Stride;
    if (n >= Columns)
      EXPECT_TRUE(std::isnan(widen(out[i]))) << "between rows";
    else
      EXPECT_EQ(out[i].bits, narrow<Bf16>(productOf(weight, x, row, n)).bits);
  }
}

TEST(Mover, QuantEmbedding) {
  for (const Format &f : Formats) {
    constexpr int Words = 32, Width = 256;
    SCOPED_TRACE(f.name);
    PackedWeight table(f, Words, Width);
    std::vector<int32_t> ids = {3, 0, 31, 32, -1, 16};
    std::vector<float> out(ids.size() * Width);
    std::vector<uint64_t> errors(1);
    KernelRun run;
    QuantEmbeddingParams p{run.in(ids),    table.view(run),     run.out(out),
                           Width,          int32_t(ids.size()), Width,
                           Words,          KV_DTYPE_F32,        f.format,
                           run.out(errors)};
    run("kv_quant_embedding", 3, p);
    StepError error = unpackStepError(errors[0]);
    EXPECT_EQ(error.kind, StepErrorKind::EmbeddingId);
    EXPECT_EQ(error.row, 3);
    EXPECT_EQ(error.value, Words);
    for (size_t i = 0; i < out.size(); ++i) {
      int32_t id = ids[i / Width];
      if (id < 0 || id >= Words) {
        EXPECT_TRUE(std::isnan(out[i]));
        continue;
      }
      PackedWeight::Number number = table.at(id, int(i % Width));
      float product = number.scale * number.value;
      EXPECT_EQ(out[i], product + number.minimum) << i;
    }
  }
}

TEST(Mover, GrowLengths) {
  std::vector<int32_t> lengths = {5, 0, 7, INT32_MAX},
                       offsets = {0, 3, 3, 10, 11};
  for (int32_t sign : {1, -1}) {
    std::vector<int32_t> out(4, 99);
    KernelRun run;
    GrowLengthsParams p{run.in(lengths), run.in(offsets), run.out(out), 4,
                        sign};
    run("kv_grow_lengths", 1, p);
    EXPECT_EQ(out, sign > 0 ? (std::vector<int32_t>{8, 0, 14, INT32_MIN})
                            : (std::vector<int32_t>{2, 0, 0, INT32_MAX - 1}));
  }
}
