//===- ServingMetrics.cpp - What a generator counts -----------------------===//

#include "kv/Runtime/Serving/ServingMetrics.h"

using namespace kv;

static void add(MetricFamilies &families, const char *name, const char *help,
                MetricFamily::Kind kind, int64_t value,
                const MetricLabels &labels = {}) {
  addMetric(families, name, help, kind,
            {labels, static_cast<double>(value), {}});
}

static MetricFamily::Sample durations(const ServingFigures &figures) {
  MetricFamily::Sample sample;
  sample.value = static_cast<double>(figures.stepMicroseconds) * 1e-6;
  // Steps take from microseconds to minutes; bucket b ends at 2^b of the first.
  for (int32_t bucket = 0; bucket < 28; ++bucket)
    sample.buckets.push_back({static_cast<double>(int64_t(1) << bucket) * 1e-6,
                              figures.stepDurations[bucket]});
  for (int32_t bucket = 28; bucket < Histogram::NumBuckets; ++bucket)
    sample.buckets.back().count += figures.stepDurations[bucket];
  return sample;
}

void kv::collectMetrics(const ServingFigures &figures,
                        MetricFamilies &families) {
  using enum MetricFamily::Kind;
  add(families, "kv_requests_total", "Requests received.", Counter,
      figures.requests);
  constexpr const char *Answered = "Requests answered, by what ended them.";
  for (auto [count, label] : {std::pair(&figures.stopped, "stop"),
                              std::pair(&figures.reachedEnd, "length"),
                              std::pair(&figures.failed, "error"),
                              std::pair(&figures.aborted, "abort")})
    add(families, "kv_requests_finished_total", Answered, Counter, *count,
        {{"reason", label}});
  add(families, "kv_requests_running", "Requests in the latest step.", Gauge,
      figures.running);
  add(families, "kv_requests_waiting", "Requests that wait for a step.", Gauge,
      figures.waiting);
  add(families, "kv_preemptions_total",
      "Times that a request gave up its pages for another one.", Counter,
      figures.preemptions);
  add(families, "kv_prefill_tokens_total",
      "Tokens computed by steps with tokens of prompts.", Counter,
      figures.prefillTokens);
  add(families, "kv_decode_tokens_total",
      "Tokens computed by steps with generated tokens only.", Counter,
      figures.decodeTokens);
  add(families, "kv_generated_tokens_total", "Tokens given out.", Counter,
      figures.generatedTokens);
  addMetric(families, "kv_step_duration_seconds",
            "Time of each step, from scheduling to sampling.", Histogram,
            durations(figures));
}

void kv::collectVllmMetrics(const ServingFigures &figures,
                            const std::string &model,
                            MetricFamilies &families) {
  using enum MetricFamily::Kind;
  // One generator serves all replicas.
  MetricLabels labels = {{"model_name", model}, {"engine", "0"}};
  add(families, "vllm:num_requests_running",
      "Number of requests in model execution batches.", Gauge, figures.running,
      labels);
  add(families, "vllm:num_requests_waiting",
      "Number of requests waiting to be processed.", Gauge, figures.waiting,
      labels);
  add(families, "vllm:num_preemptions_total",
      "Cumulative number of preemptions from the engine.", Counter,
      figures.preemptions, labels);
  add(families, "vllm:generation_tokens_total",
      "Number of generation tokens processed.", Counter,
      figures.generatedTokens, labels);
  add(families, "vllm:spec_decode_num_drafts_total",
      "Number of spec decoding drafts.", Counter, figures.drafts, labels);
  add(families, "vllm:spec_decode_num_draft_tokens_total",
      "Number of draft tokens.", Counter, figures.draftTokens, labels);
  add(families, "vllm:spec_decode_num_accepted_tokens_total",
      "Number of accepted tokens.", Counter, figures.acceptedTokens, labels);
}
