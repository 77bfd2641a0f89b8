//===- LogitRules.h - What a request asks of its logits ---------*- C++ -*-===//
//
// Rules change a row of logits before a token is drawn from it. Log
// probabilities are those of the row as the model computed it. Both need the
// row in host memory: a device that draws tokens itself passes on the rows of
// requests that ask for either, and the host draws the same tokens.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_SERVING_LOGITRULES_H
#define KV_RUNTIME_SERVING_LOGITRULES_H

#include "kv/Runtime/Base/Error.h"

#include <memory>
#include <span>
#include <vector>

namespace kv {

/// Says which tokens may come next, such as by a grammar.
class TokenMask {
public:
  virtual ~TokenMask() = default;

  /// Sets bit t % 32 of allowed[t / 32] for each token t that may follow
  /// `answer`, the tokens drawn so far. All bits are 0 before. Called once for
  /// each token, in order, between two steps' computation. An error fails the
  /// request.
  virtual Expected<void> allow(std::span<const int32_t> answer,
                               std::span<uint32_t> allowed) = 0;
};

struct LogitBias {
  int32_t token;
  float value;
};

/// Applied in the order of the fields.
struct LogitRules {
  /// A token of the prompt or the answer: its logit is divided by this where it
  /// is positive, else multiplied by it. 1: off.
  double repetitionPenalty = 1;
  /// Subtracted from the logit of each token of the answer: once, and for each
  /// time that it is there. 0: off.
  double presencePenalty = 0, frequencyPenalty = 0;
  /// Added to logits. A token may be there once.
  std::vector<LogitBias> bias = {};
  /// The number of tokens that the answer must have before stop tokens are
  /// drawn, unless the mask allows nothing else.
  int64_t minNewTokens = 0;
  std::shared_ptr<TokenMask> mask = nullptr; // null: all tokens

  bool changeNothing() const {
    return repetitionPenalty == 1 && presencePenalty == 0 &&
           frequencyPenalty == 0 && bias.empty() && minNewTokens == 0 && !mask;
  }
  /// Errors name the field, what was given, and what is allowed.
  Expected<void> validate(int64_t vocabSize) const;
};

struct TokenLogprob {
  int32_t token;
  float logprob; // natural logarithm
};

/// Of the token at one place of a sequence.
struct TokenLogprobs {
  TokenLogprob chosen;
  int64_t rank; // 1: the most likely one
  /// The most likely tokens, from the first on; of equal ones those of lower
  /// ids come first.
  std::span<const TokenLogprob> top;
};

/// Holds nothing but scratch memory. Results are valid until the next call.
class LogitReader {
public:
  /// The row that a token is drawn from. tokens: the prompt, of `promptTokens`,
  /// and the answer so far.
  Expected<std::span<const float>> apply(const LogitRules &rules,
                                         std::span<const float> row,
                                         std::span<const int32_t> tokens,
                                         int64_t promptTokens,
                                         std::span<const int32_t> stopTokens);

  /// Of a token, and of the `count` most likely ones. Equal rows give equal
  /// bits.
  TokenLogprobs logprobs(std::span<const float> row, int32_t token,
                         int32_t count);

private:
  void penalise(const LogitRules &rules, std::span<const int32_t> tokens,
                int64_t promptTokens);

  std::vector<float> edited;
  std::vector<int32_t> counts, order;
  std::vector<uint32_t> allowed;
  std::vector<TokenLogprob> best;
};

} // namespace kv

#endif // KV_RUNTIME_SERVING_LOGITRULES_H
