//===- LoadMetrics.cpp - Loads libkv_metrics.so ---------------------------===//

#include "LoadMetrics.h"

#include "../LoadSymbol.h"

#include <algorithm>
#include <charconv>

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
  if (colon == std::string_view::npos || colon == 0)
    return false;
  int port = -1;
  auto [end, status] =
      std::from_chars(text.data() + colon + 1, text.data() + text.size(), port);
  return status == std::errc() && end == text.data() + text.size() &&
         port >= 0 && port <= 65535;
}

Expected<std::unique_ptr<MetricsServer>>
MetricsServer::open(const std::string &address, Collect collect) {
  if (!isAddress(address))
    return makeError(KV_STATUS_INVALID_ARGUMENT, "metrics: the address is '",
                     address, "', allowed: HOST:PORT, PORT from 0 to 65535");
  return openFromLibrary<MetricsServer, OpenMetricsServer>(
      "libkv_metrics.so", "KV_METRICS_LIBRARY", "kv_open_metrics_server",
      "metrics need libkv_metrics.so, which is built where prometheus-cpp is "
      "installed",
      MetricsInterfaceVersion, &address, &collect);
}
