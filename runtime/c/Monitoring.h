//===- Monitoring.h - Events and metrics of managers in C -------*- C++ -*-===//

#ifndef KV_RUNTIME_C_MONITORING_H
#define KV_RUNTIME_C_MONITORING_H

#include "Handles.h"

namespace kv::capi {

/// Opens the publishers that are asked for, which `state` then owns, and gives
/// them to the options of the manager. Errors: there is nothing to monitor with
/// these parameters; those of openEventPublishers().
Expected<void> openPublishers(const KvManagerOptions &given,
                              const MultiKVCacheParams &params,
                              KvManager::State &state,
                              PagedKVCacheManager::Options &options);

/// Opens the server of metrics, if it is asked for; `state` has its manager.
Expected<void> openMetrics(const KvManagerOptions &given,
                           KvManager::State &state);

} // namespace kv::capi

#endif // KV_RUNTIME_C_MONITORING_H
