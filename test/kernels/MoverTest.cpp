//===- MoverTest.cpp - The movers against plain loops ---------------------===//

#include "../../kernels/cuda/MoverBodies.h"
#include "../../kernels/cuda/PlanBody.h"
#include "../../kernels/cuda/emulator/CpuBlock.h"
#include "PlanCase.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace kv::cuda;

namespace {

/// Runs a body in some blocks under every schedule, and gives the reports.
class Launch {
public:
  template <class T> Launch &reads(const std::vector<T> &data) {
    regions.push_back({data.data(), data.size() * sizeof(T), Access::Read});
    return *this;
  }
  template <class T> Launch &writes(std::vector<T> &data) {
    regions.push_back({data.data(), data.size() * sizeof(T), Access::Write});
    return *this;
  }
  template <class Body>
  std::vector<std::string> run(int blocks, Body &&body,
                               Schedule schedule = Schedule::Random) {
    Machine machine({.schedule = schedule});
    for (const Region &region : regions)
      machine.global().allow(region.data, region.bytes, region.access);
    machine.launch(blocks, MoverThreads, PlanSharedBytes,
                   [&](Machine &m, int thread) {
                     CpuBlock b(m, thread);
                     body(b);
                   });
    return machine.reports();
  }

private:
  struct Region {
    const void *data;
    size_t bytes;
    Access access;
  };
  std::vector<Region> regions;
};

#define EXPECT_CLEAN(...)                                                      \
  for (const std::string &report : __VA_ARGS__)                                \
  ADD_FAILURE() << report

std::mt19937 random_(1);

template <class T> std::vector<T> draw(size_t count) {
  std::vector<T> data(count);
  for (T &x : data)
    x = narrow<T>(float(int(random_() % 4001) - 2000) / 512);
  return data;
}

template <class T> std::vector<T> nothing(size_t count) {
  std::vector<T> data(count);
  std::memset(static_cast<void *>(data.data()), 0xff, count * sizeof(T));
  return data;
}

template <class T> bool sameBytes(const T &a, const T &b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

/// Within a unit in the last place of the type, or so.
template <class T> void expectNear(T got, double expected) {
  double unit = std::is_same_v<T, F16>    ? 1e-3
                : std::is_same_v<T, Bf16> ? 8e-3
                                          : 1e-6;
  EXPECT_NEAR(widen(got), expected, unit * std::fabs(expected) + 1e-6);
}

} // namespace

template <class From, class To> void testStore(bool headsFirst, bool planes) {
  constexpr int Heads = 3, Dim = 16, Page = 4, Layers = 2, Layer = 1;
  // Of four sequences the second asks for nothing, the third for more than
  // its row of the table holds; the last has an entry that is no page.
  std::vector<int32_t> cached = {6, 2, 9, 0}, offsets = {0, 5, 5, 13, 15};
  std::vector<int32_t> table = {3, 5, 2, 1, 0, 0, 7, 6, 4, 99, -1, 8};
  int columns = 3, tokens = 15, pages = 9;
  int64_t tokenStride = headsFirst ? Dim : Heads * Dim;
  int64_t headStride = headsFirst ? Page * Dim : Dim;
  int64_t layerStride = Page * Heads * Dim, planeStride = layerStride * Layers;
  int64_t pageStride = planeStride * (planes ? 2 : 1);
  auto k = draw<From>(tokens * Heads * Dim), v = draw<From>(k.size());
  auto cache = nothing<To>(pages * pageStride), expected = cache;
  StoreParams p{{cache.data(), pageStride, planeStride, layerStride,
                 tokenStride, headStride, pages, Page},
                Layer,
                table.data(),
                columns,
                columns,
                {cached.data(), offsets.data(), 4, tokens, 0},
                Heads,
                Dim,
                k.data(),
                planes ? v.data() : nullptr,
                Heads * Dim,
                Dim,
                Heads * Dim,
                Dim};
  for (int b = 0; b < 4; ++b)
    for (int t = offsets[b]; t < offsets[b + 1]; ++t) {
      int position = cached[b] + t - offsets[b];
      if (position >= columns * Page)
        continue;
      int page = table[b * columns + position / Page];
      if (page < 1 || page >= pages)
        continue;
      for (int plane = 0; plane <= planes; ++plane)
        for (int h = 0; h < Heads; ++h)
          for (int d = 0; d < Dim; ++d)
            expected[page * pageStride + plane * planeStride +
                     Layer * layerStride + position % Page * tokenStride +
                     h * headStride + d] =
                narrow<To>(widen((plane ? v : k)[(t * Heads + h) * Dim + d]));
    }
  Launch launch;
  launch.reads(k).reads(v).reads(table).reads(offsets).writes(cache);
  EXPECT_CLEAN(
      launch.run(2, [&](CpuBlock &b) { storeBody<CpuBlock, From, To>(b, p); }));
  for (size_t i = 0; i < cache.size(); ++i)
    ASSERT_TRUE(sameBytes(cache[i], expected[i])) << i;
  // A table's entry is checked.
  EXPECT_FALSE(launch
                   .run(2,
                        [&](CpuBlock &b) {
                          storeBody<CpuBlock, From, To, Fault::UncheckedPage>(
                              b, p);
                        })
                   .empty());
}

TEST(Mover, Store) {
  for (bool headsFirst : {false, true})
    for (bool planes : {false, true}) {
      testStore<Bf16, Bf16>(headsFirst, planes);
      testStore<F16, F16>(headsFirst, planes);
      testStore<Bf16, F8E4M3>(headsFirst, planes);
    }
}

template <class T> void testRope(int dim, int width, bool interleaved) {
  constexpr int Tokens = 5, Heads = 3, Known = 7;
  auto x = draw<T>(Tokens * Heads * dim), out = nothing<T>(x.size());
  std::vector<int32_t> positions = {0, 6, 3, Known, -1};
  std::vector<float> freqs(Known * width);
  for (int i = 0; i < Known * width / 2; ++i) {
    freqs[i * 2] = std::cos(i * 0.37f);
    freqs[i * 2 + 1] = std::sin(i * 0.37f);
  }
  RopeParams p{x.data(),    out.data(), Heads * dim,      dim,
               Heads * dim, dim,        Tokens,           Heads,
               dim,         width,      positions.data(), freqs.data(),
               Known,       interleaved};
  Launch launch;
  launch.reads(x).reads(positions).reads(freqs).writes(out);
  EXPECT_CLEAN(
      launch.run(2, [&](CpuBlock &b) { ropeBody<CpuBlock, T>(b, p); }));
  for (int t = 0; t < Tokens; ++t)
    for (int h = 0; h < Heads; ++h) {
      const T *in = &x[(t * Heads + h) * dim];
      const T *got = &out[(t * Heads + h) * dim];
      for (int d = width; d < dim; ++d)
        ASSERT_TRUE(sameBytes(got[d], in[d]));
      for (int i = 0; i < width / 2; ++i) {
        int a = interleaved ? 2 * i : i,
            b = interleaved ? 2 * i + 1 : i + width / 2;
        if (positions[t] < 0 || positions[t] >= Known) {
          EXPECT_TRUE(std::isnan(widen(got[a])) && std::isnan(widen(got[b])));
          continue;
        }
        double c = freqs[positions[t] * width + 2 * i],
               s = freqs[positions[t] * width + 2 * i + 1];
        double unit = std::is_same_v<T, F16> ? 4e-3 : 3e-2;
        EXPECT_NEAR(widen(got[a]), widen(in[a]) * c - widen(in[b]) * s, unit);
        EXPECT_NEAR(widen(got[b]), widen(in[a]) * s + widen(in[b]) * c, unit);
      }
    }
}

TEST(Mover, Rope) {
  for (bool interleaved : {false, true}) {
    testRope<Bf16>(64, 64, interleaved);
    testRope<F16>(128, 128, interleaved);
    testRope<F16>(96, 32, interleaved);
  }
}

template <class T> void testNorm(int width) {
  constexpr int Rows = 5;
  auto x = draw<T>(Rows * width), weight = draw<T>(width),
       out = nothing<T>(x.size());
  NormParams p{x.data(), out.data(),    width, width, Rows,
               width,    weight.data(), 1e-5f, 0.25f};
  Launch launch;
  launch.reads(x).reads(weight).writes(out);
  EXPECT_CLEAN(
      launch.run(2, [&](CpuBlock &b) { normBody<CpuBlock, T>(b, p); }));
  for (int r = 0; r < Rows; ++r) {
    double sum = 0;
    for (int i = 0; i < width; ++i)
      sum += std::pow(widen(x[r * width + i]), 2);
    for (int i = 0; i < width; ++i)
      expectNear(out[r * width + i], widen(x[r * width + i]) /
                                         std::sqrt(sum / width + 1e-5) *
                                         (widen(weight[i]) + 0.25));
  }
  EXPECT_FALSE(launch
                   .run(1,
                        [&](CpuBlock &b) {
                          normBody<CpuBlock, T, Fault::MissingStageBarrier>(b,
                                                                            p);
                        })
                   .empty());
}

TEST(Mover, Norm) {
  for (int width : {8, 64, 576, 4096}) {
    testNorm<Bf16>(width);
    testNorm<F16>(width);
  }
}

template <class T> void testElementwise() {
  constexpr int Rows = 7, Width = 72, Stride = 80;
  auto a = draw<T>(Rows * Stride), c = draw<T>(Rows * Stride);
  auto silu = nothing<T>(Rows * Stride), sum = silu;
  Launch launch;
  launch.reads(a).reads(c).writes(silu).writes(sum);
  PairParams p{a.data(), c.data(), silu.data(), Stride,
               Stride,   Stride,   Rows,        Width};
  EXPECT_CLEAN(launch.run(
      2, [&](CpuBlock &b) { pairBody<CpuBlock, T, SiluMul>(b, p); }));
  p.out = sum.data();
  EXPECT_CLEAN(
      launch.run(1, [&](CpuBlock &b) { pairBody<CpuBlock, T, Add>(b, p); }));
  for (int i = 0; i < Rows * Stride; ++i) {
    if (i % Stride >= Width) {
      EXPECT_TRUE(std::isnan(widen(silu[i])) && std::isnan(widen(sum[i])));
      continue;
    }
    double x = widen(a[i]), y = widen(c[i]);
    expectNear(silu[i], x / (1 + std::exp(-x)) * y);
    expectNear(sum[i], x + y);
  }
}

TEST(Mover, SiluMulAndAdd) {
  testElementwise<Bf16>();
  testElementwise<F16>();
}

template <class From, class To> void testCast() {
  constexpr int Rows = 3, Width = 40;
  auto x = draw<From>(Rows * Width);
  auto out = nothing<To>(x.size());
  CastParams p{x.data(), out.data(), Width, Width, Rows, Width};
  Launch launch;
  launch.reads(x).writes(out);
  EXPECT_CLEAN(
      launch.run(1, [&](CpuBlock &b) { castBody<CpuBlock, From, To>(b, p); }));
  for (size_t i = 0; i < x.size(); ++i)
    EXPECT_EQ(widen(out[i]), widen(narrow<To>(widen(x[i]))));
}

TEST(Mover, Cast) {
  testCast<float, Bf16>();
  testCast<float, F16>();
  testCast<Bf16, float>();
  testCast<F16, float>();
}

TEST(Mover, Embedding) {
  constexpr int Width = 24, Words = 10;
  auto table = draw<Bf16>(Words * Width);
  std::vector<int32_t> ids = {3, 0, 9, 10, -1, 3};
  auto out = nothing<Bf16>(ids.size() * Width);
  for (Bf16 &x : out)
    x.bits = 0;
  EmbeddingParams p{ids.data(), table.data(),        out.data(), Width,
                    Width,      int32_t(ids.size()), Width,      Words};
  Launch launch;
  launch.reads(ids).reads(table).writes(out);
  EXPECT_CLEAN(
      launch.run(3, [&](CpuBlock &b) { embeddingBody<CpuBlock, Bf16>(b, p); }));
  for (size_t i = 0; i < out.size(); ++i) {
    int32_t id = ids[i / Width];
    if (id < 0 || id >= Words)
      EXPECT_TRUE(std::isnan(widen(out[i])));
    else
      EXPECT_EQ(widen(out[i]), widen(table[id * Width + i % Width]));
  }
}

template <class T> void testArgmax(int width) {
  constexpr int Rows = 6;
  auto x = draw<T>(Rows * width);
  for (int i = 0; i < width; ++i) {
    x[i] = narrow<T>(NAN); // row 0: nothing but NaN
    if (i % 3)
      x[2 * width + i] = narrow<T>(NAN);
    x[3 * width + i] = narrow<T>(-INFINITY);
    x[4 * width + i] = narrow<T>(2); // all equal: the first
  }
  std::vector<int32_t> out(Rows, -1);
  ArgmaxParams p{x.data(), out.data(), width, Rows, width};
  Launch launch;
  launch.reads(x).writes(out);
  for (Schedule schedule :
       {Schedule::LatestFirst, Schedule::OldestFirst, Schedule::Random})
    EXPECT_CLEAN(launch.run(
        2, [&](CpuBlock &b) { argmaxBody<CpuBlock, T>(b, p); }, schedule));
  for (int r = 0; r < Rows; ++r) {
    int best = -1;
    for (int i = 0; i < width; ++i)
      if (!std::isnan(widen(x[r * width + i])) &&
          (best < 0 || widen(x[r * width + i]) > widen(x[r * width + best])))
        best = i;
    EXPECT_EQ(out[r], std::max(best, 0)) << "row " << r << " of " << width;
  }
  EXPECT_FALSE(launch
                   .run(1,
                        [&](CpuBlock &b) {
                          argmaxBody<CpuBlock, T, Fault::MissingStageBarrier>(
                              b, p);
                        })
                   .empty());
}

TEST(Mover, Argmax) {
  for (int width : {8, 256, 4096, 5000}) {
    testArgmax<float>(width);
    testArgmax<Bf16>(width);
    testArgmax<F16>(width);
  }
}

TEST(Mover, CopyPages) {
  constexpr int Pages = 6, Bytes = 160;
  std::vector<uint64_t> data(Pages * Bytes / 8);
  for (uint64_t &x : data)
    x = random_();
  auto expected = data;
  std::vector<int32_t> pairs = {1, 4, 3, 5, 2, 6, -1, 2, 2, 0};
  for (int i = 0; i < Bytes / 8; ++i) {
    expected[4 * Bytes / 8 + i] = data[1 * Bytes / 8 + i];
    expected[5 * Bytes / 8 + i] = data[3 * Bytes / 8 + i];
  }
  CopyPagesParams p{data.data(), Bytes, Pages, pairs.data(), 5};
  Launch launch;
  launch.reads(pairs).writes(data);
  EXPECT_CLEAN(
      launch.run(2, [&](CpuBlock &b) { copyPagesBody<CpuBlock>(b, p); }));
  EXPECT_EQ(data, expected);
}

TEST(Mover, PlanIsTheHosts) {
  using namespace kv::plan;
  for (int seed = 0; seed < 120; ++seed) {
    std::mt19937 random(seed);
    kv::plan::test::Planned host = kv::plan::test::randomPlan(random);
    if (seed % 20 == 0) { // more sequences than threads
      int32_t last = host.offsets.back();
      for (int i = 0; i < 600; ++i) {
        host.offsets.push_back(last += random() % 3);
        host.cached.push_back(random() % 2000);
      }
      host.batch.tokens = last;
      host.make();
    }
    auto tiles = nothing<Tile>(host.tiles.size());
    auto cuts = nothing<Cut>(host.cuts.size());
    auto header = nothing<Header>(1);
    PlanParams p{host.batch, host.shape, header.data(), tiles.data(),
                 cuts.data()};
    Launch launch;
    launch.writes(tiles).writes(cuts).writes(header);
    EXPECT_CLEAN(launch.run(1, [&](CpuBlock &b) { planBody<CpuBlock>(b, p); }));
    ASSERT_EQ(header[0].tiles, host.header.tiles) << seed;
    ASSERT_EQ(header[0].total, host.header.total) << seed;
    ASSERT_EQ(header[0].payload, host.header.payload) << seed;
    for (int32_t i = 0; i < header[0].tiles; ++i)
      ASSERT_TRUE(sameBytes(tiles[i], host.tiles[i])) << seed << ' ' << i;
    for (size_t i = 0; i < cuts.size(); ++i)
      ASSERT_TRUE(cuts[i] == host.cuts[i]) << seed << ' ' << i;
    EXPECT_FALSE(host.batch.sequences &&
                 launch
                     .run(1,
                          [&](CpuBlock &b) {
                            planBody<CpuBlock, Fault::MissingStageBarrier>(b,
                                                                           p);
                          })
                     .empty());
  }
}
