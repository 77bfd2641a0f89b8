//===- ServingMetrics.h - What a generator counts ---------------*- C++ -*-===//

#ifndef KV_RUNTIME_SERVING_SERVINGMETRICS_H
#define KV_RUNTIME_SERVING_SERVINGMETRICS_H

#include "kv/Runtime/Engine/Metrics.h"
#include "kv/Runtime/Metrics/MetricFamily.h"

namespace kv {

/// Written by the generator's thread and readable by any thread.
struct ServingFigures {
  Counter requests;            // received
  Counter stopped, reachedEnd; // answered, by FinishReason
  Counter failed;              // answered with an error
  Counter aborted;             // given up by who asked
  Counter preemptions;         // requests that lost their pages
  Counter prefillTokens;       // computed by steps with prompts
  Counter decodeTokens;        // computed by other steps
  Counter generatedTokens;     // given out
  Counter drafts;              // steps of a request with draft tokens
  Counter draftTokens;         // verified
  Counter acceptedTokens;      // of them
  Counter stepMicroseconds;    // of all steps together
  Histogram stepDurations;     // microseconds
  Gauge running, waiting;      // requests
};

/// Appends the figures as docs/reference/metrics.md lists them. By any
/// thread.
void collectMetrics(const ServingFigures &figures, MetricFamilies &families);

/// Appends those that vLLM has too, under its names. By any thread.
void collectVllmMetrics(const ServingFigures &figures, const std::string &model,
                        MetricFamilies &families);

} // namespace kv

#endif // KV_RUNTIME_SERVING_SERVINGMETRICS_H
