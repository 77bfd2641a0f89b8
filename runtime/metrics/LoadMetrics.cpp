//===- LoadMetrics.cpp - Loads libkv_metrics.so ---------------------------===//

#include "LoadMetrics.h"

#include "runtime/base/LoadSymbol.h"
#include "runtime/base/Port.h"

#include <algorithm>

using namespace kv;

void kv::addMetric(MetricFamilies &families, const std::string &name,
                   const std::string &help, MetricFamily::Kind kind,
                   MetricFamily::Sample sample) {
  auto family = std::ranges::find(families, name, &MetricFamily::name);
  if (family == families.end())
    family = families.insert(families.end(),
                             {.name = name, .help = help, .kind = kind});
  family->samples.push_back(std::move(sample));
}

static bool isAddress(std::string_view text) {
  size_t colon = text.rfind(':');
  return colon != std::string_view::npos && colon != 0 && portOf(text);
}

Expected<std::unique_ptr<MetricsServer>>
MetricsServer::open(const std::string &address, Collect collect) {
  if (!isAddress(address))
    return makeError(KV_STATUS_INVALID_ARGUMENT, "metrics: the address is '",
                     address, "', allowed: HOST:PORT, PORT from 0 to ",
                     MostPort);
  return openFromLibrary<MetricsServer, OpenMetricsServer>(
      "libkv_metrics.so", "KV_METRICS_LIBRARY", "kv_open_metrics_server",
      "metrics need libkv_metrics.so, which is built where prometheus-cpp is "
      "installed",
      MetricsInterfaceVersion, &address, &collect);
}
