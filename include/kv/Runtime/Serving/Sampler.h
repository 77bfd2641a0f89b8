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

/// The uniform draw in [0, 1) number `index` of `seed`. Counter-based: it
/// depends on nothing else, so batching and preemption cannot change it.
double uniformDraw(uint64_t seed, uint64_t index);

/// Samples tokens. A result is a function of (row, params, index) alone: equal
/// bits give equal tokens. The object holds scratch memory only.
class Sampler {
public:
  explicit Sampler(int64_t vocabSize);

  /// Draw `index` from a row of `vocabSize` logits. Greedy takes the largest,
  /// the lowest id among equals. Otherwise: divide by the temperature, keep the
  /// topK largest (lower ids first among equals), then the fewest of those, the
  /// largest first, that reach topP of their mass; draw one by its share.
  /// Errors: a NaN, +infinity, or nothing but -infinity.
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
