//===- ManagerMetrics.h - A paged manager's figures, named ------*- C++ -*-===//

#ifndef KV_RUNTIME_MANAGER_MANAGERMETRICS_H
#define KV_RUNTIME_MANAGER_MANAGERMETRICS_H

#include "kv/Runtime/Events/EventPublisher.h"
#include "kv/Runtime/Manager/PagedKVCacheManager.h"
#include "kv/Runtime/Metrics/MetricFamily.h"

namespace kv {

/// Appends the figures of all replicas, with a label `replica`, as
/// docs/reference/metrics.md lists them: pages, lookups, tokens. May be
/// called by any thread while another one uses the manager.
void collectMetrics(const PagedKVCacheManager &manager,
                    MetricFamilies &families);

/// Appends what one replica's publisher has sent and lost. By any thread.
void collectMetrics(const EventPublisher &publisher, int32_t replica,
                    MetricFamilies &families);

/// Appends the figures that routers and dashboards made for vLLM read, under
/// its names and with its labels `model_name` and `engine`. By any thread.
void collectVllmMetrics(const PagedKVCacheManager &manager,
                        const std::string &model, MetricFamilies &families);

} // namespace kv

#endif // KV_RUNTIME_MANAGER_MANAGERMETRICS_H
