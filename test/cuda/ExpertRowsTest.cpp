//===- ExpertRowsTest.cpp - Rows for mixtures of experts on a CUDA device -===//

#include "CudaFixture.h"
#include "kv/ABI/DeviceKernels.h"

using namespace kv;
using namespace kv::test;
using kv::cuda::narrow;
using kv::cuda::widen;

namespace {

constexpr int T = 40, C = 2, E = 4, K = 72, N = 48;
constexpr int Tiles = T * C / 64 + E;

class ExpertRows : public RowsTest {
protected:
  std::vector<int32_t> chosen;
  ExpertRows() {
    for (int i = 0; i < T * C; ++i)
      chosen.push_back(i * 7 % 5); // 4 is none: it stands for 3
  }
};

} // namespace

TEST_F(ExpertRows, Products) {
  auto x = randomValues<Bf16>(T * K, 1), w = randomValues<Bf16>(E * N * K, 2);
  Tensor<Bf16> dx(device, DType::BF16, {T, K}, x);
  Tensor<Bf16> dw(device, DType::BF16, {E * N, K}, w);
  Tensor<int32_t> experts(device, DType::I32, {T, C}, chosen);
  Tensor<int32_t> order(device, DType::I32, {Tiles, 66});
  Tensor<float> out(device, DType::F32, {T, C, N});
  gpu.expectRun([&](KvContext *ctx, const KvFunctionTable &f) {
    f.orderExperts(ctx, experts.view(), E, order.view());
    f.expertMatmul(ctx, dx.view(), dw.view(), order.view(), out.view());
  });
  auto got = out.read();
  for (int i = 0; i < T * C; ++i)
    for (int n = 0; n < N; ++n) {
      double sum = 0;
      int row = std::min(chosen[i], E - 1) * N + n;
      for (int k = 0; k < K; ++k)
        sum += double(widen(x[i / C * K + k])) * widen(w[row * K + k]);
      ASSERT_NEAR(got[i * N + n], sum, 1e-4 * (std::fabs(sum) + 1));
    }
  // Of nothing, nothing.
  KvTensorView none = *experts.view(), empty = *out.view(), no = *order.view(),
               rows = *dx.view();
  none.sizes[0] = empty.sizes[0] = no.sizes[0] = rows.sizes[0] = 0;
  gpu.expectRun([&](KvContext *ctx, const KvFunctionTable &f) {
    f.orderExperts(ctx, &none, E, &no);
    f.expertMatmul(ctx, &rows, dw.view(), &no, &empty);
  });
}

TEST_F(ExpertRows, QuantisedProductsAreThoseOfOneMatrix) {
  constexpr int Depth = 64, Q8_0 = 0, Bytes = Depth / 32 * 544;
  auto x = randomValues<float>(T * Depth, 3);
  std::vector<int8_t> blocks(E * N / 16 * Bytes);
  for (size_t i = 0; i < blocks.size(); ++i)
    // Scales of f16 from 2^-7 on, and any values.
    blocks[i] = i % 544 < 32 ? (i % 2 ? 0x20 : int8_t(i)) : int8_t(i * 37);
  Tensor<float> dx(device, DType::F32, {T, Depth}, x);
  Tensor<int8_t> rounded(device, DType::I8, {T, 80});
  Tensor<int8_t> dw(device, DType::I8, {E * N / 16, Depth / 32, 544}, blocks);
  Tensor<int32_t> experts(device, DType::I32, {T, C}, chosen);
  Tensor<int32_t> order(device, DType::I32, {Tiles, 66});
  Tensor<float> out(device, DType::F32, {T, C, N}),
      all(device, DType::F32, {T, E * N});
  gpu.expectRun([&](KvContext *ctx, const KvFunctionTable &f) {
    f.roundRows(ctx, dx.view(), rounded.view());
    f.orderExperts(ctx, experts.view(), E, order.view());
    f.expertQuantMatmul(ctx, rounded.view(), dw.view(), Q8_0, order.view(),
                        out.view());
    f.quantMatmul(ctx, rounded.view(), dw.view(), Q8_0, all.view());
  });
  auto got = out.read(), whole = all.read();
  for (int i = 0; i < T * C; ++i)
    for (int n = 0; n < N; ++n)
      ASSERT_EQ(got[i * N + n],
                whole[i / C * E * N + std::min(chosen[i], E - 1) * N + n]);
}

TEST_F(ExpertRows, RouteSharesAndSum) {
  constexpr int Width = 16;
  std::vector<float> logits;
  for (int i = 0; i < 3 * E; ++i)
    logits.push_back(float(i * 5 % 7));
  Tensor<float> dl(device, DType::F32, {3, E}, logits);
  Tensor<int32_t> experts(device, DType::I32, {3, C});
  Tensor<float> shares(device, DType::F32, {3, C});
  auto x = randomValues<float>(3 * C * Width, 4);
  Tensor<float> dx(device, DType::F32, {3, C, Width}, x);
  Tensor<Bf16> out(device, DType::BF16, {3, Width});
  gpu.expectRun([&](KvContext *ctx, const KvFunctionTable &f) {
    f.route(ctx, dl.view(), experts.view());
    f.shares(ctx, dl.view(), experts.view(), 1, shares.view());
    f.sumChoices(ctx, dx.view(), shares.view(), 2, out.view());
  });
  // Rows 0 5 3 1, 6 4 2 0, 5 3 1 6.
  EXPECT_EQ(experts.read(), (std::vector<int32_t>{1, 2, 0, 1, 3, 0}));
  auto parts = shares.read();
  auto sums = out.read();
  for (int r = 0; r < 3; ++r) {
    double far = std::exp(r == 2 ? -1.0 : -2.0);
    EXPECT_NEAR(parts[r * C], 1 / (1 + far), 1e-6);
    EXPECT_NEAR(parts[r * C + 1], far / (1 + far), 1e-6);
    for (int n = 0; n < Width; ++n) {
      double sum = 0;
      for (int c = 0; c < C; ++c)
        sum += x[(r * C + c) * Width + n] * parts[r * C + c] * 2;
      EXPECT_NEAR(widen(sums[r * Width + n]), sum,
                  1e-2 * std::fabs(sum) + 1e-3);
    }
  }
}

TEST_F(ExpertRows, GatedRows) {
  auto x = randomValues<Bf16>(3 * 16, 1);
  auto m = randomValues<float>(3 * 8, 2), weight = randomValues<float>(8, 3);
  Tensor<Bf16> dx(device, DType::BF16, {3, 16}, x);
  Tensor<float> dm(device, DType::F32, {3, 8}, m);
  Tensor<float> dw(device, DType::F32, {8}, weight);
  Tensor<float> out(device, DType::F32, {3, 16});
  gpu.expectRun([&](KvContext *ctx, const KvFunctionTable &f) {
    f.gateRows(ctx, dx.view(), dm.view(), dw.view(), out.view());
  });
  auto got = out.read();
  for (int r = 0; r < 3; ++r) {
    double gate = 0;
    for (int k = 0; k < 8; ++k)
      gate += double(m[r * 8 + k]) * weight[k];
    for (int n = 0; n < 16; ++n) {
      double wanted = widen(x[r * 16 + n]) / (1 + std::exp(-gate));
      EXPECT_NEAR(got[r * 16 + n], wanted, 1e-5 * std::fabs(wanted));
    }
  }
  EXPECT_EQ(error([&](KvContext *ctx, const KvFunctionTable &f) {
              f.gateRows(ctx, dx.view(), dm.view(), dm.view(), out.view());
            }),
            "gateRows: x is bf16[3, 16], m f32[3, 8], weight f32[3, 8]: "
            "needed are [T, N], [T, K] and [K]");
  EXPECT_EQ(error([&](KvContext *ctx, const KvFunctionTable &f) {
              f.gateRows(ctx, dm.view(), dm.view(), dw.view(), out.view());
            }),
            "gateRows: x has 3 rows of 8, out 3 of 16");
}

TEST_F(ExpertRows, GroupsThatAreKept) {
  std::vector<float> x = {1, 5, 4, 3, 0, 0, 9, 9, 2, 2, 8, 7};
  Tensor<float> dx(device, DType::F32, {2, 6}, x);
  Tensor<float> out(device, DType::F32, {2, 6});
  gpu.expectRun([&](KvContext *ctx, const KvFunctionTable &f) {
    f.keepGroups(ctx, dx.view(), 3, 1, 2, out.view());
  });
  constexpr float None = -INFINITY;
  EXPECT_EQ(out.read(), (std::vector<float>{None, None, 4, 3, None, None, 9, 9,
                                            None, None, None, None}));
  EXPECT_EQ(error([&](KvContext *ctx, const KvFunctionTable &f) {
              f.keepGroups(ctx, dx.view(), 4, 1, 2, out.view());
            }),
            "keepGroups: x is f32[2, 6], 4 groups of which 1 are kept, by "
            "their best 2: at most 32 groups that divide the columns");
}

TEST_F(ExpertRows, ShapesThatDoNotFit) {
  Tensor<Bf16> x(device, DType::BF16, {T, K}),
      w(device, DType::BF16, {E * N, K});
  Tensor<F16> half(device, DType::F16, {T, K});
  Tensor<int32_t> experts(device, DType::I32, {T, C});
  Tensor<int32_t> order(device, DType::I32, {Tiles, 66});
  Tensor<int32_t> flat(device, DType::I32, {T});
  Tensor<float> out(device, DType::F32, {T, C, N}),
      logits(device, DType::F32, {T, E});
  Tensor<float> sum(device, DType::F32, {T, N});
  auto multiply = [&](const KvTensorView *rows, const KvTensorView *by,
                      const KvTensorView *to) {
    return error([&](KvContext *ctx, const KvFunctionTable &f) {
      f.expertMatmul(ctx, rows, w.view(), by, to);
    });
  };
  KvTensorView fewer = *order.view(), odd = *out.view();
  fewer.sizes[0] = 3;
  odd.sizes[2] = 40;
  EXPECT_EQ(
      multiply(x.view(), &fewer, out.view()),
      "expertMatmul: order is i32[3, 66] with strides [66, 1]: it must be "
      "dense i32 [5, 66]");
  EXPECT_EQ(multiply(half.view(), order.view(), out.view()),
            "expertMatmul: x is f16[40, 72], weight bf16[192, 72], out "
            "f32[40, 2, 48]: x and a dense weight are f32 or bf16 in rows of "
            "one length, out f32 or the same");
  EXPECT_EQ(
      multiply(x.view(), order.view(), sum.view()),
      "expertMatmul: order is i32[5, 66] with strides [66, 1]: it must be "
      "dense i32 [4, 66]")
      << "one choice a row";
  EXPECT_EQ(multiply(x.view(), order.view(), &odd).substr(0, 60),
            "expertMatmul: x has 40 rows, weight 192, out 80 of 40: out m");
  EXPECT_EQ(error([&](KvContext *ctx, const KvFunctionTable &f) {
              f.orderExperts(ctx, experts.view(), 0, order.view());
            }),
            "orderExperts: experts is i32[40, 2] of 0, needed: [T, C] of at "
            "least one");
  EXPECT_EQ(error([&](KvContext *ctx, const KvFunctionTable &f) {
              f.route(ctx, logits.view(), flat.view());
            }),
            "route: experts is i32[40], needed: 1 to 4 choices a row");
  EXPECT_EQ(error([&](KvContext *ctx, const KvFunctionTable &f) {
              f.shares(ctx, logits.view(), experts.view(), 0, sum.view());
            }),
            "shares: out is f32[40, 48] with strides [48, 1]: it must be dense "
            "f32 [40, 2]");
  EXPECT_EQ(error([&](KvContext *ctx, const KvFunctionTable &f) {
              f.sumChoices(ctx, sum.view(), logits.view(), 1, sum.view());
            }),
            "sumChoices: x is f32[40, 48], out f32[40, 48]: needed are "
            "[T, C, N] and [T, N]");
}
