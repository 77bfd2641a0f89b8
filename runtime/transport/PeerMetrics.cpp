//===- PeerMetrics.cpp - Figures of pages between processes, named --------===//

#include "kv/Runtime/Transport/PeerMetrics.h"

using namespace kv;

void kv::collectMetrics(const PeerMetrics &metrics, MetricFamilies &families) {
  auto gauge = [&](const char *name, const char *help, const Gauge &value) {
    addMetric(families, name, help, MetricFamily::Gauge,
              {{}, static_cast<double>(int32_t(value)), {}});
  };
  auto counter = [&](const char *name, const char *help, const Counter &value,
                     const MetricLabels &labels = {}) {
    addMetric(families, name, help, MetricFamily::Counter,
              {labels, static_cast<double>(int64_t(value)), {}});
  };
  counter("kv_peer_prompts_total", "Prompts that one side asked the other for.",
          metrics.asks);
  counter("kv_peer_pages_total", "Pages asked for, by how it ended.",
          metrics.readPages, {{"outcome", "read"}});
  counter("kv_peer_pages_total", "Pages asked for, by how it ended.",
          metrics.failedPages, {{"outcome", "lost"}});
  counter("kv_peer_read_bytes_total", "Bytes of a peer's records.",
          metrics.readBytes);
  gauge("kv_peer_reads", "Reads under way.", metrics.openReads);
  gauge("kv_peer_leases", "Leases that peers hold.", metrics.openLeases);
  counter("kv_peer_leases_total", "Leases given to peers.",
          metrics.grantedLeases);
  counter("kv_peer_leases_ended_total", "Leases that are over, by how.",
          metrics.returnedLeases, {{"how", "returned"}});
  counter("kv_peer_leases_ended_total", "Leases that are over, by how.",
          metrics.expiredLeases, {{"how", "expired"}});
  counter("kv_peer_late_returns_total", "Returns of leases that were over.",
          metrics.refusedReturns);
}
