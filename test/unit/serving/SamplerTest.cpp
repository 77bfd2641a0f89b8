//===- SamplerTest.cpp ----------------------------------------------------===//

#include "kv/Runtime/Serving/Sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

using namespace kv;

namespace {

using Row = std::vector<float>;

int32_t sample(const Row &row, const SamplingParams &params,
               uint64_t index = 0) {
  Sampler sampler;
  auto token = sampler.sample(row, params, index);
  EXPECT_TRUE(token) << token.error().message;
  return *token;
}

/// How often each token is drawn, in shares of one.
std::map<int32_t, double> shares(const Row &row, SamplingParams params) {
  constexpr int Draws = 40000;
  Sampler sampler;
  std::map<int32_t, double> result;
  for (int index = 0; index < Draws; ++index)
    result[*sampler.sample(row, params, index)] += 1.0 / Draws;
  return result;
}

/// A row whose softmax is `probabilities`.
Row logitsOf(std::vector<double> probabilities) {
  Row row;
  for (double p : probabilities)
    row.push_back(static_cast<float>(std::log(p)));
  return row;
}

} // namespace

TEST(Sampler, GreedyTakesTheLowestIdOfEquals) {
  EXPECT_EQ(sample({1, 3, 2, 3}, {}), 1);
  EXPECT_EQ(sample({-INFINITY, -5, -5}, {}), 1);
  EXPECT_EQ(sample({0.0f, -0.0f}, {}), 0);
}

TEST(Sampler, RefusesRowsThatAreNoDistribution) {
  Sampler sampler;
  EXPECT_EQ(sampler.sample(Row{1, NAN, 2}, {}, 0).error().message,
            "the logit of token 1 is NaN or infinite");
  EXPECT_EQ(sampler.sample(Row{1, 2, INFINITY}, {}, 0).error().message,
            "the logit of token 2 is NaN or infinite");
  EXPECT_EQ(sampler.sample(Row{-INFINITY, -INFINITY, -INFINITY}, {}, 0)
                .error()
                .message,
            "no token has a finite logit");
}

TEST(Sampler, DrawsByShare) {
  Row row = logitsOf({0.1, 0.6, 0.3});
  auto drawn = shares(row, {.temperature = 1, .seed = 3});
  EXPECT_NEAR(drawn[0], 0.1, 0.01);
  EXPECT_NEAR(drawn[1], 0.6, 0.01);
  EXPECT_NEAR(drawn[2], 0.3, 0.01);
  // Temperature 2 takes square roots: 0.316 : 0.775 : 0.548.
  drawn = shares(row, {.temperature = 2, .seed = 3});
  EXPECT_NEAR(drawn[0], 0.193, 0.01);
  EXPECT_NEAR(drawn[1], 0.473, 0.01);
  EXPECT_NEAR(drawn[2], 0.334, 0.01);
}

TEST(Sampler, TopK) {
  Row row = logitsOf({0.1, 0.4, 0.2, 0.3});
  auto drawn = shares(row, {.temperature = 1, .topK = 2});
  EXPECT_EQ(drawn.size(), 2u);
  EXPECT_NEAR(drawn[1], 4.0 / 7, 0.01);
  EXPECT_NEAR(drawn[3], 3.0 / 7, 0.01);
  // Of equals the lower ids stay.
  drawn = shares({2, 2, 2, 2}, {.temperature = 1, .topK = 3});
  EXPECT_EQ(drawn.size(), 3u);
  EXPECT_EQ(drawn.count(3), 0u);
  // One is greedy; more than there are is off.
  EXPECT_EQ(shares({1, 5, 5}, {.temperature = 1, .topK = 1}).begin()->first, 1);
  EXPECT_EQ(shares(row, {.temperature = 1, .topK = 9}),
            shares(row, {.temperature = 1}));
}

TEST(Sampler, TopP) {
  Row row = logitsOf({0.1, 0.45, 0.15, 0.3});
  // 0.45 is less than 0.5, so the second is needed and the third is not.
  auto drawn = shares(row, {.temperature = 1, .topP = 0.5});
  EXPECT_EQ(drawn.size(), 2u);
  EXPECT_NEAR(drawn[1], 0.6, 0.01);
  EXPECT_NEAR(drawn[3], 0.4, 0.01);
  drawn = shares(row, {.temperature = 1, .topP = 1e-9});
  EXPECT_EQ(drawn.size(), 1u);
  EXPECT_EQ(drawn.begin()->first, 1);
  // After topK = 3 the mass is 0.9: 0.45 / 0.9 reaches 0.49 alone.
  drawn = shares(row, {.temperature = 1, .topK = 3, .topP = 0.49});
  EXPECT_EQ(drawn.size(), 1u);
  drawn = shares(row, {.temperature = 1, .topK = 3, .topP = 0.8});
  EXPECT_EQ(drawn.size(), 2u);
}

TEST(Sampler, ImpossibleTokensAreNeverDrawn) {
  Row row = {-INFINITY, 1, -INFINITY, 1};
  for (SamplingParams params :
       {SamplingParams{.temperature = 1},
        SamplingParams{.temperature = 1, .topK = 4},
        SamplingParams{.temperature = 100, .topP = 0.9999}}) {
    auto drawn = shares(row, params);
    EXPECT_EQ(drawn.count(0) + drawn.count(2), 0u);
  }
}

TEST(Sampler, ExtremeTemperatures) {
  EXPECT_EQ(sample({1, 2, 1.5f}, {.temperature = 1e-300}), 1);
  auto drawn = shares({1, 2, 1.5f, 88}, {.temperature = 1e300});
  EXPECT_NEAR(drawn[0], 0.25, 0.01);
}

TEST(Sampler, ADrawDependsOnSeedAndIndexAlone) {
  Row row(1000, 1.0f);
  SamplingParams params = {.temperature = 1, .seed = 7};
  Sampler sampler;
  std::vector<int32_t> forwards, backwards;
  for (uint64_t i = 0; i < 20; ++i)
    forwards.push_back(*sampler.sample(row, params, i));
  for (uint64_t i = 20; i-- > 0;)
    backwards.insert(backwards.begin(), sample(row, params, i));
  EXPECT_EQ(forwards, backwards);
  params.seed = 8;
  EXPECT_NE(forwards[0], sample(row, params, 0));
  EXPECT_NE(forwards[0], forwards[1]);
}

TEST(Sampler, MinP) {
  Row row = logitsOf({0.1, 0.45, 0.15, 0.3});
  auto drawn = shares(row, {.temperature = 1, .minP = 0.5});
  EXPECT_EQ(drawn.size(), 2u);
  EXPECT_NEAR(drawn[1], 0.6, 0.01);
  EXPECT_NEAR(drawn[3], 0.4, 0.01);
  EXPECT_EQ(shares(row, {.temperature = 1, .minP = 1}).size(), 1u);
  // Equals of the largest stay.
  EXPECT_EQ(shares({2, 2, 1}, {.temperature = 1, .minP = 1}).size(), 2u);
  EXPECT_EQ(shares(row, {.temperature = 1, .minP = 0.01}),
            shares(row, {.temperature = 1}));
}

TEST(Sampler, DrawsAreUniform) {
  // Neighbouring seeds and indices, as users choose them.
  std::vector<int> bins(16);
  for (uint64_t seed = 0; seed < 200; ++seed)
    for (uint64_t index = 0; index < 200; ++index)
      ++bins[sampling::randomBits(seed, index) >> 60];
  double chiSquare = 0;
  for (int count : bins)
    chiSquare += (count - 2500.0) * (count - 2500.0) / 2500.0;
  EXPECT_LT(chiSquare, 45.0); // 15 degrees of freedom: one in 10 000
}
