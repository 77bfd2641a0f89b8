//===- PagedReservations.cpp - What a paged manager gives a request -------===//

#include "PageTiers.h"
#include "PagedReplica.h"

#include <algorithm>

using namespace kv;

/// Each step stores the token that the step before it generated, so the last
/// generated token of `steps` steps needs no place yet: hence steps - 1.
CacheEngine::Demand
PagedKVCacheManager::demand(const TextGenerationContext &context,
                            int32_t steps) const {
  return {.length = context.length() + steps - 1,
          .chunk = context.activeLimit() + steps - 1,
          .draft = drafts,
          .reuse = context.reusesPrefix()};
}

Expected<CacheEngine::Plan>
PagedKVCacheManager::planFresh(int32_t replica,
                               const TextGenerationContext &context,
                               int32_t steps, bool loads) const {
  CacheEngineImpl &engine = *replicas[replica]->engine;
  Expected<Sequence> fresh = engine.open(context.scope(), context.retention());
  if (!fresh)
    return makeError(fresh.error().code, "request ", context.id(), ": ",
                     fresh.error().message);
  if (!tiers || !loads)
    return engine.plan(*fresh, context.prompt(), demand(context, steps));
  tiers->open(unclaimedRequest(), context.scope());
  return planWithLoads(unclaimedRequest(), engine, *fresh, context, steps);
}

/// PagedSizes counts on this limit: without it, other requests could be refused
/// pages that they were promised.
std::optional<AllocationError>
PagedKVCacheManager::checkChunk(const TextGenerationContext &context) const {
  int64_t most = options.maxChunkTokens;
  if (most == 0 || context.active() <= most || !sizes.layout().hasWindow())
    return std::nullopt;
  return refuse(AllocationError::Reason::Invalid, KV_STATUS_INVALID_ARGUMENT,
                "request ", context.id(), " computes ", context.active(),
                " tokens at once, maxChunkTokens is ", most);
}

void PagedKVCacheManager::limitStep(TextGenerationContext &context,
                                    Place place) const {
  if (sizes.layout().hasStates())
    context.endStepAt(engine(place).nextSnapshot(sequence(place)));
}

/// A state is that of one step.
static std::optional<AllocationError>
checkSteps(const PagedSizes &sizes, const TextGenerationContext &context,
           int32_t steps) {
  if (steps == 1 || !sizes.layout().hasStates())
    return std::nullopt;
  return AllocationError{
      AllocationError::Reason::Invalid,
      {KV_STATUS_INVALID_ARGUMENT,
       concat("request ", context.id(), ": ", steps,
              " steps, with recurrent collections allowed: 1")}};
}

Expected<AllocationPlan>
PagedKVCacheManager::probe(const TextGenerationContext &context,
                           int32_t steps) const {
  const Place *place = requests.find(context.id());
  if (std::optional<AllocationError> refused =
          checkDemand(context, steps, place ? held(place) : 0))
    return std::unexpected(std::move(refused->error));
  if (std::optional<AllocationError> refused = checkChunk(context))
    return std::unexpected(std::move(refused->error));
  if (std::optional<AllocationError> refused =
          checkSteps(sizes, context, steps))
    return std::unexpected(std::move(refused->error));
  Expected<CacheEngine::Plan> plan =
      place && sequence(*place)
          ? planWithLoads(index(*place), engine(*place), sequence(*place),
                          context, steps)
          : planFresh(place ? place->replica : getOrRecommendReplica(context),
                      context, steps, /*loads=*/true);
  if (!plan)
    return std::unexpected(plan.error());
  // On a synchronous device alloc() completes the open steps itself, so pages
  // that wait for these steps count as free.
  bool settles = !options.asynchronous;
  return AllocationPlan{
      .cachedTokens = plan->hitPages * params().pageSize(),
      .pages = plan->newPages + plan->revivedPages,
      .fits = plan->fits() ||
              (settles && plan->verdict == CacheEngine::Verdict::Wait)};
}

std::expected<Allocation, AllocationError>
PagedKVCacheManager::alloc(TextGenerationContext &context, int32_t steps) {
  const Place *place = requests.find(context.id());
  if (std::optional<AllocationError> refused =
          checkDemand(context, steps, held(place))) [[unlikely]] {
    if (refused->reason == AllocationError::Reason::NeverFits)
      ++replicas[place->replica]->counters.refusals;
    return std::unexpected(std::move(*refused));
  }
  if (tiers && loads[index(*place)].isUnderWay()) [[unlikely]]
    return reserve(context, steps, *place);
  // The usual case of a decode step: the sequence has room in its own pages.
  if (const Sequence &sequence = this->sequence(*place);
      sequence && engine(*place).hasRoom(sequence, context.length() + steps -
                                                       1 + drafts)) [[likely]] {
    limitStep(context, *place);
    replicas[place->replica]->counters.inputTokens += context.active();
    return Allocation();
  }
  return reserve(context, steps, *place);
}

std::expected<Allocation, AllocationError>
PagedKVCacheManager::reserve(TextGenerationContext &context, int32_t steps,
                             Place place) {
  if (std::optional<AllocationError> refused = checkChunk(context))
    return std::unexpected(std::move(*refused));
  if (std::optional<AllocationError> refused =
          checkSteps(sizes, context, steps))
    return std::unexpected(std::move(*refused));
  Sequence &own = sequence(place);
  CacheEngineImpl &engine = this->engine(place);
  LoadState &state = loads[index(place)];
  auto coming = [&] {
    return std::unexpected(
        refuse(AllocationError::Reason::Loading, KV_STATUS_OUT_OF_MEMORY,
               "request ", context.id(), " waits for ",
               state.isAsking ? std::string("what a store has")
                              : concat(state.endLoad - state.nextLoad,
                                       " pages from other tiers")));
  };
  bool hasAsked = state.isAsking;
  if (asks(context, place))
    return coming();
  bool goesOn = state.endLoad > 0; // with what an earlier call has begun
  if (goesOn && !load(context, place))
    return coming();
  bool isFirst = !own;
  if (isFirst) {
    Expected<Sequence> opened =
        engine.open(context.scope(), context.retention());
    if (!opened)
      return std::unexpected(
          refuse(AllocationError::Reason::Invalid, opened.error().code,
                 "request ", context.id(), ": ", opened.error().message));
    own = std::move(*opened);
    if (tiers)
      tiers->open(index(place), context.scope());
  }
  CacheEngine::Demand wanted = demand(context, steps);
  auto fits = [&] { return engine.plan(own, context.prompt(), wanted).fits(); };
  int64_t known = 0; // pages that somebody has computed
  bool asksNow =
      !goesOn && findLoadsInTime(context, place, hasAsked, wanted, known);
  if (wanted.loaded > 0 && !fits()) {
    if (!options.asynchronous)
      settle(place.replica);
    if (!fits())
      wanted.loaded = 0; // a refused load is a miss
  }
  // The pages of a load that goes on are there, but this call may want more.
  int64_t before = static_cast<int64_t>(own.pages().size());
  CacheEngine::Plan plan = engine.reserve(own, context.prompt(), wanted);
  if (plan.verdict == CacheEngine::Verdict::Wait && !options.asynchronous) {
    settle(place.replica);
    plan = engine.reserve(own, context.prompt(), wanted);
  }
  Figures &counters = replicas[place.replica]->counters;
  if (!plan.fits()) {
    ++counters.refusals;
    if (isFirst)
      own.release();
    return std::unexpected(explainRefusal(context, steps, place, plan));
  }
  // The last page that it had may be a copy now, or cut.
  int64_t firstWritten =
      std::clamp<int64_t>(own.processedTokens() / params().pageSize(), 0,
                          std::max<int64_t>(before - 1, 0));
  followWrites(place, firstWritten);
  if (known > own.committedPages())
    engine.keepState(own, known * params().pageSize(), /*isJunction=*/true);
  if (plan.hitPages > 0)
    state.hitEnd = own.committedPages();
  if (!goesOn && !hasAsked)
    state.processedBefore = context.processed();
  context.skip(own.processedTokens() - context.processed());
  limitStep(context, place);
  if (isFirst && !isPrefetching)
    counters.promptTokens += context.length();
  Gauge &peak = replicas[place.replica]->peakUsedPages;
  peak = std::max<int32_t>(peak, engine.pool().numUsed());
  if (Expected<void> sound = checked(); !sound)
    return std::unexpected(
        AllocationError{AllocationError::Reason::Invalid, sound.error()});
  state.isAsking = asksNow;
  if (asksNow)
    return coming();
  if (wanted.loaded > 0) {
    beginLoad(place, wanted.loaded);
    if (!load(context, place))
      return coming();
    if (engine.statePlaces(own).write == NullState) {
      // The state that was reserved is the one that was loaded.
      wanted.loaded = 0;
      [[maybe_unused]] bool fits =
          engine.reserve(own, context.prompt(), wanted).fits();
      assert(fits && "its pages are reserved");
      followWrites(place, firstWritten);
    }
    limitStep(context, place);
  }
  return finishReserve(context, place, plan.newPages);
}

Allocation
PagedKVCacheManager::finishReserve(const TextGenerationContext &context,
                                   Place place, int32_t newPages) {
  int64_t cached = context.processed() - loads[index(place)].processedBefore;
  if (Figures &counters = figuresOf(place.replica); !isPrefetching) {
    counters.inputTokens += context.active();
    counters.cachedTokens += cached;
  }
  return {cached, newPages};
}

AllocationError
PagedKVCacheManager::explainRefusal(const TextGenerationContext &context,
                                    int32_t steps, Place place,
                                    const CacheEngine::Plan &plan) const {
  using Reason = AllocationError::Reason;
  int64_t pages = plan.newPages + plan.revivedPages;
  if (plan.verdict == CacheEngine::Verdict::Never) {
    // A long chunk needs all of its pages at once, even if a window will have
    // passed most of them at its end.
    CacheEngine::Demand wanted = demand(context, steps);
    int64_t whole =
        mostPages(sizes.groups(), params().pageSize(), wanted.length,
                  wanted.chunk, wanted.draft, context.processed());
    return refuse(Reason::NeverFits, KV_STATUS_OUT_OF_MEMORY, "request ",
                  context.id(), " needs ", std::max(whole, pages), " pages of ",
                  params().pageSize(), " tokens, the pool has ", numPages);
  }
  const PagePool &pool = engine(place).pool();
  bool waits = plan.verdict == CacheEngine::Verdict::Wait;
  return refuse(waits ? Reason::Wait : Reason::Full, KV_STATUS_OUT_OF_MEMORY,
                "request ", context.id(), " needs ", pages, " more pages, ",
                pool.numFree(), " of ", numPages, " are free",
                waits ? concat(", ", pool.numDeferred(),
                               " of them when their step is over")
                      : "",
                numReplicas() > 1 ? concat(" on replica ", place.replica) : "");
}
