//===- SharesTest.cpp - Rows that count as their own numbers say ----------===//

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
