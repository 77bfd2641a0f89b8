//===- CacheRowsTest.cpp - Rows of a cache, read and changed --------------===//
//
// What `store` has stored, `load` gives; `update` changes the rows of a step
// and no others. Against double precision, with scales or without.
//
//===----------------------------------------------------------------------===//

#include "CudaFixture.h"

using namespace kv;
using namespace kv::test;

namespace {

struct Kind {
  DType cache;
  int dim, groups; // of scales; 0: none
  double limit;    // of a rounding, relative to the largest of a row
};

class CacheRows : public RowsTest, public ::testing::WithParamInterface<Kind> {
protected:
  // The second sequence has no rows; the third one's first page is none.
  static constexpr int Page = 4, Pages = 9, Layers = 2, Heads = 2, Rows = 12,
                       B = 3, T = 8;
  Kind kind = GetParam();
  int dim = kind.dim;
  Tensor<uint8_t> blocks{device,
                         kind.cache,
                         {Pages, 2, Layers, Page, Heads, dim},
                         std::vector<uint8_t>(dtypeBytes(kind.cache) * Pages *
                                              2 * Layers * Page * Heads * dim)};
  Tensor<float> scales{
      device,
      DType::F32,
      {Pages, 2, Layers, Page, Heads, std::max(kind.groups, 1)},
      std::vector<float>(Pages * 2 * Layers * Page * Heads *
                         std::max(kind.groups, 1))};
  Tensor<int32_t> lengths{device, DType::I32, {B}, {2, 5, 3}},
      offsets{device, DType::I32, {B + 1}, {0, 3, 3, T}},
      pages{device, DType::I32, {B, 3}, {3, 5, 0, 1, 2, 0, 99, 6, 7}};
  static constexpr int Cached[B] = {2, 5, 3}, First[B + 1] = {0, 3, 3, T};
  std::vector<float> k = randomValues<float>(T * Heads * dim, 1),
                     v = randomValues<float>(T * Heads * dim, 2);

  const KvTensorView *given() const {
    return kind.groups ? scales.view() : nullptr;
  }
  void store() {
    Tensor<float> keys(device, DType::F32, {T, Heads, dim}, k),
        values(device, DType::F32, {T, Heads, dim}, v);
    gpu.expectRun([&](KvContext *ctx, const KvFunctionTable &f) {
      f.store(ctx, blocks.view(), given(), lengths.view(), pages.view(),
              offsets.view(), 1, keys.view(), values.view());
    });
  }
  std::vector<float> load(int64_t part, int64_t window = 0) {
    Tensor<float> out(device, DType::F32, {B, Rows, Heads, dim});
    Tensor<int32_t> counted(device, DType::I32, {B});
    gpu.expectRun([&](KvContext *ctx, const KvFunctionTable &f) {
      f.load(ctx, blocks.view(), given(), lengths.view(), pages.view(),
             offsets.view(), 1, part, window, out.view(), counted.view());
    });
    EXPECT_EQ(counted.read(), (std::vector<int32_t>{5, 5, 8}));
    return out.read();
  }
  /// Row t's head in what load gives; null: its page is none.
  const float *headOf(const std::vector<float> &loaded, int t, int h) const {
    int b = t < First[1] ? 0 : 2, place = Cached[b] + t - First[b];
    if (b == 2 && place < Page)
      return nullptr;
    return &loaded[((b * Rows + place) * Heads + h) * dim];
  }
  template <class Wanted>
  void expectRows(const std::vector<float> &loaded, Wanted wanted) {
    for (int t = 0; t < T; ++t)
      for (int h = 0; h < Heads; ++h) {
        const float *have = headOf(loaded, t, h);
        if (!have)
          continue;
        std::vector<double> want(dim);
        wanted(t, h, want.data());
        double most = 0;
        for (double x : want)
          most = std::max(most, std::abs(x));
        for (int i = 0; i < dim; ++i)
          ASSERT_NEAR(have[i], want[i], kind.limit * most) << t << ' ' << i;
      }
  }
  /// What update does with keys of step rows, against what `wanted` makes of
  /// the loaded ones; values stay as they are.
  template <class Wanted>
  void testUpdate(KvUpdate what, const KvTensorView *operand, float epsilon,
                  bool interleaved, Wanted wanted) {
    store();
    std::vector<float> before = load(0), values = load(1);
    gpu.expectRun([&](KvContext *ctx, const KvFunctionTable &f) {
      f.update(ctx, blocks.view(), given(), lengths.view(), pages.view(),
               offsets.view(), 1, 0, what, operand, epsilon, interleaved);
    });
    EXPECT_EQ(load(1), values);
    std::vector<float> after = load(0);
    expectRows(after, [&](int t, int h, double *x) {
      const float *row = headOf(before, t, h);
      std::copy_n(row, dim, x);
      int b = t < First[1] ? 0 : 2;
      wanted(t, h, Cached[b] + t - First[b], x);
    });
    // Rows that were there before the step.
    for (int place : {0, 1})
      for (int i = 0; i < Heads * dim; ++i)
        EXPECT_EQ(after[place * Heads * dim + i],
                  before[place * Heads * dim + i]);
  }
};

} // namespace

TEST_P(CacheRows, Load) {
  store();
  for (int part : {0, 1}) {
    auto loaded = load(part);
    expectRows(loaded, [&](int t, int h, double *x) {
      std::copy_n(&(part ? v : k)[(t * Heads + h) * dim], dim, x);
    });
    // What a sequence does not have, and what lies in no page.
    for (int b = 0; b < B; ++b)
      for (int row = 0; row < Rows; ++row)
        for (int i = 0; i < Heads * dim; ++i)
          if (row >= Cached[b] + First[b + 1] - First[b] ||
              (b == 2 && row < Page))
            ASSERT_EQ(loaded[(b * Rows + row) * Heads * dim + i], 0);
    // Behind a window of two: rows up to length - 2.
    auto seen = load(part, 2);
    for (int b = 0; b < B; ++b)
      for (int row = 0; row < Rows; ++row)
        for (int i = 0; i < Heads * dim; ++i) {
          size_t at = (b * Rows + row) * Heads * dim + i;
          ASSERT_EQ(seen[at], row + 2 > Cached[b] ? loaded[at] : 0);
        }
  }
}

TEST_P(CacheRows, Rope) {
  constexpr int Known = 7, Width = 12; // the last positions take the last row
  auto freqs = randomValues<float>(Known * Width, 3);
  Tensor<float> angles(device, DType::F32, {Known, Width}, freqs);
  for (bool interleaved : {false, true})
    testUpdate(KV_UPDATE_ROPE, angles.view(), 0, interleaved,
               [&](int, int, int position, double *x) {
                 const float *row =
                     &freqs[std::min(position, Known - 1) * Width];
                 for (int i = 0; i < Width / 2; ++i) {
                   double &p = x[interleaved ? 2 * i : i];
                   double &q = x[interleaved ? 2 * i + 1 : i + Width / 2];
                   double turned = p * row[2 * i] - q * row[2 * i + 1];
                   q = q * row[2 * i] + p * row[2 * i + 1];
                   p = turned;
                 }
               });
}

TEST_P(CacheRows, Norm) {
  constexpr int Width = 13;
  auto weight = randomValues<float>(Width, 4);
  Tensor<float> w(device, DType::F32, {Width}, weight);
  testUpdate(KV_UPDATE_RMS_NORM, w.view(), 0.5f, false,
             [&](int, int, int, double *x) {
               double sum = 0;
               for (int i = 0; i < Width; ++i)
                 sum += x[i] * x[i];
               for (int i = 0; i < Width; ++i)
                 x[i] *= weight[i] / std::sqrt(sum / Width + 0.5);
             });
}

TEST_P(CacheRows, Add) {
  auto rows = randomValues<Bf16>(T * Heads * dim, 5);
  Tensor<Bf16> more(device, DType::BF16, {T, Heads, dim}, rows);
  testUpdate(KV_UPDATE_ADD, more.view(), 0, false,
             [&](int t, int h, int, double *x) {
               for (int i = 0; i < dim; ++i)
                 x[i] += kv::cuda::widen(rows[(t * Heads + h) * dim + i]);
             });
}

INSTANTIATE_TEST_SUITE_P(Caches, CacheRows,
                         ::testing::Values(Kind{DType::BF16, 64, 0, 0.004},
                                           Kind{DType::F16, 80, 0, 0.0005},
                                           Kind{DType::F8E4M3FN, 64, 1, 0.04},
                                           Kind{DType::I8, 128, 2, 0.005},
                                           Kind{DType::F8E5M2, 64, 1, 0.08}));

using CacheRowsErrors = RowsTest;
TEST_F(CacheRowsErrors, AreSaid) {
  Tensor<Bf16> blocks(device, DType::BF16, {2, 2, 1, 4, 1, 64});
  Tensor<int32_t> lengths(device, DType::I32, {1}),
      offsets(device, DType::I32, {2}), pages(device, DType::I32, {1, 1}),
      counted(device, DType::I32, {1});
  Tensor<float> out(device, DType::F32, {1, 4, 1, 32});
  EXPECT_EQ(error([&](KvContext *ctx, const KvFunctionTable &f) {
              f.load(ctx, blocks.view(), nullptr, lengths.view(), pages.view(),
                     offsets.view(), 0, 2, 0, out.view(), counted.view());
            }),
            "load: part 2 of 2");
  EXPECT_EQ(error([&](KvContext *ctx, const KvFunctionTable &f) {
              f.load(ctx, blocks.view(), nullptr, lengths.view(), pages.view(),
                     offsets.view(), 0, 1, 0, out.view(), counted.view());
            }),
            "load: out is f32[1, 4, 1, 32], lengths i32[1], blocks bf16[2, 2, "
            "1, 4, 1, 64]: needed are dense [B, "
            "S, 1, 64] and [B]");
  Tensor<float> wide(device, DType::F32, {72});
  EXPECT_EQ(error([&](KvContext *ctx, const KvFunctionTable &f) {
              f.update(ctx, blocks.view(), nullptr, lengths.view(),
                       pages.view(), offsets.view(), 0, 0, KV_UPDATE_RMS_NORM,
                       wide.view(), 0, 0);
            }),
            "update: kind 1, operand f32[72], blocks bf16[2, 2, 1, 4, 1, 64]: "
            "heads have at most 256 elements, and "
            "an operand no more");
}
