//===- MoverTest.cpp - The movers against plain loops ---------------------===//

#include "MoverCase.h"
#include "kernels/cuda/parameters/StepErrors.h"
#include "test/kernels/PlanCase.h"

using namespace kv::cuda;
using namespace kv::cuda::test;

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
  KernelRun run;
  StoreParams p{{run.out(cache), pageStride, planeStride, layerStride,
                 tokenStride, headStride, pages, Page},
                Layer,
                run.in(table),
                columns,
                columns,
                {run.in(cached), run.in(offsets), 4, tokens, 0},
                Heads,
                Dim,
                run.in(k),
                planes ? run.in(v) : nullptr,
                Heads * Dim,
                Dim,
                Heads * Dim,
                Dim,
                TypeOf<From>,
                TypeOf<To>};
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
  run("kv_store", 2, p);
  for (size_t i = 0; i < cache.size(); ++i)
    ASSERT_TRUE(sameBytes(cache[i], expected[i])) << i;
}

TEST(Mover, Store) {
  for (bool headsFirst : {false, true})
    for (bool planes : {false, true}) {
      testStore<Bf16, Bf16>(headsFirst, planes);
      testStore<F16, F16>(headsFirst, planes);
      testStore<Bf16, F8E4M3>(headsFirst, planes);
      testStore<float, F8E5M2>(headsFirst, planes);
    }
}

/// A group of elements divided by their scale. Returns its bytes: those of a
/// float, or an exponent in the first.
template <class From, class To>
uint32_t divideByScale(const From *row, int group, bool powers, To *out) {
  float largest = 0;
  for (int i = 0; i < group; ++i)
    largest = std::isnan(widen(row[i]))
                  ? NAN
                  : std::max(largest, std::fabs(widen(row[i])));
  float scale = largest / LargestOf<To>;
  auto stored = bitsAs<uint32_t>(scale);
  if (powers) {
    stored = scale == 0 ? 0
             : std::isnan(scale)
                 ? 255
                 : 127 + int(std::ceil(std::log2(double(scale))));
    scale = powerOfExponent(stored);
  }
  for (int i = 0; i < group; ++i)
    out[i] = narrow<To>(scale == 0 ? 0 : widen(row[i]) / scale);
  return stored;
}

/// Slots of a continuous cache, the first among them, of one token each.
template <class From, class To>
void testStoreScaled(int dim, int group, bool powers, bool planes = true) {
  constexpr int Heads = 3, Tokens = 5;
  int groups = dim / group, bytes = powers ? 1 : 4; // of a scale
  std::vector<int32_t> cached(Tokens), offsets = {0, 1, 2, 3, 4, 5},
                                       table = {4, 0, 1, 7, -1};
  auto k = draw<From>(Tokens * Heads * dim), v = draw<From>(k.size());
  for (size_t i = 0; i < k.size(); ++i) // groups of different sizes
    k[i] = narrow<From>(widen(k[i]) * std::ldexp(1.0f, int(i / group) % 7 - 3));
  std::fill(k.begin(), k.begin() + group, narrow<From>(0)); // no scale
  k[Heads * dim + 1] = narrow<From>(NAN);
  auto cache = nothing<To>(6 * 2 * Heads * dim), expected = cache;
  auto scales = nothing<uint8_t>(6 * 2 * Heads * groups * bytes);
  auto expectedScales = scales;
  KernelRun run;
  StoreScaledParams p{};
  p.store = {{run.out(cache), 2 * Heads * dim, Heads * dim, 0, 0, dim, 6, 1},
             0,
             run.in(table),
             1,
             1,
             {run.in(cached), run.in(offsets), Tokens, Tokens, 0},
             Heads,
             dim,
             run.in(k),
             planes ? run.in(v) : nullptr,
             Heads * dim,
             dim,
             Heads * dim,
             dim,
             TypeOf<From>,
             TypeOf<To>,
             /*firstPage=*/0};
  p.scales = {run.out(scales),
              2 * Heads * groups,
              Heads * groups,
              0,
              0,
              groups,
              powers,
              groups,
              0};
  p.groupChunks = group / 8;
  for (int t = 0; t < Tokens; ++t)
    for (int plane = 0; plane <= planes && table[t] >= 0 && table[t] < 6;
         ++plane)
      for (int at = 0; at < Heads * dim; at += group) {
        const From *row = &(plane ? v : k)[t * Heads * dim + at];
        int64_t slot = (table[t] * 2 + plane) * Heads * groups + at / group;
        uint32_t scale =
            divideByScale(row, group, powers, &expected[slot * group]);
        std::memcpy(&expectedScales[slot * bytes], &scale, bytes);
      }
  run("kv_store_scaled", 2, p);
  for (size_t i = 0; i < cache.size(); ++i)
    ASSERT_TRUE(sameBytes(cache[i], expected[i])) << i;
  for (size_t i = 0; i < scales.size(); i += bytes) {
    float got = 0, wanted = 0;
    if (!powers) {
      std::memcpy(&got, &scales[i], 4);
      std::memcpy(&wanted, &expectedScales[i], 4);
    }
    ASSERT_TRUE(powers               ? scales[i] == expectedScales[i]
                : std::isnan(wanted) ? std::isnan(got)
                                     : got == wanted)
        << i;
  }
}

TEST(Mover, StoreWithScales) {
  for (bool powers : {false, true}) {
    testStoreScaled<Bf16, F8E4M3>(128, 128, powers);
    testStoreScaled<F16, F8E5M2>(64, 64, powers);
    testStoreScaled<float, I8>(192, 192, powers);
    testStoreScaled<Bf16, I8>(128, 16, powers);
    testStoreScaled<float, F8E4M3>(96, 48, powers);
    testStoreScaled<Bf16, F8E4M3>(192, 64, powers);
    testStoreScaled<Bf16, F8E4M3>(256, 256, powers);
    testStoreScaled<Bf16, F8E4M3>(64, 64, powers, /*planes=*/false);
    testStoreScaled<Bf16, F8E4M3>(32, 8, powers);
  }
}

template <class T, class To>
void testRope(int dim, int width, bool interleaved) {
  constexpr int Tokens = 5, Heads = 3, Known = 7;
  int64_t token = Heads * dim + 16;
  auto x = draw<T>(Tokens * token);
  auto out = nothing<To>(x.size());
  x[token + dim] = narrow<T>(NAN); // of token 1 and head 1, element 0
  std::vector<int32_t> positions = {0, 6, 3, Known, -1};
  std::vector<float> freqs(Known * width);
  for (int i = 0; i < Known * width / 2; ++i) {
    freqs[i * 2] = std::cos(i * 0.37f);
    freqs[i * 2 + 1] = std::sin(i * 0.37f);
  }
  std::vector<uint64_t> errors(1);
  KernelRun run;
  RopeParams p{run.in(x),
               run.out(out),
               token,
               dim,
               token,
               dim,
               Tokens,
               Heads,
               dim,
               width,
               run.in(positions),
               run.in(freqs),
               Known,
               interleaved,
               TypeOf<T>,
               TypeOf<To>,
               run.out(errors)};
  run("kv_rope", 2, p);
  StepError error = unpackStepError(errors[0]);
  EXPECT_EQ(error.kind, StepErrorKind::RopePosition);
  EXPECT_EQ(error.row, 3);
  EXPECT_EQ(error.value, Known);
  for (int t = 0; t < Tokens; ++t)
    for (int h = 0; h < Heads; ++h) {
      const T *in = &x[t * token + h * dim];
      const To *got = &out[t * token + h * dim];
      for (int d = width; d < dim; ++d)
        ASSERT_TRUE(sameBytes(got[d], narrow<To>(widen(in[d]))));
      for (int i = 0; i < width / 2; ++i) {
        int a = interleaved ? 2 * i : i,
            b = interleaved ? 2 * i + 1 : i + width / 2;
        if (positions[t] < 0 || positions[t] >= Known) {
          EXPECT_TRUE(std::isnan(widen(got[a])) && std::isnan(widen(got[b])));
          continue;
        }
        double c = freqs[positions[t] * width + 2 * i],
               s = freqs[positions[t] * width + 2 * i + 1];
        double u = widen(in[a]), v = widen(in[b]);
        for (auto [value, expected] :
             {std::pair(widen(got[a]), u * c - v * s),
              std::pair(widen(got[b]), u * s + v * c)}) {
          if (std::isnan(expected)) {
            EXPECT_TRUE(std::isnan(value));
            continue;
          }
          EXPECT_NEAR(value, expected,
                      UnitOf<To> * (std::fabs(u) + std::fabs(v)));
        }
      }
      for (int d = dim; h == Heads - 1 && d < dim + 16; ++d)
        EXPECT_TRUE(std::isnan(widen(got[d]))) << "between rows";
    }
}

/// What ranks gave, [Ranks, Runs, shard], as [Runs, Ranks, shard]: a rotation
/// by no angles, without positions (runtime/cuda/launches/Gather.cpp).
template <class T> void testPlace(int shard) {
  constexpr int Runs = 5, Ranks = 3;
  auto x = draw<T>(Ranks * Runs * shard);
  auto out = nothing<T>(x.size());
  x[1] = narrow<T>(-0.0f);
  std::vector<uint64_t> errors(1);
  KernelRun run;
  RopeParams p{};
  p.x = run.in(x);
  p.out = run.out(out);
  p.xTokenStride = shard;
  p.xHeadStride = Runs * shard;
  p.outTokenStride = Ranks * shard;
  p.outHeadStride = shard;
  p.tokens = Runs;
  p.heads = Ranks;
  p.dim = shard;
  p.xType = p.outType = TypeOf<T>;
  p.errors = run.out(errors);
  run("kv_rope", 2, p);
  EXPECT_EQ(errors[0], 0u);
  for (int at = 0; at < Runs * Ranks * shard; ++at) {
    int i = at % shard, rank = at / shard % Ranks, number = at / shard / Ranks;
    ASSERT_TRUE(sameBytes(out[at], x[(rank * Runs + number) * shard + i]));
  }
}

TEST(Mover, Rope) {
  for (bool interleaved : {false, true}) {
    testRope<Bf16, Bf16>(64, 64, interleaved);
    testRope<F16, F16>(128, 128, interleaved);
    testRope<F16, F16>(96, 32, interleaved);
    testRope<float, float>(64, 64, interleaved);
    testRope<float, Bf16>(96, 32, interleaved);
    testRope<float, F16>(64, 16, interleaved);
    // Neither the pairs nor what passes are whole chunks.
    testRope<Bf16, Bf16>(64, 24, interleaved);
    testRope<float, Bf16>(16, 12, interleaved);
    testRope<F16, F16>(24, 24, interleaved);
    testRope<float, float>(72, 34, interleaved);
    testRope<Bf16, float>(8, 2, interleaved);
  }
  testPlace<Bf16>(16);
  testPlace<F16>(48);
  testPlace<float>(16);
}

template <class X, class Weight, class Out> void testNorm(int width) {
  constexpr int Rows = 5;
  int64_t stride = width + 8;
  auto x = draw<X>(Rows * stride);
  auto weight = draw<Weight>(width);
  auto out = nothing<Out>(x.size());
  x[3 * stride + width - 1] = narrow<X>(NAN); // its whole row
  KernelRun run;
  NormParams p{run.in(x), run.out(out), stride,         stride,
               Rows,      width,        run.in(weight), 1e-5f,
               0.25f,     TypeOf<X>,    TypeOf<Weight>, TypeOf<Out>};
  run("kv_norm", 2, p);
  for (int r = 0; r < Rows; ++r) {
    double sum = 0;
    for (int i = 0; i < width; ++i)
      sum += std::pow(widen(x[r * stride + i]), 2);
    for (int i = 0; i < width; ++i)
      expectNear(out[r * stride + i], widen(x[r * stride + i]) /
                                          std::sqrt(sum / width + 1e-5) *
                                          (widen(weight[i]) + 0.25));
    for (int i = width; i < stride; ++i)
      EXPECT_TRUE(std::isnan(widen(out[r * stride + i]))) << "between rows";
  }
}

TEST(Mover, Norm) {
  for (int width : {8, 64, 576, 4096}) {
    testNorm<Bf16, Bf16, Bf16>(width);
    testNorm<F16, F16, F16>(width);
    testNorm<float, float, float>(width);
    testNorm<float, float, Bf16>(width);
    testNorm<float, float, F16>(width);
  }
}

template <class A, class B, class Out> void testPair() {
  constexpr int Rows = 7, Width = 72, Stride = 80;
  auto a = draw<A>(Rows * Stride);
  auto c = draw<B>(Rows * Stride);
  auto out = nothing<Out>(Rows * Stride);
  a[Stride] = narrow<A>(NAN);
  c[2 * Stride + 1] = narrow<B>(NAN);
  // A row each; the last time one for all.
  for (auto [function, stride] : {std::pair(KV_PAIR_ADD, Stride),
                                  {KV_PAIR_SILU_MUL, Stride},
                                  {KV_PAIR_ADD, 0}}) {
    KernelRun run;
    PairParams p{run.in(a), run.in(c), run.out(out), Stride,
                 stride,    Stride,    Rows,         Width,
                 function,  TypeOf<A>, TypeOf<B>,    TypeOf<Out>};
    run("kv_pair", 2, p);
    for (int i = 0; i < Rows * Stride; ++i) {
      if (i % Stride >= Width) {
        EXPECT_TRUE(std::isnan(widen(out[i]))) << "between rows";
        continue;
      }
      double x = widen(a[i]), y = widen(c[stride ? i : i % Stride]);
      expectNear(out[i],
                 function == KV_PAIR_ADD ? x + y : x / (1 + std::exp(-x)) * y);
    }
  }
}

TEST(Mover, Pair) {
  testPair<Bf16, Bf16, Bf16>();
  testPair<F16, F16, F16>();
  testPair<float, float, float>();
  testPair<float, Bf16, float>(); // the residual sum of an f32 stream
  testPair<float, float, Bf16>();
  testPair<float, float, F16>();
}

namespace {
constexpr auto A = ElementSource::A, B_ = ElementSource::B,
               Kept = ElementSource::T, Kept2 = ElementSource::U,
               Number = ElementSource::Number, None = ElementSource::None;
using Op = ElementOp;

struct Program {
  std::vector<ElementStep> steps;
  double (*expected)(double a, double b);
  double slack = 1; // units of the result
};

double gelu(double a) {
  double bent = std::sqrt(2 / M_PI) * (a + 0.044715 * a * a * a);
  return a / 2 * (1 + std::tanh(bent));
}

/// Every step is in one of them, and every source.
const Program Programs[] = {
    {{{Op::Get, A, 0},
      {Op::Mul, A, 0},
      {Op::Mul, A, 0},
      {Op::Mul, Number, 0.044715f},
      {Op::Add, A, 0},
      {Op::Mul, Number, 0.7978845608f},
      {Op::Tanh, None, 0},
      {Op::Add, Number, 1},
      {Op::Keep, Kept, 0},
      {Op::Get, A, 0},
      {Op::Mul, Number, 0.5f},
      {Op::Mul, Kept, 0},
      {Op::Mul, B_, 0}},
     [](double a, double b) { return gelu(a) * b; },
     8},
    {{{Op::Get, A, 0},
      {Op::Mul, Number, float(M_SQRT1_2)},
      {Op::Erf, None, 0},
      {Op::Add, Number, 1},
      {Op::Mul, A, 0},
      {Op::Mul, Number, 0.5f}},
     [](double a, double) { return a / 2 * std::erfc(-a * M_SQRT1_2); },
     4},
    {{{Op::Get, A, 0},
      {Op::Max, Number, 0},
      {Op::Keep, Kept, 0},
      {Op::Mul, Kept, 0},
      {Op::RSub, B_, 0}},
     [](double a, double b) {
       return b - (std::isnan(a) ? a : a > 0 ? a * a : 0);
     }},
    {{{Op::Get, A, 0},
      {Op::Keep, Kept, 0},
      {Op::Min, B_, 0},
      {Op::Keep, Kept2, 0},
      {Op::Get, Kept, 0},
      {Op::Sub, Number, 3},
      {Op::RDiv, Kept2, 0}},
     [](double a, double b) {
       return (std::isnan(a) || a < b ? a : b) / (a - 3);
     },
     4},
    {{{Op::Get, A, 0},
      {Op::Abs, None, 0},
      {Op::Add, Number, 1},
      {Op::Log, None, 0},
      {Op::Exp, None, 0},
      {Op::Div, Number, 3},
      {Op::Sqrt, None, 0},
      {Op::Rsqrt, None, 0}},
     [](double a, double) {
       return 1 / std::sqrt(std::sqrt((std::fabs(a) + 1) / 3));
     },
     4},
    {{{Op::Get, B_, 0}, {Op::Mul, Number, 1.01f}, {Op::Bf16, None, 0}},
     [](double, double b) {
       return double(widen(narrow<Bf16>(float(b) * 1.01f)));
     }},
    {{{Op::Get, B_, 0}, {Op::Mul, Number, 1.01f}, {Op::F16, None, 0}},
     [](double, double b) {
       return double(widen(narrow<F16>(float(b) * 1.01f)));
     }},
};
} // namespace

template <class A, class B, class Out> void testElementwise() {
  constexpr int Rows = 7, Width = 72, Stride = 80;
  auto a = draw<A>(Rows * Stride);
  auto c = draw<B>(Rows * Stride);
  a[Stride] = narrow<A>(NAN);
  c[2 * Stride + 1] = narrow<B>(NAN);
  for (const Program &program : Programs)
    for (int stride : {Stride, 0}) { // a row each; one for all
      auto out = nothing<Out>(Rows * Stride);
      KernelRun run;
      ElementwiseParams p{run.in(a), run.in(c),   run.out(out),
                          Stride,    stride,      Stride,
                          Rows,      Width,       TypeOf<A>,
                          TypeOf<B>, TypeOf<Out>, int32_t(program.steps.size()),
                          {}};
      std::copy(program.steps.begin(), program.steps.end(), p.steps);
      run("kv_elementwise", 2, p);
      for (int i = 0; i < Rows * Stride; ++i) {
        if (i % Stride >= Width) {
          EXPECT_TRUE(std::isnan(widen(out[i]))) << "between rows";
          continue;
        }
        double x = widen(a[i]), y = widen(c[stride ? i : i % Stride]);
        SCOPED_TRACE(&program - Programs);
        expectNear(out[i], program.expected(x, y), program.slack * UnitOf<Out>);
      }
    }
}

TEST(Mover, Elementwise) {
  testElementwise<Bf16, Bf16, Bf16>();
  testElementwise<float, float, float>();
  testElementwise<F16, float, F16>();
  testElementwise<float, Bf16, float>();
}

template <class From, class To> void testCast() {
  constexpr int Rows = 3, Width = 40, Stride = 48;
  auto x = draw<From>(Rows * Stride);
  x[3] = narrow<From>(NAN);
  x[4] = narrow<From>(-INFINITY);
  auto out = nothing<To>(Rows * Width);
  KernelRun run;
  CastParams p{run.in(x), run.out(out), Stride,       Width,
               Rows,      Width,        TypeOf<From>, TypeOf<To>};
  run("kv_cast", 1, p);
  for (int r = 0; r < Rows; ++r)
    for (int i = 0; i < Width; ++i)
      expectNear(out[r * Width + i],
                 widen(narrow<To>(widen(x[r * Stride + i]))), 0);
}

TEST(Mover, Cast) {
  testCast<float, Bf16>();
  testCast<float, F16>();
  testCast<Bf16, float>();
  testCast<F16, float>();
  testCast<F16, Bf16>();
  testCast<float, F8E4M3>();
}

template <class Table, class Out> void testEmbedding() {
  constexpr int Width = 24, Stride = 32, Words = 10;
  auto table = draw<Table>(Words * Stride);
  std::vector<int32_t> ids = {3, 0, 9, 10, -1, 3, INT32_MIN};
  std::vector<Out> out(ids.size() * Width, narrow<Out>(0));
  std::vector<uint64_t> errors(1);
  KernelRun run;
  EmbeddingParams p{run.in(ids),   run.in(table),       run.out(out),   Stride,
                    Width,         int32_t(ids.size()), Width,          Words,
                    TypeOf<Table>, TypeOf<Out>,         run.out(errors)};
  run("kv_embedding", 3, p);
  StepError error = unpackStepError(errors[0]);
  EXPECT_EQ(error.kind, StepErrorKind::EmbeddingId);
  EXPECT_EQ(error.row, 3);
  EXPECT_EQ(error.value, 10);
  for (size_t i = 0; i < out.size(); ++i) {
    int32_t id = ids[i / Width];
    if (id < 0 || id >= Words)
      EXPECT_TRUE(std::isnan(widen(out[i])));
    else
      EXPECT_TRUE(sameBytes(
          out[i], narrow<Out>(widen(table[id * Stride + i % Width]))));
  }
}

TEST(Mover, Embedding) {
  testEmbedding<Bf16, Bf16>();
  testEmbedding<F16, F16>();
  testEmbedding<float, float>();
  testEmbedding<Bf16, float>();
  testEmbedding<F16, float>();
}

TEST(Mover, Positions) {
  // A sequence that asks for nothing, rows before the first and after the
  // last, and more sequences than threads.
  for (int sequences : {0, 1, 3, 700}) {
    std::vector<int32_t> cached, offsets = {sequences == 3 ? 2 : 0};
    for (int b = 0; b < sequences; ++b) {
      cached.push_back(b * 37 % 1000);
      offsets.push_back(offsets.back() + b * 7 % 4);
    }
    int tokens = offsets.back() + 5;
    std::vector<int32_t> expected(tokens, -1), out(tokens, 12345);
    for (int b = 0; b < sequences; ++b)
      for (int t = offsets[b]; t < offsets[b + 1]; ++t)
        expected[t] = cached[b] + t - offsets[b];
    KernelRun run;
    PositionsParams p{{run.in(cached), run.in(offsets), sequences, tokens, 0},
                      run.out(out)};
    run("kv_positions", 2, p);
    EXPECT_EQ(out, expected) << sequences;
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
  for (Schedule schedule :
       {Schedule::LatestFirst, Schedule::OldestFirst, Schedule::Random}) {
    KernelRun run({.schedule = schedule});
    ArgmaxParams p{run.in(x), run.out(out), width, Rows, width, TypeOf<T>};
    run("kv_argmax", 2, p);
  }
  for (int r = 0; r < Rows; ++r) {
    int best = -1;
    for (int i = 0; i < width; ++i)
      if (!std::isnan(widen(x[r * width + i])) &&
          (best < 0 || widen(x[r * width + i]) > widen(x[r * width + best])))
        best = i;
    EXPECT_EQ(out[r], std::max(best, 0)) << "row " << r << " of " << width;
  }
}

TEST(Mover, Argmax) {
  for (int width : {8, 256, 4096, 5000}) {
    testArgmax<float>(width);
    testArgmax<Bf16>(width);
    testArgmax<F16>(width);
  }
}

TEST(Mover, CopyPages) {
  // [page][plane][layer] of 160 bytes; all of a page, or one of three layers.
  constexpr int Pages = 6, Planes = 2, Layers = 3, Words = 160 / 8;
  constexpr int PageWords = Planes * Layers * Words;
  std::vector<int32_t> source = {1, 3, 2, -1, 2, 5, INT32_MAX},
                       destination = {4, 5, 6, 2, 0, INT32_MIN, 2};
  for (int layer : {-1, 0, 2}) {
    std::vector<uint64_t> data(Pages * PageWords);
    for (uint64_t &x : data)
      x = moverRandom();
    auto expected = data;
    for (auto [from, to] : {std::pair(1, 4), std::pair(3, 5)})
      for (int i = 0; i < PageWords; ++i)
        if (layer < 0 || i / Words % Layers == layer)
          expected[to * PageWords + i] = data[from * PageWords + i];
    bool all = layer < 0;
    KernelRun run;
    CopyPagesParams p{run.out(data) + (all ? 0 : layer * Words),
                      PageWords * 8,
                      all ? 0 : Layers * Words * 8,
                      (all ? PageWords : Words) * 8,
                      all ? 1 : Planes,
                      Pages,
                      run.in(source),
                      run.in(destination),
                      int32_t(source.size())};
    run("kv_copy_pages", 2, p);
    EXPECT_EQ(data, expected) << layer;
  }
}

TEST(Mover, StepErrorsStayInOrder) {
  auto word = [](StepErrorKind kind, int64_t row, int32_t value) {
    uint64_t packed = packStepError(kind, row, value);
    StepError error = unpackStepError(packed);
    EXPECT_EQ(error.kind, kind);
    EXPECT_EQ(error.row, std::min<int64_t>(row, LastErrorRow));
    EXPECT_EQ(error.value, value);
    return packed;
  };
  EXPECT_GT(word(StepErrorKind::RopePosition, int64_t(1) << 40, 0), 0u);
  EXPECT_GT(word(StepErrorKind::RopePosition, 3, 0),
            word(StepErrorKind::RopePosition, 4, -1));
  EXPECT_GT(word(StepErrorKind::EmbeddingId, 1000, INT32_MIN),
            word(StepErrorKind::RopePosition, 0, INT32_MAX));
  EXPECT_GT(word(StepErrorKind::RowOffset, LastErrorRow, 0),
            word(StepErrorKind::EmbeddingId, 0, -1));
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
    if (seed % 20 == 10) { // more tiles of one prompt than threads
      host.offsets.push_back(host.offsets.back() + 6000);
      host.cached.push_back(100);
      host.batch.tokens = host.offsets.back();
      host.batch.capacity += 6100;
      host.make();
    }
    if (seed % 9 == 0) { // rows that no offset covers
      host.batch.tokens += 3;
      host.make();
    }
    auto tiles = nothing<Tile>(host.tiles.size());
    auto cuts = nothing<Cut>(host.cuts.size());
    auto header = nothing<Header>(1);
    KernelRun run;
    std::vector<uint64_t> errors(1), expected(1);
    PlanParams p{host.batch,     host.shape,    run.out(header),
                 run.out(tiles), run.out(cuts), run.out(errors)};
    for (int32_t i = host.batch.sequences; i >= 0; --i) {
      int32_t offset = host.offsets[i], before = i ? host.offsets[i - 1] : 0;
      bool last = i == host.batch.sequences;
      if ((i == 0 && offset != 0) || (last && offset != host.batch.tokens) ||
          offset < before)
        expected[0] = packStepError(StepErrorKind::RowOffset, i, offset);
    }
    p.batch.cacheLengths = run.in(host.cached);
    p.batch.rowOffsets = run.in(host.offsets);
    run("kv_plan", 1, p);
    EXPECT_EQ(errors, expected) << seed;
    ASSERT_EQ(header[0].tiles, host.header.tiles) << seed;
    ASSERT_EQ(header[0].total, host.header.total) << seed;
    ASSERT_EQ(header[0].payload, host.header.payload) << seed;
    for (int32_t i = 0; i < header[0].tiles; ++i)
      ASSERT_TRUE(sameBytes(tiles[i], host.tiles[i])) << seed << ' ' << i;
    for (size_t i = 0; i < cuts.size(); ++i)
      ASSERT_TRUE(cuts[i] == host.cuts[i]) << seed << ' ' << i;
  }
}
