//===- SharesTest.cpp - Rows that count as their own numbers say ----------===//
//
// Gates, and two attentions that are merged.
//
//===----------------------------------------------------------------------===//

#include "MoverCase.h"

using namespace kv::cuda;
using namespace kv::cuda::test;

template <class X, class M, class Weight, class Out>
static void testGate(int width, int depth) {
  constexpr int Rows = 5;
  int xStride = width + 8, mStride = depth + 16, outStride = width + 24;
  auto x = draw<X>(size_t(Rows) * xStride);
  auto m = draw<M>(size_t(Rows) * mStride);
  auto weight = draw<Weight>(depth);
  for (Weight &element : weight) // sums of a few units
    element = narrow<Weight>(widen(element) / float(depth));
  // Between rows stands what must not be read.
  for (int r = 0; r < Rows; ++r)
    std::fill(m.begin() + r * mStride + depth, m.begin() + (r + 1) * mStride,
              narrow<M>(NAN));
  auto out = nothing<Out>(size_t(Rows) * outStride);
  KernelRun run;
  run("kv_gate_rows", 2,
      GateRowsParams{run.in(x), run.in(m), run.in(weight), run.out(out),
                     xStride, mStride, outStride, Rows, width, depth, TypeOf<X>,
                     TypeOf<M>, TypeOf<Weight>, TypeOf<Out>});
  for (int r = 0; r < Rows; ++r) {
    double gate = 0;
    for (int k = 0; k < depth; ++k)
      gate += double(widen(m[r * mStride + k])) * widen(weight[k]);
    for (int n = 0; n < outStride; ++n)
      if (n < width)
        expectNear(out[r * outStride + n],
                   widen(x[r * xStride + n]) / (1 + std::exp(-gate)));
      else
        EXPECT_TRUE(std::isnan(widen(out[r * outStride + n]))) << "between";
  }
}

TEST(Mover, GateRows) {
  testGate<float, float, float, float>(24, 8);
  testGate<float, float, float, float>(8, 4104); // more than a turn
  testGate<float, float, float, Bf16>(2056, 64);
  testGate<Bf16, F16, float, F16>(72, 136);
  testGate<F16, Bf16, Bf16, float>(64, 256);
}

template <class A, class B, class Out>
static void testMerge(int rows, int width) {
  int aStride = width + 8, bStride = width + 16, outStride = width + 24;
  auto a = draw<A>(size_t(rows) * aStride);
  auto c = draw<B>(size_t(rows) * bStride);
  auto aLse = draw<float>(rows), bLse = draw<float>(rows);
  constexpr float Nothing = -INFINITY;
  // Sides without keys, whose rows hold anything; denominators that no float
  // holds, and sides so far apart that one is all.
  auto spoil = [&](auto &x, int64_t stride, int row) {
    std::fill_n(x.begin() + row * stride, width,
                narrow<std::decay_t<decltype(x[0])>>(NAN));
  };
  spoil(a, aStride, 0), aLse[0] = Nothing;
  spoil(c, bStride, 1), bLse[1] = Nothing;
  spoil(a, aStride, 2), spoil(c, bStride, 2), aLse[2] = bLse[2] = Nothing;
  aLse[3] = 300, bLse[3] = 301;
  aLse[4] = -301, bLse[4] = -300;
  spoil(a, aStride, 5), aLse[5] = -400, bLse[5] = 1;
  auto out = nothing<Out>(size_t(rows) * outStride);
  auto lse = nothing<float>(rows);
  KernelRun run;
  MergeSidesParams p{run.in(a),    run.in(c),  run.in(aLse), run.in(bLse),
                     run.out(out), nullptr,    aStride,      bStride,
                     outStride,    rows,       width,        TypeOf<A>,
                     TypeOf<B>,    TypeOf<Out>};
  run("kv_merge_sides", 2, p);
  p.lse = run.out(lse);
  run("kv_merge_sides", 2, p);
  for (int r = 0; r < rows; ++r) {
    double larger = std::fmax(aLse[r], bLse[r]);
    double first = std::exp(aLse[r] - larger),
           second = std::exp(bLse[r] - larger);
    double sum = r == 2 ? 1 : first + second;
    expectNear(lse[r], larger + (r == 2 ? 0 : std::log(sum)));
    for (int n = 0; n < outStride; ++n) {
      Out got = out[r * outStride + n];
      if (n >= width) {
        EXPECT_TRUE(std::isnan(widen(got))) << "between";
        continue;
      }
      double x = r == 0 || r == 2 || r == 5 ? 0 : widen(a[r * aStride + n]);
      double y = r == 1 || r == 2 ? 0 : widen(c[r * bStride + n]);
      if (r < 3 || r == 5) // exactly one side, or nothing
        EXPECT_EQ(widen(got), widen(narrow<Out>(float(x + y)))) << r;
      else
        expectNear(got, (x * first + y * second) / sum);
    }
  }
}

TEST(Mover, MergeSides) {
  testMerge<float, float, float>(7, 64);
  testMerge<Bf16, Bf16, Bf16>(12, 128);
  testMerge<F16, F16, float>(300, 8); // more rows than threads
  testMerge<Bf16, float, F16>(9, 72);
}
