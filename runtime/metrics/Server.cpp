//===- Server.cpp - Figures over HTTP, by prometheus-cpp ------------------===//

#include "LoadMetrics.h"

#include <prometheus/collectable.h>
#include <prometheus/exposer.h>
#include <prometheus/metric_family.h>

#include <limits>

using namespace kv;

namespace {

prometheus::ClientMetric convert(MetricFamily::Kind kind,
                                 const MetricFamily::Sample &sample) {
  prometheus::ClientMetric result;
  for (const auto &[name, value] : sample.labels)
    result.label.push_back({name, value});
  switch (kind) {
  case MetricFamily::Counter:
    result.counter.value = sample.value;
    break;
  case MetricFamily::Gauge:
    result.gauge.value = sample.value;
    break;
  case MetricFamily::Histogram:
    result.histogram.sample_sum = sample.value;
    for (const MetricFamily::Bucket &bucket : sample.buckets) {
      result.histogram.sample_count += static_cast<uint64_t>(bucket.count);
      result.histogram.bucket.push_back(
          {result.histogram.sample_count, bucket.most});
    }
    result.histogram.bucket.back().upper_bound =
        std::numeric_limits<double>::infinity();
    break;
  }
  return result;
}

class ServedFigures : public prometheus::Collectable {
public:
  explicit ServedFigures(MetricsServer::Collect collect)
      : collect(std::move(collect)) {}

  std::vector<prometheus::MetricFamily> Collect() const override {
    using prometheus::MetricType;
    std::vector<prometheus::MetricFamily> result;
    for (const MetricFamily &family : collect()) {
      MetricType type =
          family.kind == MetricFamily::Counter ? MetricType::Counter
          : family.kind == MetricFamily::Gauge ? MetricType::Gauge
                                               : MetricType::Histogram;
      result.push_back({family.name, family.help, type, {}});
      for (const MetricFamily::Sample &sample : family.samples)
        result.back().metric.push_back(convert(family.kind, sample));
    }
    return result;
  }

private:
  MetricsServer::Collect collect;
};

class Server : public MetricsServer {
public:
  Server(const std::string &address, const Collect &collect)
      : figures(std::make_shared<ServedFigures>(collect)), exposer(address) {
    exposer.RegisterCollectable(figures);
  }
  int port() const override { return exposer.GetListeningPorts().at(0); }

private:
  std::shared_ptr<ServedFigures> figures;
  prometheus::Exposer exposer;
};

} // namespace

extern "C" __attribute__((visibility("default"))) MetricsServer *
kv_open_metrics_server(uint32_t interfaceVersion, const std::string *address,
                       const MetricsServer::Collect *collect, Error *error) {
  if (interfaceVersion != MetricsInterfaceVersion) {
    *error = {KV_STATUS_UNSUPPORTED,
              concat("libkv_metrics.so has the interface ",
                     MetricsInterfaceVersion, ", the runtime ",
                     interfaceVersion)};
    return nullptr;
  }
  try {
    return new Server(*address, *collect);
  } catch (const std::exception &) { // which does not know why either
    *error = {KV_STATUS_INVALID_ARGUMENT,
              concat("metrics: ", *address,
                     " cannot be bound: it is no address of this machine, or "
                     "its port is taken")};
    return nullptr;
  }
}
