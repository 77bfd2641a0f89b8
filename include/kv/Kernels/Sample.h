//===- Sample.h - Tokens from logits on a CPU -------------------*- C++ -*-===//
//
// The CPU's kernel of kv.sample; include/kv/Definition/Sampling.h says what it
// computes, to the token.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_SAMPLE_H
#define KV_KERNELS_SAMPLE_H

#include <cstdint>
#include <span>
#include <vector>

namespace kv::sampling {

/// How the token of one row is chosen.
struct Choice {
  float temperature = 0; // 0: the largest logit, and nothing else counts
  int32_t topK = 0;      // 0: all
  float topP = 1;        // 1: all
  float minP = 0;        // 0: all
  uint64_t seed = 0;
  uint64_t index = 0; // of the token in its answer
};

/// 64 random bits, which depend on the two arguments only.
uint64_t randomBits(uint64_t seed, uint64_t index);

/// Holds nothing but scratch memory.
class RowSampler {
public:
  /// The token of a row of less than 2^24 logits. Negative where there is none:
  /// NoToken, or badToken() of the first that is NaN or infinite.
  int32_t sample(std::span<const float> row, const Choice &choice);

private:
  struct Candidate {
    uint32_t order;
    int32_t token;
    uint64_t weight;
  };
  void keepFirst(const Choice &choice);

  std::vector<Candidate> candidates;
};

} // namespace kv::sampling

#endif // KV_KERNELS_SAMPLE_H
