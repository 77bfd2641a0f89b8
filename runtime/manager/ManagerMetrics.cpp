//===- ManagerMetrics.cpp - A paged manager's figures, named --------------===//

#include "kv/Runtime/Manager/ManagerMetrics.h"

using namespace kv;

namespace {

/// Appends samples that share labels.
class Samples {
public:
  Samples(MetricFamilies &families, MetricLabels labels)
      : families(families), labels(std::move(labels)) {}

  void gauge(const char *name, const char *help, double value,
             const MetricLabels &more = {}) const {
    MetricFamily::Sample sample = {labels, value, {}};
    sample.labels.insert(sample.labels.end(), more.begin(), more.end());
    addMetric(families, name, help, MetricFamily::Gauge, std::move(sample));
  }
  void counter(const char *name, const char *help, int64_t value,
               const MetricLabels &more = {}) const {
    MetricFamily::Sample sample = {labels, static_cast<double>(value), {}};
    sample.labels.insert(sample.labels.end(), more.begin(), more.end());
    addMetric(families, name, help, MetricFamily::Counter, std::move(sample));
  }
  void histogram(const char *name, const char *help, const Histogram &values,
                 int64_t sum) const {
    MetricFamily::Sample sample = {labels, static_cast<double>(sum), {}};
    for (int32_t bucket = 0; bucket < Histogram::NumBuckets; ++bucket)
      sample.buckets.push_back(
          {static_cast<double>((int64_t(1) << bucket) - 1), values[bucket]});
    addMetric(families, name, help, MetricFamily::Histogram, std::move(sample));
  }

private:
  MetricFamilies &families;
  MetricLabels labels;
};

void collectPages(const Samples &samples, const CacheEngine::PageCounts &pages,
                  int64_t total) {
  // The counts are read one after the other while pages move between them.
  int64_t free = std::min<int64_t>(pages.free(), total);
  samples.gauge("kv_pages", "Usable pages of the pool.",
                static_cast<double>(total));
  samples.gauge("kv_pages_used", "Pages that requests hold.",
                static_cast<double>(total - free));
  samples.gauge("kv_pages_free",
                "Pages that no request holds: cached, blank and deferred.",
                static_cast<double>(free));
  samples.gauge("kv_pages_cached",
                "Free pages whose prefix is kept until it is evicted.",
                pages.cached);
  samples.gauge("kv_pages_deferred",
                "Free pages that a running step may still touch.",
                pages.deferred);
  samples.gauge("kv_usage_ratio", "Used pages of all usable pages, 0 to 1.",
                static_cast<double>(total - free) / static_cast<double>(total));
}

void collectEngine(const Samples &samples, const EngineMetrics &engine) {
  auto reason = [&](CacheEngine::Reason which) {
    return static_cast<int64_t>(engine.lookedUp[static_cast<size_t>(which)]);
  };
  using Reason = CacheEngine::Reason;
  int64_t lookups = 0;
  for (const Counter &count : engine.lookedUp)
    lookups += count;
  samples.counter("kv_prefix_lookup_pages_total",
                  "Full pages of new requests' prompts, each looked up once; "
                  "the last token's is always computed and not counted.",
                  lookups);
  samples.counter("kv_prefix_hit_pages_total",
                  "Looked-up pages that were taken from the cache.",
                  reason(Reason::Hit));
  for (auto [which, label] :
       {std::pair(Reason::NeverSeen, "never_seen"),
        std::pair(Reason::Evicted, "evicted"),
        std::pair(Reason::OtherScope, "other_scope"),
        std::pair(Reason::GroupLacksIt, "group_lacks_it"),
        std::pair(Reason::OtherTier, "other_tier"),
        std::pair(Reason::WithoutPayload, "without_logprobs")})
    samples.counter("kv_prefix_missed_pages_total",
                    "Looked-up pages that were not on the devices, by reason: "
                    "other_tier means that they were loaded.",
                    reason(which), {{"reason", label}});
  samples.counter("kv_pages_allocated_total",
                  "Blank or evicted pages given to requests.", engine.newPages);
  samples.counter("kv_pages_evicted_total",
                  "Cached pages given up for new content.",
                  engine.evictedPages);
  samples.counter("kv_pages_committed_total",
                  "Computed pages that became findable.",
                  engine.committedPages);
  samples.counter("kv_pages_deduplicated_total",
                  "Computed pages replaced by an equal cached one.",
                  engine.twinPages);
  samples.counter("kv_pages_uncommitted_total",
                  "Computed full pages that could not become findable.",
                  engine.uncommittedPages);
  samples.counter("kv_pages_copied_total",
                  "Pages copied because requests that share them went apart.",
                  engine.copiedPages);
  for (auto [count, label] : {std::pair(&engine.refusedWait, "wait"),
                              std::pair(&engine.refusedFull, "full"),
                              std::pair(&engine.refusedNever, "never")})
    samples.counter("kv_reservations_refused_total",
                    "Reservations of pages that did not fit: wait (pages are "
                    "free after a step), full, never (longer than the pool).",
                    *count, {{"reason", label}});
  samples.histogram("kv_prefix_hit_length_pages", "Pages of each hit.",
                    engine.hitLength, engine.hitPages);
}

void collectTiers(const Samples &samples, const TierMetrics &tiers) {
  for (auto [pages, used, tier] :
       {std::tuple(&tiers.hostPages, &tiers.usedHostPages, "host"),
        std::tuple(&tiers.diskPages, &tiers.usedDiskPages, "disk")}) {
    samples.gauge("kv_tier_pages", "Pages that a tier has room for.", *pages,
                  {{"tier", tier}});
    samples.gauge("kv_tier_pages_used", "Pages of which a tier has records.",
                  *used, {{"tier", tier}});
  }
  for (auto [count, tier] : {std::pair(&tiers.evictedHostPages, "host"),
                             std::pair(&tiers.evictedDiskPages, "disk")})
    samples.counter("kv_tier_pages_evicted_total",
                    "Records that a tier has given up for others.", *count,
                    {{"tier", tier}});
  samples.counter("kv_host_pages_stored_total",
                  "Pages copied from the devices to host memory.",
                  tiers.storedPages);
  samples.counter("kv_host_stores_refused_total",
                  "Pages that were not copied since no host memory was free.",
                  tiers.refusedStores);
  samples.gauge("kv_disk_operations", "Reads and writes under way.",
                tiers.diskOperations);
  for (auto [count, label] : {std::pair(&tiers.readPages, "read"),
                              std::pair(&tiers.writtenPages, "write")})
    samples.counter("kv_disk_pages_total", "Records read and written.", *count,
                    {{"operation", label}});
  for (auto [count, label] : {std::pair(&tiers.failedReads, "read"),
                              std::pair(&tiers.failedWrites, "write"),
                              std::pair(&tiers.unindexedPages, "index")})
    samples.counter("kv_disk_failures_total",
                    "Records lost: read (damaged, or an error), write, index "
                    "(found by this process only).",
                    *count, {{"operation", label}});
}

/// Of the store that machines share.
void collectStore(const Samples &samples, const TierMetrics &tiers) {
  samples.gauge("kv_store_up", "1 if the shared store answers.",
                tiers.storeIsUp);
  samples.gauge("kv_store_operations", "Reads and writes under way.",
                tiers.storeOperations);
  for (auto [count, label] : {std::pair(&tiers.storeHits, "hit"),
                              std::pair(&tiers.storeMisses, "miss"),
                              std::pair(&tiers.failedStoreQuestions, "error")})
    samples.counter("kv_store_lookups_total",
                    "Pages that the shared store was asked for.", *count,
                    {{"result", label}});
  for (auto [pages, bytes, label] :
       {std::tuple(&tiers.storeReadPages, &tiers.storeReadBytes, "read"),
        std::tuple(&tiers.storeWrittenPages, &tiers.storeWrittenBytes,
                   "write")}) {
    samples.counter("kv_store_pages_total", "Records read and written.", *pages,
                    {{"operation", label}});
    samples.counter("kv_store_bytes_total",
                    "Bytes of the records read and written.", *bytes,
                    {{"operation", label}});
  }
  for (auto [count, label] : {std::pair(&tiers.failedStoreReads, "read"),
                              std::pair(&tiers.failedStoreWrites, "write"),
                              std::pair(&tiers.skippedStoreWrites, "skipped"),
                              std::pair(&tiers.storeLosses, "lost")})
    samples.counter("kv_store_failures_total",
                    "read (gone, wrong, or an error), write, skipped (not "
                    "written: too slow, or not there), lost (did not answer in "
                    "time, or nonsense).",
                    *count, {{"operation", label}});
}

} // namespace

void kv::collectMetrics(const PagedKVCacheManager &manager,
                        MetricFamilies &families) {
  if (const TierMetrics *tiers = manager.tierMetrics())
    collectTiers(Samples(families, {}), *tiers);
  if (const TierMetrics *tiers = manager.tierMetrics();
      tiers && manager.hasStore())
    collectStore(Samples(families, {}), *tiers);
  for (int32_t replica = 0; replica < manager.numReplicas(); ++replica) {
    Samples samples(families, {{"replica", std::to_string(replica)}});
    collectPages(samples, manager.pageCounts(replica),
                 manager.numPagesPerReplica());
    collectEngine(samples, manager.engineMetrics(replica));
    const PagedKVCacheManager::Figures &figures = manager.figures(replica);
    samples.counter("kv_prompt_tokens_total",
                    "Tokens of requests at their first reservation.",
                    figures.promptTokens);
    samples.counter("kv_cached_tokens_total",
                    "Tokens that were taken from the cache and not computed.",
                    figures.cachedTokens);
    samples.counter("kv_loaded_pages_total",
                    "Pages loaded from host memory, disk or store.",
                    figures.loadedPages);
    samples.counter("kv_abandoned_loads_total",
                    "Pages found in a tier and then computed, since they did "
                    "not come, or were damaged.",
                    figures.abandonedPages);
    samples.counter("kv_prefix_resets_total",
                    "Times that all cached prefixes were forgotten.",
                    figures.resets);
  }
}

void kv::collectMetrics(const EventPublisher &publisher, int32_t replica,
                        MetricFamilies &families) {
  Samples samples(families, {{"replica", std::to_string(replica)}});
  EventPublisher::Figures figures = publisher.figures();
  samples.counter("kv_event_batches_total", "Messages with events published.",
                  figures.batches);
  for (auto [count, label] : {std::pair(figures.stored, "stored"),
                              std::pair(figures.removed, "removed"),
                              std::pair(figures.cleared, "cleared")})
    samples.counter("kv_events_total",
                    "Events published, of each block that they name.", count,
                    {{"type", label}});
  samples.counter("kv_events_dropped_total",
                  "Blocks whose events found the queue full.", figures.dropped);
  samples.counter("kv_event_gaps_total",
                  "Times that events were dropped, and the whole index was "
                  "published again.",
                  figures.gaps);
}

void kv::collectVllmMetrics(const PagedKVCacheManager &manager,
                            const std::string &model,
                            MetricFamilies &families) {
  for (int32_t replica = 0; replica < manager.numReplicas(); ++replica) {
    MetricLabels labels = {{"model_name", model},
                           {"engine", std::to_string(replica)}};
    Samples samples(families, labels);
    double total = static_cast<double>(manager.numPagesPerReplica());
    double free = manager.pageCounts(replica).free();
    samples.gauge("vllm:kv_cache_usage_perc",
                  "KV-cache usage. 1 means 100 percent usage.",
                  std::max(1 - free / total, 0.0));
    const PagedKVCacheManager::Figures &figures = manager.figures(replica);
    samples.counter("vllm:prefix_cache_queries_total",
                    "Tokens that were looked for in the prefix cache.",
                    figures.promptTokens);
    samples.counter("vllm:prefix_cache_hits_total",
                    "Tokens that were found in the prefix cache.",
                    figures.cachedTokens);
    labels.insert(
        labels.end(),
        {{"block_size", std::to_string(manager.params().pageSize())},
         {"num_gpu_blocks", std::to_string(manager.numPagesPerReplica())},
         {"enable_prefix_caching",
          manager.params().enablePrefixCaching() ? "True" : "False"}});
    Samples(families, labels)
        .gauge("vllm:cache_config_info", "Information of the KV cache.", 1);
  }
}
