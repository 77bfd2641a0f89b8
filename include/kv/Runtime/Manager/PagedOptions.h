//===- PagedOptions.h - What a paged manager is made with -------*- C++ -*-===//

#ifndef KV_RUNTIME_MANAGER_PAGEDOPTIONS_H
#define KV_RUNTIME_MANAGER_PAGEDOPTIONS_H

#include "kv/Runtime/Engine/CommandLog.h"
#include "kv/Runtime/Engine/PageOps.h"
#include "kv/Runtime/Manager/KVCacheManager.h"
#include "kv/Runtime/Tiers/PageConnector.h"

#include <functional>

namespace kv {

/// Where pages are kept outside of the devices, if the parameters' connector is
/// Host or Tiered: hostSwapSpaceGB of host memory, shared by all replicas, and
/// a disk. Every page that is computed is copied there; what the devices have
/// evicted is loaded again by alloc().
struct PagedTierOptions {
  /// Tiered: a directory, and the bytes of records that it may hold. The
  /// directory outlives the process, and is locked to the parameters' geometry.
  /// `model` says which program and weights compute the pages: those of another
  /// one are never found.
  std::string diskDirectory = {};
  int64_t diskBytes = int64_t(8) << 30;
  std::string model = {};
  int32_t ioThreads = 4;
  /// Tiered, instead of a directory or with one: a store that machines share,
  /// as PageConnector::Options has it.
  std::string blockStoreEndpoint = {};
  /// Whether alloc() returns Reason::Loading while pages come from the disk
  /// or a store, or a store is asked for them, instead of waiting for them.
  bool asynchronous = false;
  /// Nanoseconds after which a page that does not come is computed instead, and
  /// so are the pages that were to be loaded after it.
  int64_t mostWait = 10'000'000'000;
  /// Opens the connector: those of users and tests instead of ours.
  std::function<Expected<std::unique_ptr<PageConnector>>(
      const PageConnector::Options &)>
      open = PageConnector::open;
};

struct PagedOptions {
  /// Error: a number of kv/ABI/ManagerOptions.def that is not 0 is out of its
  /// range. Whether it may be 0, say those who use it.
  Expected<void> validate() const;

  /// params.numDevices() devices, replica by replica; if empty, cpu:0 and so
  /// on.
  std::vector<Device> devices = {};
  int32_t maxBatchSize = 16; // requests claimed at a time, on all replicas
  int64_t maxSeqLen = 0;     // tokens of one request
  /// Exactly one of these two is given, and the other is 0. numPages: the
  /// usable pages of each replica. availableCacheMemory: bytes on all devices
  /// together, from which numBlocks() computes the pages.
  int64_t numPages = 0;
  int64_t availableCacheMemory = 0;
  /// The largest `steps` of alloc and runtimeInputs.
  int32_t maxSteps = KVCacheManager::DefaultMaxSteps;
  /// Most tokens that a request computes in one step where a collection has a
  /// window; 0: its whole prompt. A request then needs the pages of this number
  /// of tokens in addition to those of the window.
  int64_t maxChunkTokens = 0;
  /// States of recurrent collections that are kept for later requests, on
  /// each replica, 0 to 2^20; -1: StepLimits::snapshots.
  int64_t snapshots = -1;
  /// How getOrRecommendReplica() chooses for a new request: false: the
  /// replica with the largest difference between the pages of the request's
  /// prefix that it has cached and all pages that it has in use; true: the
  /// replica with the fewest requests.
  bool withoutPrefixAffinity = false;
  /// Whether a request goes on holding a page that an equal one has replaced:
  /// see CacheEngine::Options::keepReplaced.
  bool keepReplacedPages = false;
  bool enableRuntimeChecks = false; // check() after every call: slow
  uint64_t key = 0;                 // secret key of the prefix index's tags
  /// Whether a step may still run on the device while the caller makes its next
  /// calls. If so, no other request gets the pages of a step before step(batch)
  /// or synchronize(), even if they are released earlier. If not, a step counts
  /// as complete as soon as the caller makes its next call.
  bool asynchronous = false;
  /// Nanoseconds. The durations of priorities are rounded up to a multiple of
  /// it.
  int64_t retentionTick = 1'000'000'000;
  /// Receive every call that changes an engine: either no sink, or one for
  /// each replica. Not owned; they outlive the manager.
  std::vector<CommandSink *> logs = {};
  /// Hears the operations on pages of a replica that the manager has queued,
  /// for who keeps another memory in step; it may be empty.
  std::function<void(int32_t replica, std::span<const PageOp>)> pageOps = {};
  /// Hear what enters and leaves the prefix indices: either none, or one for
  /// each replica. Not owned; they outlive the manager.
  std::vector<CacheEventSink *> events = {};
  /// Where others ask for resetPrefixCache(): ResetSocket::Options has both.
  /// The reset is done by the next runtimeInputs() or serveResets().
  std::string zmqEndpointBase = {};
  std::string resetEndpoint = {};
  /// With each token of a cached page the manager keeps, unread, one pair of
  /// numbers of 4 bytes for the token, and as many more: for example log
  /// probabilities of the token and of the most likely ones. 0: nothing, as
  /// always for caches with recurrent collections or without a full group. The
  /// memory is in addition to that of the pages, also in tiers.
  int32_t payloadRanks = 0;
  PagedTierOptions tiers = {};
  /// Counts EngineMetrics::lookedUp, for programs that monitor the manager.
  bool explainMisses = false;
  /// Receives warnings of create(), one sentence each: that maxBatchSize
  /// sequences of maxSeqLen tokens do not fit at the same time; where
  /// numPages is given, also that not even one such sequence fits.
  std::function<void(std::string_view)> warn = {};
};

} // namespace kv

#endif // KV_RUNTIME_MANAGER_PAGEDOPTIONS_H
