//===- ExpertTest.cpp - Mixtures of experts against plain loops -----------===//

#include "QuantCase.h"
#include "kernels/cuda/parameters/Movers.h"
#include "test/kernels/KernelRun.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

std::mt19937 random_(7);

/// Numbers of few bits, of which sums are exact in any order.
template <class T> std::vector<T> exactNumbers(size_t count) {
  std::vector<T> x(count);
  for (T &element : x)
    element = narrow<T>(float(int(random_() % 17) - 8) / 4);
  return x;
}

std::vector<int32_t> randomChoices(int choices, int experts) {
  std::vector<int32_t> chosen(choices);
  for (int32_t &expert : chosen)
    expert = int32_t(random_() % experts);
  return chosen;
}

int nearest(int expert, int count) { return std::clamp(expert, 0, count - 1); }

/// What order_experts makes, after a check of everything that is promised.
std::vector<int32_t> ordered(const std::vector<int32_t> &chosen, int experts,
                             int blocks = 3) {
  int64_t tiles = expertTilesBefore(experts, int64_t(chosen.size()));
  std::vector<int32_t> order(tiles * ExpertRecord, -7);
  KernelRun run;
  OrderExpertsParams p{run.in(chosen), run.out(order), int32_t(chosen.size()),
                       experts};
  run("kv_order_experts", blocks, p);
  std::vector<int> seen(chosen.size());
  std::map<int, std::vector<int32_t>> rows; // by expert
  for (int64_t tile = 0; tile < tiles; ++tile) {
    const int32_t *record = &order[tile * ExpertRecord];
    EXPECT_TRUE(record[1] >= 0 && record[1] <= ExpertRows) << tile;
    for (int i = 0; i < record[1]; ++i) {
      int32_t choice = record[2 + i];
      if (choice < 0 || choice >= int32_t(chosen.size())) {
        ADD_FAILURE() << "choice " << choice;
        continue;
      }
      ++seen[choice];
      EXPECT_EQ(record[0], nearest(chosen[choice], experts));
      rows[record[0]].push_back(choice);
    }
  }
  for (size_t i = 0; i < seen.size(); ++i)
    EXPECT_EQ(seen[i], 1) << "choice " << i;
  for (auto &[expert, choices] : rows)
    EXPECT_TRUE(std::is_sorted(choices.begin(), choices.end())) << expert;
  return order;
}

/// Products of `perRow` choices a row (1: rows of their own).
template <class T>
void testProducts(int tokens, int perRow, int experts, int columns, int depth,
                  bool ownRows, KvDType outType, int blocks) {
  SCOPED_TRACE(testing::Message() << tokens << ' ' << perRow << ' ' << experts
                                  << ' ' << columns << ' ' << depth);
  constexpr bool IsFloat = std::is_same_v<T, float>;
  int choices = tokens * perRow, rows = ownRows ? choices : tokens;
  int stride = depth + 8, pitch = columns + 8;
  auto x = exactNumbers<T>(size_t(rows) * stride);
  auto weight = exactNumbers<T>(size_t(experts) * columns * depth);
  // Beyond a row's elements stands what must not be read.
  for (int r = 0; r < rows; ++r)
    std::fill_n(&x[r * stride + depth], 8, narrow<T>(NAN));
  auto chosen = randomChoices(choices, experts);
  auto order = ordered(chosen, experts);
  std::vector<float> wide(size_t(choices) * pitch, -1);
  std::vector<Bf16> narrowed(size_t(choices) * pitch, narrow<Bf16>(-1));
  bool isWide = outType == KV_DTYPE_F32;
  KernelRun run;
  ExpertMatmulParams p{run.in(x),
                       run.in(weight),
                       isWide ? static_cast<void *>(run.out(wide))
                              : static_cast<void *>(run.out(narrowed)),
                       run.in(order),
                       stride,
                       pitch,
                       int32_t(order.size() / ExpertRecord),
                       ownRows ? 1 : perRow,
                       columns,
                       depth,
                       IsFloat ? KV_DTYPE_F32 : KV_DTYPE_BF16,
                       outType};
  run("kv_expert_matmul", blocks, p);
  for (int c = 0; c < choices; ++c)
    for (int n = 0; n < pitch; ++n) {
      float want = -1;
      if (n < columns) {
        want = 0;
        const T *row = &x[size_t(ownRows ? c : c / perRow) * stride];
        const T *other = &weight[(size_t(chosen[c]) * columns + n) * depth];
        for (int k = 0; k < depth; ++k)
          want = std::fma(widen(row[k]), widen(other[k]), want);
      }
      float got = isWide ? wide[size_t(c) * pitch + n]
                         : widen(narrowed[size_t(c) * pitch + n]);
      ASSERT_EQ(got, isWide ? want : widen(narrow<Bf16>(want)))
          << c << ' ' << n;
    }
}

} // namespace

TEST(Mover, OrderExperts) {
  for (auto [choices, experts] : {std::pair(1, 1),
                                  {8, 128},
                                  {300, 4},
                                  {64, 3},
                                  {65, 1},
                                  {1000, 7},
                                  {0, 5}}) {
    SCOPED_TRACE(testing::Message() << choices << ' ' << experts);
    ordered(randomChoices(choices, experts), experts);
  }
  // All of one expert, the last of many; numbers outside; one block.
  ordered(std::vector<int32_t>(200, 99), 100);
  ordered({-5, 3, 100, INT32_MIN, INT32_MAX, 0, 2}, 4, 1);
}

TEST(Mover, ExpertMatmul) {
  // A tile and more, several slices of K and part of one, parts of 64 columns.
  testProducts<Bf16>(30, 3, 2, 80, 136, false, KV_DTYPE_F32, 2);
  testProducts<Bf16>(9, 2, 8, 48, 64, true, KV_DTYPE_BF16, 1);
  testProducts<Bf16>(1, 4, 16, 16, 512, false, KV_DTYPE_F32, 5);
  testProducts<float>(25, 4, 2, 80, 72, true, KV_DTYPE_F32, 2);
  testProducts<float>(3, 2, 4, 32, 168, false, KV_DTYPE_F32, 3);
}

TEST(Mover, ExpertMatmulDoesNotDependOnOthers) {
  // Numbers whose sums are rounded: a row alone, and among others.
  constexpr int Depth = 200, Columns = 32, Experts = 3;
  std::vector<Bf16> x(40 * Depth), weight(Experts * Columns * Depth);
  for (auto *numbers : {&x, &weight})
    for (Bf16 &element : *numbers)
      element = narrow<Bf16>(std::ldexp(float(int(random_() % 2001) - 1000),
                                        int(random_() % 12) - 10));
  auto multiply = [&](const std::vector<int32_t> &chosen, int firstRow,
                      int blocks) {
    auto order = ordered(chosen, Experts);
    std::vector<Bf16> rows(x.begin() + firstRow * Depth, x.end());
    std::vector<float> out(chosen.size() * Columns);
    KernelRun run;
    ExpertMatmulParams p{run.in(rows),
                         run.in(weight),
                         run.out(out),
                         run.in(order),
                         Depth,
                         Columns,
                         int32_t(order.size() / ExpertRecord),
                         1,
                         Columns,
                         Depth,
                         KV_DTYPE_BF16,
                         KV_DTYPE_F32};
    run("kv_expert_matmul", blocks, p);
    return out;
  };
  auto chosen = randomChoices(40, Experts);
  chosen[37] = 1;
  auto all = multiply(chosen, 0, 4), one = multiply({1}, 37, 1);
  EXPECT_TRUE(std::equal(one.begin(), one.end(), &all[37 * Columns]));
}

TEST(Mover, ExpertQuantMatmul) {
  for (const Format &f : Formats)
    for (bool ownRows : {false, true}) {
      SCOPED_TRACE(f.name);
      constexpr int Tokens = 37, PerRow = 2, Experts = 3, Columns = 32;
      int depth = f.group > 32 ? int(f.group) : 96;
      PackedWeight weight(f, Experts * Columns, depth);
      int rows = ownRows ? Tokens * PerRow : Tokens;
      Rounded x = roundRows(randomRows(rows, depth), rows, depth);
      auto chosen = randomChoices(Tokens * PerRow, Experts);
      auto order = ordered(chosen, Experts);
      std::vector<float> out(chosen.size() * Columns, -1);
      KernelRun run;
      ExpertQuantMatmulParams p{{run.in(x.bytes), weight.view(run),
                                 run.out(out), x.stride, Columns, 0, Columns,
                                 depth, KV_DTYPE_F32, f.format},
                                run.in(order),
                                int32_t(order.size() / ExpertRecord),
                                ownRows ? 1 : PerRow};
      run("kv_expert_quant_matmul", 4, p);
      for (size_t c = 0; c < chosen.size(); ++c)
        for (int n = 0; n < Columns; ++n)
          ASSERT_EQ(out[c * Columns + n],
                    productOf(weight, x, int(ownRows ? c : c / PerRow),
                              chosen[c] * Columns + n))
              << c << ' ' << n;
    }
}

TEST(Mover, RouteAndShares) {
  for (auto [choices, experts] :
       {std::pair(1, 1), {1, 5}, {2, 8}, {8, 128}, {7, 7}, {40, 70}})
    for (bool normalised : {false, true}) {
      SCOPED_TRACE(testing::Message() << choices << ' ' << experts);
      constexpr int Rows = 11;
      int stride = experts + 3;
      std::vector<float> logits(Rows * stride, 1e9f);
      for (int r = 0; r < Rows; ++r)
        for (int e = 0; e < experts; ++e)
          logits[r * stride + e] = float(int(random_() % 61) - 30) / 8;
      std::fill_n(&logits[0], experts, 2.5f); // all equal
      if (experts > 1) {
        logits[1 * stride] = -INFINITY;
        logits[2 * stride + 1] = NAN;
        logits[3 * stride + experts - 1] = 300;
      }
      std::vector<int32_t> chosen(Rows * choices, -1);
      std::vector<float> shares(Rows * choices, -1);
      KernelRun route, share;
      route("kv_route", 2,
            RouteParams{route.in(logits), route.out(chosen), stride, Rows,
                        experts, choices});
      share("kv_shares", 3,
            SharesParams{share.in(logits), share.in(chosen), share.out(shares),
                         stride, Rows, experts, choices, normalised});
      for (int r = 0; r < Rows; ++r) {
        auto logit = [&](int e) { return logits[r * stride + e]; };
        auto rank = [&](int e) {
          return std::isnan(logit(e)) ? -INFINITY : logit(e);
        };
        std::vector<int> order(experts);
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(),
                         [&](int a, int b) { return rank(a) > rank(b); });
        double total = 0;
        for (int i = 0; i < (normalised ? choices : experts); ++i)
          total += std::exp(double(logit(order[i])) - logit(order[0]));
        for (int c = 0; c < choices; ++c) {
          ASSERT_EQ(chosen[r * choices + c], order[c]) << r << ' ' << c;
          double want =
              std::exp(double(logit(order[c])) - logit(order[0])) / total;
          float got = shares[r * choices + c];
          if (std::isnan(want))
            ASSERT_TRUE(std::isnan(got));
          else
            ASSERT_NEAR(got, want, 1e-6 * want + 1e-30) << r << ' ' << c;
        }
      }
    }
}

TEST(Mover, SharesOfLogisticFunctions) {
  for (bool normalised : {false, true}) {
    constexpr int Rows = 5, Experts = 40, Choices = 3;
    std::vector<float> logits(Rows * Experts);
    for (float &logit : logits)
      logit = float(int(random_() % 61) - 30) / 8;
    std::fill_n(&logits[0], Experts, -200.0f); // whose functions are 0
    auto chosen = randomChoices(Rows * Choices, Experts);
    std::vector<float> shares(Rows * Choices, -1);
    KernelRun run;
    run("kv_shares", 2,
        SharesParams{run.in(logits), run.in(chosen), run.out(shares), Experts,
                     Rows, Experts, Choices, normalised, /*sigmoid=*/true});
    for (int r = 0; r < Rows; ++r) {
      auto weight = [&](int c) {
        float logit = logits[r * Experts + chosen[r * Choices + c]];
        return r == 0 ? 0 : 1 / (1 + std::exp(-double(logit)));
      };
      double sum = weight(0) + weight(1) + weight(2) + 1e-20;
      for (int c = 0; c < Choices; ++c)
        ASSERT_NEAR(shares[r * Choices + c],
                    normalised ? weight(c) / sum : weight(c), 1e-6)
            << r << ' ' << c;
    }
  }
}

TEST(Mover, KeepGroups) {
  struct Case {
    int groups, width, keep, best;
  };
  for (Case c : {Case{1, 1, 1, 1},
                 {8, 32, 4, 2},
                 {32, 3, 5, 1},
                 {5, 7, 5, 7},
                 {31, 2, 30, 2}}) {
    SCOPED_TRACE(testing::Message() << c.groups << ' ' << c.width);
    constexpr int Rows = 9;
    int columns = c.groups * c.width, stride = columns + 3,
        outStride = columns + 1;
    std::vector<float> x(Rows * stride, 1e9f);
    for (int r = 0; r < Rows; ++r)
      for (int e = 0; e < columns; ++e)
        // Of few values, so that there are equal ones.
        x[r * stride + e] = float(int(random_() % 9) - 4) / 2;
    std::fill_n(&x[0], columns, -INFINITY);
    x[1 * stride] = NAN;
    x[2 * stride + columns - 1] = INFINITY;
    std::vector<float> out(Rows * outStride, -1);
    KernelRun run;
    run("kv_keep_groups", 2,
        KeepGroupsParams{run.in(x), run.out(out), stride, outStride, Rows,
                         c.groups, c.width, c.keep, c.best});
    for (int r = 0; r < Rows; ++r) {
      const float *row = &x[r * stride];
      std::vector<float> scores(c.groups);
      for (int g = 0; g < c.groups; ++g) {
        std::vector<float> group(row + g * c.width, row + (g + 1) * c.width);
        for (float &value : group)
          value = std::isnan(value) ? -INFINITY : value;
        std::sort(group.rbegin(), group.rend());
        for (int i = 0; i < c.best; ++i)
          scores[g] += group[i];
        if (std::isnan(scores[g]))
          scores[g] = -INFINITY;
      }
      for (int e = 0; e < outStride; ++e) {
        int g = e / c.width, before = 0;
        for (int o = 0; o < c.groups && g < c.groups; ++o)
          before += scores[o] > scores[g] || (scores[o] == scores[g] && o < g);
        float want = g == c.groups ? -1 : before < c.keep ? row[e] : -INFINITY;
        float got = out[r * outStride + e];
        ASSERT_TRUE(got == want || (std::isnan(got) && std::isnan(want)))
            << r << ' ' << e << ' ' << got << ' ' << want;
      }
    }
  }
}

TEST(Mover, SumChoices) {
  constexpr int Rows = 5, Choices = 3, Width = 24, Stride = 32;
  std::vector<float> x(Rows * Choices * Stride), shares(Rows * Choices);
  for (auto *numbers : {&x, &shares})
    for (float &element : *numbers)
      element = float(int(random_() % 20001) - 10000) / 7;
  std::vector<float> out(Rows * Width);
  KernelRun run;
  run("kv_sum_choices", 2,
      SumChoicesParams{run.in(x), run.in(shares), run.out(out), Stride, Width,
                       Rows, Choices, Width, 2.5f, KV_DTYPE_F32, KV_DTYPE_F32});
  for (int r = 0; r < Rows; ++r)
    for (int n = 0; n < Width; ++n) {
      float sum = 0;
      for (int c = 0; c < Choices; ++c) {
        float part = x[(r * Choices + c) * Stride + n] *
                     (shares[r * Choices + c] * 2.5f);
        sum += part;
      }
      ASSERT_EQ(out[r * Width + n], sum) << r << ' ' << n;
    }
}
