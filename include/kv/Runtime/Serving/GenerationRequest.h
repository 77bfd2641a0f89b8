//===- GenerationRequest.h - Requests and their answers ---------*- C++ -*-===//
//
// The structs of requests and answers; docs/reference/requests.md describes
// their fields.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_SERVING_GENERATIONREQUEST_H
#define KV_RUNTIME_SERVING_GENERATIONREQUEST_H

#include "kv/Runtime/Engine/Sequence.h"
#include "kv/Runtime/Serving/LogitRules.h"
#include "kv/Runtime/Serving/Sampler.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace kv {

/// What a request has instead of an answer: the last hidden state of its
/// prompt, or the mean of all, which computes the whole prompt.
enum class Embedding : int32_t { None, Last, Mean };

struct GenerationRequest {
  /// The most bytes of a salt: a scope's bytes (CacheEngine::Options) without
  /// their framing.
  static constexpr size_t MostSaltBytes = 240;

  std::string id;
  std::vector<int32_t> tokens; // the prompt
  /// 0: the prompt is computed, or loaded, so that it is cached for the next
  /// turn.
  int64_t maxNewTokens = 128;
  SamplingParams sampling;
  std::vector<int32_t> stopTokens;
  /// Requests share cached prefixes with those of an equal salt only.
  /// At most MostSaltBytes.
  std::optional<std::string> salt = {};
  int64_t arrivalStep = 0;
  /// Whether each token comes with a digest of the logits it was drawn from.
  bool digests = false;
  /// Whether the logits of every prompt position are returned. Then all
  /// positions are computed, whatever is cached.
  bool promptLogits = false;
  LogitRules rules = {};
  /// Guesses which tokens follow `answer`, the tokens drawn so far: writes them
  /// to `drafts` and returns how many. The next step verifies them, so that a
  /// wrong guess changes no token. Called between steps, at most once for each;
  /// not at all where the model's caches cannot take drafts back. A number that
  /// is negative or too large fails the request.
  std::function<int64_t(std::span<const int32_t> answer,
                        std::span<int32_t> drafts)>
      draft = {};
  /// Whether each token of the answer comes with its log probability, and with
  /// those of how many of the most likely tokens; -1: without.
  int32_t logprobs = -1;
  /// The most likely tokens for each token of the prompt but its first, as
  /// `logprobs` has them for the answer. Those of cached pages come from there,
  /// if the manager keeps so many (PagedOptions::payloadRanks); otherwise all
  /// positions are computed, whatever is cached.
  int32_t promptLogprobs = -1;
  Embedding embedding = Embedding::None;
  /// Of requests that wait the smallest begins first.
  int32_t priority = 0;
  /// Of requests that wait with equal priority, the first one of the tenant for
  /// which the fewest tokens were computed.
  std::string tenant = {};
  /// How long the pages should outlive the request.
  Retention retention = {};

  bool needsPromptRows() const { return promptLogits || promptLogprobs >= 0; }
  /// Whether all positions are computed, whatever is cached.
  bool needsWholePrompt() const {
    return promptLogits || embedding == Embedding::Mean;
  }
  /// Whether the host must see the rows that tokens are drawn from.
  bool needsRows() const {
    return needsPromptRows() || digests || logprobs >= 0 ||
           !rules.changeNothing();
  }
};

enum class FinishReason { Stop, Length };

/// Figures of one answered request.
struct GenerationCounts {
  int64_t promptTokens = 0;
  int64_t cachedTokens = 0; // of the prompt, from the prefix cache
  int64_t newTokens = 0;
  double queueSeconds = 0; // from its arrival to its first step
};

/// Receives answers while they are generated. The calls for one request are in
/// the order of its tokens.
class GenerationSink {
public:
  virtual ~GenerationSink() = default;

  /// The token of the answer at `index`, from 0; `digest` if the request wants
  /// it.
  virtual void token(const GenerationRequest &request, int64_t index,
                     int32_t token, std::optional<uint64_t> digest) = 0;
  /// The last call for a request is exactly one of these two.
  virtual void finished(const GenerationRequest &request, FinishReason reason,
                        const GenerationCounts &counts) = 0;
  virtual void failed(const GenerationRequest &request,
                      std::string_view message) = 0;
  /// The logits at the prompt position `position`, which predict the token
  /// after it: [vocabSize], once for each position, valid during the call.
  virtual void promptLogits(const GenerationRequest &request, int64_t position,
                            std::span<const float> row) {}
  /// Of the token at `position` of the prompt and the answer together, if the
  /// request wants it: before the call of token(). Valid during the call.
  virtual void logprobs(const GenerationRequest &request, int64_t position,
                        const TokenLogprobs &found) {}
  /// Before finished(), of a request for one: [hiddenSize].
  virtual void embedding(const GenerationRequest &request,
                         std::span<const float> values) {}
  /// A step is over: tokens that were passed should become visible to users.
  virtual void stepDone() {}
};

/// Figures of a run. A step that computes any token of a prompt counts, with
/// all its tokens and its time, as prefill, every other step as decode. Tokens
/// are those that stay: drafts that were not accepted count as drafts only.
struct GenerationStatistics {
  int64_t requests = 0;
  int64_t failedRequests = 0;
  int64_t steps = 0;
  int64_t preemptions = 0;
  int64_t prefillTokens = 0;
  double prefillSeconds = 0;
  int64_t decodeTokens = 0;
  double decodeSeconds = 0;
  int64_t draftTokens = 0, acceptedTokens = 0; // accepted: of the drafts
  int64_t cachedTokens = 0;
  int64_t prefixHits = 0; // requests with any cached token
  double seconds = 0;
};

} // namespace kv

#endif // KV_RUNTIME_SERVING_GENERATIONREQUEST_H
