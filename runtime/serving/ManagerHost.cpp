//===- ManagerHost.cpp - A manager with what is around it -----------------===//

#include "kv/Runtime/Serving/ManagerHost.h"

#include "kv/Runtime/Manager/LoadKVCacheManager.h"
#include "kv/Runtime/Manager/ManagerEvents.h"
#include "kv/Runtime/Manager/ManagerMetrics.h"

using namespace kv;

/// Lets the manager open a connector to the peer, if one is asked for.
static Expected<void> openPeer(const MultiKVCacheParams &params,
                               ManagerSetup &setup, PeerConnector *&peer,
                               std::function<void(std::string_view)> note) {
  if (setup.peer.role == ManagerSetup::PeerRole::None)
    return {};
  KVConnector connector =
      params.params.empty() ? KVConnector::None : params.params[0].connector;
  if (connector != KVConnector::Host && connector != KVConnector::Tiered)
    return makeError(KV_STATUS_INVALID_ARGUMENT,
                     "a peer is given, and no connector: its pages come by way "
                     "of host memory");
  setup.tiers.open = PeerConnector::opener(
      {.role = setup.peer.role == ManagerSetup::PeerRole::Prefill
                   ? PeerConnector::Role::Prefill
                   : PeerConnector::Role::Decode,
       .endpoint = setup.peer.endpoint,
       .cache = params,
       .model = setup.peer.model,
       .note = std::move(note)},
      peer);
  return {};
}

Expected<void> ManagerHost::open(const MultiKVCacheParams &params,
                                 ManagerSetup setup,
                                 std::function<void(std::string_view)> note) {
  if (Expected<void> valid = setup.validate(); !valid)
    return valid;
  bool publishes = !setup.publisher.endpoint.empty();
  if (auto kind = chooseManager(params, setup, publishes); !kind)
    return std::unexpected(kind.error());
  if (publishes) {
    if (Expected<void> valid = params.validate(); !valid)
      return valid;
    auto opened = openEventPublishers(params, setup.publisher);
    if (!opened)
      return std::unexpected(opened.error());
    publishers = std::move(*opened);
  }
  for (const auto &publisher : publishers)
    setup.events.push_back(publisher.get());
  for (const auto &log : logs)
    setup.logs.push_back(log.get());
  setup.explainMisses = !setup.metrics.empty();
  if (Expected<void> asked = openPeer(params, setup, peer, std::move(note));
      !asked)
    return asked;
  auto loaded = loadKVCacheManager(params, setup);
  if (!loaded)
    return std::unexpected(loaded.error());
  manager = std::move(*loaded);
  paged = dynamic_cast<PagedKVCacheManager *>(manager.get());
  if (setup.metrics.empty())
    return {};
  auto opened =
      MetricsServer::open(setup.metrics, [this, model = setup.metricsVllm] {
        return collect(model);
      });
  if (!opened)
    return std::unexpected(opened.error());
  metrics = std::move(*opened);
  return {};
}

MetricFamilies ManagerHost::collect(const std::string &vllmModel) {
  MetricFamilies families;
  if (paged)
    collectMetrics(*paged, families);
  if (peer)
    collectMetrics(peer->peerMetrics(), families);
  for (size_t replica = 0; replica < publishers.size(); ++replica)
    collectMetrics(*publishers[replica], static_cast<int32_t>(replica),
                   families);
  if (paged && !vllmModel.empty())
    collectVllmMetrics(*paged, vllmModel, families);
  std::lock_guard lock(mutex);
  if (!serving)
    return families;
  collectMetrics(*serving, families);
  if (!vllmModel.empty())
    collectVllmMetrics(*serving, vllmModel, families);
  return families;
}

void ManagerHost::setServing(const ServingFigures *figures) {
  std::lock_guard lock(mutex);
  serving = figures;
}

void ManagerHost::resetServing(const ServingFigures *figures) {
  std::lock_guard lock(mutex);
  if (serving == figures)
    serving = nullptr;
}
