//===- LogitRulesTest.cpp - What is done to a row of logits ---------------===//

#include "kv/Runtime/Serving/LogitRules.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

using namespace kv;

static constexpr float Never = -std::numeric_limits<float>::infinity();

/// The row {1, -1, 2, 3}, after a prompt of tokens 0 and 1 and an answer of
/// tokens 2, 0, 2; token 3 stops.
static std::vector<float> applied(const LogitRules &rules) {
  const std::vector<float> row = {1, -1, 2, 3};
  const std::vector<int32_t> tokens = {0, 1, 2, 0, 2}, stops = {3, 17};
  LogitReader reader;
  std::vector<float> results[2];
  for (std::vector<float> &result : results) { // scratch is as it was
    std::span<const float> got =
        *reader.apply(rules, row, tokens, /*promptTokens=*/2, stops);
    result.assign(got.begin(), got.end());
  }
  EXPECT_EQ(results[0], results[1]);
  return results[0];
}

using Row = std::vector<float>;

TEST(LogitRules, Penalties) {
  EXPECT_EQ(applied({}), (Row{1, -1, 2, 3}));
  EXPECT_EQ(applied({.repetitionPenalty = 2}), (Row{0.5, -2, 1, 3}));
  EXPECT_EQ(applied({.presencePenalty = 0.5}), (Row{0.5, -1, 1.5, 3}));
  EXPECT_EQ(applied({.frequencyPenalty = 0.25}), (Row{0.75, -1, 1.5, 3}));
  EXPECT_EQ(applied({.repetitionPenalty = 2,
                     .presencePenalty = 1,
                     .frequencyPenalty = -1}),
            (Row{0.5, -2, 2, 3}));
}

TEST(LogitRules, FiniteLogitsStayFinite) {
  constexpr float Most = std::numeric_limits<float>::max();
  EXPECT_EQ(applied({.repetitionPenalty = 5e-324}), (Row{Most, 0, Most, 3}));
  EXPECT_EQ(applied({.repetitionPenalty = 1e300}), (Row{0, -Most, 0, 3}));
  EXPECT_EQ(applied({.presencePenalty = 1e300}), (Row{-Most, -1, -Most, 3}));
  EXPECT_EQ(applied({.frequencyPenalty = 3e38, .bias = {{2, -3e38f}}}),
            (Row{1 - 3e38f, -1, -Most, 3}));
}

TEST(LogitRules, BiasAndLength) {
  EXPECT_EQ(applied({.bias = {{1, 4}, {3, -100}}}), (Row{1, 3, 2, -97}));
  EXPECT_EQ(applied({.minNewTokens = 3}), (Row{1, -1, 2, 3}));
  EXPECT_EQ(applied({.minNewTokens = 4}), (Row{1, -1, 2, Never}));
}

namespace {

struct Fixed : TokenMask {
  explicit Fixed(uint32_t word) : word(word) {}
  Expected<void> allow(std::span<const int32_t> answer,
                       std::span<uint32_t> allowed) override {
    EXPECT_EQ(answer.size(), 3u);
    EXPECT_EQ(allowed.size(), 1u);
    EXPECT_EQ(allowed[0], 0u);
    if (!word)
      return makeError(KV_STATUS_INVALID_ARGUMENT, "no grammar");
    allowed[0] = word;
    return {};
  }
  uint32_t word;
};

} // namespace

TEST(LogitRules, Masks) {
  auto masked = [](uint32_t word) {
    return LogitRules{.minNewTokens = 4, .mask = std::make_shared<Fixed>(word)};
  };
  EXPECT_EQ(applied(masked(0b1101)), (Row{1, Never, 2, Never}));
  LogitReader reader;
  const std::vector<int32_t> answer = {0, 0, 0}, stops = {3};
  auto got = [&](uint32_t word) {
    return reader.apply(masked(word), Row{1, 2, 3, 4}, answer, 0, stops);
  };
  // What the mask describes is over before there are four tokens.
  ASSERT_TRUE(got(0b1000));
  EXPECT_EQ((*got(0b1000))[3], 4);
  for (auto [word, sentence] : {std::pair(0b10000, "the mask allows no token"),
                                std::pair(0, "no grammar")}) {
    ASSERT_FALSE(got(word));
    EXPECT_EQ(got(word).error().message, sentence);
  }
}

TEST(LogitRules, Logprobs) {
  LogitReader reader;
  const Row row = {0, std::log(4.0f), std::log(2.0f), 0, Never};
  TokenLogprobs found = reader.logprobs(row, 3, 3);
  EXPECT_FLOAT_EQ(found.chosen.logprob, std::log(1 / 8.0f));
  EXPECT_EQ(found.chosen.token, 3);
  EXPECT_EQ(found.rank, 4); // token 0 comes first of equal ones
  ASSERT_EQ(found.top.size(), 3u);
  EXPECT_EQ(found.top[0].token, 1);
  EXPECT_FLOAT_EQ(found.top[0].logprob, std::log(0.5f));
  EXPECT_EQ(found.top[1].token, 2);
  EXPECT_EQ(found.top[2].token, 0);
  found = reader.logprobs(row, 4, 99);
  EXPECT_EQ(found.chosen.logprob, Never);
  EXPECT_EQ(found.rank, 5);
  ASSERT_EQ(found.top.size(), 5u);
  double sum = 0;
  for (const TokenLogprob &one : found.top)
    sum += std::exp(one.logprob);
  EXPECT_NEAR(sum, 1, 1e-6);
  EXPECT_TRUE(reader.logprobs(row, 0, 0).top.empty());
}
