//===- PagedKVCacheManager.cpp - Pages for a batch of requests ------------===//

#include "kv/Runtime/PagedKVCacheManager.h"
#include "kv/Runtime/CacheEngine.h"

#include <algorithm>

using namespace kv;

/// One pool, and what each slot's request holds there.
struct PagedKVCacheManager::Replica {
  Replica(const CacheEngine::Options &options, int32_t slots, int32_t maxPages)
      : engine(options), sequences(slots) {
    for (Sequence &sequence : sequences)
      engine.open(sequence, maxPages);
  }

  CacheEngine engine;
  std::vector<Sequence> sequences;
  KVCacheMetrics counters;
  int64_t evictionsBefore = 0; // of the last resetMetrics
};

Expected<std::unique_ptr<PagedKVCacheManager>>
PagedKVCacheManager::create(const MultiKVCacheParams &params,
                            const Options &options) {
  Expected<Common> common = prepare(
      params, CacheStrategy::Paged, options.devices, options.maxBatchSize,
      options.maxSeqLen, options.maxSteps, options.enableRuntimeChecks);
  if (!common)
    return std::unexpected(common.error());
  Expected<int64_t> pages = options.numPages;
  if (options.numPages == 0 && options.availableCacheMemory != 0)
    pages = numBlocks(params, options.maxBatchSize, options.maxSeqLen,
                      options.availableCacheMemory);
  if (!pages)
    return std::unexpected(pages.error());
  // Tables hold i32, and one id is the null page's.
  if (*pages < 1 || *pages > INT32_MAX - 1)
    return makeError(KV_STATUS_INVALID_ARGUMENT, "cache manager: numPages is ",
                     *pages, ", allowed: 1 to ", INT32_MAX - 1);
  std::unique_ptr<PagedKVCacheManager> manager(
      new PagedKVCacheManager(std::move(*common), options, *pages));
  if (Expected<void> made = manager->allocate(*pages, manager->pitch); !made)
    return std::unexpected(made.error());
  return manager;
}

PagedKVCacheManager::PagedKVCacheManager(Common common, const Options &options,
                                         int64_t pages)
    : ReplicatedKVCacheManager(std::move(common)), options(options),
      numPages(pages), drafts(params().draftSlots()) {
  int64_t maxPages = blocksFor(maxSeqLen() + drafts);
  pitch = tablePitch(maxPages);
  for (int32_t replica = 0; replica < numReplicas(); ++replica)
    replicas.push_back(std::make_unique<Replica>(
        CacheEngine::Options{.numPages = static_cast<int32_t>(numPages),
                             .pageSize =
                                 static_cast<int32_t>(params().pageSize()),
                             .prefixCaching = params().enablePrefixCaching(),
                             .key = options.key},
        requests.slotsPerReplica(),
        static_cast<int32_t>(std::min(maxPages, numPages))));
}

PagedKVCacheManager::~PagedKVCacheManager() = default;

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

int32_t PagedKVCacheManager::getOrRecommendReplica(
    const TextGenerationContext &context) const {
  if (contains(context.id()) || !options.prefixAffinity)
    return ReplicatedKVCacheManager::getOrRecommendReplica(context);
  int32_t best = 0;
  int64_t bestScore = INT64_MIN;
  Sequence fresh;
  for (int32_t replica = 0; replica < numReplicas(); ++replica) {
    const CacheEngine &engine = replicas[replica]->engine;
    engine.open(fresh, 0);
    CacheEngine::Plan plan = engine.plan(
        fresh, context.tokens(),
        {.length = context.length(), .reuse = context.reusesPrefix()});
    int64_t score = plan.hitPages - engine.pool().numUsed();
    if (requests.count(replica) == requests.slotsPerReplica())
      score = INT64_MIN; // It can be claimed there only after a release.
    if (score > bestScore || (score == bestScore &&
                              requests.count(replica) < requests.count(best))) {
      best = replica;
      bestScore = score;
    }
  }
  return best;
}

Expected<std::span<const int32_t>>
PagedKVCacheManager::getReqBlocks(RequestId id) const {
  const Place *place = requests.find(id);
  if (!place)
    return std::unexpected(unclaimed(id));
  return std::span<const int32_t>(
      replicas[place->replica]->sequences[place->slot].pages());
}

void PagedKVCacheManager::free(Place place) {
  Replica &replica = *replicas[place.replica];
  replica.engine.release(replica.sequences[place.slot]);
  replica.engine.open(replica.sequences[place.slot], 0);
}

int64_t PagedKVCacheManager::cachedTokens(Place place) const {
  return replicas[place.replica]->sequences[place.slot].processedTokens();
}

int64_t PagedKVCacheManager::room(Place place) const {
  const Sequence &sequence = replicas[place.replica]->sequences[place.slot];
  return static_cast<int64_t>(sequence.pages().size()) * params().pageSize();
}

//===----------------------------------------------------------------------===//
// Reservation
//===----------------------------------------------------------------------===//

/// `steps` steps store all tokens but the last one that they generate.
static CacheEngine::Demand demand(const TextGenerationContext &context,
                                  int64_t beyond) {
  return {.length = context.length() + beyond,
          .chunk = context.activeLimit() + beyond,
          .reuse = context.reusesPrefix()};
}

Expected<AllocationPlan>
PagedKVCacheManager::probe(const TextGenerationContext &context,
                           int32_t steps) const {
  std::expected<Place, AllocationError> place = checkDemand(context, steps);
  if (!place)
    return std::unexpected(place.error().error);
  const Replica &replica = *replicas[place->replica];
  const Sequence &sequence = replica.sequences[place->slot];
  CacheEngine::Plan plan = replica.engine.plan(
      sequence, context.tokens(), demand(context, steps - 1 + drafts));
  return AllocationPlan{.cachedTokens = plan.hitPages * params().pageSize(),
                        .pages = plan.newPages + plan.revivedPages,
                        .fits = plan.fits};
}

std::expected<Allocation, AllocationError>
PagedKVCacheManager::alloc(TextGenerationContext &context, int32_t steps) {
  using Reason = AllocationError::Reason;
  std::expected<Place, AllocationError> place = checkDemand(context, steps);
  if (!place) {
    if (place.error().reason == Reason::NeverFits)
      ++replicas[getReplica(context.id()).value()]->counters.refusals;
    return std::unexpected(place.error());
  }
  Replica &replica = *replicas[place->replica];
  auto refused = [&](Reason reason, const auto &...parts) {
    ++replica.counters.refusals;
    return std::unexpected(
        refuse(reason, KV_STATUS_OUT_OF_MEMORY,
               concat("request ", context.id(), " needs ", parts...)));
  };
  int64_t whole = context.length() + steps - 1 + drafts;
  if (blocksFor(whole) > numPages)
    return refused(Reason::NeverFits, blocksFor(whole), " pages of ",
                   params().pageSize(), " tokens, the pool has ", numPages);

  Sequence &sequence = replica.sequences[place->slot];
  if (sequence.pages().empty())
    replica.engine.open(sequence, 0); // in the epoch of now
  CacheEngine::Plan plan = replica.engine.reserve(
      sequence, context.tokens(), demand(context, steps - 1 + drafts));
  if (!plan.fits)
    return refused(
        Reason::Full, plan.newPages + plan.revivedPages, " more pages, ",
        replica.engine.pool().numFree(), " of ", numPages, " are free",
        numReplicas() > 1 ? concat(" on replica ", place->replica) : "");
  int64_t cached = sequence.processedTokens() - context.processed();
  context.skip(cached);
  KVCacheMetrics &counters = replica.counters;
  counters.inputTokens += context.active();
  counters.cachedTokens += cached;
  counters.peakUsedPages = std::max<int64_t>(counters.peakUsedPages,
                                             replica.engine.pool().numUsed());
  if (Expected<void> sound = checked(); !sound)
    return std::unexpected(AllocationError{Reason::Invalid, sound.error()});
  return Allocation{cached, plan.newPages};
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

void PagedKVCacheManager::writeRow(Place place, int64_t length, int32_t *row) {
  const Sequence &sequence = replicas[place.replica]->sequences[place.slot];
  int64_t needed = blocksFor(length);
  std::copy_n(sequence.pages().begin(), needed, row);
  std::fill(row + needed, row + pitch, NullPage);
}

Expected<void> PagedKVCacheManager::beginStep(int32_t replica,
                                              std::span<const Place> places) {
  return {};
}

void PagedKVCacheManager::commit(const TextGenerationContext &context,
                                 Place place) {
  Replica &replica = *replicas[place.replica];
  replica.engine.commit(replica.sequences[place.slot], context.tokens(),
                        context.processed());
}

void PagedKVCacheManager::resetPrefixCache() {
  for (const auto &replica : replicas)
    replica->engine.resetPrefixes();
}

//===----------------------------------------------------------------------===//
// Figures
//===----------------------------------------------------------------------===//

int64_t PagedKVCacheManager::numFreeBlocks(int32_t replica) const {
  return replicas[replica]->engine.pool().numFree();
}

KVCacheMetrics PagedKVCacheManager::metrics() const {
  KVCacheMetrics sum;
  for (const auto &replica : replicas) {
    const KVCacheMetrics &counters = replica->counters;
    sum.inputTokens += counters.inputTokens;
    sum.cachedTokens += counters.cachedTokens;
    sum.refusals += counters.refusals;
    sum.peakUsedPages += counters.peakUsedPages;
    sum.evictedPages +=
        replica->engine.numEvictions() - replica->evictionsBefore;
  }
  return sum;
}

void PagedKVCacheManager::resetMetrics() {
  for (const auto &replica : replicas) {
    replica->counters = {.peakUsedPages = replica->engine.pool().numUsed()};
    replica->evictionsBefore = replica->engine.numEvictions();
  }
}

Expected<void> PagedKVCacheManager::check() const {
  for (int32_t index = 0; index < numReplicas(); ++index) {
    std::vector<const Sequence *> open;
    for (const Sequence &sequence : replicas[index]->sequences)
      open.push_back(&sequence);
    if (std::string fault = replicas[index]->engine.check(open); !fault.empty())
      return makeError(KV_STATUS_INTERNAL, "cache manager: replica ", index,
                       ": ", fault);
  }
  return {};
}
