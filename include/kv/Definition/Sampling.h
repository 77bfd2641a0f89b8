//===- Sampling.h - What a draw from logits is ------------------*- C++ -*-===//
//
// The one definition that a CPU and a GPU follow, to the token. Everything that
// could depend on the order of a sum is an integer:
//
//   the weight of a token is 2^((logit - maximum) * log2(e) / temperature) in
//     units of 2^-40, rounded in one way (weightOf); sums of weights are exact
//   tokens are in order by logit, the largest first, and by id where logits are
//     equal
//   kept are those first in order that top-k, of these top-p, and of these
//   min-p
//     keep
//   a draw is a 64-bit number of Philox4x32-10, keyed by the seed, at the
//   token's
//     index in its answer; times the sum of the kept weights, over 2^64, it is
//     how much weight lies before the token that is drawn, by id
//
// Without a temperature the first token in order is taken.
//
//===----------------------------------------------------------------------===//

#ifndef KV_DEFINITION_SAMPLING_H
#define KV_DEFINITION_SAMPLING_H

#include "kv/Definition/Fold.h"

namespace kv::sampling {

/// The weight of the largest logit. Of less than 2^24 tokens no sum overflows.
constexpr int WeightBits = 40;
constexpr uint64_t MostWeight = uint64_t(1) << WeightBits;
constexpr int64_t MostTokens = (1 << 24) - 1;

/// Results in place of a token: of a row without a finite logit, and of one
/// with a NaN or infinite logit, which names the first such token.
constexpr int32_t NoToken = -1;
KV_HD constexpr int32_t badToken(int32_t token) { return -2 - token; }

/// Subnormal temperatures are none: their inverse is no number.
KV_HD constexpr bool isGreedy(float temperature) {
  return !(temperature >= 0x1p-126f);
}

/// The factor of weightOf().
KV_HD float scaleOf(float temperature) { return kv::plan::Log2E / temperature; }

/// Every operation rounds by itself: -ffp-contract=off on the host.
KV_HD uint64_t weightOf(float logit, float maximum, float scale) {
  float exponent = kv::plan::multiply(logit - maximum, scale);
  if (!(exponent > -float(WeightBits + 1)))
    return 0;
  auto whole = int32_t(exponent);
  whole -= float(whole) > exponent; // rounded down
  float x = exponent - float(whole);
  // 2^x of x in [0, 1], within 1e-7; 1 and 2 exactly at the ends.
  float power = 0.00021612919f;
  constexpr float Factors[] = {0.0012467846f, 0.009675452f, 0.055485282f,
                               0.24022931f,   0.69314706f,  1.0f};
#ifdef __CUDACC__
#pragma unroll
#endif
  for (float factor : Factors)
    power = kv::plan::multiply(power, x) + factor;
  return uint64_t(power * 0x1p23f) << (WeightBits - 23) >> -whole;
}

/// The order of a logit as a number: of two tokens, the one with the smaller
/// number comes first. Equal numbers mean equal logits.
KV_HD uint32_t orderOf(float logit) {
  uint32_t bits = __builtin_bit_cast(uint32_t, logit == 0 ? 0.0f : logit);
  return bits & 0x80000000 ? bits : ~(bits | 0x80000000);
}

/// The limit for top-p, from the sum of all weights: a token is kept if the
/// weights before it sum to less. `topP` is below 1.
KV_HD uint64_t enoughOf(uint64_t sum, float topP) {
  auto share = uint64_t(topP * 0x1p32f);
  uint64_t enough = (sum >> 32) * share + ((sum & 0xffffffff) * share >> 32);
  return enough ? enough : 1;
}

/// The least weight that min-p keeps: a share of the largest.
KV_HD uint64_t leastWeightOf(float minP) {
  return uint64_t(minP * float(MostWeight));
}

/// Philox4x32-10 (Salmon et al., 2011): the first 64 bits.
KV_HD uint64_t drawOf(uint64_t seed, uint64_t index) {
  uint32_t a = uint32_t(index), b = uint32_t(index >> 32), c = 0, d = 0;
  uint32_t key = uint32_t(seed), other = uint32_t(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    uint64_t left = uint64_t(0xD2511F53u) * a,
             right = uint64_t(0xCD9E8D57u) * c;
    a = uint32_t(right >> 32) ^ b ^ key;
    b = uint32_t(right);
    c = uint32_t(left >> 32) ^ d ^ other;
    d = uint32_t(left);
    key += 0x9E3779B9u;
    other += 0xBB67AE85u;
  }
  return uint64_t(b) << 32 | a;
}

/// How much of `sum` lies before what a draw takes.
KV_HD uint64_t shareOf(uint64_t draw, uint64_t sum) {
#ifdef __CUDA_ARCH__
  return __umul64hi(draw, sum);
#else
  return uint64_t((unsigned __int128)draw * sum >> 64);
#endif
}

} // namespace kv::sampling

#endif // KV_DEFINITION_SAMPLING_H
