//===- MetricsServer.h - Figures for Prometheus -----------------*- C++ -*-===//
//
// Serves figures over HTTP at /metrics, in Prometheus' text format. The code is
// in libkv_metrics.so, which open() loads; it needs prometheus-cpp.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_METRICS_METRICSSERVER_H
#define KV_RUNTIME_METRICS_METRICSSERVER_H

#include "kv/Runtime/Base/Error.h"
#include "kv/Runtime/Metrics/MetricFamily.h"

#include <functional>
#include <memory>

namespace kv {

class MetricsServer {
public:
  /// Called by the server's threads for each scrape, maybe by several at once:
  /// what it reads must be made for that. Outlives the server.
  using Collect = std::function<MetricFamilies()>;

  /// `address` is HOST:PORT, port 0: one that is free. Errors: the library
  /// cannot be loaded; the address is none, or cannot be bound.
  static Expected<std::unique_ptr<MetricsServer>>
  open(const std::string &address, Collect collect);
  virtual ~MetricsServer() = default;

  virtual int port() const = 0;
};

} // namespace kv

#endif // KV_RUNTIME_METRICS_METRICSSERVER_H
