//===- ManagerHost.h - A manager with what is around it ---------*- C++ -*-===//

#ifndef KV_RUNTIME_SERVING_MANAGERHOST_H
#define KV_RUNTIME_SERVING_MANAGERHOST_H

#include "kv/Runtime/Manager/ManagerSetup.h"
#include "kv/Runtime/Metrics/MetricsServer.h"
#include "kv/Runtime/Serving/ServingMetrics.h"
#include "kv/Runtime/Transport/PeerConnector.h"

#include <mutex>

namespace kv {

/// Owns a manager, the publishers of its events and the server of its metrics.
struct ManagerHost {
  ManagerHost() = default;
  ManagerHost(const ManagerHost &) = delete;

  /// Makes all that the setup asks for; called once. `note` hears of the peer.
  /// Errors: a peer without a connector; those of loadKVCacheManager(),
  /// openEventPublishers() and MetricsServer::open().
  Expected<void> open(const MultiKVCacheParams &params, ManagerSetup setup,
                      std::function<void(std::string_view)> note);

  /// The server whose figures a scrape reads in addition to the manager's;
  /// null: none.
  void setServing(const ServingFigures *figures);
  /// Forgets the figures, unless others have taken their place.
  void resetServing(const ServingFigures *figures);

private:
  MetricFamilies collect(const std::string &vllmModel);

  std::mutex mutex;
  const ServingFigures *serving = nullptr;

public:
  std::vector<std::unique_ptr<EventPublisher>> publishers;
  std::vector<std::unique_ptr<CommandSink>> logs; // the manager's, from before
  std::unique_ptr<KVCacheManager> manager;
  PagedKVCacheManager *paged = nullptr; // the same, or null
  PeerConnector *peer = nullptr;        // the manager's, or null
  std::unique_ptr<MetricsServer> metrics;
};

} // namespace kv

#endif // KV_RUNTIME_SERVING_MANAGERHOST_H
