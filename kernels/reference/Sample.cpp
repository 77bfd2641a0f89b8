//===- Sample.cpp - Tokens from logits on a CPU ---------------------------===//

#include "kv/Kernels/Sample.h"
#include "kv/Definition/Sampling.h"

#include <algorithm>
#include <tuple>

using namespace kv::sampling;

uint64_t kv::sampling::randomBits(uint64_t seed, uint64_t index) {
  return drawOf(seed, index);
}

int32_t RowSampler::sample(std::span<const float> row, const Choice &choice) {
  int32_t best = NoToken;
  float maximum = -INFINITY;
  for (size_t token = 0; token < row.size(); ++token) {
    float logit = row[token];
    if (std::isnan(logit) || logit == INFINITY)
      return badToken(static_cast<int32_t>(token));
    if (logit > maximum) {
      maximum = logit;
      best = static_cast<int32_t>(token);
    }
  }
  if (best == NoToken || isGreedy(choice.temperature))
    return best;

  candidates.clear();
  float scale = scaleOf(choice.temperature);
  for (size_t token = 0; token < row.size(); ++token)
    if (row[token] != -INFINITY)
      candidates.push_back({orderOf(row[token]), static_cast<int32_t>(token),
                            weightOf(row[token], maximum, scale)});
  keepFirst(choice);

  uint64_t sum = 0;
  for (const Candidate &one : candidates)
    sum += one.weight;
  uint64_t before = shareOf(drawOf(choice.seed, choice.index), sum);
  for (const Candidate &one : candidates) {
    if (before < one.weight)
      return one.token;
    before -= one.weight;
  }
  return best; // not reached: what lies before is less than the sum
}

/// Leaves the candidates that are kept, by id.
void RowSampler::keepFirst(const Choice &choice) {
  size_t count = candidates.size();
  bool cutsK =
      choice.topK > 0 && static_cast<size_t>(choice.topK) < candidates.size();
  bool cutsP = choice.topP < 1;
  if (cutsK || cutsP) {
    // A heap gives them in order without sorting the whole vocabulary.
    auto later = [](const Candidate &a, const Candidate &b) {
      return std::tie(a.order, a.token) > std::tie(b.order, b.token);
    };
    std::make_heap(candidates.begin(), candidates.end(), later);
    size_t popped = 0; // at the end, the first in order last
    auto pop = [&] {
      std::pop_heap(candidates.begin(), candidates.end() - popped, later);
      return candidates[count - ++popped].weight;
    };
    uint64_t sum = 0;
    if (cutsK)
      for (int32_t i = 0; i < choice.topK; ++i)
        sum += pop();
    else
      for (const Candidate &one : candidates)
        sum += one.weight;
    size_t kept = cutsK ? popped : count;
    if (cutsP) {
      uint64_t enough = enoughOf(sum, choice.topP), before = 0;
      for (size_t i = 0; i < kept; ++i) {
        if (before >= enough) {
          kept = i;
          break;
        }
        before += i < popped ? candidates[count - 1 - i].weight : pop();
      }
    }
    candidates.erase(candidates.begin(), candidates.end() - kept);
    std::ranges::sort(candidates, {}, &Candidate::token);
  }
  if (uint64_t least = leastWeightOf(choice.minP))
    std::erase_if(candidates,
                  [&](const Candidate &one) { return one.weight < least; });
}
