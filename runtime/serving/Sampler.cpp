//===- Sampler.cpp - From a row of logits to a token ----------------------===//

#include "kv/Runtime/Serving/Sampler.h"
#include "kv/Definition/Sampling.h"

#include <algorithm>

using namespace kv;

sampling::Choice kv::choiceOf(const SamplingParams &params, uint64_t index) {
  return {.temperature = static_cast<float>(params.temperature),
          .topK = static_cast<int32_t>(
              std::min<int64_t>(params.topK, sampling::MostTokens)),
          .topP = static_cast<float>(params.topP),
          .minP = static_cast<float>(params.minP),
          .seed = params.seed,
          .index = index};
}

Expected<int32_t> kv::checkToken(int32_t chosen) {
  if (chosen >= 0)
    return chosen;
  if (chosen == sampling::NoToken)
    return makeError(KV_STATUS_OUT_OF_RANGE, "no token has a finite logit");
  return makeError(KV_STATUS_OUT_OF_RANGE, "the logit of token ",
                   sampling::badToken(chosen), " is NaN or infinite");
}
