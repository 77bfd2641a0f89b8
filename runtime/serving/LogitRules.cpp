//===- LogitRules.cpp - What a request asks of its logits -----------------===//

#include "kv/Runtime/Serving/LogitRules.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

using namespace kv;

static constexpr float Never = -std::numeric_limits<float>::infinity();

Expected<void> LogitRules::validate(int64_t vocabSize) const {
  auto refuse = [](const auto &...parts) {
    return makeError(KV_STATUS_INVALID_ARGUMENT, parts...);
  };
  if (!(repetitionPenalty > 0) || !std::isfinite(repetitionPenalty))
    return refuse("repetition penalty is ", repetitionPenalty,
                  ", allowed: above 0");
  for (auto [name, value] : {std::pair("presence penalty", presencePenalty),
                             std::pair("frequency penalty", frequencyPenalty)})
    if (!std::isfinite(value))
      return refuse(name, " is ", value, ", allowed: a finite number");
  for (const LogitBias &one : bias) {
    if (one.token < 0 || one.token >= vocabSize)
      return refuse("a logit bias is of token ", one.token,
                    ", the vocabulary is 0 to ", vocabSize - 1);
    if (!std::isfinite(one.value))
      return refuse("the logit bias of token ", one.token, " is ", one.value,
                    ", allowed: a finite number");
  }
  if (minNewTokens < 0)
    return refuse("at least ", minNewTokens, " new tokens, allowed: 0 or more");
  return {};
}

/// A finite logit stays finite, however large what changes it is.
static void change(float &logit, float wanted) {
  constexpr float Most = std::numeric_limits<float>::max();
  if (std::isfinite(logit))
    logit = std::clamp(wanted, -Most, Most);
}

/// Each token that is there is changed once, however often it is there.
void LogitReader::penalise(const LogitRules &rules,
                           std::span<const int32_t> tokens,
                           int64_t promptTokens) {
  counts.resize(edited.size());
  if (rules.repetitionPenalty != 1) {
    float penalty = static_cast<float>(rules.repetitionPenalty);
    for (int32_t token : tokens)
      if (counts[token]++ == 0)
        change(edited[token],
               edited[token] * (edited[token] > 0 ? 1 / penalty : penalty));
    for (int32_t token : tokens)
      counts[token] = 0;
  }
  if (rules.presencePenalty == 0 && rules.frequencyPenalty == 0)
    return;
  std::span<const int32_t> answer = tokens.subspan(promptTokens);
  for (int32_t token : answer)
    ++counts[token];
  for (int32_t token : answer)
    if (int32_t count = std::exchange(counts[token], 0))
      change(edited[token],
             edited[token] -
                 static_cast<float>(rules.presencePenalty +
                                    rules.frequencyPenalty * count));
}

Expected<std::span<const float>>
LogitReader::apply(const LogitRules &rules, std::span<const float> row,
                   std::span<const int32_t> tokens, int64_t promptTokens,
                   std::span<const int32_t> stopTokens) {
  if (rules.changeNothing())
    return row;
  edited.assign(row.begin(), row.end());
  penalise(rules, tokens, promptTokens);
  for (const LogitBias &one : rules.bias)
    change(edited[one.token], edited[one.token] + one.value);
  std::span<const int32_t> answer = tokens.subspan(promptTokens);
  bool tooShort = static_cast<int64_t>(answer.size()) < rules.minNewTokens;
  auto isThere = [&](int32_t token) {
    return token >= 0 && static_cast<size_t>(token) < edited.size();
  };
  if (tooShort)
    for (int32_t token : stopTokens)
      if (isThere(token))
        edited[token] = Never;
  if (!rules.mask)
    return edited;
  allowed.assign((edited.size() + 31) / 32, 0);
  if (Expected<void> known = rules.mask->allow(answer, allowed); !known)
    return std::unexpected(known.error());
  auto allows = [&](size_t token) {
    return allowed[token / 32] >> token % 32 & 1;
  };
  bool any = false;
  for (size_t token = 0; token < edited.size(); ++token)
    if (allows(token))
      any |= edited[token] != Never;
    else
      edited[token] = Never;
  if (!any && tooShort) // what the mask describes is over
    for (int32_t token : stopTokens)
      if (isThere(token) && allows(token)) {
        edited[token] = row[token];
        any = true;
      }
  if (!any)
    return makeError(KV_STATUS_OUT_OF_RANGE, "the mask allows no token");
  return edited;
}

TokenLogprobs LogitReader::logprobs(std::span<const float> row, int32_t token,
                                    int32_t count) {
  float largest = *std::ranges::max_element(row);
  double sum = 0;
  for (float x : row)
    sum += std::exp(static_cast<double>(x) - largest);
  double logOfSum = largest + std::log(sum);
  auto logprob = [&](int32_t i) {
    return TokenLogprob{i, static_cast<float>(row[i] - logOfSum)};
  };
  int64_t before =
      std::ranges::count_if(row, [&](float x) { return x > row[token]; }) +
      std::ranges::count(row.first(token), row[token]);
  best.clear();
  if (count == 0)
    return {logprob(token), before + 1, best};
  auto isBefore = [&](int32_t a, int32_t b) {
    return row[a] > row[b] || (row[a] == row[b] && a < b);
  };
  order.resize(row.size());
  std::iota(order.begin(), order.end(), 0);
  auto end = order.begin() + std::min<int64_t>(count, row.size());
  std::partial_sort(order.begin(), end, order.end(), isBefore);
  for (auto at = order.begin(); at != end; ++at)
    best.push_back(logprob(*at));
  return {logprob(token), before + 1, best};
}
