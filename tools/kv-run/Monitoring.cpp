//===- Monitoring.cpp - Events and metrics of kv-run ----------------------===//

#include "Monitoring.h"

using namespace kv;
using namespace kv::run;

Expected<Publishers> kv::run::openPublishers(const Options &options,
                                             const MultiKVCacheParams &params) {
  if (options.events.empty())
    return Publishers();
  Expected<Publishers> opened = openEventPublishers(
      params,
      {.endpoint = options.events,
       .replayEndpoint = options.eventsReplay,
       .topic = options.eventsTopic,
       .encoding = options.eventsAsMaps ? EventPublisher::Encoding::Map
                                        : EventPublisher::Encoding::Array,
       .tiers = options.eventsTiers});
  if (!opened)
    return makeError(opened.error().code, "--events: ", opened.error().message);
  return opened;
}

Expected<std::unique_ptr<MetricsServer>>
kv::run::openMetrics(const Options &options, const PagedKVCacheManager *manager,
                     const ServingFigures &serving,
                     const Publishers &publishers, const PeerMetrics *peer) {
  if (options.metrics.empty())
    return nullptr;
  Expected<std::unique_ptr<MetricsServer>> opened =
      MetricsServer::open(options.metrics, [&publishers, &serving, manager,
                                            peer, model = options.metricsVllm] {
        MetricFamilies families;
        if (manager)
          collectMetrics(*manager, families);
        collectMetrics(serving, families);
        if (peer)
          collectMetrics(*peer, families);
        for (size_t replica = 0; replica < publishers.size(); ++replica)
          collectMetrics(*publishers[replica], static_cast<int32_t>(replica),
                         families);
        if (!model.empty()) {
          if (manager)
            collectVllmMetrics(*manager, model, families);
          collectVllmMetrics(serving, model, families);
        }
        return families;
      });
  if (!opened)
    return makeError(opened.error().code,
                     "--metrics: ", opened.error().message);
  return opened;
}
