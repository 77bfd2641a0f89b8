//===- Sampler.h - From a row of logits to a token --------------*- C++ -*-===//

#ifndef KV_RUNTIME_SERVING_SAMPLER_H
#define KV_RUNTIME_SERVING_SAMPLER_H

#include "kv/Kernels/Sample.h"
#include "kv/Runtime/Base/Error.h"

namespace kv {

struct SamplingParams {
  double temperature = 0; // 0: greedy
  int64_t topK = 0;       // 0: off
  double topP = 1;        // 1: off
  double minP = 0;        // 0: off
  uint64_t seed = 0;
};

/// How the token at `index` of an answer is chosen, as devices take it.
sampling::Choice choiceOf(const SamplingParams &params, uint64_t index);

/// The token that was chosen. Errors: there was none to choose, where logits
/// are NaN or +infinity, or nothing but -infinity.
Expected<int32_t> checkToken(int32_t chosen);

/// Samples tokens. The result depends on (row, params, index) only: equal bits
/// give equal tokens, on a CPU and on a GPU. The object holds nothing but
/// scratch memory.
class Sampler {
public:
  /// Samples the token at `index` of an answer from a row of less than 2^24
  /// logits. Temperature 0 takes the largest logit, among equal ones that of
  /// the lowest token id. For other temperatures, the logits are divided by the
  /// temperature, and the topK largest are kept (of equal ones those of lower
  /// ids). Of these, the fewest are kept whose probabilities, from the largest
  /// on, add up to topP. Of these, those with at least minP of the largest
  /// probability are kept. One of them is drawn by its share. Errors: those of
  /// checkToken().
  Expected<int32_t> sample(std::span<const float> row,
                           const SamplingParams &params, uint64_t index) {
    return checkToken(sampler.sample(row, choiceOf(params, index)));
  }

private:
  sampling::RowSampler sampler;
};

} // namespace kv

#endif // KV_RUNTIME_SERVING_SAMPLER_H
