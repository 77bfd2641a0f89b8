//===- StatesTest.cpp - Recurrent layers, and rows of a cache, on a device ===//
//
// Whatever strides rows have; what a row refuses. The numbers are those of
// test/kernels/movers/StateTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "CudaFixture.h"

using namespace kv;
using namespace kv::test;
using kv::cuda::narrow;
using kv::cuda::widen;

namespace {

class States : public RowsTest {
protected:
  /// A part of the last dimension of [rows, all].
  static KvTensorView columns(const KvTensorView &rows, int64_t first,
                              std::vector<int64_t> shape) {
    KvTensorView view = rows;
    view.offset += first;
    view.rank = int64_t(shape.size());
    int64_t stride = 1;
    for (int64_t d = view.rank - 1; d >= 0; --d) {
      view.sizes[d] = shape[d];
      view.strides[d] = d ? stride : rows.strides[0];
      stride *= shape[d];
    }
    return view;
  }
};

void expectClose(float have, double want) {
  EXPECT_NEAR(have, want, 1e-5 * std::abs(want) + 1e-5);
}

/// A layer of a model, of T rows a step.
constexpr int T = 5, G = 2, N = 8, R = 1, P = 16, C = 2 * G * N + G * R * P;

/// The layer's states and outputs, row by row.
struct PlainLayer {
  std::span<const float> weight;
  std::vector<double> rows = std::vector<double>(2 * C),
                      state = std::vector<double>(G * R * N * P);

  std::vector<double> step(const float *input, const float *gate) {
    std::vector<double> row(C), out;
    for (int c = 0; c < C; ++c) {
      double now = input[c];
      double sum = rows[c] * weight[c] + rows[C + c] * weight[C + c] +
                   now * weight[2 * C + c];
      row[c] = sum / (1 + std::exp(-sum));
      rows[c] = rows[C + c];
      rows[C + c] = now;
    }
    for (int h = 0; h < G; ++h)
      for (int p = 0; p < P; ++p) {
        double d = gate[h], write = row[2 * G * N + h * P + p], sum = 0;
        double *s = &state[h * N * P + p];
        for (int n = 0; n < N; ++n)
          write -= d * s[n * P] * row[G * N + h * N + n];
        write *= gate[G * 4 + h];
        for (int n = 0; n < N; ++n) {
          s[n * P] = d * s[n * P] + row[G * N + h * N + n] * write;
          sum += s[n * P] * row[h * N + n];
        }
        out.push_back(sum);
      }
    return out;
  }
};

} // namespace

// A step of a layer as models make it: queries, keys and values beside each
// other in what the convolution makes. Twice: the second goes on with what the
// first has left.
TEST_F(States, Layer) {
  constexpr int Count = 4, Layers = 2;
  auto x = randomValues<float>(2 * T * C, 1),
       weight = randomValues<float>(3 * C, 2);
  auto gates = randomValues<float>(2 * T * 2 * G * 4, 3);
  for (float &gate : gates)
    gate = 0.5f + gate / 8;
  Tensor<float> conv(device, DType::F32, {Count, 1, Layers, 1, 2, C},
                     std::vector<float>(Count * Layers * 2 * C, 9));
  Tensor<float> scan(device, DType::F32, {Count, 1, Layers, 1, G * R, N * P},
                     std::vector<float>(Count * Layers * G * R * N * P, 9));
  Tensor<float> w(device, DType::F32, {3, C}, weight);
  // A new sequence; and one without rows, whose state stays.
  Tensor<int32_t> table(device, DType::I32, {2, 2}),
      lengths(device, DType::I32, {2}, {0, 7}),
      offsets(device, DType::I32, {3}, {0, T, T});
  PlainLayer layer = {weight};
  for (int step = 0; step < 2; ++step) {
    table.fill({step == 0 ? 0 : 3, 3, 2, 2});
    auto part = [&](const std::vector<float> &all) {
      size_t half = all.size() / 2;
      return std::vector<float>(all.begin() + step * half,
                                all.begin() + (step + 1) * half);
    };
    auto input = part(x), gate = part(gates);
    Tensor<float> in(device, DType::F32, {T, C}, input),
        mixed(device, DType::F32, {T, C}),
        g(device, DType::F32, {T, 2 * G * 4}, gate),
        out(device, DType::F32, {T, G, R, P});
    KvTensorView q = columns(*mixed.view(), 0, {T, G, N}),
                 k = columns(*mixed.view(), G * N, {T, G, N}),
                 v = columns(*mixed.view(), 2 * G * N, {T, G, R, P}),
                 decay = columns(*g.view(), 0, {T, G, R}),
                 strength = columns(*g.view(), G * 4, {T, G, R});
    gpu.expectRun([&](KvContext *ctx, const KvFunctionTable &f) {
      f.stateConvolution(ctx, conv.view(), lengths.view(), table.view(),
                         offsets.view(), 1, in.view(), w.view(), nullptr,
                         mixed.view());
      f.stateScan(ctx, scan.view(), lengths.view(), table.view(),
                  offsets.view(), 1, &q, &k, &v, &decay, &strength, nullptr, 1,
                  out.view());
    });
    auto made = out.read();
    for (int t = 0; t < T; ++t) {
      auto row = layer.step(&input[t * C], &gate[t * 2 * G * 4]);
      for (size_t i = 0; i < row.size(); ++i)
        expectClose(made[t * row.size() + i], row[i]);
    }
  }
  // State 3 of layer 1 is what is left; nothing else has changed.
  auto left = conv.read();
  for (size_t i = 0; i < left.size(); ++i)
    if (i / (2 * C) == 3 * Layers + 1)
      EXPECT_EQ(left[i], layer.rows[i % (2 * C)]);
    else
      EXPECT_EQ(left[i], 9);
  left = scan.read();
  for (size_t i = 0; i < left.size(); ++i)
    if (i / layer.state.size() == 3 * Layers + 1)
      expectClose(left[i], layer.state[i % layer.state.size()]);
    else
      EXPECT_EQ(left[i], 9);
}

TEST_F(States, ReadAndWrite) {
  auto values = randomValues<Bf16>(4 * 2 * 3 * 8, 4);
  Tensor<Bf16> blocks(device, DType::BF16, {4, 1, 2, 1, 3, 8}, values);
  Tensor<int32_t> table(device, DType::I32, {3, 2}, {2, 3, 0, 1, 3, 0});
  Tensor<float> rows(device, DType::F32, {3, 3, 8});
  gpu.expectRun([&](KvContext *ctx, const KvFunctionTable &f) {
    f.stateRead(ctx, blocks.view(), table.view(), 1, rows.view());
    f.stateWrite(ctx, blocks.view(), table.view(), 0, rows.view());
  });
  auto read = rows.read();
  auto written = blocks.read();
  for (int i = 0; i < 24; ++i) {
    EXPECT_EQ(read[i], widen(values[(2 * 2 + 1) * 24 + i]));
    EXPECT_EQ(read[24 + i], 0);
    EXPECT_EQ(widen(written[3 * 2 * 24 + i]), read[i]);
    EXPECT_EQ(widen(written[1 * 2 * 24 + i]), 0);
    EXPECT_EQ(widen(written[i]), widen(values[i])) << "the null state";
  }
}

TEST_F(States, Norms) {
  constexpr int T = 3, G = 2, W = 8, All = 48;
  auto x = randomValues<float>(T * All, 1),
       weight = randomValues<float>(G * W, 2);
  Tensor<float> rows(device, DType::F32, {T, All}, x),
      w(device, DType::F32, {G, W}, weight),
      normed(device, DType::F32, {T * G, W}),
      unit(device, DType::F32, {T * G, W});
  KvTensorView part = columns(*rows.view(), 16, {T, G * W});
  gpu.expectRun([&](KvContext *ctx, const KvFunctionTable &f) {
    f.norm(ctx, &part, w.view(), 1e-5f, 1, normed.view());
    f.unitNorm(ctx, &part, 1e-6f / W, 0.25f, unit.view());
  });
  auto a = normed.read(), b = unit.read();
  for (int r = 0; r < T * G; ++r) {
    const float *row = &x[r / G * All + 16 + r % G * W];
    double sum = 0;
    for (int i = 0; i < W; ++i)
      sum += double(row[i]) * row[i];
    for (int i = 0; i < W; ++i) {
      expectClose(a[r * W + i], row[i] / std::sqrt(sum / W + 1e-5) *
                                    (weight[r % G * W + i] + 1));
      expectClose(b[r * W + i], row[i] / std::sqrt(sum / W + 1e-6 / W) * 0.25);
    }
  }
}

TEST_F(States, Refused) {
  Tensor<float> blocks(device, DType::F32, {4, 1, 2, 1, 3, 16}),
      x(device, DType::F32, {5, 16}), weight(device, DType::F32, {4, 16}),
      five(device, DType::F32, {5, 16}), narrow(device, DType::F32, {5, 8});
  Tensor<Bf16> halves(device, DType::BF16, {4, 1, 2, 1, 3, 16});
  Tensor<int32_t> table(device, DType::I32, {1, 2}),
      lengths(device, DType::I32, {1}), offsets(device, DType::I32, {2});
  auto convolve = [&](const KvTensorView *states, int64_t layer,
                      const KvTensorView *taps, const KvTensorView *out) {
    return error([&](KvContext *ctx, const KvFunctionTable &f) {
      f.stateConvolution(ctx, states, lengths.view(), table.view(),
                         offsets.view(), layer, x.view(), taps, nullptr, out);
    });
  };
  EXPECT_EQ(convolve(blocks.view(), 2, weight.view(), x.view()),
            "stateConvolution: layer 2, states i32[1, 2], blocks f32[4, 1, 2, "
            "1, 3, 16]: the table is i32 [B, 2], "
            "and the layer one of the blocks'");
  EXPECT_EQ(convolve(blocks.view(), 1, five.view(), x.view()),
            "stateConvolution: x is f32[5, 16], weight f32[5, 16], blocks "
            "f32[4, 1, 2, 1, 3, 16]: needed are 2 to "
            "4 taps, and states of the rows before the last one");
  EXPECT_EQ(convolve(halves.view(), 1, weight.view(), x.view()),
            "stateConvolution: blocks is bf16[4, 1, 2, 1, 3, 16], states "
            "i32[1, 2], cache_lengths i32[1]: needed "
            "are f32 states, and a row of the table for each sequence");
  EXPECT_EQ(convolve(blocks.view(), 1, weight.view(), narrow.view()),
            "stateConvolution: out is f32[5, 8] with strides [8, 1]: needed is "
            "f32 [5, 16] without gaps in a row");
}
