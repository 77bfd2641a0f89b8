//===- QuantCase.h - Quantised weights by plain loops -----------*- C++ -*-===//

#ifndef KV_TEST_KERNELS_MOVERS_QUANTCASE_H
#define KV_TEST_KERNELS_MOVERS_QUANTCASE_H

#include "kernels/cuda/parameters/Movers.h"
#include "kv/ABI/DeviceKernels.h"
#include "test/kernels/KernelRun.h"

#include <cmath>
#include <cstring>
#include <random>

namespace kv::cuda::test {

/// Numbers for tests of quantised weights.
inline uint32_t random() {
  static std::mt19937 numbers(1);
  return numbers();
}

struct Format {
  const char *name;
  QuantFormat format;
  int64_t group, bytes;
};
inline constexpr Format Formats[] = {
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
    for (uint8_t &byte : data) {
      byte = uint8_t(random());
      // Floats of four neighbouring powers of two: their sums are exact.
      if (format == QuantFormat::F8E4M3)
        byte = (byte & 0x9f) | 0x20;
      if (format == QuantFormat::F8E5M2)
        byte = (byte & 0x8f) | 0x30;
    }
    bool minima = format == QuantFormat::Q4_1 || format == QuantFormat::Q4_K;
    for (size_t b = 0; b < data.size(); b += bytes)
      for (int i = 0; i < (minima ? 32 : 16); ++i) {
        float number = float(int(random() % 2001) - 1000) / 50000;
        F16 half = narrow<F16>(number);
        if (hasSingleScales())
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
    float value;
  };
  /// Scales of f32, a byte a value.
  bool hasSingleScales() const {
    return format == QuantFormat::I8 || format == QuantFormat::F8E4M3 ||
           format == QuantFormat::F8E5M2;
  }
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
      return {half(block + r * 2), 0,
              float(int8_t(word(block + 32, e / 4, e % 4)))};
    case QuantFormat::Q4_0:
      return {half(block + r * 2), 0, float(nibble(block + 32, 32, e) - 8)};
    case QuantFormat::Q4_1:
      return {half(block + r * 2), half(block + 32 + r * 2),
              float(nibble(block + 64, 32, e))};
    case QuantFormat::Q4_K: {
      size_t sub = block + 64 + e / 32 * 288;
      return {half(block + r * 2) * data[sub + r],
              -(half(block + 32 + r * 2) * data[sub + 16 + r]),
              float(nibble(sub + 32, 32, e % 32))};
    }
    case QuantFormat::Q6_K: {
      size_t sub = block + 32 + e / 16 * 208;
      int i = e % 16;
      int upper = word(sub + 16, 2, i % 4) >> i / 4 * 2 & 3;
      return {half(block + r * 2) * int8_t(data[sub + r]), 0,
              float(nibble(sub + 16, 16, i) + 16 * upper - 32)};
    }
    case QuantFormat::I8:
    case QuantFormat::F8E4M3:
    case QuantFormat::F8E5M2: {
      float scale;
      std::memcpy(&scale, &data[block + r * 4], 4);
      uint8_t byte = word(block + 64 + e / 32 * 512, e % 32 / 4, e % 4);
      return {scale, 0,
              format == QuantFormat::I8       ? float(int8_t(byte))
              : format == QuantFormat::F8E4M3 ? widen(F8E4M3{byte})
                                              : widen(F8E5M2{byte})};
    }
    }
    return {};
  }

  QuantFormat format;
  int group, bytes, depth;
  std::vector<uint8_t> data;
};

inline std::vector<float> randomRows(int rows, int width) {
  std::vector<float> x(rows * width);
  for (float &element : x)
    element = float(int(random() % 4001) - 2000) / 512;
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

inline Rounded roundRows(const std::vector<float> &x, int rows, int width) {
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
inline float productOf(const PackedWeight &weight, const Rounded &x, int row,
                       int n) {
  int elements = weight.format == QuantFormat::Q6_K ? 16 : 32;
  float total = 0;
  for (int k = 0; k < weight.depth; k += elements) {
    float sum = 0;
    int ofRow = 0;
    for (int e = 0; e < elements; ++e) {
      int number = x.value(row, k + e);
      sum += weight.at(n, k + e).value * float(number);
      ofRow += number;
    }
    PackedWeight::Number factors = weight.at(n, k);
    float scale = x.scale(row, k / 32, weight.depth);
    float both = factors.scale * scale, offset = scale * float(ofRow);
    total = std::fma(sum, both, total);
    if (weight.format == QuantFormat::Q4_1 ||
        weight.format == QuantFormat::Q4_K)
      total = std::fma(factors.minimum, offset, total);
  }
  return total;
}

} // namespace kv::cuda::test

#endif // KV_TEST_KERNELS_MOVERS_QUANTCASE_H
