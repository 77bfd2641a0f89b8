//===- RowsTest.cpp - Rows of Symbols.def on a CUDA device ----------------===//

#include "CudaFixture.h"

using namespace kv;
using namespace kv::test;
using kv::cuda::narrow;
using kv::cuda::widen;

namespace {

using Rows = RowsTest;

template <class T> constexpr DType dtypeOf = DType::F32;
template <> constexpr DType dtypeOf<Bf16> = DType::BF16;
template <> constexpr DType dtypeOf<F16> = DType::F16;

/// Equal but for what rounding to T explains.
template <class T> void expectNear(T got, double expected, double slack = 1) {
  double unit = std::is_same_v<T, float> ? 1e-5 : 8e-3;
  ASSERT_NEAR(widen(got), expected,
              slack * unit * (std::fabs(expected) + 1e-2));
}

/// A view of columns [first, first + count) of a matrix.
KvTensorView columns(const KvTensorView &whole, int64_t first, int64_t count) {
  KvTensorView view = whole;
  view.offset += first;
  view.sizes[1] = count;
  return view;
}

} // namespace

template <class In, class Out> static void testMatmul(Gpu &gpu) {
  constexpr int M = 5, N = 24, K = 40;
  auto x = randomValues<In>(M * (K + 8), 1), w = randomValues<In>(N * K, 2);
  Tensor<In> dx(gpu.device, dtypeOf<In>, {M, K + 8}, x);
  Tensor<In> dw(gpu.device, dtypeOf<In>, {N, K}, w);
  Tensor<Out> out(gpu.device, dtypeOf<Out>, {M, N});
  KvTensorView part = columns(*dx.view(), 8, K);
  gpu.expectRun([&](KvContext *ctx, const KvFunctionTable &f) {
    f.matmul(ctx, &part, dw.view(), out.view());
  });
  auto got = out.read();
  for (int m = 0; m < M; ++m)
    for (int n = 0; n < N; ++n) {
      double sum = 0;
      for (int k = 0; k < K; ++k)
        sum += double(widen(x[m * (K + 8) + 8 + k])) * widen(w[n * K + k]);
      expectNear(got[m * N + n], sum, 4);
    }
}

TEST_F(Rows, Matmul) {
  testMatmul<Bf16, Bf16>(gpu);
  testMatmul<Bf16, float>(gpu);
  testMatmul<F16, F16>(gpu);
  testMatmul<F16, float>(gpu);
  testMatmul<float, float>(gpu);
}

TEST_F(Rows, MatmulAsksOnceAShape) {
  constexpr int Most = 8200;
  Tensor<Bf16> x(device, DType::BF16, {Most, 16},
                 randomValues<Bf16>(Most * 16, 1));
  Tensor<Bf16> w(device, DType::BF16, {8, 16}, randomValues<Bf16>(128, 2));
  Tensor<Bf16> v(device, DType::BF16, {16, 16}, randomValues<Bf16>(256, 3));
  Tensor<Bf16> out(device, DType::BF16, {Most, 16});
  auto multiply = [&](int64_t rows, const Tensor<Bf16> &weight) {
    KvTensorView a = *x.view(), c = *out.view();
    a.sizes[0] = c.sizes[0] = rows;
    c.sizes[1] = weight.view()->sizes[0];
    gpu.expectRun([&](KvContext *ctx, const KvFunctionTable &f) {
      f.matmul(ctx, &a, weight.view(), &c);
    });
    return fake::counters().heuristics;
  };
  int64_t before = fake::counters().heuristics;
  EXPECT_EQ(multiply(5, w), before + 1);
  EXPECT_EQ(multiply(5, w), before + 1);
  EXPECT_EQ(multiply(8, w), before + 1) << "of one class with 5 rows";
  EXPECT_EQ(multiply(9, w), before + 2);
  EXPECT_EQ(multiply(9, v), before + 3);
  EXPECT_EQ(multiply(0, v), before + 3);
  EXPECT_EQ(multiply(16, v), before + 3);
  // However long a prompt: an algorithm is for as many rows as it was asked
  // for.
  EXPECT_EQ(multiply(4096, w), before + 4);
  EXPECT_EQ(multiply(Most, w), before + 5);
}

// The fake library's algorithm for few rows splits its sums.
TEST(RowsOf, DeterministicMatmul) {
  constexpr int M = 40, N = 16, K = 96;
  for (bool deterministic : {false, true}) {
    Gpu gpu(0, deterministic);
    // Of different magnitudes, so that sums are rounded.
    auto values = randomValues<Bf16>(M * K, 1);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = narrow<Bf16>(widen(values[i]) * float(1 << i % 13));
    Tensor<Bf16> x(gpu.device, DType::BF16, {M, K}, values);
    Tensor<Bf16> w(gpu.device, DType::BF16, {N, K},
                   randomValues<Bf16>(N * K, 2));
    Tensor<float> all(gpu.device, DType::F32, {M, N});
    Tensor<float> one(gpu.device, DType::F32, {1, N});
    KvTensorView row = *x.view();
    row.sizes[0] = 1;
    gpu.expectRun([&](KvContext *ctx, const KvFunctionTable &f) {
      f.matmul(ctx, x.view(), w.view(), all.view());
      f.matmul(ctx, &row, w.view(), one.view());
    });
    auto first = all.read();
    first.resize(N);
    EXPECT_EQ(first == one.read(), deterministic);
  }
}

// A head's rows may lie among others', of x as of out.
TEST_F(Rows, MatmulOfHeads) {
  constexpr int M = 5, H = 3, N = 24, K = 40, Wide = 56, Columns = 32;
  auto x = randomValues<Bf16>(M * H * Wide, 1),
       w = randomValues<Bf16>(H * N * K, 2);
  Tensor<Bf16> dx(device, DType::BF16, {M, H, Wide}, x);
  Tensor<Bf16> dw(device, DType::BF16, {H, N, K}, w);
  Tensor<float> dy(device, DType::F32, {M, H, Columns},
                   std::vector<float>(M * H * Columns, 7.0f));
  KvTensorView part = *dx.view(), out = *dy.view();
  part.offset += 16;
  part.sizes[2] = K;
  out.offset += 8;
  out.sizes[2] = N;
  gpu.expectRun([&](KvContext *ctx, const KvFunctionTable &f) {
    f.matmul(ctx, &part, dw.view(), &out);
  });
  auto got = dy.read();
  for (int m = 0; m < M; ++m)
    for (int h = 0; h < H; ++h) {
      const float *row = &got[(m * H + h) * Columns];
      for (int i = 0; i < 8; ++i)
        EXPECT_EQ(row[i], 7.0f) << "before the head's columns";
      for (int n = 0; n < N; ++n) {
        double sum = 0;
        for (int k = 0; k < K; ++k)
          sum += double(widen(x[(m * H + h) * Wide + 16 + k])) *
                 widen(w[(h * N + n) * K + k]);
        expectNear(row[8 + n], sum, 4);
      }
    }
  KvTensorView two = *dw.view();
  two.sizes[0] = 2;
  EXPECT_EQ(error([&](KvContext *ctx, const KvFunctionTable &f) {
              f.matmul(ctx, &part, &two, &out);
            }),
            "matmul: x is bf16[5, 3, 40], weight bf16[2, 24, 40], out f32[5, "
            "3, 24]: they do not fit");
}

TEST_F(Rows, MatmulErrors) {
  Tensor<Bf16> x(device, DType::BF16, {4, 16}), w(device, DType::BF16, {8, 24});
  Tensor<Bf16> out(device, DType::BF16, {4, 8});
  EXPECT_EQ(error([&](KvContext *ctx, const KvFunctionTable &f) {
              f.matmul(ctx, x.view(), w.view(), out.view());
              // The first error stays.
              f.matmul(ctx, out.view(), w.view(), out.view());
            }),
            "matmul: x is bf16[4, 16], weight bf16[8, 24], out bf16[4, 8]: "
            "they do not fit");
  KvTensorView odd = columns(*x.view(), 4, 8);
  EXPECT_EQ(error([&](KvContext *ctx, const KvFunctionTable &f) {
              f.matmul(ctx, &odd, w.view(), out.view());
            }),
            "matmul: x is bf16[4, 8] with strides [16, 1]: rows and their "
            "distances must be multiples of 8 elements, and their beginning "
            "aligned to 16 bytes");
}

TEST_F(Rows, NormAndPair) {
  constexpr int T = 3, H = 2, W = 16;
  auto x = randomValues<Bf16>(T * H * W, 1),
       y = randomValues<Bf16>(T * H * W, 2);
  auto weight = randomValues<float>(W, 3);
  // Of several dimensions every row is one.
  Tensor<Bf16> dx(device, DType::BF16, {T, H, W}, x);
  Tensor<Bf16> dy(device, DType::BF16, {T, H, W}, y);
  Tensor<float> dw(device, DType::F32, {W}, weight);
  Tensor<Bf16> normed(device, DType::BF16, {T, H, W});
  Tensor<float> sum(device, DType::F32, {T, H, W});
  Tensor<Bf16> gated(device, DType::BF16, {T, H, W});
  gpu.expectRun([&](KvContext *ctx, const KvFunctionTable &f) {
    f.norm(ctx, dx.view(), dw.view(), 1e-5f, 1, normed.view());
    f.pair(ctx, KV_PAIR_ADD, dx.view(), dy.view(), sum.view());
    f.pair(ctx, KV_PAIR_SILU_MUL, dx.view(), dy.view(), gated.view());
  });
  auto a = normed.read(), c = gated.read();
  auto b = sum.read();
  for (int r = 0; r < T * H; ++r) {
    double square = 0;
    for (int i = 0; i < W; ++i)
      square += std::pow(widen(x[r * W + i]), 2);
    for (int i = 0; i < W; ++i) {
      double p = widen(x[r * W + i]), q = widen(y[r * W + i]);
      expectNear(a[r * W + i],
                 p / std::sqrt(square / W + 1e-5) * (weight[i] + 1));
      expectNear(b[r * W + i], p + q);
      expectNear(c[r * W + i], p / (1 + std::exp(-p)) * q);
    }
  }
  EXPECT_EQ(error([&](KvContext *ctx, const KvFunctionTable &f) {
              f.pair(ctx, 7, dx.view(), dy.view(), sum.view());
            }),
            "pair: function 7, allowed: 0 and 1");
  EXPECT_EQ(
      error([&](KvContext *ctx, const KvFunctionTable &f) {
        f.norm(ctx, dx.view(), dx.view(), 1e-5f, 1, normed.view());
      }),
      "norm: weight is bf16[3, 2, 16], needed: 16 elements, or dense rows "
      "of as many for rows in turn");
}

TEST_F(Rows, MergedSides) {
  constexpr int T = 3, H = 2, D = 16;
  auto a = randomValues<Bf16>(T * H * D, 1),
       b = randomValues<Bf16>(T * H * D, 2);
  std::vector<float> aLse = {0, 1, -INFINITY, -2, 80, 5},
                     bLse = {0, -1, 4, -INFINITY, 88, 7};
  Tensor<Bf16> da(device, DType::BF16, {T, H, D}, a),
      db(device, DType::BF16, {T, H, D}, b);
  Tensor<float> dal(device, DType::F32, {T, H}, aLse),
      dbl(device, DType::F32, {T, H}, bLse);
  Tensor<float> out(device, DType::F32, {T, H, D});
  Tensor<float> lse(device, DType::F32, {T, H});
  gpu.expectRun([&](KvContext *ctx, const KvFunctionTable &f) {
    f.mergeSides(ctx, da.view(), dal.view(), db.view(), dbl.view(), out.view());
    f.mergeLse(ctx, dal.view(), dbl.view(), lse.view());
  });
  auto rows = out.read(), logarithms = lse.read();
  for (int r = 0; r < T * H; ++r) {
    double first = 1 / (1 + std::exp(double(bLse[r]) - aLse[r]));
    expectNear(logarithms[r],
               std::fmax(aLse[r], bLse[r]) +
                   std::log1p(std::exp(-std::fabs(double(aLse[r]) - bLse[r]))));
    for (int i = 0; i < D; ++i)
      expectNear(rows[r * D + i], first * widen(a[r * D + i]) +
                                      (1 - first) * widen(b[r * D + i]));
  }
  EXPECT_EQ(error([&](KvContext *ctx, const KvFunctionTable &f) {
              f.mergeSides(ctx, da.view(), dal.view(), db.view(), da.view(),
                           out.view());
            }),
            "mergeSides: b_lse is bf16[3, 2, 16] with strides [32, 16, 1], "
            "needed: dense f32 of 6 rows");
  EXPECT_EQ(error([&](KvContext *ctx, const KvFunctionTable &f) {
              f.mergeSides(ctx, da.view(), dal.view(), dal.view(), dbl.view(),
                           out.view());
            }),
            "mergeSides: b is f32[3, 2] with strides [2, 1]: rows and their "
            "distances must be multiples of 8 elements, and their beginning "
            "aligned to 16 bytes");
  EXPECT_EQ(error([&](KvContext *ctx, const KvFunctionTable &f) {
              f.mergeLse(ctx, dal.view(), out.view(), lse.view());
            }),
            "mergeLse: b_lse is f32[3, 2, 16] with strides [32, 16, 1], "
            "needed: dense f32 of 6 rows");
}

TEST_F(Rows, Bias) {
  constexpr int T = 3, H = 2, W = 16;
  auto x = randomValues<Bf16>(T * H * W, 1);
  auto bias = randomValues<float>(W, 2);
  Tensor<Bf16> dx(device, DType::BF16, {T, H, W}, x);
  Tensor<float> db(device, DType::F32, {W}, bias);
  Tensor<float> out(device, DType::F32, {T, H, W});
  gpu.expectRun([&](KvContext *ctx, const KvFunctionTable &f) {
    f.pair(ctx, KV_PAIR_ADD, dx.view(), db.view(), out.view());
  });
  auto got = out.read();
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_EQ(got[i], widen(x[i]) + bias[i % W]);
  // A row of another rank is not meant for all.
  KvTensorView row = makeView(db.data(), DType::F32, {1, W});
  EXPECT_EQ(error([&](KvContext *ctx, const KvFunctionTable &f) {
              f.pair(ctx, KV_PAIR_ADD, dx.view(), &row, out.view());
            }),
            "pair: b has 1 rows of 16, out 6 of 16");
  KvTensorView half = makeView(db.data(), DType::F32, {8});
  EXPECT_EQ(error([&](KvContext *ctx, const KvFunctionTable &f) {
              f.pair(ctx, KV_PAIR_ADD, dx.view(), &half, out.view());
            }),
            "pair: b has 1 rows of 8, out 6 of 16");
}

TEST_F(Rows, Elementwise) {
  constexpr int T = 3, H = 2, W = 16;
  auto x = randomValues<Bf16>(T * H * W, 1);
  auto row = randomValues<float>(W, 2);
  Tensor<Bf16> dx(device, DType::BF16, {T, H, W}, x);
  Tensor<float> dr(device, DType::F32, {W}, row);
  Tensor<float> out(device, DType::F32, {T, H, W});
  auto run = [&](const char *program, const KvTensorView *b) {
    return error([&](KvContext *ctx, const KvFunctionTable &f) {
      f.elementwise(ctx, const_cast<char *>(program), dx.view(), b, out.view());
    });
  };
  ASSERT_EQ(run("get a; mul -1; exp; add 1; rdiv a; keep u; get 2.5e-1; sub b; "
                "mul u",
                dr.view()),
            "no error");
  auto got = out.read();
  for (int i = 0; i < T * H * W; ++i) {
    double a = widen(x[i]), b = row[i % W];
    expectNear(got[i], a / (1 + std::exp(-a)) * (0.25 - b), 4);
  }
  for (const char *step : {"get", "get c", "exp a", "keep a", "keep 1",
                           "nothing", "add 1x", "add  1", "Add 1", ""})
    EXPECT_EQ(
        run(concat("get a; ", step, "; mul 1").c_str(), dx.view()),
        concat("elementwise: step \"", step, "\" of the program is none"));
  std::string most = "get a";
  for (int i = 0; i < 31; ++i)
    most += "; mul b";
  EXPECT_EQ(run(most.c_str(), dx.view()), "no error");
  EXPECT_EQ(run((most + "; exp").c_str(), dx.view()),
            "elementwise: the program is longer than 32 steps");
  KvTensorView half = makeView(dr.data(), DType::F32, {8});
  EXPECT_EQ(run("get a", &half), "elementwise: b has 1 rows of 8, out 6 of 16");
}

// What they compute, kernels/QuantTest says.
TEST_F(Rows, QuantisedWeights) {
  constexpr int T = 3, K = 64, N = 32, Q8_0 = 0, I8 = 5;
  Tensor<float> x(device, DType::F32, {T, K}, std::vector<float>(T * K, 1));
  Tensor<int8_t> rounded(device, DType::I8, {T, 80});
  Tensor<int8_t> weight(device, DType::I8, {N / 16, K / 32, 544},
                        std::vector<int8_t>(N / 16 * K / 32 * 544, 0x11));
  Tensor<float> out(device, DType::F32, {T, N});
  Tensor<int32_t> ids(device, DType::I32, {T}, {0, 31, 5});
  auto multiply = [&](const KvTensorView &rows, const KvTensorView &blocks,
                      int32_t format, const KvTensorView &result) {
    return error([&](KvContext *ctx, const KvFunctionTable &f) {
      f.roundRows(ctx, x.view(), rounded.view());
      f.quantMatmul(ctx, &rows, &blocks, format, &result);
    });
  };
  ASSERT_EQ(multiply(*rounded.view(), *weight.view(), Q8_0, *out.view()),
            "no error");
  // Ones become 127 times 1 / 127; each scale is f16 0x1111, each weight 17.
  float scale = widen(F16{0x1111}), expected = 0;
  for (int group = 0; group < 2; ++group)
    expected = std::fma(32 * 127 * 17.0f, scale * (1 / 127.0f), expected);
  for (float product : out.read())
    EXPECT_EQ(product, expected);
  EXPECT_EQ(multiply(*rounded.view(), *weight.view(), 8, *out.view()),
            "quantMatmul: format 8 is none of QuantFormats.def");
  EXPECT_EQ(multiply(*rounded.view(), *weight.view(), I8, *out.view()),
            "quantMatmul: weight is i8[2, 2, 544] with strides [1088, 544, 1]: "
            "it must be the packed blocks of i8");
  EXPECT_EQ(multiply(*x.view(), *weight.view(), Q8_0, *out.view()),
            "quantMatmul: x is f32[3, 64] with strides [64, 1]: it must be i8 "
            "[3, 80], the rounded rows of 64 elements");
  KvTensorView half = columns(*out.view(), 0, 16);
  EXPECT_EQ(multiply(*rounded.view(), *weight.view(), Q8_0, half),
            "quantMatmul: weight has 32 rows, out is f32[3, 16]: they do not "
            "fit");
  EXPECT_EQ(error([&](KvContext *ctx, const KvFunctionTable &f) {
              KvTensorView odd = columns(*x.view(), 0, 40);
              KvTensorView bytes = columns(*rounded.view(), 0, 48);
              f.roundRows(ctx, &odd, &bytes);
            }),
            "roundRows: x has rows of 40 elements, needed: a multiple of 32");
  EXPECT_EQ(error([&](KvContext *ctx, const KvFunctionTable &f) {
              f.quantEmbedding(ctx, ids.view(), weight.view(), Q8_0,
                               out.view());
            }),
            "quantEmbedding: ids is i32[3], rows of table have 64 elements, "
            "out is f32[3, 32]: they do not fit");
}

// What lies on the device is clamped there; how much of it there is is checked
// here.
TEST_F(Rows, ShapesThatDoNotFit) {
  Tensor<int32_t> lengths(device, DType::I32, {2}),
      few(device, DType::I32, {2}), offsets(device, DType::I32, {3}),
      out(device, DType::I32, {4});
  EXPECT_EQ(
      error([&](KvContext *ctx, const KvFunctionTable &f) {
        f.positions(ctx, lengths.view(), few.view(), out.view());
      }),
      "positions: cache_lengths is i32[2], row_offsets i32[2] for 4 rows: "
      "they must be i32 [B] and [B + 1], below 2147483648 rows");
  Tensor<Bf16> blocks(device, DType::BF16, {3, 2, 1, 4, 1, 16}),
      k(device, DType::BF16, {4, 1, 16});
  auto store = [&](const KvTensorView &pool, const KvTensorView &table,
                   const KvTensorView &rows) {
    return error([&](KvContext *ctx, const KvFunctionTable &f) {
      f.store(ctx, &pool, nullptr, lengths.view(), &table, offsets.view(), 0,
              &rows, &rows);
    });
  };
  Tensor<int32_t> table(device, DType::I32, {2, 3});
  EXPECT_EQ(store(*blocks.view(), *table.view(), *k.view()), "no error");
  KvTensorView oneRow = makeView(table.data(), DType::I32, {1, 3});
  EXPECT_EQ(store(*blocks.view(), oneRow, *k.view()),
            "store: lookup_table is i32[1, 3], cache_lengths i32[2]: each "
            "sequence has a row of pages");
  KvTensorView floats = makeView(table.data(), DType::F32, {2, 3});
  EXPECT_EQ(
      store(*blocks.view(), floats, *k.view()),
      "store: lookup_table is f32[2, 3]: CUDA kernels take i32 [B, "
      "pitch], rows of page ids, or i32 [B], slots of a continuous cache");
  KvTensorView emptyPages = makeView(nullptr, DType::BF16, {3, 2, 1, 0, 1, 16});
  EXPECT_EQ(store(emptyPages, *table.view(), *k.view()),
            "store: blocks is bf16[3, 2, 1, 0, 1, 16] with strides [0, 0, 0, "
            "16, 16, 1]: it must have one or two planes, and no page may be "
            "empty");
  KvTensorView bytes = makeView(k.data(), DType::I8, {4, 1, 16});
  EXPECT_EQ(store(*blocks.view(), *table.view(), bytes),
            "store: k is i8[4, 1, 16] with strides [16, 16, 1]: it must be "
            "[tokens, heads, dim] of f32, bf16 or f16, chunks of 8 elements "
            "that are aligned to 16 bytes");
  // A cast to the same type is a copy, of as many elements.
  EXPECT_EQ(error([&](KvContext *ctx, const KvFunctionTable &f) {
              f.cast(ctx, out.view(), lengths.view());
            }),
            "cast: x is i32[4], out i32[2]: they have one shape");
}

TEST_F(Rows, RowsAtUnequalDistances) {
  Tensor<Bf16> x(device, DType::BF16, {3, 32}),
      out(device, DType::BF16, {6, 8});
  // [3, 2, 8] in rows of 32: the distance is 8, 24, 8 ...
  KvTensorView heads = makeView(x.data(), DType::BF16, {3, 2, 8});
  heads.strides[0] = 32;
  EXPECT_EQ(error([&](KvContext *ctx, const KvFunctionTable &f) {
              f.pair(ctx, KV_PAIR_ADD, &heads, &heads, out.view());
            }),
            "pair: a is bf16[3, 2, 8] with strides [32, 8, 1]: rows must lie "
            "at equal distances");
  KvTensorView same = makeView(x.data(), DType::BF16, {6, 8});
  same.strides[0] = 0;
  EXPECT_EQ(error([&](KvContext *ctx, const KvFunctionTable &f) {
              f.pair(ctx, KV_PAIR_ADD, &same, &same, out.view());
            }),
            "pair: a is bf16[6, 8] with strides [0, 1]: rows must not overlap");
}

TEST_F(Rows, EmbeddingCastArgmax) {
  constexpr int V = 10, W = 16, T = 4;
  auto table = randomValues<Bf16>(V * W, 1);
  std::vector<int32_t> ids = {3, 0, 9, 10};
  Tensor<int32_t> dids(device, DType::I32, {T}, ids);
  Tensor<int32_t> copy(device, DType::I32, {T}), best(device, DType::I32, {T});
  Tensor<Bf16> dtable(device, DType::BF16, {V, W}, table);
  Tensor<Bf16> rows(device, DType::BF16, {T, W});
  Tensor<float> wide(device, DType::F32, {T, W});
  gpu.expectRun([&](KvContext *ctx, const KvFunctionTable &f) {
    f.embedding(ctx, dids.view(), dtable.view(), rows.view());
    f.cast(ctx, rows.view(), wide.view());
    f.cast(ctx, dids.view(), copy.view()); // of any type, if it is the same
    f.argmax(ctx, wide.view(), best.view());
  });
  auto got = wide.read();
  auto argmax = best.read();
  EXPECT_EQ(copy.read(), ids);
  for (int t = 0; t < T; ++t)
    for (int i = 0; i < W; ++i) {
      if (t == 3) {
        EXPECT_TRUE(std::isnan(got[t * W + i])) << "the table has no such row";
        continue;
      }
      float value = widen(table[ids[t] * W + i]);
      EXPECT_EQ(got[t * W + i], value);
      EXPECT_LE(value, got[t * W + argmax[t]]);
    }
}

TEST_F(Rows, PositionsAndRope) {
  constexpr int T = 5, H = 2, D = 32, P = 12;
  Tensor<int32_t> lengths(device, DType::I32, {2}, {7, 0});
  Tensor<int32_t> offsets(device, DType::I32, {3}, {0, 3, 5});
  Tensor<int32_t> positions(device, DType::I32, {T});
  auto x = randomValues<Bf16>(T * H * D * 2, 1);
  std::vector<float> angles(P * D);
  for (int i = 0; i < P * D / 2; ++i) {
    angles[2 * i] = std::cos(i * 0.1f);
    angles[2 * i + 1] = std::sin(i * 0.1f);
  }
  // x is the second half of each row of a wider tensor.
  Tensor<Bf16> wide(device, DType::BF16, {T, 2, H, D}, x);
  KvTensorView dx = makeView(wide.data(), DType::BF16, {T, H, D});
  dx.strides[0] = 2 * H * D;
  dx.offset = H * D;
  Tensor<float> freqs(device, DType::F32, {P, D}, angles);
  Tensor<Bf16> out(device, DType::BF16, {T, H, D});
  gpu.expectRun([&](KvContext *ctx, const KvFunctionTable &f) {
    f.positions(ctx, lengths.view(), offsets.view(), positions.view());
    f.rope(ctx, &dx, positions.view(), freqs.view(), 0, out.view());
  });
  std::vector<int32_t> expected = {7, 8, 9, 0, 1};
  EXPECT_EQ(positions.read(), expected);
  auto got = out.read();
  for (int t = 0; t < T; ++t)
    for (int h = 0; h < H; ++h)
      for (int i = 0; i < D / 2; ++i) {
        const Bf16 *from = &x[((t * 2 + 1) * H + h) * D];
        double a = widen(from[i]), b = widen(from[i + D / 2]);
        double c = angles[expected[t] * D + 2 * i],
               s = angles[expected[t] * D + 2 * i + 1];
        EXPECT_NEAR(widen(got[(t * H + h) * D + i]), a * c - b * s, 3e-2);
        EXPECT_NEAR(widen(got[(t * H + h) * D + i + D / 2]), a * s + b * c,
                    3e-2);
      }
}

// Data that only kernels see: the host hears of it when it waits, once.
TEST_F(Rows, StepErrors) {
  constexpr int T = 3, D = 16, P = 4;
  Tensor<int32_t> offsets(device, DType::I32, {2}),
      one(device, DType::I32, {1});
  Tensor<int32_t> positions(device, DType::I32, {T}),
      ids(device, DType::I32, {T});
  Tensor<int32_t> lengths(device, DType::I32, {1}, {0});
  Tensor<int32_t> pages(device, DType::I32, {1, 2}, {1, 2});
  Tensor<Bf16> x(device, DType::BF16, {T, 1, D}, std::vector<Bf16>(T * D));
  Tensor<float> freqs(device, DType::F32, {P, D}, std::vector<float>(P * D));
  Tensor<Bf16> table(device, DType::BF16, {P, D}, std::vector<Bf16>(P * D));
  Tensor<Bf16> rows(device, DType::BF16, {T, D});
  Tensor<Bf16> blocks(device, DType::BF16, {3, 2, 1, 16, 1, 64});
  auto step = [&](std::vector<int32_t> newIds,
                  std::vector<int32_t> newPositions,
                  std::vector<int32_t> newOffsets) -> std::string {
    ids.fill(newIds);
    positions.fill(newPositions);
    offsets.fill(newOffsets);
    gpu.expectRun([&](KvContext *ctx, const KvFunctionTable &f) {
      f.embedding(ctx, ids.view(), table.view(), rows.view());
      f.rope(ctx, x.view(), positions.view(), freqs.view(), 0, x.view());
      int64_t bytes = f.planBytes(ctx, blocks.view(), 1, 1, T);
      KvTensorView plan =
          makeView(f.arenaAlloc(ctx, bytes), DType::I8, {bytes});
      f.plan(ctx, blocks.view(), lengths.view(), pages.view(), offsets.view(),
             nullptr, 1, T, KV_MASK_CAUSAL, 0, &plan);
    });
    EXPECT_TRUE(gpu.context->stepError()) << "nothing has run";
    EXPECT_TRUE(gpu.backend.synchronize());
    auto found = gpu.context->stepError();
    EXPECT_TRUE(gpu.context->stepError()) << "an error is returned once";
    if (found)
      return "no error";
    EXPECT_EQ(found.error().code, KV_STATUS_OUT_OF_RANGE);
    return found.error().message;
  };
  EXPECT_EQ(step({0, 3, 1}, {0, 1, 3}, {0, T}), "no error");
  EXPECT_EQ(step({0, 3, 1}, {0, 4, 70}, {0, T}),
            "kv.rope: a position is outside freqs: row 1 has the position 4");
  EXPECT_EQ(step({0, 3, 1}, {0, 0, -1}, {0, T}),
            "kv.rope: a position is outside freqs: row 2 has the position -1");
  // Of several errors the one that comes first in a step.
  EXPECT_EQ(step({0, 3, 4}, {7, 7, 7}, {0, T}),
            "embedding: row 2 has the id 4, which is outside the table");
  const char *must = ": they must begin at 0, not fall, and end at the number "
                     "of the step's rows";
  EXPECT_EQ(step({9, 9, 9}, {7, 7, 7}, {0, T + 1}),
            concat("row_offsets: entry 1 is 4", must));
  EXPECT_EQ(step({0, 0, 0}, {0, 0, 0}, {-5, T}),
            concat("row_offsets: entry 0 is -5", must));
  EXPECT_EQ(step({0, 0, 0}, {0, 0, 0}, {0, -1}),
            concat("row_offsets: entry 1 is -1", must));
  EXPECT_EQ(step({0, 0, 0}, {0, 0, 0}, {0, T - 1}),
            concat("row_offsets: entry 1 is 2", must));
  EXPECT_EQ(step({0, 3, 1}, {0, 1, 3}, {0, T}), "no error");
}

// A caller who does not wait after a call hears of its errors by the next.
TEST_F(Rows, StepErrorsOfAnEarlierCall) {
  Tensor<int32_t> ids(device, DType::I32, {1}, {-3});
  Tensor<Bf16> table(device, DType::BF16, {4, 8}),
      row(device, DType::BF16, {1, 8});
  gpu.expectRun([&](KvContext *ctx, const KvFunctionTable &f) {
    f.embedding(ctx, ids.view(), table.view(), row.view());
  });
  ASSERT_TRUE(gpu.backend.synchronize());
  Gpu::Body nothing = [](KvContext *, const KvFunctionTable &) {};
  EXPECT_EQ(error(nothing), "an earlier call: embedding: row 0 has the id -3, "
                            "which is outside the table");
  EXPECT_EQ(error(nothing), "no error");
}

TEST_F(Rows, CopyPages) {
  constexpr int Pages = 5, Layers = 3, Tokens = 2, H = 2, D = 16;
  constexpr int Run = Tokens * H * D, Page = 2 * Layers * Run;
  // Layout cpu has layers outside of planes, the others planes outside.
  for (bool layersOutside : {false, true})
    for (int64_t layer : {-1, 1}) {
      auto values = randomValues<Bf16>(Pages * Page, 1);
      Tensor<Bf16> blocks(device, DType::BF16, {Pages, 2, Layers, Tokens, H, D},
                          values);
      KvTensorView view = *blocks.view();
      if (layersOutside) {
        view.strides[1] = Run;
        view.strides[2] = 2 * Run;
      }
      Tensor<int32_t> from(device, DType::I32, {2}, {1, 4});
      Tensor<int32_t> to(device, DType::I32, {2}, {3, 2});
      gpu.expectRun([&](KvContext *ctx, const KvFunctionTable &f) {
        f.copyPages(ctx, &view, from.view(), to.view(), layer);
      });
      auto expected = values;
      for (auto [source, target] : {std::pair(1, 3), std::pair(4, 2)})
        for (int plane = 0; plane < 2; ++plane)
          for (int l = 0; l < Layers; ++l)
            for (int i = 0; i < Run && (layer < 0 || l == layer); ++i) {
              int at = plane * view.strides[1] + l * view.strides[2] + i;
              expected[target * Page + at] = values[source * Page + at];
            }
      auto got = blocks.read();
      EXPECT_EQ(std::memcmp(got.data(), expected.data(), got.size() * 2), 0)
          << layersOutside << layer;
    }
}

// A page of a slice would be copied with what lies between its rows.
TEST_F(Rows, CopyPagesOfASlice) {
  Tensor<Bf16> blocks(device, DType::BF16, {3, 2, 2, 4, 2, 16});
  Tensor<int32_t> from(device, DType::I32, {1}, {1});
  KvTensorView slice = *blocks.view();
  slice.sizes[4] = 1; // the first head
  EXPECT_EQ(error([&](KvContext *ctx, const KvFunctionTable &f) {
              f.copyPages(ctx, &slice, from.view(), from.view(), -1);
            }),
            "copyPages: blocks is bf16[3, 2, 2, 4, 1, 16] with strides [512, "
            "256, 128, 32, 16, 1]: a page, its planes and its layers must be "
            "contiguous");
}

TEST_F(Rows, OfACpuOnly) {
  EXPECT_EQ(error([&](KvContext *ctx, const KvFunctionTable &f) {
              f.parallelFor(ctx, nullptr, nullptr, 1, 1);
            }),
            "'parallelFor' runs on a CPU and was called on a CUDA device: "
            "compile the model for a CUDA device");
  EXPECT_EQ(error([&](KvContext *ctx, const KvFunctionTable &f) {
              f.print(ctx, nullptr, nullptr, nullptr, nullptr, nullptr, 0);
            }),
            "'print' runs on a CPU and was called on a CUDA device: compile "
            "the model for a CUDA device");
}

TEST_F(Rows, TheArenaIsDeviceMemory) {
  std::vector<uint8_t> bytes(1000);
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = uint8_t(i * 7);
  Tensor<uint8_t> source(device, DType::I8, {1000}, bytes);
  Tensor<uint8_t> got(device, DType::I8, {1000});
  ASSERT_TRUE(gpu.backend.synchronize());
  gpu.expectRun([&](KvContext *ctx, const KvFunctionTable &f) {
    int64_t mark = f.arenaMark(ctx);
    // Returned buffers move down: by less than their size, so overlapping.
    void *temporary = f.arenaAlloc(ctx, 64);
    void *result = f.arenaAlloc(ctx, 1000);
    EXPECT_EQ(static_cast<char *>(result), static_cast<char *>(temporary) + 64);
    gpu.backend.copyOnDevice(result, source.data(), 1000);
    void *pointers[] = {result};
    int64_t sizes[] = {1000};
    f.arenaReturn(ctx, mark, pointers, sizes, 1);
    EXPECT_EQ(pointers[0], temporary);
    EXPECT_EQ(f.arenaMark(ctx), mark + 1024);
    gpu.backend.copyOnDevice(got.data(), pointers[0], 1000);
    f.arenaRelease(ctx, mark);
  });
  EXPECT_EQ(got.read(), bytes);
  std::string message = error([&](KvContext *ctx, const KvFunctionTable &f) {
    f.arenaAlloc(ctx, int64_t(1) << 40);
  });
  EXPECT_EQ(message, "the arena: 1099511627776 bytes asked for, 16777216 of "
                     "16777216 are free");
}

TEST_F(Rows, ArtifactsWithoutTheKernel) {
  auto few = gpu.backend.load({{"kv_attention_decode_bf16_64", "compute_80",
                                ptx("sm_80", allKernels())}});
  ASSERT_TRUE(few);
  std::swap(*few, gpu.module);
  Tensor<Bf16> x(device, DType::BF16, {1, 8});
  EXPECT_EQ(error([&](KvContext *ctx, const KvFunctionTable &f) {
              f.pair(ctx, KV_PAIR_ADD, x.view(), x.view(), x.view());
            }),
            "the artifact has no kernel kv_pair: compile it again");
}
