//===- RopeStoreTest.cpp - Norm, rotation and store in one launch ---------===//
//
// Against launches of their own: the same bits, wherever rows lie.
//
//===----------------------------------------------------------------------===//

#include "CudaFixture.h"

using namespace kv;
using namespace kv::test;

namespace {

struct Shape {
  int heads, kvHeads, dim, width;
  bool interleaved;
  DType cache;
  int groups; // of scales; 0: none
  bool powers = false;
};

template <class T> constexpr DType dtypeOf = DType::BF16;
template <> constexpr DType dtypeOf<float> = DType::F32;

class RopeStore : public RowsTest {
protected:
  static constexpr int Tokens = 9, Page = 4, Pages = 7, Layers = 2, Known = 12;

  struct Result {
    std::vector<Bf16> q;
    std::vector<uint8_t> blocks, scales;
  };

  /// Some heads of rows that hold those of q, k and v.
  template <class T>
  static std::vector<T> headsOf(const std::vector<T> &rows, const Shape &s,
                                int first, int count) {
    std::vector<T> heads;
    for (size_t at = 0; at < rows.size(); ++at)
      if (int head = int(at) / s.dim % (s.heads + 2 * s.kvHeads) - first;
          head >= 0 && head < count)
        heads.push_back(rows[at]);
    return heads;
  }

  /// Rows of q, k and v lie beside each other, as one product makes them.
  template <class T> Result run(const Shape &s, bool normed, bool fused) {
    int all = s.heads + 2 * s.kvHeads;
    auto values = randomValues<T>(Tokens * all * s.dim, 1);
    Tensor<T> rows(device, dtypeOf<T>, {Tokens, all, s.dim}, values);
    auto part = [&](int64_t first, int64_t count) {
      KvTensorView view = *rows.view();
      view.offset = first * s.dim;
      view.sizes[1] = count;
      return view;
    };
    KvTensorView q = part(0, s.heads), k = part(s.heads, s.kvHeads),
                 v = part(s.heads + s.kvHeads, s.kvHeads);
    Tensor<float> qWeight(device, DType::F32, {s.dim},
                          randomValues<float>(s.dim, 2));
    Tensor<Bf16> kWeight(device, DType::BF16, {s.dim},
                         randomValues<Bf16>(s.dim, 3));
    Tensor<float> freqs(device, DType::F32, {Known, s.width},
                        randomValues<float>(Known * s.width, 4));
    // The second sequence is empty; the third leaves its row of the table, and
    // its first page is none.
    Tensor<int32_t> lengths(device, DType::I32, {3}, {2, 5, 3});
    Tensor<int32_t> offsets(device, DType::I32, {4}, {0, 3, 3, Tokens});
    Tensor<int32_t> pages(device, DType::I32, {3, 2}, {3, 5, 1, 2, 99, 6});
    Tensor<int32_t> positions(device, DType::I32, {Tokens},
                              {2, 3, 4, 3, 4, 5, Known, 7, -1});
    size_t bytes = dtypeBytes(s.cache);
    Tensor<uint8_t> blocks(
        device, s.cache, {Pages, 2, Layers, Page, s.kvHeads, s.dim},
        std::vector<uint8_t>(
            bytes * Pages * 2 * Layers * Page * s.kvHeads * s.dim, 0x3a));
    DType scaleType = s.powers ? DType::F8E8M0FNU : DType::F32;
    int groups = std::max(s.groups, 1);
    Tensor<uint8_t> scales(
        device, scaleType, {Pages, 2, Layers, Page, s.kvHeads, groups},
        std::vector<uint8_t>(dtypeBytes(scaleType) * Pages * 2 * Layers * Page *
                                 s.kvHeads * groups,
                             0x3a));
    Tensor<float> normedQ(device, DType::F32, {Tokens, s.heads, s.dim}),
        normedK(device, DType::F32, {Tokens, s.kvHeads, s.dim}),
        turned(device, DType::F32, {Tokens, s.kvHeads, s.dim}),
        widened(device, DType::F32, {Tokens, s.kvHeads, s.dim});
    Tensor<Bf16> out(device, DType::BF16, {Tokens, s.heads, s.dim});
    // What the heads of rows beside others are: copied to lie alone.
    Tensor<T> aloneQ(device, dtypeOf<T>, {Tokens, s.heads, s.dim}),
        aloneK(device, dtypeOf<T>, {Tokens, s.kvHeads, s.dim});
    aloneQ.fill(headsOf(values, s, 0, s.heads));
    aloneK.fill(headsOf(values, s, s.heads, s.kvHeads));
    std::vector<float> wide;
    for (T x : headsOf(values, s, s.heads + s.kvHeads, s.kvHeads))
      wide.push_back(kv::cuda::widen(x));
    widened.fill(wide);
    gpu.expectRun([&](KvContext *ctx, const KvFunctionTable &f) {
      const KvTensorView *given = s.groups ? scales.view() : nullptr;
      if (fused) {
        f.ropeStore(ctx, blocks.view(), given, lengths.view(), pages.view(),
                    offsets.view(), 1, &q, &k, &v, positions.view(),
                    freqs.view(), s.interleaved, qWeight.view(), kWeight.view(),
                    1e-5f, 0.5f, normed | (s.groups ? 2 : 0), out.view());
        return;
      }
      if (normed) {
        f.norm(ctx, aloneQ.view(), qWeight.view(), 1e-5f, 0.5f, normedQ.view());
        f.norm(ctx, aloneK.view(), kWeight.view(), 1e-5f, 0.5f, normedK.view());
      }
      f.rope(ctx, normed ? normedQ.view() : &q, positions.view(), freqs.view(),
             s.interleaved, out.view());
      f.rope(ctx, normed ? normedK.view() : &k, positions.view(), freqs.view(),
             s.interleaved, turned.view());
      f.store(ctx, blocks.view(), given, lengths.view(), pages.view(),
              offsets.view(), 1, turned.view(), widened.view());
    });
    Result result{out.read(), blocks.read(), scales.read()};
    auto found = gpu.context->stepError();
    EXPECT_FALSE(found);
    if (!found)
      EXPECT_EQ(found.error().message,
                "kv.rope: a position is outside freqs: row 6 has the position "
                "12");
    return result;
  }

  template <class T> void expectSameBits(const Shape &s) {
    for (bool normed : {false, true}) {
      Result apart = run<T>(s, normed, false), one = run<T>(s, normed, true);
      ASSERT_EQ(apart.q.size(), one.q.size());
      EXPECT_EQ(std::memcmp(apart.q.data(), one.q.data(), 2 * one.q.size()), 0)
          << s.dim << ", " << s.width << ", " << normed;
      EXPECT_TRUE(apart.blocks == one.blocks)
          << s.dim << ", " << s.width << ", " << normed;
      EXPECT_TRUE(apart.scales == one.scales)
          << s.dim << ", " << s.width << ", " << normed;
    }
  }
};

} // namespace

TEST_F(RopeStore, SameBits) {
  expectSameBits<float>({4, 2, 64, 64, false, DType::BF16, 0});
  expectSameBits<Bf16>({3, 1, 128, 128, false, DType::F16, 0});
  expectSameBits<float>({2, 2, 80, 48, false, DType::BF16, 0});
  expectSameBits<Bf16>({2, 1, 96, 96, true, DType::F8E4M3FN, 0});
  expectSameBits<float>({1, 1, 256, 32, true, DType::BF16, 0});
}

TEST_F(RopeStore, SameBitsWithScales) {
  expectSameBits<float>({4, 2, 64, 64, false, DType::F8E4M3FN, 1});
  expectSameBits<Bf16>({2, 1, 112, 112, false, DType::I8, 1});
  expectSameBits<float>({2, 1, 128, 64, true, DType::F8E5M2, 4, true});
}

TEST_F(RopeStore, OneLaunch) {
  int64_t before = fake::counters().launches;
  run<float>({4, 2, 64, 64, false, DType::BF16, 0}, true, true);
  EXPECT_EQ(fake::counters().launches, before + 1);
  run<float>({4, 2, 64, 64, false, DType::BF16, 0}, true, false);
  EXPECT_EQ(fake::counters().launches, before + 6);
}
