//===- PagedKVCacheManager.h - Pages for a batch of requests ----*- C++ -*-===//
//
// The cache manager of paged collections, with data and tensor parallelism.
// Each replica has a pool of pages and a prefix index; every device of the
// replica holds its shard of each page. Several collections share one pool, and
// collections with the same window share page ids and tables, too. A facade of
// CacheEngine. After construction, calls that succeed allocate no memory,
// unless their comment says so.
//
// The sizes keep a promise: with slots * blocksFor(maxSeqLen) pages a replica,
// `slots` requests of maxSeqLen tokens on each replica are never refused,
// whatever the order of their chunks and steps. The promise does not cover
// forks and truncations: a last page that they leave in the prefix index has to
// be copied before it is written, which takes one more page a group while the
// copy waits for its step.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_MANAGER_PAGEDKVCACHEMANAGER_H
#define KV_RUNTIME_MANAGER_PAGEDKVCACHEMANAGER_H

#include "kv/Runtime/Engine/CacheEngine.h"
#include "kv/Runtime/Events/ResetSocket.h"
#include "kv/Runtime/Manager/PagedSizes.h"
#include "kv/Runtime/Manager/ReplicatedKVCacheManager.h"
#include "kv/Runtime/Tiers/PageConnector.h"

#include <functional>
#include <memory>

namespace kv {

class CacheEngineImpl;
class PageTiers;

class PagedKVCacheManager : public ReplicatedKVCacheManager {
public:
  /// Where pages are kept beside the devices, if the parameters' connector is
  /// Host or Tiered: hostSwapSpaceGB of host memory, shared by all replicas,
  /// and a disk. Every page that is computed is copied there; what the devices
  /// have evicted is loaded again by alloc().
  struct TierOptions {
    /// Tiered: a directory, and the bytes of records that it may hold. It
    /// outlives the process, and is locked to the parameters' geometry. `model`
    /// says which program and weights compute the pages: those of another one
    /// are never found.
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
    /// Nanoseconds after which a page that does not come is computed instead,
    /// and so is what was to be loaded behind it.
    int64_t mostWait = 10'000'000'000;
    /// Opens the connector: those of users and tests instead of ours.
    std::function<Expected<std::unique_ptr<PageConnector>>(
        const PageConnector::Options &)>
        open = PageConnector::open;
  };

  struct Options {
    /// Error: a number of kv/ABI/ManagerOptions.def that is not 0 is out of its
    /// range. Whether it may be 0, say those who use it.
    Expected<void> validate() const;

    /// params.numDevices() devices, replica by replica; if empty, cpu:0 and so
    /// on.
    std::vector<Device> devices = {};
    int32_t maxBatchSize = 16; // requests claimed at a time, on all replicas
    int64_t maxSeqLen = 0;     // tokens of one request
    /// Exactly one of these two is given, and the other is 0: the usable pages
    /// of each replica; or the bytes on all devices together, from which
    /// numBlocks() computes the pages.
    int64_t numPages = 0;
    int64_t availableCacheMemory = 0;
    /// The largest `steps` of alloc and runtimeInputs.
    int32_t maxSteps = DefaultMaxSteps;
    /// Most tokens that a request computes in one step where a collection has a
    /// window; 0: its whole prompt. Beside the pages of the window a request
    /// then needs the pages of so many tokens.
    int64_t maxChunkTokens = 0;
    /// States of recurrent collections that are kept for later requests, on
    /// each replica, 0 to 2^20; -1: StepLimits::snapshots.
    int64_t snapshots = -1;
    /// How getOrRecommendReplica() chooses for a new request: false: the
    /// replica with the largest difference between the pages of the request's
    /// prefix that it has cached and all pages that it has in use; true: the
    /// replica with the fewest requests.
    bool withoutPrefixAffinity = false;
    bool enableRuntimeChecks = false; // check() after every call: slow
    uint64_t key = 0;                 // secret key of the prefix index's tags
    /// Whether a step may still run on the device while the caller makes its
    /// next calls. If so, no other request gets the pages of a step before
    /// step(batch) or synchronize(), even if they are released earlier.
    /// Otherwise a step counts as complete as soon as the caller makes its next
    /// call.
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
    /// It is done by the next runtimeInputs() or serveResets().
    std::string zmqEndpointBase = {};
    std::string resetEndpoint = {};
    TierOptions tiers = {};
    /// Counts EngineMetrics::lookedUp, for whoever monitors the manager.
    bool explainMisses = false;
    /// Receives warnings of create(), one sentence each: that maxBatchSize
    /// sequences of maxSeqLen tokens do not fit at the same time; where
    /// numPages is given, also that not even one such sequence fits.
    std::function<void(std::string_view)> warn = {};
  };

  /// Allocates PagedSizes::bytesFor() bytes on the devices of each replica.
  /// Errors: parameters that do not validate, an option out of range, both or
  /// neither of numPages and availableCacheMemory, an availableCacheMemory that
  /// does not hold one sequence of maxSeqLen tokens, no memory.
  static Expected<std::unique_ptr<PagedKVCacheManager>>
  create(const MultiKVCacheParams &params, const Options &options) {
    return orNoMemory([&] { return make(params, options); });
  }
  ~PagedKVCacheManager() override;

  /// Entries of one segment of a lookup table's row for requests of at most
  /// `maxPages` pages: rounded up to a multiple of 8, and 16 more so that
  /// kernels may read beyond the end.
  static int64_t tablePitch(int64_t maxPages) {
    return (maxPages + 7) / 8 * 8 + 16;
  }

  /// Claims `id` on the replica of `source`, as a second sequence that has the
  /// first `tokens` processed tokens of `source`. Both requests share the
  /// pages; a last page that is not full is copied when one of the two is about
  /// to write to it. The caller makes the context of the new request, which
  /// must have skipped `tokens` tokens; scope and retention are those of
  /// `source`. Errors: `source` is not claimed; more tokens than it has
  /// processed; those of claim() and of CacheEngine::fork().
  Expected<void> fork(RequestId source, RequestId id, int64_t tokens);
  /// Keeps the first `tokens` processed tokens of a request, and releases the
  /// pages behind them. The caller must rewind the request's context. Errors:
  /// the request is not claimed; more tokens than it has processed; those of
  /// CacheEngine::truncate().
  Expected<void> truncate(RequestId id, int64_t tokens);
  /// For each page of a request: Hit, or why it would not be a hit, on the
  /// replica where the request is claimed or would be. For diagnosis: allocates
  /// memory.
  std::vector<CacheEngine::Reason>
  explain(const TextGenerationContext &context) const;
  /// The caller states that the devices have finished every step: all released
  /// pages become available.
  void synchronize();
  /// Does what was asked for on the reset socket, if anything was. For callers
  /// that sleep between two steps, until resetDescriptor() is readable; -1:
  /// there is no socket.
  void serveResets();
  int resetDescriptor() const;

  /// Brings the cached prefix of a request that is not claimed, as far as it
  /// lies beside the devices, to the devices of the replica that suits it best:
  /// for the next turn of a conversation. Waits for the disk. Returns the
  /// tokens of the prefix that are on the devices then; 0 without tiers.
  /// Errors: the request is claimed, or those of claim().
  Expected<int64_t> prefetch(const TextGenerationContext &context);
  /// Figures of host memory and disk; null without them. Any thread may read
  /// them.
  const TierMetrics *tierMetrics() const;
  /// Whether there is a store that machines share.
  bool hasStore() const {
    return tiers && !options.tiers.blockStoreEndpoint.empty();
  }

  /// Figures of a replica that any thread may read at any time. They only grow,
  /// also when resetMetrics() is called.
  struct Figures {
    Counter promptTokens;   // of requests, at their first reservation
    Counter inputTokens;    // KVCacheMetrics
    Counter cachedTokens;   // KVCacheMetrics
    Counter refusals;       // KVCacheMetrics
    Counter resets;         // resetPrefixCache()
    Counter loadedPages;    // KVCacheMetrics
    Counter abandonedPages; // that were found in a tier, and then computed
  };
  const Figures &figures(int32_t replica) const;
  /// The same for the engine of a replica.
  const EngineMetrics &engineMetrics(int32_t replica) const;
  CacheEngine::PageCounts pageCounts(int32_t replica) const;

  int32_t
  getOrRecommendReplica(const TextGenerationContext &context) const override;
  Expected<std::span<const int32_t>> getReqBlocks(RequestId id) const override;

  std::expected<Allocation, AllocationError>
  alloc(TextGenerationContext &context, int32_t steps = 1) override;
  Expected<AllocationPlan> probe(const TextGenerationContext &context,
                                 int32_t steps = 1) const override;

  int64_t blocksFor(int64_t tokens) const override {
    return sizes.blocksFor(tokens);
  }
  int64_t numPagesPerReplica() const override { return numPages; }
  Expected<void> setTime(int64_t nanoseconds) override;
  bool waitForLoads(int64_t nanoseconds) override;
  int64_t totalNumHostPages() const override;
  double hostCommittedBlockPct() const override;
  int64_t hostBytes() const override;
  using KVCacheManager::numFreeBlocks;
  int64_t numFreeBlocks(int32_t replica) const override;

  KVCacheMetrics metrics() const override;
  void resetMetrics() override;
  void resetPrefixCache() override;
  Expected<void> check() const override;

  //===--------------------------------------------------------------------===//
  // Sizes. `availableCacheMemory` is in bytes of all devices together, and is
  // divided evenly among the replicas. It has to hold everything that a manager
  // allocates on devices: the pages, the null page, the tables and the lengths.
  // Returned pages are usable ones, without the null page.
  //===--------------------------------------------------------------------===//

  /// Pages of a replica: as many as its share of the memory holds, but no more
  /// than its share of `maxBatchSize` sequences of `maxSeqLen` tokens needs.
  /// Errors: a length out of range; parameters that are not of paged
  /// collections; the memory holds no page; fewer sequences than replicas.
  static Expected<int64_t> numBlocks(const MultiKVCacheParams &params,
                                     int64_t maxBatchSize, int64_t maxSeqLen,
                                     int64_t availableCacheMemory,
                                     const StepLimits &limits = {});
  /// Bytes on all devices that a manager with numBlocks() pages allocates,
  /// which is its poolBytes(); at most `availableCacheMemory`. Errors: those of
  /// numBlocks().
  static Expected<int64_t> estimatedMemorySize(const MultiKVCacheParams &params,
                                               int64_t maxBatchSize,
                                               int64_t maxSeqLen,
                                               int64_t availableCacheMemory,
                                               const StepLimits &limits = {});
  /// The batch size that serving uses where none is asked for: 512. Memory does
  /// not bound it, since requests take pages only as they grow. Errors:
  /// parameters that are not of paged collections; a length out of range;
  /// negative memory.
  static Expected<int64_t>
  inferOptimalBatchSize(const MultiKVCacheParams &params, int64_t maxSeqLen,
                        int64_t availableCacheMemory);
  /// Tokens of the longest request that a manager with one slot a replica
  /// accepts in this memory, which also has to hold draft tokens and tables; 0:
  /// no request fits.
  static int64_t maxSupportedSequenceLength(const MultiKVCacheParams &params,
                                            int64_t availableCacheMemory,
                                            const StepLimits &limits = {});

protected:
  void look(std::span<const Place> places, Extent *extents) const override;
  Expected<void> beginStep(int32_t buffer) override;
  void writeRows(int32_t replica, int32_t buffer,
                 std::span<const Place> places) override;
  PageId pageAt(Place place, int32_t group, int64_t page) const override {
    return sequence(place).pages(group)[page];
  }
  Expected<void> commit(ContextBatch batch,
                        std::span<const Place> places) override;
  void free(Place place) override;

private:
  struct Replica;
  struct Slot {
    /// Opened by the first reservation, since only then the request's scope is
    /// known.
    Sequence sequence;
    int64_t joined = 0; // number of the last step that included the request
  };
  /// What a slot's request waits for; apart from it, since a step reads all
  /// slots.
  struct LoadState {
    /// The records [nextLoad, endLoad) are being loaded, and those below
    /// askedLoad have been asked for. endLoad is 0: none is. They are those of
    /// pages, up to pagesEnd, then those of the state behind them. Pages below
    /// doneLoad are committed: with a state none is before all have come.
    int64_t nextLoad = 0, askedLoad = 0, endLoad = 0;
    int64_t pagesEnd = 0, doneLoad = 0;
    /// Instead: a store is asked for pages behind those that are committed. The
    /// request has pages to compute in.
    bool isAsking = false;
    int64_t loadDeadline = 0;
    bool isUnderWay() const { return endLoad > 0 || isAsking; }
    int64_t processedBefore = 0; // tokens, when the reservation began
    int64_t hitEnd =
        0; // pages, of the last hit or load, behind which a state is
  };

  PagedKVCacheManager(Common common, const Options &options, int64_t pages);
  static Expected<std::unique_ptr<PagedKVCacheManager>>
  make(const MultiKVCacheParams &params, const Options &options);
  Expected<void> createReplicas();
  /// Compares numPages with the pages that the options ask for. Warns, or
  /// returns the error of create().
  Expected<void> checkCapacity() const;
  CacheEngine::Demand demand(const TextGenerationContext &context,
                             int32_t steps) const;
  Sequence &sequence(Place place) { return slots[index(place)].sequence; }
  const Sequence &sequence(Place place) const {
    return slots[index(place)].sequence;
  }
  CacheEngineImpl &engine(Place place) const;
  Extent extent(Place place) const;
  /// Tokens in the cache of the request at `place`; nullopt for null: not
  /// claimed.
  std::optional<int64_t> held(const Place *place) const {
    if (!place)
      return std::nullopt;
    const Sequence &own = sequence(*place);
    return own ? own.processedTokens() : 0;
  }
  /// The part of alloc() that is needed where the request has no room yet:
  /// opens its sequence, and reserves pages.
  std::expected<Allocation, AllocationError>
  reserve(TextGenerationContext &context, int32_t steps, Place place);
  Expected<void> createTiers();
  /// Sets demand.loaded to the tokens behind those that the devices have, of
  /// which there are records, with recurrent layers up to where there is a
  /// state. Returns how many pages are known to the devices or to records.
  /// `request` is the index of names in the tiers.
  int64_t findLoads(size_t request, const CacheEngineImpl &engine,
                    const Sequence &sequence,
                    const TextGenerationContext &context,
                    CacheEngine::Demand &demand) const;
  /// The same for a request that is claimed, after a store has said what it
  /// has, if alloc() waits. Otherwise true: it has been asked, also before if
  /// `hasAsked`, and there is time left. `known` is what findLoads() returns.
  bool findLoadsInTime(const TextGenerationContext &context, Place place,
                       bool hasAsked, CacheEngine::Demand &demand,
                       int64_t &known);
  /// The end of the prefix, from `first` pages on, that can be loaded, and of
  /// the run of pages of which there are records.
  struct Loadable {
    int64_t end, known;
  };
  Loadable findRecords(size_t request, const CacheEngineImpl &engine,
                       const Prompt &prompt, int64_t first) const;
  /// Begins to load what demand.loaded says, behind what is committed.
  void beginLoad(Place place, int64_t loaded);
  /// The request's pages from `first` on, and its state, will be written.
  void followWrites(Place place, int64_t first);
  /// Copies the state of the request's committed pages to records, if it is a
  /// snapshot: `ifPlanned`, not if it will soon be superseded by the next one.
  void storeState(Place place, bool ifPlanned);
  void touchRecords(Place place);
  /// Whether the request still waits for what a store says. If that was to be
  /// waited for, and there are records, it has no more pages than it has
  /// committed now.
  bool asks(const TextGenerationContext &context, Place place);
  /// How many pages of the prompt may be loaded.
  int64_t lastLoad(const CacheEngineImpl &engine, const Prompt &prompt) const;
  /// When a load that begins now is given up; of steady_clock.
  int64_t loadDeadline() const;
  /// Says of which pages behind the hit there are records.
  void explainLoads(const TextGenerationContext &context,
                    std::span<CacheEngine::Reason> reasons) const;
  Figures &figuresOf(int32_t replica);
  /// What the tiers have counted, whenever resetMetrics() was called.
  KVCacheMetrics countTiers() const;
  /// Loads what has come of the request's pages, and waits for the rest unless
  /// loads are asynchronous. False: more is on its way.
  bool load(TextGenerationContext &context, Place place);
  /// What has not come is computed, and not loaded later.
  void giveUpLoad(Place place);
  /// The index of names of a request that is not claimed.
  size_t unclaimedRequest() const { return slots.size(); }
  /// Counts a reservation that has succeeded.
  Allocation finishReserve(const TextGenerationContext &context, Place place,
                           int32_t newPages);
  AllocationError explainRefusal(const TextGenerationContext &context,
                                 int32_t steps, Place place,
                                 const CacheEngine::Plan &plan) const;
  /// commit() of a manager with tiers: copies the pages that are completed.
  Expected<void> commitAndStore(ContextBatch batch,
                                std::span<const Place> places);
  /// Completes the latest step that any of these requests was part of, and all
  /// earlier steps.
  void endStep(std::span<const Place> places);
  /// The reservation plan of a request whose sequence is not open yet; `loads`:
  /// with what lies in other tiers, which is as near to every replica. Errors:
  /// the sequence cannot be opened.
  Expected<CacheEngine::Plan> planFresh(int32_t replica,
                                        const TextGenerationContext &context,
                                        int32_t steps, bool loads) const;
  /// The plan of a reservation, with what can be loaded if that fits too;
  /// hitPages counts both.
  CacheEngine::Plan planWithLoads(size_t request, const CacheEngineImpl &engine,
                                  const Sequence &sequence,
                                  const TextGenerationContext &context,
                                  int32_t steps) const;
  void runPageOps(int32_t replica, std::span<const PageOp> ops);
  /// Called while the device is idle: completes all steps, and runs the page
  /// operations that wait for the next one.
  void settle(int32_t replica);

  /// Most tokens of a sequence: positions, those of drafts included, have 32
  /// bits.
  static int64_t longestSequence(const MultiKVCacheParams &params) {
    return INT32_MAX - params.draftSlots();
  }
  /// Lets the next step end where the request's state is to be kept.
  void limitStep(TextGenerationContext &context, Place place) const;
  /// Refuses more tokens at once than maxChunkTokens, where there are windows.
  std::optional<AllocationError>
  checkChunk(const TextGenerationContext &context) const;

  Options options;
  std::unique_ptr<ResetSocket> resetSocket;
  PagedSizes sizes;
  int64_t numPages;
  int64_t drafts;       // params.draftSlots()
  int32_t mainGroup;    // the group whose pages getReqBlocks() returns
  int64_t numSteps = 0; // steps begun so far
  std::unique_ptr<PageTiers> tiers; // null without a connector
  KVCacheMetrics tiersBefore;       // of tiers, at the last resetMetrics()
  bool isPrefetching = false;       // what alloc() does counts for no request
  std::vector<std::unique_ptr<Replica>> replicas;
  std::vector<Slot> slots;      // by index(); destroyed before the engines
  std::vector<LoadState> loads; // by index()
};

} // namespace kv

#endif // KV_RUNTIME_MANAGER_PAGEDKVCACHEMANAGER_H
