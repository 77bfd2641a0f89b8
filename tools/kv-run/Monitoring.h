//===- Monitoring.h - Events and metrics of kv-run --------------*- C++ -*-===//

#ifndef KV_TOOLS_KVRUN_MONITORING_H
#define KV_TOOLS_KVRUN_MONITORING_H

#include "Options.h"

#include "kv/Runtime/Manager/ManagerEvents.h"
#include "kv/Runtime/Manager/ManagerMetrics.h"
#include "kv/Runtime/Metrics/MetricsServer.h"
#include "kv/Runtime/Serving/ServingMetrics.h"
#include "kv/Runtime/Transport/PeerMetrics.h"

namespace kv::run {

using Publishers = std::vector<std::unique_ptr<EventPublisher>>;

/// One publisher for each replica, if --events asks for them. Errors name the
/// option, or say what libkv_events.so lacks.
Expected<Publishers> openPublishers(const Options &options,
                                    const MultiKVCacheParams &params);

/// A server, if --metrics asks for it. It reads what it is given, which
/// outlives it.
Expected<std::unique_ptr<MetricsServer>>
openMetrics(const Options &options, const PagedKVCacheManager *manager,
            const ServingFigures &serving, const Publishers &publishers,
            const PeerMetrics *peer);

} // namespace kv::run

#endif // KV_TOOLS_KVRUN_MONITORING_H
