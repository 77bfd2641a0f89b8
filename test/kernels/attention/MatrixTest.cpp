//===- MatrixTest.cpp - Every pair of properties of a step ----------------===//
//
// A covering array: every value of a factor meets every value of every other.
// And a product: KV_TEST_SCHEDULES=n KV_TEST_SHARDS=s KV_TEST_SHARD=i runs
// every s-th case of it from the i-th on, in a fixed random order, each under n
// schedules (scripts/test-kernels.sh runs all).
//
//===----------------------------------------------------------------------===//

#include "AttentionCase.h"
#include "test/Environment.h"

#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <set>

using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

enum Factor {
  Type,
  Dim,
  Kernel,
  Page,
  Group,
  Length,
  Added,
  Mask,
  Softcap,
  Sinks,
  Layout,
  Parts,
  Scaling,
  FactorCount
};
constexpr int Levels[FactorCount] = {8, 10, 2, 4, 5, 12, 4, 9, 2, 2, 2, 3, 4};
using Row = std::array<int, FactorCount>;

/// The length of the sequence that a case is about.
int lengthOf(int level, int page) {
  int lengths[] = {1,  page - 1, page, page + 1, 63,  64,
                   65, 127,      128,  129,      300, 1100};
  return std::max(lengths[level], 1);
}

struct Masked {
  int mask;
  int64_t window;
};
constexpr Masked Masks[] = {
    {KV_MASK_NONE, 0},          {KV_MASK_CAUSAL, 0},
    {KV_MASK_SLIDING, 1},       {KV_MASK_SLIDING, 20},
    {KV_MASK_SLIDING, 128},     {KV_MASK_CHUNKED, 50},
    {KV_MASK_CHUNKED, 128},     {KV_MASK_SLIDING_NONCAUSAL, 7},
    {KV_MASK_SLIDING, 1 << 30}, {KV_MASK_CHUNKED_CAUSAL, 50}};

const AttentionKernel &kernelOf(const Row &row) {
  constexpr std::string_view Types[] = {"bf16", "f16", "f8",  "f8s",
                                        "f8g",  "e5s", "i8s", "i8g"};
  // Not every type has every head dimension, and some have latent rows.
  std::vector<const AttentionKernel *> shapes;
  for (const AttentionKernel &kernel : AttentionKernels)
    if (kernel.type == Types[row[Type]] && !kernel.prefill)
      shapes.push_back(&kernel);
  const AttentionKernel &shape = *shapes[row[Dim] % shapes.size()];
  return kernelFor(shape.type, shape.headDim, row[Kernel] == 1, shape.vDim);
}

AttentionCase caseOf(const Row &row, uint32_t seed) {
  constexpr int Pages[] = {1, 16, 64, 128}, Groups[] = {1, 3, 4, 8, 16},
                PartCounts[] = {1, 3, 8};
  AttentionCase c;
  c.seed = seed;
  c.pageSize = Pages[row[Page]];
  c.group = Groups[row[Group]];
  if (kernelOf(row).vDim)
    c.heads = 1;
  int length = lengthOf(row[Length], c.pageSize);
  int added[] = {1, 2, 17, 40};
  int rows = std::min(added[row[Added]], length);
  c.sequences = {{length - rows, rows}, {0, 0}, {3, 1}, {90, 2}};
  c.mask = Masks[row[Mask]].mask;
  c.window = Masks[row[Mask]].window;
  c.softcap = row[Softcap] ? 2.5f : 0;
  c.sinks = row[Sinks];
  c.headsFirst = row[Layout];
  c.parts = PartCounts[row[Parts]];
  c.powers = row[Scaling] % 2;
  c.groups = row[Scaling] / 2 ? 2 : 4;
  return c;
}

/// Rows until every pair is there, each the best of some random ones.
std::vector<Row> coveringArray() {
  std::set<std::array<int, 4>> missing;
  for (int f = 0; f < FactorCount; ++f)
    for (int g = f + 1; g < FactorCount; ++g)
      for (int a = 0; a < Levels[f]; ++a)
        for (int b = 0; b < Levels[g]; ++b)
          missing.insert({f, a, g, b});
  size_t pairs = missing.size();
  std::mt19937 random(1);
  std::vector<Row> rows;
  while (!missing.empty()) {
    Row best;
    size_t most = 0;
    for (int attempt = 0; attempt < 60; ++attempt) {
      Row row;
      for (int f = 0; f < FactorCount; ++f)
        row[f] = random() % Levels[f];
      // At least one pair is new.
      auto wanted = missing.begin();
      std::advance(wanted, random() % std::min<size_t>(missing.size(), 50));
      row[(*wanted)[0]] = (*wanted)[1];
      row[(*wanted)[2]] = (*wanted)[3];
      size_t count = 0;
      for (int f = 0; f < FactorCount; ++f)
        for (int g = f + 1; g < FactorCount; ++g)
          count += missing.count({f, row[f], g, row[g]});
      if (count > most) {
        most = count;
        best = row;
      }
    }
    for (int f = 0; f < FactorCount; ++f)
      for (int g = f + 1; g < FactorCount; ++g)
        missing.erase({f, best[f], g, best[g]});
    rows.push_back(best);
  }
  std::printf("%zu pairs of levels in %zu cases\n", pairs, rows.size());
  return rows;
}

/// A row, and how the machine runs it.
struct ScheduledRow {
  Row row;
  MachineOptions machine;
};

/// Runs that differ in nothing that the truth depends on.
::testing::AssertionResult run(const std::vector<ScheduledRow> &runs,
                               uint32_t seed) {
  const AttentionKernel &kernel = kernelOf(runs[0].row);
  if (!canRun(kernel.name))
    return ::testing::AssertionSuccess();
  return withTypes(kernel, [&]<class Query, class Cache>() {
    using Fixture = AttentionFixture<Query, Cache>;
    auto truth = Fixture::makeTruth(kernel, caseOf(runs[0].row, seed));
    for (const ScheduledRow &run : runs) {
      AttentionCase c = caseOf(run.row, seed);
      c.machine = run.machine;
      Fixture fixture(kernel, c, truth);
      auto result = fixture.check(fixture.run());
      if (!result)
        return result << "; " << kernel.name << ", " << c;
    }
    return ::testing::AssertionSuccess();
  });
}

} // namespace

TEST(AttentionMatrix, EveryPair) {
  uint32_t seed = 0;
  for (const Row &row : coveringArray()) {
    ++seed;
    ASSERT_TRUE(run({{row, {.schedule = Schedule::OldestFirst}},
                     {row,
                      {.schedule = Schedule::Random,
                       .seed = seed,
                       .sm = seed % 2 ? 80 : 120}}},
                    seed));
  }
}

/// Types, head dimension, kernel, page size, GQA ratio, length and mask in
/// full, the rest at random.
TEST(AttentionMatrix, Product) {
  auto variable = [](const char *name, int otherwise) {
    return int(kv::test::environment(name, otherwise));
  };
  int schedules = variable("KV_TEST_SCHEDULES", 1);
  int shards = variable("KV_TEST_SHARDS", 20011);
  constexpr Factor Full[] = {Type, Dim, Kernel, Page, Group, Length, Mask};
  int count = 1;
  for (Factor f : Full)
    count *= Levels[f];
  // In a random order, so that some of the cases are some of everything.
  std::vector<int> cases(count);
  std::iota(cases.begin(), cases.end(), 0);
  std::shuffle(cases.begin(), cases.end(), std::mt19937(1));
  for (int n = variable("KV_TEST_SHARD", 0); n < count; n += shards) {
    int i = cases[n];
    std::vector<ScheduledRow> runs;
    for (int schedule = 0; schedule < schedules; ++schedule) {
      std::mt19937 random(i * 31 + schedule);
      Row row;
      for (int f = 0; f < FactorCount; ++f)
        row[f] = random() % Levels[f];
      int rest = i;
      for (Factor f : Full) {
        row[f] = rest % Levels[f];
        rest /= Levels[f];
      }
      runs.push_back({row,
                      {.schedule = Schedule(schedule < 2 ? schedule : 2),
                       .order = SumOrders[schedule % std::size(SumOrders)],
                       .seed = uint32_t(schedule),
                       .sm = (i + schedule) % 2 ? 80 : 90}});
    }
    ASSERT_TRUE(run(runs, i)) << "; case " << i;
  }
}
