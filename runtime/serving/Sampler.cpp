//===- Sampler.cpp - From a row of logits to a token ----------------------===//

#include "kv/Runtime/Serving/Sampler.h"

#include <algorithm>
#include <cmath>

using namespace kv;

namespace {

/// The finalizer of splitmix64.
uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

} // namespace

double kv::uniformDraw(uint64_t seed, uint64_t index) {
  constexpr uint64_t Golden = 0x9E3779B97F4A7C15ull;
  uint64_t bits = mix(mix(seed + Golden) + (index + 1) * Golden);
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

Sampler::Sampler(int64_t vocabSize) {
  candidates.reserve(vocabSize);
  weights.reserve(vocabSize);
}

Expected<int32_t> Sampler::sample(std::span<const float> row,
                                  const SamplingParams &params,
                                  uint64_t index) {
  int32_t best = -1;
  float maximum = -INFINITY;
  for (size_t token = 0; token < row.size(); ++token) {
    float logit = row[token];
    if (std::isnan(logit) || logit == INFINITY)
      return makeError(KV_STATUS_OUT_OF_RANGE, "the logit of token ", token,
                       " is ", std::isnan(logit) ? "NaN" : "infinite");
    if (logit > maximum) {
      maximum = logit;
      best = static_cast<int32_t>(token);
    }
  }
  if (best < 0)
    return makeError(KV_STATUS_OUT_OF_RANGE, "no token has a finite logit");
  if (params.temperature == 0)
    return best;

  candidates.clear();
  for (size_t token = 0; token < row.size(); ++token)
    if (row[token] != -INFINITY)
      candidates.push_back({row[token], static_cast<int32_t>(token)});
  return draw(maximum, params, uniformDraw(params.seed, index));
}

int32_t Sampler::draw(double maximum, const SamplingParams &params,
                      double uniform) {
  auto weigh = [&](const Candidate &candidate) {
    return std::exp((candidate.logit - maximum) / params.temperature);
  };
  // The order is total, so the heap gives the candidates in one order only,
  // although the whole vocabulary is never sorted.
  auto below = [](const Candidate &a, const Candidate &b) {
    return a.logit != b.logit ? a.logit < b.logit : a.token > b.token;
  };

  size_t count = candidates.size();
  bool cutsK = params.topK > 0 && params.topK < static_cast<int64_t>(count);
  bool cutsP = params.topP < 1;
  size_t kept = 0; // at the end of `candidates`, the largest last
  double mass = 0;
  weights.clear();
  if (!cutsK && !cutsP) {
    for (const Candidate &candidate : candidates)
      mass += weights.emplace_back(weigh(candidate));
    double target = uniform * mass, sum = 0;
    for (size_t i = 0; i < count; ++i)
      if ((sum += weights[i]) > target)
        return candidates[i].token;
  } else {
    auto pop = [&] {
      std::pop_heap(candidates.begin(), candidates.end() - kept, below);
      ++kept;
      return weigh(candidates[count - kept]);
    };
    std::make_heap(candidates.begin(), candidates.end(), below);
    if (cutsK) {
      for (int64_t i = 0; i < params.topK; ++i)
        mass += weights.emplace_back(pop());
    } else {
      for (const Candidate &candidate : candidates)
        mass += weigh(candidate);
    }
    if (cutsP) {
      double enough = params.topP * mass, sum = 0;
      size_t most = cutsK ? weights.size() : count;
      size_t nucleus = 0;
      while (nucleus < most && (nucleus == 0 || sum < enough)) {
        if (nucleus == weights.size())
          weights.push_back(pop());
        sum += weights[nucleus++];
      }
      weights.resize(nucleus);
      mass = sum;
    }
    double target = uniform * mass, sum = 0;
    for (size_t i = 0; i < weights.size(); ++i)
      if ((sum += weights[i]) > target)
        return candidates[count - 1 - i].token;
    return candidates[count - weights.size()].token;
  }
  return candidates.back().token; // the sum was rounded down
}
