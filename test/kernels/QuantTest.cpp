//===- QuantTest.cpp - Quantised weights against plain loops --------------===//

#include "../../kernels/cuda/Movers.h"
#include "../../kernels/cuda/StepErrors.h"
#include "KernelRun.h"
#include "kv/ABI/DeviceKernels.h"

#include <cmath>
#include <cstring>

using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

std::mt19937 random_(1);

struct Format {
  const char *name;
  QuantFormat format;
  int64_t group, bytes;
};
constexpr Format Formats[] = {
#define KV_QUANT_FORMAT(Name, spelling, group, fileBytes, bytes)               \
  {#spelling, QuantFormat::Name, group, bytes},
#include "kv/ABI/QuantFormats.def"
};

/// A packed weight [rows, depth], of any bytes but for scales of a weight's
/// size.
struct PackedWeight {
  PackedWeight(const Format &f, int rows, int depth)
      : format(f.format), group(f.group ? f.group : depth),
        bytes(f.group ? f.bytes : f.bytes + 16 * depth), depth(depth),
        data(rows / 16 * (depth / group) * bytes) {
    for (uint8_t &byte : data)
      byte = uint8_t(random_());
    bool minima = format == QuantFormat::Q4_1 || format == QuantFormat::Q4_K;
    for (size_t b = 0; b < data.size(); b += bytes)
      for (int i = 0; i < (minima ? 32 : 16); ++i) {
        float number = float(int(random_() % 2001) - 1000) / 50000;
        F16 half = narrow<F16>(number);
        if (format == QuantFormat::I8)
          std::memcpy(&data[b + i * 4], &number, 4);
        else
          std::memcpy(&data[b + i * 2], &half, 2);
      }
  }

  QuantWeight view(KernelRun &run) {
    return {run.in(data), int64_t(depth / group) * bytes, int32_t(group / 32),
            int32_t(bytes)};
  }

  float half(size_t at) const {
    F16 half;
    std::memcpy(&half, &data[at], 2);
    return widen(half);
  }

  /// scale * value + minimum of element [row, column], as QuantFormats.def says
  /// it, and the value alone.
  struct Number {
    float scale, minimum;
    int value;
  };
  Number at(int row, int column) const {
    size_t block = (row / 16 * (depth / group) + column / group) * bytes;
    int r = row % 16, e = column % group;
    auto word = [&](size_t from, int j, int q) {
      return data[from + (j * 16 + r) * 4 + q];
    };
    /// A nibble of a sub-block of `elements`.
    auto nibble = [&](size_t from, int elements, int e) {
      int within = e % (elements / 2);
      return word(from, within / 4, within % 4) >> (e >= elements / 2 ? 4 : 0) &
             15;
    };
    switch (format) {
    case QuantFormat::Q8_0:
      return {half(block + r * 2), 0, int8_t(word(block + 32, e / 4, e % 4))};
    case QuantFormat::Q4_0:
      return {half(block + r * 2), 0, nibble(block + 32, 32, e) - 8};
    case QuantFormat::Q4_1:
      return {half(block + r * 2), half(block + 32 + r * 2),
              nibble(block + 64, 32, e)};
    case QuantFormat::Q4_K: {
      size_t sub = block + 64 + e / 32 * 288;
      return {half(block + r * 2) * data[sub + r],
              -(half(block + 32 + r * 2) * data[sub + 16 + r]),
              nibble(sub + 32, 32, e % 32)};
    }
    case QuantFormat::Q6_K: {
      size_t sub = block + 32 + e / 16 * 208;
      int i = e % 16;
      int upper = word(sub + 16, 2, i % 4) >> i / 4 * 2 & 3;
      return {half(block + r * 2) * int8_t(data[sub + r]), 0,
              nibble(sub + 16, 16, i) + 16 * upper - 32};
    }
    case QuantFormat::I8: {
      float scale;
      std::memcpy(&scale, &data[block + r * 4], 4);
      return {scale, 0,
              int8_t(word(block + 64 + e / 32 * 512, e % 32 / 4, e % 4))};
    }
    }
    return {};
  }

  QuantFormat format;
  int group, bytes, depth;
  std::vector<uint8_t> data;
};

std::vector<float> randomRows(int rows, int width) {
  std::vector<float> x(rows * width);
  for (float &element : x)
    element = float(int(random_() % 4001) - 2000) / 512;
  return x;
}

/// Rows as kv.matmul rounds them.
struct Rounded {
  std::vector<int8_t> bytes;
  int64_t stride;

  int value(int row, int column) const { return bytes[row * stride + column]; }
  float scale(int row, int group, int width) const {
    float scale;
    std::memcpy(&scale, &bytes[row * stride + width + group * 4], 4);
    return scale;
  }
};

Rounded roundRows(const std::vector<float> &x, int rows, int width) {
  Rounded rounded{{}, kv::kernels::roundedRowBytes(width)};
  rounded.bytes.resize(rows * rounded.stride);
  KernelRun run;
  RoundRowsParams p{
      run.in(x),   run.out(rounded.bytes), width, rounded.stride, rows, width,
      KV_DTYPE_F32};
  run("kv_round_rows", 2, p);
  return rounded;
}

/// The same groups have the same scales and sums: a sub-block of `elements`.
float productOf(const PackedWeight &weight, const Rounded &x, int row, int n) {
  int elements = weight.format == QuantFormat::Q6_K ? 16 : 32;
  float total = 0;
  for (int k = 0; k < weight.depth; k += elements) {
    int sum = 0, ofRow = 0;
    for (int e = 0; e < elements; ++e) {
      int number = x.value(row, k + e);
      sum += weight.at(n, k + e).value * number;
      ofRow += number;
    }
    PackedWeight::Number factors = weight.at(n, k);
    float scale = x.scale(row, k / 32, weight.depth);
    float both = factors.scale * scale, offset = scale * float(ofRow);
    total = std::fma(float(sum), both, total);
    if (weight.format == QuantFormat::Q4_1 ||
        weight.format == QuantFormat::Q4_K)
      total = std::fma(factors.minimum, offset, total);
  }
  return total;
}

} // namespace

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
    for (int depth : {f.group == 256 ? 256 : 32, f.group == 256 ? 512 : 288}) {
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
      float product = number.scale * float(number.value);
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
