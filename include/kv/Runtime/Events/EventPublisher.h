//===- EventPublisher.h - Cache events over ZeroMQ --------------*- C++ -*-===//
//
// Publishes what enters and leaves one engine's prefix index, for routers that
// send a request to where its prefix is. Frames, events and encodings are those
// of vLLM (docs/reference/events.md); docs/guides/observability.md says what a
// subscriber does to know the whole index.
//
// The engine's thread appends to a bounded queue: it waits for nothing, and
// allocates only after the queue has overflowed. A thread of the publisher's
// encodes and sends. An overflow leaves a gap in the sequence numbers, after
// which the whole index is published once more.
//
// The code is in libkv_events.so, which open() loads; it needs libzmq.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_EVENTS_EVENTPUBLISHER_H
#define KV_RUNTIME_EVENTS_EVENTPUBLISHER_H

#include "kv/Runtime/Base/Error.h"
#include "kv/Runtime/Engine/CacheEvents.h"
#include "kv/Runtime/Engine/Groups.h"

#include <chrono>
#include <memory>
#include <string>

namespace kv {

class EventPublisher : public CacheEventSink {
public:
  /// Array: an event is an array, its fields in order, as all readers know it.
  /// Map: it is a map from names to fields.
  enum class Encoding { Array, Map };

  struct Options {
    /// The endpoint of the PUB socket. With `*` or `::` in it, or of ipc or
    /// inproc, it is bound, otherwise connected to: a router may be the one
    /// that binds.
    std::string endpoint = "tcp://*:5557";
    /// The endpoint of the ROUTER socket for replay, status and snapshot,
    /// always bound; empty: there is none.
    std::string replayEndpoint = {};
    /// The first frame of each message.
    std::string topic = {};
    Encoding encoding = Encoding::Array;
    /// Whether replayed messages have the frame with the topic, as those of
    /// vLLM since July 2026; older readers want them without.
    bool replaysTopic = true;
    /// data_parallel_rank of the batches: the replica, 0 or more.
    int32_t rank = 0;
    /// Tokens of a page, and the layer groups: those of the engine.
    int32_t pageSize = 0;
    CacheGroups groups = {};
    /// Whether the engine has recurrent layers: snapshots of their states are
    /// told as one group more.
    bool recurrent = false;
    /// Where the pages are, in the readers' words: "GPU" is the memory that a
    /// model computes from, also on a CPU.
    std::string medium = "GPU";
    /// Whether records outside the devices are told, too, as blocks of the
    /// media "CPU" (host memory) and "STORAGE" (a disk, or a store that
    /// machines share).
    bool tiers = false;
    /// Most batches that wait for one subscriber; it loses what comes then.
    int32_t highWaterMark = 100'000;
    /// Most batches that the replay socket gives again.
    int32_t replayBatches = 10'000;
    /// Bytes of the queue, 64 KiB to 1 GiB: 72 a stored page of 16 tokens. At
    /// least eight pages fit into it, whatever is asked for.
    int64_t queueBytes = int64_t(8) << 20;
    /// The time between two looks at the queue. All records since the last look
    /// are one batch.
    std::chrono::milliseconds interval = std::chrono::milliseconds(5);
  };

  /// Counts of what was published since open(). Blocks of several groups count
  /// in each.
  struct Figures {
    int64_t batches = 0;
    int64_t stored = 0, removed = 0; // blocks
    int64_t cleared = 0;             // AllBlocksCleared
    int64_t dropped = 0;             // blocks that found the queue full
    int64_t gaps = 0;                // times that this began
    int64_t requests = 0;            // answered on the replay socket
  };

  /// Errors: the library cannot be loaded; an option out of range; an endpoint
  /// that cannot be bound or connected to. The sink must be used by one thread,
  /// and outlive the engine that it listens to.
  static Expected<std::unique_ptr<EventPublisher>> open(const Options &options);

  /// `endpoint` as replica `rank` has it: a TCP port is raised by the rank,
  /// other names get `_dp` and the rank. Rank 0 has the endpoint itself.
  static std::string endpointOf(const std::string &endpoint, int32_t rank);

  /// May be called by any thread.
  virtual Figures figures() const = 0;
  /// A number that no other publisher has: a subscriber that sees another one
  /// knows that everything was lost.
  virtual uint64_t incarnation() const = 0;
};

} // namespace kv

#endif // KV_RUNTIME_EVENTS_EVENTPUBLISHER_H
