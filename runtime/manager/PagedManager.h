//===- PagedManager.h - The manager of paged collections --------*- C++ -*-===//
//
// Knows which request has which sequence of which engine, and delegates:
// engines decide about pages (CacheEngineImpl.h), StepTables writes them where
// a step reads them, PageLoader asks other tiers for them. Reservations are in
// PagedReservations.cpp, all else is in PagedKVCacheManager.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_MANAGER_PAGEDMANAGER_H
#define KV_RUNTIME_MANAGER_PAGEDMANAGER_H

#include "PageLoader.h"
#include "PagePayloads.h"
#include "StepTables.h"

#include "kv/Runtime/Events/ResetSocket.h"
#include "kv/Runtime/Manager/PagedKVCacheManager.h"

namespace kv {

class PagedManager final : public PagedKVCacheManager {
public:
  static Expected<std::unique_ptr<PagedKVCacheManager>>
  make(const MultiKVCacheParams &params, const Options &options);

  Expected<void> fork(RequestId source, RequestId id, int64_t tokens) override;
  Expected<void> truncate(RequestId id, int64_t tokens) override;
  std::vector<CacheEngine::Reason>
  explain(const TextGenerationContext &context) const override;
  void synchronize() override;
  void serveResets() override;
  int resetDescriptor() const override;
  Expected<int64_t> prefetch(const TextGenerationContext &context) override;
  const TierMetrics *tierMetrics() const override {
    return loader ? &loader->metrics() : nullptr;
  }
  bool hasStore() const override {
    return loader && !options.tiers.blockStoreEndpoint.empty();
  }
  const Figures &figures(int32_t replica) const override {
    return replicas[replica]->counters;
  }
  const EngineMetrics &engineMetrics(int32_t replica) const override {
    return replicas[replica]->engine->metrics();
  }
  CacheEngine::PageCounts pageCounts(int32_t replica) const override {
    return replicas[replica]->engine->pageCounts();
  }

  int64_t payloadBytesPerToken() const override { return payloadBytes; }
  int32_t
  getOrRecommendReplica(const TextGenerationContext &context) const override;
  Expected<std::span<const int32_t>> getReqBlocks(RequestId id) const override;

  std::expected<Allocation, AllocationError>
  alloc(TextGenerationContext &context, int32_t steps) override;
  Expected<AllocationPlan> probe(const TextGenerationContext &context,
                                 int32_t steps) const override;

  int64_t blocksFor(int64_t tokens) const override {
    return sizes.blocksFor(tokens);
  }
  int64_t numPagesPerReplica() const override { return numPages; }
  Expected<void> setTime(int64_t nanoseconds) override;
  bool waitForLoads(int64_t nanoseconds) override {
    return loader && loader->wait(nanoseconds);
  }
  int64_t totalNumHostPages() const override;
  double hostCommittedBlockPct() const override;
  int64_t hostBytes() const override;
  using KVCacheManager::numFreeBlocks;
  int64_t numFreeBlocks(int32_t replica) const override {
    return replicas[replica]->engine->pool().numFree();
  }

  KVCacheMetrics metrics() const override;
  void resetMetrics() override;
  void resetPrefixCache() override;
  Expected<void> check() const override;

protected:
  void look(std::span<const RequestPlace> places,
            Extent *extents) const override;
  Expected<void> beginStep(int32_t buffer) override;
  void writeRows(int32_t replica, int32_t buffer,
                 std::span<const RequestPlace> places) override;
  PageId pageAt(RequestPlace place, int32_t group,
                int64_t page) const override {
    return sequence(place).pages(group)[page];
  }
  Expected<void> commit(ContextBatch batch,
                        std::span<const RequestPlace> places) override;
  void free(RequestPlace place) override;

private:
  struct RequestSlot {
    /// Opened by the first reservation, since only then the request's scope is
    /// known.
    Sequence sequence;
    int64_t joined = 0;    // number of the last step that included the request
    int64_t keptPages = 0; // leading pages whose payload was exchanged
  };
  struct Replica {
    std::unique_ptr<CacheEngineImpl> engine;
    StepTables tables;
    /// For each buffer the step that uses its tables; number 0: no open step.
    struct OpenStep {
      int64_t number = 0;
      Ticket ticket = 0;
    };
    std::array<OpenStep, CacheMemory::NumBuffers> steps;
    Figures counters;
    Gauge peakUsedPages;
    PagePayloads payloads; // if payloadBytes
  };
  /// The purpose of a reservation: a step, or nothing yet. The second kind is
  /// counted by no figure and waits for all loads.
  enum class Purpose { Step, Prefetch };

  PagedManager(Common common, const Options &options, int64_t pages);
  Expected<void> createReplicas();
  Expected<void> openResetSocket();
  /// Compares numPages with the pages that the options ask for. Warns, or
  /// returns the error of create().
  Expected<void> checkCapacity() const;

  Sequence &sequence(RequestPlace place) {
    return slots[index(place)].sequence;
  }
  const Sequence &sequence(RequestPlace place) const {
    return slots[index(place)].sequence;
  }
  CacheEngineImpl &engine(RequestPlace place) const {
    return *replicas[place.replica]->engine;
  }
  PageLoader::LoadRequest loadable(RequestPlace place) {
    Replica &replica = *replicas[place.replica];
    return {index(place), *replica.engine, memories[place.replica],
            replica.counters, sequence(place)};
  }
  Extent extent(RequestPlace place) const;
  /// Tokens in the cache of the request at `place`; nullopt for null: not
  /// claimed.
  std::optional<int64_t> held(const RequestPlace *place) const {
    if (!place)
      return std::nullopt;
    const Sequence &own = sequence(*place);
    return own ? own.processedTokens() : 0;
  }

  CacheEngine::Demand demand(const TextGenerationContext &context,
                             int32_t steps) const;
  /// The demand of a request of which nothing has been computed: one with a
  /// payload may take over pages that have one.
  CacheEngine::Demand firstDemand(const TextGenerationContext &context,
                                  int32_t steps, int32_t replica,
                                  const Sequence &sequence) const;
  /// The part of alloc() that is needed where the request has no room yet:
  /// opens its sequence, reserves pages, and loads what lies in other tiers.
  std::expected<Allocation, AllocationError>
  reserve(TextGenerationContext &context, int32_t steps, RequestPlace place,
          Purpose purpose);
  /// Opens the request's sequence. Errors: those of CacheEngine::open().
  Expected<void> open(const TextGenerationContext &context, RequestPlace place);
  /// Reserves what is wanted, if that fits, or would once all steps are over.
  /// If the tokens to load do not fit, wanted.loaded becomes 0.
  CacheEngine::Plan reservePages(const TextGenerationContext &context,
                                 RequestPlace place,
                                 CacheEngine::Demand &wanted);
  /// Of a request that has taken over or loaded its first pages: copies their
  /// payload to the context, and makes the last token one to be computed, on a
  /// copy of its page. If there is no room, the whole prompt is computed.
  /// Updates the plan. Error: it does not fit, and the request has no pages.
  std::optional<AllocationError> takePayload(TextGenerationContext &context,
                                             int32_t steps, RequestPlace place,
                                             CacheEngine::Plan &plan);
  /// Gives the committed pages that the context's payload covers their part of
  /// it, or the context theirs.
  void exchangePayload(RequestPlace place,
                       const TextGenerationContext &context);
  AllocationError explainRefusal(const TextGenerationContext &context,
                                 int32_t steps, RequestPlace place,
                                 const CacheEngine::Plan &plan) const;
  /// The reservation plan of a request whose sequence is not open yet; `loads`:
  /// with what lies in other tiers, which is as near to every replica. Errors:
  /// the sequence cannot be opened.
  Expected<CacheEngine::Plan> planFresh(int32_t replica,
                                        const TextGenerationContext &context,
                                        int32_t steps, bool loads) const;
  /// Lets the next step end where the request's state is to be kept.
  void limitStep(TextGenerationContext &context, RequestPlace place) const;
  /// Refuses more tokens at once than maxChunkTokens, where there are windows,
  /// and several steps at once, where there are states.
  std::optional<AllocationError> checkStep(const TextGenerationContext &context,
                                           int32_t steps) const;

  /// Completes the latest step that any of these requests was part of, and all
  /// earlier steps.
  void endStep(std::span<const RequestPlace> places);
  void runPageOps(int32_t replica, std::span<const PageOp> ops);
  /// Called while the device is idle: completes all steps, and runs the page
  /// operations that wait for the next one.
  void settle(int32_t replica);
  /// The counts since create(), without peaks.
  KVCacheMetrics count() const;

  Options options;
  std::unique_ptr<ResetSocket> resetSocket;
  PagedSizes sizes;
  int64_t numPages;
  int64_t drafts;       // params.draftSlots()
  int64_t payloadBytes; // of a token
  int32_t mainGroup;    // the group whose pages getReqBlocks() returns
  int64_t numSteps = 0; // steps begun so far
  std::unique_ptr<PageLoader> loader; // null without a connector
  KVCacheMetrics countBefore;         // count() at the last resetMetrics()
  std::vector<std::unique_ptr<Replica>> replicas;
  std::vector<RequestSlot> slots; // by index(); destroyed before the engines
};

} // namespace kv

#endif // KV_RUNTIME_MANAGER_PAGEDMANAGER_H
