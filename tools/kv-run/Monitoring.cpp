//===- Monitoring.cpp - Events and metrics of kv-run ----------------------===//

#include "Monitoring.h"

using namespace kv;
using namespace kv::run;

Expected<Publishers> kv::run::openPublishers(const Options &options,
                                             const PagedSizes &sizes,
                                             int32_t pageSize) {
  Publishers publishers;
  if (options.events.empty())
    return publishers;
  for (int32_t replica = 0; replica < options.replicas; ++replica) {
    Expected<std::unique_ptr<EventPublisher>> opened = EventPublisher::open(
        {.endpoint = EventPublisher::endpointOf(options.events, replica),
         .replayEndpoint =
             EventPublisher::endpointOf(options.eventsReplay, replica),
         .topic = options.eventsTopic,
         .encoding = options.eventsAsMaps ? EventPublisher::Encoding::Map
                                          : EventPublisher::Encoding::Array,
         .rank = replica,
         .pageSize = pageSize,
         .groups = CacheGroups(sizes.groups())});
    if (!opened)
      return makeError(opened.error().code,
                       "--events: ", opened.error().message);
    publishers.push_back(std::move(*opened));
  }
  return publishers;
}

Expected<std::unique_ptr<MetricsServer>>
kv::run::openMetrics(const Options &options, const PagedKVCacheManager *manager,
                     const ServingFigures &serving,
                     const Publishers &publishers) {
  if (options.metrics.empty())
    return nullptr;
  Expected<std::unique_ptr<MetricsServer>> opened =
      MetricsServer::open(options.metrics, [&publishers, &serving, manager,
                                            model = options.metricsVllm] {
        MetricFamilies families;
        if (manager)
          collectMetrics(*manager, families);
        collectMetrics(serving, families);
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
