//===- SampleTest.cpp - Tokens drawn from logits --------------------------===//
//
// The kernel against the CPU's, which shares its arithmetic and nothing else,
// and what both draw against the exact distribution.
//
//===----------------------------------------------------------------------===//

#include "SampleCase.h"
#include "kernels/cuda/parameters/Movers.h"
#include "kv/Definition/Sampling.h"
#include "test/kernels/KernelRun.h"

#include <cmath>

using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

std::vector<int32_t> drawByKernel(const SampleCase &c, int blocks = 3,
                                  int cluster = 1) {
  // Races between blocks are looked for by MoverFault.DrawsTogether.
  KernelRun run({.schedule = Schedule::Random, .detectRaces = cluster == 1});
  std::vector<int32_t> out(c.rows(), -100);
  SampleLists lists(c);
  run("kv_sample", blocks,
      SampleParams{run.in(c.logits), run.out(out), c.width, c.rows(), c.width,
                   run.in(lists.temperature), run.in(lists.topP),
                   run.in(lists.minP), run.in(lists.topK), run.in(lists.seed),
                   run.in(lists.index)},
      cluster);
  return out;
}

void expectCpuTokens(const SampleCase &c) {
  std::vector<int32_t> drawn = drawByKernel(c);
  for (int row = 0; row < c.rows(); ++row)
    EXPECT_EQ(drawn[row], c.drawByCpu(row))
        << "row " << row << ": temperature " << c.choices[row].temperature
        << ", top-k " << c.choices[row].topK << ", top-p "
        << c.choices[row].topP << ", min-p " << c.choices[row].minP;
}

} // namespace

TEST(Mover, SampleCpuTokens) {
  for (int width : {8, 248, 2056}) {
    SampleCase c(width);
    int seed = 0;
    for (float temperature : {0.0f, 0.1f, 0.7f, 1.0f, 30.0f})
      for (int topK : {0, 1, 5, 200, 5000})
        for (float topP : {1.0f, 0.9f, 0.3f, 1e-6f})
          for (float minP : {0.0f, 0.05f, 1.0f})
            if ((++seed) % (width > 1000 ? 30 : 10) == 0)
              c.add({temperature, topK, topP, minP, uint64_t(seed) << 33,
                     uint64_t(seed)});
    expectCpuTokens(c);
  }
}

// Few values, so that most logits have equals, zeros of both signs among them.
TEST(Mover, SampleTies) {
  SampleCase c(600, {0.0f, -0.0f, 1.0f, 1.5f, -3.0f});
  for (int topK : {0, 3, 100, 300})
    for (float topP : {1.0f, 0.97f, 0.5f})
      c.add({1.3f, topK, topP, 0, uint64_t(topK), 7});
  expectCpuTokens(c);
}

TEST(Mover, SampleImpossibleTokens) {
  SampleCase c(264, {-INFINITY, 2.0f, -INFINITY, 1.0f, -INFINITY});
  for (int topK : {0, 80, 263})
    for (float topP : {1.0f, 0.999f})
      c.add({10.0f, topK, topP, 0, 5, uint64_t(topK)});
  expectCpuTokens(c);
  for (int32_t token : drawByKernel(c))
    EXPECT_TRUE(token % 5 == 1 || token % 5 == 3) << token;
}

TEST(Mover, SampleRowsThatAreNoDistribution) {
  for (float temperature : {0.0f, 1.0f}) {
    SampleCase c(512);
    for (int row = 0; row < 4; ++row)
      c.add({temperature, 3, 0.5f, 0, 1, 1});
    c.logits[0 * 512 + 300] = c.logits[0 * 512 + 17] = NAN;
    c.logits[1 * 512 + 511] = INFINITY;
    std::fill_n(c.logits.begin() + 2 * 512, 512, -INFINITY);
    std::vector<int32_t> drawn = drawByKernel(c);
    EXPECT_EQ(drawn[0], kv::sampling::badToken(17));
    EXPECT_EQ(drawn[1], kv::sampling::badToken(511));
    EXPECT_EQ(drawn[2], kv::sampling::NoToken);
    EXPECT_GE(drawn[3], 0);
    expectCpuTokens(c);
  }
}

// Temperatures whose inverse is no number, or 0, and logits that no number
// lies between.
TEST(Mover, SampleExtremes) {
  SampleCase c(256, {3e38f, -3e38f, 0.0f, 1e-45f});
  for (float temperature : {1e-45f, 1e-38f, 1.0f, 3e38f, INFINITY})
    c.add({temperature, 100, 0.9f, 0.5f, 3, 3});
  expectCpuTokens(c);
}

// No grid changes a token, and no neighbour.
TEST(Mover, SampleAnyGridAndCompany) {
  SampleCase c(504);
  for (int row = 0; row < 6; ++row)
    c.add({0.9f, row * 20, 0.95f, 0.01f, uint64_t(row), 1000});
  std::vector<int32_t> drawn = drawByKernel(c, 1);
  EXPECT_EQ(drawn, drawByKernel(c, 6));
  EXPECT_EQ(drawn, drawByKernel(c, 9));
}

// Blocks that have a row together draw what the CPU does, also where most of
// them see nothing of it, and what they tell goes on from row to row.
TEST(Mover, SampleByClusters) {
  for (int width : {72, 6152}) {
    SampleCase c(width);
    c.add({.temperature = 0});
    c.add({0.8f, 40, 0.9f, 0, 1, 5});
    c.add({0.8f, 0, 1, 0.02f, 2, 5});
    c.add({.temperature = 1});
    c.logits[size_t(c.rows() - 1) * width + width - 3] = NAN;
    std::vector<int32_t> drawn = drawByKernel(c, 2, width > 72 ? 4 : 2);
    for (int row = 0; row < c.rows(); ++row)
      EXPECT_EQ(drawn[row], c.drawByCpu(row)) << row << " of " << width;
  }
}

// As many blocks as find SMs of their own and have enough of a row to read.
TEST(Mover, SampleBlocks) {
  EXPECT_EQ(sampleBlocks(1, 128256, 132), 8);
  EXPECT_EQ(sampleBlocks(16, 128256, 132), 8);
  EXPECT_EQ(sampleBlocks(17, 128256, 132), 4);
  EXPECT_EQ(sampleBlocks(64, 262144, 132), 2);
  EXPECT_EQ(sampleBlocks(132, 262144, 132), 1);
  EXPECT_EQ(sampleBlocks(1, 32000, 132), 2);
  EXPECT_EQ(sampleBlocks(1, 8192, 132), 1);
  EXPECT_EQ(sampleBlocks(0, 128256, 132), 8);
}

/// Chi-square of draws against the exact distribution, in double. The kernel
/// makes the first of them, the CPU all: what both draw is the same.
static double chiSquare(const kv::sampling::Choice &choice, int &freedom) {
  constexpr int Width = 24, Draws = 20000, ByKernel = 40;
  SampleCase c(Width), first(Width);
  std::vector<float> row(c.makeRow());
  for (int i = 0; i < Draws; ++i) {
    kv::sampling::Choice one = choice;
    one.index = uint64_t(i);
    c.add(one, row);
    if (i < ByKernel)
      first.add(one, row);
  }
  expectCpuTokens(first);
  std::vector<double> expected = exactShares(row, choice);
  std::vector<int> counted(Width);
  for (int i = 0; i < Draws; ++i)
    ++counted[c.drawByCpu(i)];
  double sum = 0;
  freedom = -1;
  for (int i = 0; i < Width; ++i) {
    double mean = expected[i] * Draws;
    if (mean == 0) {
      EXPECT_EQ(counted[i], 0) << i;
      continue;
    }
    sum += (counted[i] - mean) * (counted[i] - mean) / mean;
    ++freedom;
  }
  return sum;
}

TEST(Mover, SampleDrawsAreOfTheExactDistribution) {
  for (const kv::sampling::Choice &choice :
       {kv::sampling::Choice{.temperature = 2, .seed = 11},
        {.temperature = 1.5f, .topK = 12, .seed = 12},
        {.temperature = 2, .topP = 0.8f, .seed = 13},
        {.temperature = 2,
         .topK = 16,
         .topP = 0.9f,
         .minP = 0.1f,
         .seed = 14}}) {
    int freedom = 0;
    double found = chiSquare(choice, freedom);
    EXPECT_GT(freedom, 3);
    // Beyond what one in 10^5 exceeds (Wilson and Hilferty).
    double k = freedom, z = 4.26;
    double most = k * std::pow(1 - 2 / (9 * k) + z * std::sqrt(2 / (9 * k)), 3);
    EXPECT_LT(found, most) << freedom;
  }
}

TEST(Mover, SamplePhilox) {
  // Known answers of the Random123 library: counter and key of zeros, of ones.
  EXPECT_EQ(kv::sampling::drawOf(0, 0), 0xe169c58d6627e8d5u);
  EXPECT_NE(kv::sampling::drawOf(1, 0), kv::sampling::drawOf(0, 1));
  EXPECT_NE(kv::sampling::drawOf(uint64_t(1) << 32, 0),
            kv::sampling::drawOf(1, 0));
}

TEST(Mover, SampleWeights) {
  using namespace kv::sampling;
  EXPECT_EQ(weightOf(5, 5, 1), MostWeight);
  EXPECT_EQ(weightOf(4, 5, 1), MostWeight / 2);
  EXPECT_EQ(weightOf(-35, 5, 1), 1u);
  EXPECT_EQ(weightOf(-37, 5, 1), 0u);
  uint64_t before = 0;
  for (int i = -42000; i <= 0; ++i) {
    float exponent = float(i) / 1000;
    uint64_t weight = weightOf(exponent, 0, 1);
    EXPECT_GE(weight, before); // a larger logit never weighs less
    if (i > -16000) {
      double power = std::exp2(double(exponent));
      EXPECT_NEAR(double(weight) / MostWeight, power, 2e-7 * power);
    }
    before = weight;
  }
}
