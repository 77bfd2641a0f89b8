//===- MetricFamily.h - Figures with names, for monitoring ------*- C++ -*-===//
//
// The result of a scrape, as values: owners of figures append families, and
// MetricsServer writes them. Names follow Prometheus: a counter ends with
// _total, and the unit comes before it. Units are seconds, bytes and ratios
// from 0 to 1, or the counted thing (pages, tokens, requests).
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_METRICS_METRICFAMILY_H
#define KV_RUNTIME_METRICS_METRICFAMILY_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace kv {

using MetricLabels = std::vector<std::pair<std::string, std::string>>;

struct MetricFamily {
  enum Kind { Counter, Gauge, Histogram };

  struct Bucket {
    double most = 0;   // values of this bucket and those before are not larger
    int64_t count = 0; // of this bucket alone
  };
  struct Sample {
    MetricLabels labels = {};
    double value = 0; // of a histogram: the sum of its values
    /// The buckets of a histogram, ascending; the last one has all larger
    /// values, too.
    std::vector<Bucket> buckets = {};
  };

  std::string name;
  std::string help; // a sentence
  Kind kind = Gauge;
  std::vector<Sample> samples = {};
};

using MetricFamilies = std::vector<MetricFamily>;

/// Appends a sample to the family of this name, which it makes if need be.
void addMetric(MetricFamilies &families, const std::string &name,
               const std::string &help, MetricFamily::Kind kind,
               MetricFamily::Sample sample);

} // namespace kv

#endif // KV_RUNTIME_METRICS_METRICFAMILY_H
