//===- LoadMetrics.h - What libkv_metrics.so exports ------------*- C++ -*-===//

#ifndef KV_RUNTIME_METRICS_LOADMETRICS_H
#define KV_RUNTIME_METRICS_LOADMETRICS_H

#include "kv/Runtime/Metrics/MetricsServer.h"

namespace kv {

/// Grows with every change of what crosses the border between runtime and
/// library.
inline constexpr uint32_t MetricsInterfaceVersion = 1;

/// Null, and the error, if it cannot be opened.
using OpenMetricsServer = MetricsServer *(*)(uint32_t interfaceVersion,
                                             const std::string *address,
                                             const MetricsServer::Collect *,
                                             Error *);

} // namespace kv

#endif // KV_RUNTIME_METRICS_LOADMETRICS_H
