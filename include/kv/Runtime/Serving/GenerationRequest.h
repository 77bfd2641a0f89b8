//===- GenerationRequest.h - What is asked and answered ---------*- C++ -*-===//
//
// docs/requests.md as structs.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_SERVING_GENERATIONREQUEST_H
#define KV_RUNTIME_SERVING_GENERATIONREQUEST_H

#include "kv/Runtime/Serving/Sampler.h"

#include <optional>
#include <string>
#include <string_view>

namespace kv {

struct GenerationRequest {
  std::string id;
  std::vector<int32_t> tokens; // the prompt
  int64_t maxNewTokens = 128;
  SamplingParams sampling;
  std::vector<int32_t> stopTokens;
  int64_t arrivalStep = 0;
  bool digests = false;      // of the logits row that each token is drawn from
  bool promptLogits = false; // of every position: all of them are computed
};

enum class FinishReason { Stop, Length };

/// Figures of one answered request.
struct GenerationCounts {
  int64_t promptTokens = 0;
  int64_t cachedTokens = 0; // of the prompt, from the prefix cache
  int64_t newTokens = 0;
};

/// Takes the answers as they come. Calls of one request are in order.
class GenerationSink {
public:
  virtual ~GenerationSink() = default;

  /// Token number `index` of the answer; `digest` if the request wants it.
  virtual void token(const GenerationRequest &request, int64_t index,
                     int32_t token, std::optional<uint64_t> digest) = 0;
  /// Exactly one of these two a request, as its last call.
  virtual void finished(const GenerationRequest &request, FinishReason reason,
                        const GenerationCounts &counts) = 0;
  virtual void failed(const GenerationRequest &request,
                      std::string_view message) = 0;
  /// The logits that follow prompt position `position`, once each.
  virtual void promptLogits(const GenerationRequest &request, int64_t position,
                            std::span<const float> row) {}
  /// A step is over: what was streamed should become visible.
  virtual void stepDone() {}
};

/// Figures of a run. A step that computes any token of a prompt counts, with
/// all its tokens and its time, as prefill, every other step as decode.
struct GenerationStatistics {
  int64_t requests = 0;
  int64_t failedRequests = 0;
  int64_t steps = 0;
  int64_t preemptions = 0;
  int64_t prefillTokens = 0;
  double prefillSeconds = 0;
  int64_t decodeTokens = 0;
  double decodeSeconds = 0;
  int64_t cachedTokens = 0;
  int64_t prefixHits = 0; // requests with any cached token
  double seconds = 0;
};

} // namespace kv

#endif // KV_RUNTIME_SERVING_GENERATIONREQUEST_H
