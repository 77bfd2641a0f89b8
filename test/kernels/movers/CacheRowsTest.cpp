//===- CacheRowsTest.cpp - Rows of a cache, read and changed --------------===//
//
// The kernels `load` and `update` against plain loops over the same cache, with
// scales or without.
//
//===----------------------------------------------------------------------===//

#include "kernels/cuda/parameters/States.h"
#include "test/kernels/KernelRun.h"

#include <cmath>
#include <cstring>
#include <random>

using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

/// A step over a cache of T, keys of layer 1. The second sequence has no rows,
/// the third one's first page is none and the fourth's rows end behind its
/// table.
template <class T, int Width, int Groups, bool Powers> struct CacheRows {
  static constexpr int Dim = Width, Heads = 2, Page = 4, Pages = 9, Layers = 2,
                       Layer = 1, Sequences = 4, Columns = 3, Rows = 14,
                       Tokens = 16;
  static constexpr int GroupSize = Groups ? Dim / Groups : Dim;
  std::vector<int32_t> cached = {2, 5, 3, 6}, offsets = {0, 3, 3, 8, Tokens},
                       table = {3, 5, 0, 1, 2, 0, 99, 6, 7, 4, 8, 3};
  std::vector<T> cache;
  std::vector<float> scales; // what they are; `bytes` is how they lie
  std::vector<uint8_t> bytes;

  CacheRows() {
    table.back() = 0; // page 3 is the first sequence's
    std::mt19937 random(1);
    auto draw = [&] { return float(int(random() % 4001) - 2000) / 512; };
    for (int i = 0; i < Pages * pageStride(); ++i)
      cache.push_back(narrow<T>(draw()));
    for (int i = 0; i < Pages * pageStride() / Dim * Groups; ++i) {
      int exponent = int(random() % 5) - 2;
      scales.push_back(Powers ? std::ldexp(1.0f, exponent)
                              : 1 + float(random() % 64) / 100);
      if (Powers)
        bytes.push_back(uint8_t(127 + exponent));
    }
    if (!Powers) {
      bytes.resize(scales.size() * 4);
      if (!scales.empty())
        std::memcpy(bytes.data(), scales.data(), bytes.size());
    }
  }

  static constexpr int64_t pageStride() {
    return int64_t(2) * Layers * Page * Heads * Dim;
  }
  /// Row `position` of a sequence, its element 0; negative: it lies nowhere.
  int64_t rowAt(int b, int64_t position, int plane, int head) const {
    if (position >= Columns * Page)
      return -1;
    int page = table[b * Columns + position / Page];
    if (page < 1 || page >= Pages)
      return -1;
    return page * pageStride() +
           (((plane * Layers + Layer) * Page + position % Page) * Heads +
            head) *
               Dim;
  }
  float element(const std::vector<T> &in, const std::vector<uint8_t> &by,
                int64_t row, int d) const {
    float x = widen(in[row + d]);
    if (!Groups)
      return x;
    int64_t at = row / Dim * Groups + d / GroupSize;
    float scale;
    if (Powers)
      scale = std::ldexp(1.0f, by[at] - 127);
    else
      std::memcpy(&scale, &by[at * 4], 4);
    return x * scale;
  }

  /// Where rows lie. `write`: into `cache` and `bytes`.
  StoreScaledParams params(KernelRun &run, bool write) {
    int64_t token = Heads * Dim, layer = Page * token, plane = layer * Layers;
    auto ofScales = [](int64_t stride) { return stride / Dim * Groups; };
    StoreScaledParams p{};
    p.store.cache = {write ? run.out(cache) : run.in(cache),
                     pageStride(),
                     plane,
                     layer,
                     token,
                     Dim,
                     Pages,
                     Page};
    p.store.layer = Layer;
    p.store.table = run.in(table);
    p.store.tablePitch = p.store.tableColumns = Columns;
    p.store.batch = {run.in(cached), run.in(offsets), Sequences, Tokens,
                     Columns * Page};
    p.store.heads = Heads;
    p.store.dim = Dim;
    p.store.cacheType = std::is_same_v<T, Bf16>     ? KV_DTYPE_BF16
                        : std::is_same_v<T, F16>    ? KV_DTYPE_F16
                        : std::is_same_v<T, F8E4M3> ? KV_DTYPE_F8E4M3FN
                        : std::is_same_v<T, F8E5M2> ? KV_DTYPE_F8E5M2
                                                    : KV_DTYPE_I8;
    if (Groups)
      p.scales = {write ? run.out(bytes) : run.in(bytes),
                  ofScales(pageStride()),
                  ofScales(plane),
                  ofScales(layer),
                  ofScales(token),
                  ofScales(Dim),
                  Powers,
                  Groups,
                  0};
    p.groupChunks = GroupSize / 8;
    return p;
  }
};

template <class Case> void testLoad(int plane, int64_t window) {
  Case c;
  constexpr int Dim = Case::Dim, Heads = Case::Heads, Rows = Case::Rows;
  std::vector<float> out(Case::Sequences * Rows * Heads * Dim, -1);
  std::vector<int32_t> lengths(Case::Sequences, -1);
  KernelRun run;
  StoreScaledParams p = c.params(run, /*write=*/false);
  LoadParams load{p.store,      p.scales,         plane, p.groupChunks, window,
                  run.out(out), run.out(lengths), Rows,  KV_DTYPE_F32};
  run("kv_load", 3, load);
  for (int b = 0; b < Case::Sequences; ++b) {
    int length = c.cached[b] + c.offsets[b + 1] - c.offsets[b];
    EXPECT_EQ(lengths[b], length);
    for (int i = 0; i < Rows; ++i)
      for (int h = 0; h < Heads; ++h) {
        bool seen = i < length && (!window || i + window > c.cached[b]);
        int64_t row = seen ? c.rowAt(b, i, plane, h) : -1;
        for (int d = 0; d < Dim; ++d)
          ASSERT_EQ(out[((b * Rows + i) * Heads + h) * Dim + d],
                    row < 0 ? 0 : c.element(c.cache, c.bytes, row, d))
              << "sequence " << b << ", row " << i << ", element " << d;
      }
  }
}

/// `wanted(token, head, position, x)` changes a row; a rounding of the cache's
/// type loses `unit` of a row's largest.
template <class Case, class Wanted>
void testUpdate(UpdateParams p, const std::vector<float> &operand, double unit,
                Wanted wanted) {
  Case c;
  constexpr int Dim = Case::Dim;
  auto cache = c.cache;
  auto bytes = c.bytes;
  KernelRun run;
  p.store = c.params(run, /*write=*/true);
  p.scaled = !bytes.empty();
  p.operand = run.in(operand);
  p.operandType = KV_DTYPE_F32;
  run("kv_update", 3, p);
  std::vector<bool> changed(cache.size());
  for (int b = 0; b < Case::Sequences; ++b)
    for (int t = c.offsets[b]; t < c.offsets[b + 1]; ++t)
      for (int h = 0; h < Case::Heads; ++h) {
        int position = c.cached[b] + t - c.offsets[b];
        int64_t row = c.rowAt(b, position, p.plane, h);
        if (row < 0)
          continue;
        std::vector<double> x(Dim);
        for (int d = 0; d < Dim; ++d)
          x[d] = c.element(cache, bytes, row, d);
        wanted(t, h, position, x.data());
        double most = 0;
        for (double each : x)
          most = std::max(most, std::fabs(each));
        for (int d = 0; d < Dim; ++d) {
          changed[row + d] = true;
          ASSERT_NEAR(c.element(c.cache, c.bytes, row, d), x[d], unit * most)
              << "token " << t << ", head " << h << ", element " << d;
        }
      }
  for (size_t i = 0; i < cache.size(); ++i)
    if (!changed[i])
      ASSERT_EQ(0, std::memcmp(&cache[i], &c.cache[i], sizeof(cache[i]))) << i;
}

template <class Case> void testUpdates(double unit) {
  constexpr int Dim = Case::Dim, Width = Dim - 8, Known = 7;
  std::mt19937 random(2);
  std::vector<float> operand(Case::Tokens * Case::Heads * Dim);
  for (float &x : operand)
    x = float(int(random() % 401) - 200) / 100;
  UpdateParams p{};
  p.plane = 1;
  p.kind = KV_UPDATE_ADD;
  p.tokenStride = Case::Heads * Dim;
  p.headStride = Dim;
  testUpdate<Case>(p, operand, unit, [&](int t, int h, int, double *x) {
    for (int d = 0; d < Dim; ++d)
      x[d] += operand[(t * Case::Heads + h) * Dim + d];
  });
  p.plane = 0;
  p.kind = KV_UPDATE_RMS_NORM;
  p.width = Width;
  p.epsilon = 0.5f;
  testUpdate<Case>(p, operand, unit, [&](int, int, int, double *x) {
    double sum = 0;
    for (int d = 0; d < Width; ++d)
      sum += x[d] * x[d];
    for (int d = 0; d < Width; ++d)
      x[d] *= operand[d] / std::sqrt(sum / Width + 0.5);
  });
  p.kind = KV_UPDATE_ROPE;
  p.operandRows = Known; // the last positions take the last row
  for (bool interleaved : {false, true}) {
    p.interleaved = interleaved;
    testUpdate<Case>(p, operand, unit, [&](int, int, int position, double *x) {
      const float *row = &operand[std::min(position, Known - 1) * Width];
      for (int i = 0; i < Width / 2; ++i) {
        double &a = x[interleaved ? 2 * i : i];
        double &b = x[interleaved ? 2 * i + 1 : i + Width / 2];
        double turned = a * row[2 * i] - b * row[2 * i + 1];
        b = b * row[2 * i] + a * row[2 * i + 1];
        a = turned;
      }
    });
  }
}

} // namespace

TEST(Mover, Load) {
  for (int plane : {0, 1})
    for (int window : {0, 2}) {
      testLoad<CacheRows<Bf16, 64, 0, false>>(plane, window);
      testLoad<CacheRows<F16, 80, 0, false>>(plane, window);
      testLoad<CacheRows<F8E4M3, 64, 1, true>>(plane, window);
      testLoad<CacheRows<F8E5M2, 64, 1, false>>(plane, window);
      testLoad<CacheRows<I8, 128, 2, false>>(plane, window);
    }
}

TEST(Mover, Update) {
  testUpdates<CacheRows<Bf16, 64, 0, false>>(0.004);
  testUpdates<CacheRows<F16, 80, 0, false>>(0.0006);
  testUpdates<CacheRows<F8E4M3, 64, 1, true>>(0.07);
  testUpdates<CacheRows<F8E5M2, 64, 1, false>>(0.14);
  testUpdates<CacheRows<I8, 128, 2, false>>(0.006);
}
