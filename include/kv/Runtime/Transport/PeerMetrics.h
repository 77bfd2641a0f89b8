//===- PeerMetrics.h - Figures of pages between processes -------*- C++ -*-===//

#ifndef KV_RUNTIME_TRANSPORT_PEERMETRICS_H
#define KV_RUNTIME_TRANSPORT_PEERMETRICS_H

#include "kv/Runtime/Engine/Metrics.h"
#include "kv/Runtime/Metrics/MetricFamily.h"

namespace kv {

/// Figures of one side since it was opened.
struct PeerMetrics {
  Counter asks;           // prompts that a peer was asked for, or has asked for
  Counter readPages;      // of ours, from a peer
  Counter readBytes;      // of the peer's records
  Counter failedPages;    // asked for and not got: they are computed here
  Counter grantedLeases;  // of records, to peers
  Counter returnedLeases; // in time
  Counter expiredLeases;  // whose records may have been evicted since
  Counter refusedReturns; // came too late: the peer drops what it has read
  Gauge openLeases, openAsks;
  Gauge openReads; // in flight, those that were given up included
};

/// Appends the rows kv_peer_... of docs/reference/metrics.md. Any thread.
void collectMetrics(const PeerMetrics &metrics, MetricFamilies &families);

} // namespace kv

#endif // KV_RUNTIME_TRANSPORT_PEERMETRICS_H
