//===- Monitoring.cpp - Events and metrics of managers in C ---------------===//

#include "Monitoring.h"

#include "kv/Runtime/Manager/ManagerEvents.h"
#include "kv/Runtime/Manager/ManagerMetrics.h"

#include <algorithm>

using namespace kv;

Expected<void> kv::capi::openPublishers(const KvManagerOptions &given,
                                        const MultiKVCacheParams &params,
                                        KvManager::State &state,
                                        PagedKVCacheManager::Options &options) {
  for (auto [name, isGiven, needed, hasNeeded] :
       {std::tuple("eventsReplay", given.eventsReplay != nullptr, "events",
                   given.events != nullptr),
        std::tuple("eventsTopic", given.eventsTopic != nullptr, "events",
                   given.events != nullptr),
        std::tuple("eventsAsMaps", given.eventsAsMaps != 0, "events",
                   given.events != nullptr),
        std::tuple("eventsTiers", given.eventsTiers != 0, "events",
                   given.events != nullptr),
        std::tuple("metricsVllm", given.metricsVllm != nullptr, "metrics",
                   given.metrics != nullptr)})
    if (isGiven && !hasNeeded)
      return makeError(KV_STATUS_INVALID_ARGUMENT, "kvManagerCreate: ", name,
                       " is given, and no ", needed);
  bool listens = given.events || given.metrics || given.zmqEndpointBase ||
                 given.resetEndpoint;
  bool isPaged = std::ranges::none_of(options.devices, &Device::isVirtual) &&
                 (params.params.empty() || params.params[0].geometry.isPaged());
  if (listens && !isPaged)
    return makeError(KV_STATUS_INVALID_ARGUMENT,
                     "kvManagerCreate: events, resets or metrics are asked "
                     "for, allowed: with paged collections on real devices");
  if (!given.events)
    return {};
  if (Expected<void> valid = params.validate(); !valid)
    return valid;
  auto opened = openEventPublishers(
      params, {.endpoint = given.events,
               .replayEndpoint = given.eventsReplay ? given.eventsReplay : "",
               .topic = given.eventsTopic ? given.eventsTopic : "",
               .encoding = given.eventsAsMaps ? EventPublisher::Encoding::Map
                                              : EventPublisher::Encoding::Array,
               .tiers = given.eventsTiers != 0});
  if (!opened)
    return std::unexpected(opened.error());
  state.publishers = std::move(*opened);
  for (const auto &publisher : state.publishers)
    options.events.push_back(publisher.get());
  return {};
}

Expected<void> kv::capi::openMetrics(const KvManagerOptions &given,
                                     KvManager::State &state) {
  if (!given.metrics)
    return {};
  auto opened = MetricsServer::open(
      given.metrics, [&state, model = std::string(
                                  given.metricsVllm ? given.metricsVllm : "")] {
        MetricFamilies families;
        collectMetrics(*state.paged, families);
        if (state.peer)
          collectMetrics(state.peer->peerMetrics(), families);
        for (size_t replica = 0; replica < state.publishers.size(); ++replica)
          collectMetrics(*state.publishers[replica],
                         static_cast<int32_t>(replica), families);
        if (!model.empty())
          collectVllmMetrics(*state.paged, model, families);
        std::lock_guard lock(state.servingMutex);
        if (state.serving) {
          collectMetrics(*state.serving, families);
          if (!model.empty())
            collectVllmMetrics(*state.serving, model, families);
        }
        return families;
      });
  if (!opened)
    return std::unexpected(opened.error());
  state.metrics = std::move(*opened);
  return {};
}
