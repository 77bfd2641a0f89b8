//===- Sampler.h - From a row of logits to a token --------------*- C++ -*-===//

#ifndef KV_RUNTIME_SERVING_SAMPLER_H
#define KV_RUNTIME_SERVING_SAMPLER_H

#include "kv/Runtime/Error.h"

#include <cstdint>
#include <span>
#include <vector>

namespace kv {

struct SamplingParams {
  double temperature = 0; // 0: greedy
  int64_t topK = 0;       // 0: off
  double topP = 1;        // 1: off
  uint64_t seed = 0;
};

/// A uniform draw from [0, 1). It depends on the two arguments only, not on
/// earlier draws, so batching and preemption cannot change it.
double uniformDraw(uint64_t seed, uint64_t index);

/// Samples tokens. The result depends on (row, params, index) only: equal bits
/// give equal tokens. The object holds nothing but scratch memory.
class Sampler {
public:
  explicit Sampler(int64_t vocabSize);

  /// Samples the token at `index` of an answer from a row of `vocabSize`
  /// logits. Temperature 0 takes the largest logit, among equal ones that of
  /// the lowest token id. Otherwise the logits are divided by the temperature;
  /// the topK largest are kept (of equal ones those of lower ids); of these,
  /// the fewest whose probabilities, from the largest on, add up to topP; and
  /// one of those is drawn by its share. Errors: a NaN, +infinity, or nothing
  /// but -infinity.
  Expected<int32_t> sample(std::span<const float> row,
                           const SamplingParams &params, uint64_t index);

private:
  struct Candidate {
    float logit;
    int32_t token;
  };

  int32_t draw(double maximum, const SamplingParams &params, double uniform);

  std::vector<Candidate> candidates;
  std::vector<double> weights;
};

} // namespace kv

#endif // KV_RUNTIME_SERVING_SAMPLER_H
