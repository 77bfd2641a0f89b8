//===- PagedReservations.cpp - What a paged manager gives a request -------===//

#include "PagedManager.h"

#include <algorithm>

using namespace kv;

/// Each step stores the token that the step before it generated, so the last
/// generated token of `steps` steps needs no place yet: hence steps - 1.
CacheEngine::Demand PagedManager::demand(const TextGenerationContext &context,
                                         int32_t steps) const {
  return {.length = context.length() + steps - 1,
          .chunk = context.activeLimit() + steps - 1,
          .draft = drafts,
          .reuse = context.reusesPrefix() && context.payload().empty()};
}

CacheEngine::Demand
PagedManager::firstDemand(const TextGenerationContext &context, int32_t steps,
                          int32_t replica, const Sequence &sequence) const {
  CacheEngine::Demand wanted = demand(context, steps);
  if (context.payload().empty() || payloadBytes == 0)
    return wanted;
  const Replica &own = *replicas[replica];
  wanted.reuse = context.reusesPrefix();
  int32_t pages = own.engine->plan(sequence, context.prompt(), wanted).hitPages;
  wanted.mostHit = std::min<int64_t>(
      sequence.committedPages() +
          own.payloads.countRun(own.engine->lastHit(pages)),
      std::ssize(context.payload()) / (payloadBytes * params().pageSize()));
  return wanted;
}

Expected<CacheEngine::Plan>
PagedManager::planFresh(int32_t replica, const TextGenerationContext &context,
                        int32_t steps, bool loads) const {
  CacheEngineImpl &engine = *replicas[replica]->engine;
  Expected<Sequence> fresh = engine.open(context.scope(), context.retention());
  if (!fresh)
    return makeError(fresh.error().code, "request ", context.id(), ": ",
                     fresh.error().message);
  CacheEngine::Demand wanted = firstDemand(context, steps, replica, *fresh);
  if (!loader || !loads)
    return engine.plan(*fresh, context.prompt(), wanted);
  return loader->plan(loader->openUnclaimed(context), engine, *fresh,
                      context.prompt(), wanted);
}

std::optional<AllocationError>
PagedManager::checkStep(const TextGenerationContext &context,
                        int32_t steps) const {
  using Reason = AllocationError::Reason;
  // PagedSizes counts on this limit: without it, other requests could be
  // refused pages that they were promised.
  int64_t most = options.maxChunkTokens;
  if (most > 0 && context.active() > most && sizes.layout().hasWindow())
    return refuse(Reason::Invalid, KV_STATUS_INVALID_ARGUMENT, "request ",
                  context.id(), " computes ", context.active(),
                  " tokens at once, maxChunkTokens is ", most);
  // A state is that of one step.
  if (steps > 1 && sizes.layout().hasStates())
    return refuse(Reason::Invalid, KV_STATUS_INVALID_ARGUMENT, "request ",
                  context.id(), ": ", steps,
                  " steps, with recurrent collections allowed: 1");
  return std::nullopt;
}

void PagedManager::limitStep(TextGenerationContext &context,
                             RequestPlace place) const {
  if (sizes.layout().hasStates())
    context.endStepAt(engine(place).nextSnapshot(sequence(place)));
}

Expected<AllocationPlan>
PagedManager::probe(const TextGenerationContext &context, int32_t steps) const {
  const RequestPlace *place = requests.find(context.id());
  if (std::optional<AllocationError> refused =
          checkDemand(context, steps, place ? held(place) : 0))
    return std::unexpected(std::move(refused->error));
  if (std::optional<AllocationError> refused = checkStep(context, steps))
    return std::unexpected(std::move(refused->error));
  Expected<CacheEngine::Plan> plan = [&]() -> Expected<CacheEngine::Plan> {
    if (!place || !sequence(*place))
      return planFresh(getOrRecommendReplica(context), context, steps,
                       /*loads=*/true);
    CacheEngine::Demand wanted =
        context.processed() > 0
            ? demand(context, steps)
            : firstDemand(context, steps, place->replica, sequence(*place));
    if (!loader)
      return engine(*place).plan(sequence(*place), context.prompt(), wanted);
    return loader->plan(index(*place), engine(*place), sequence(*place),
                        context.prompt(), wanted);
  }();
  if (!plan)
    return std::unexpected(plan.error());
  // On a synchronous device alloc() completes the open steps itself, so pages
  // that wait for these steps count as free.
  bool settles = !options.asynchronous;
  // The last token of a hit with a payload is computed, on copies of its pages.
  bool isCopied = !context.payload().empty() && plan->hitPages > 0;
  return AllocationPlan{
      .cachedTokens = plan->hitPages * params().pageSize() - isCopied,
      .pages = plan->newPages + plan->revivedPages +
               isCopied * static_cast<int32_t>(sizes.groups().size()),
      .fits = plan->fits() ||
              (settles && plan->verdict == CacheEngine::Verdict::Wait)};
}

std::expected<Allocation, AllocationError>
PagedManager::alloc(TextGenerationContext &context, int32_t steps) {
  const RequestPlace *place = requests.find(context.id());
  if (std::optional<AllocationError> refused =
          checkDemand(context, steps, held(place))) [[unlikely]] {
    if (refused->reason == AllocationError::Reason::NeverFits)
      ++replicas[place->replica]->counters.refusals;
    return std::unexpected(std::move(*refused));
  }
  if (loader && loader->stage(index(*place)) != PageLoader::LoadStage::None)
      [[unlikely]]
    return reserve(context, steps, *place, Purpose::Step);
  // The usual case of a decode step: the sequence has room in its own pages.
  if (const Sequence &sequence = this->sequence(*place);
      sequence && engine(*place).hasRoom(sequence, context.length() + steps -
                                                       1 + drafts)) [[likely]] {
    limitStep(context, *place);
    replicas[place->replica]->counters.inputTokens += context.active();
    return Allocation();
  }
  return reserve(context, steps, *place, Purpose::Step);
}

CacheEngine::Plan
PagedManager::reservePages(const TextGenerationContext &context,
                           RequestPlace place, CacheEngine::Demand &wanted) {
  Sequence &own = sequence(place);
  CacheEngineImpl &engine = this->engine(place);
  Prompt prompt = context.prompt();
  auto fits = [&] { return engine.plan(own, prompt, wanted).fits(); };
  if (wanted.loaded > 0 && !fits()) {
    if (!options.asynchronous)
      settle(place.replica);
    if (!fits())
      wanted.loaded = 0; // a refused load is a miss
  }
  auto before = static_cast<int64_t>(own.pages().size());
  CacheEngine::Plan plan = engine.reserve(own, prompt, wanted);
  if (plan.verdict == CacheEngine::Verdict::Wait && !options.asynchronous) {
    settle(place.replica);
    plan = engine.reserve(own, prompt, wanted);
  }
  if (payloadBytes > 0 && plan.fits())
    replicas[place.replica]->payloads.forget(
        own.pages(mainGroup).subspan(own.committedPages()));
  if (!loader || !plan.fits())
    return plan;
  // The last page that it had may be a copy now, or cut.
  int64_t firstWritten =
      std::clamp<int64_t>(own.processedTokens() / params().pageSize(), 0,
                          std::max<int64_t>(before - 1, 0));
  loader->willWrite(loadable(place), firstWritten);
  if (plan.hitPages > 0)
    loader->tookOver(loadable(place));
  return plan;
}

Expected<void> PagedManager::open(const TextGenerationContext &context,
                                  RequestPlace place) {
  Expected<Sequence> opened =
      engine(place).open(context.scope(), context.retention());
  if (!opened)
    return makeError(opened.error().code, "request ", context.id(), ": ",
                     opened.error().message);
  sequence(place) = std::move(*opened);
  slots[index(place)].keptPages = 0;
  if (loader)
    loader->open(index(place), context);
  return {};
}

void PagedManager::exchangePayload(RequestPlace place,
                                   const TextGenerationContext &context) {
  const Sequence &own = sequence(place);
  if (!own || context.payload().empty())
    return;
  int64_t bytes = payloadBytes * params().pageSize();
  int64_t end = std::min<int64_t>(own.committedPages(),
                                  std::ssize(context.payload()) / bytes);
  for (int64_t &page = slots[index(place)].keptPages; page < end; ++page)
    replicas[place.replica]->payloads.exchange(
        own.pages(mainGroup)[page], context.payload().data() + page * bytes);
}

std::optional<AllocationError>
PagedManager::takePayload(TextGenerationContext &context, int32_t steps,
                          RequestPlace place, CacheEngine::Plan &plan) {
  Sequence &own = sequence(place);
  if (own.processedTokens() == 0)
    return std::nullopt;
  exchangePayload(place, context);
  // A window may have passed what that token sees.
  if (engine(place).truncate(own, own.processedTokens() - 1)) {
    slots[index(place)].keptPages = own.committedPages();
    if (loader)
      loader->truncate(loadable(place), own.processedTokens());
    context.rewind(1);
    CacheEngine::Demand wanted = demand(context, steps);
    plan = reservePages(context, place, wanted);
    if (plan.fits())
      return std::nullopt;
  }
  own.release();
  context.rewind(context.processed());
  [[maybe_unused]] Expected<void> opened = open(context, place);
  assert(opened && "it was open before");
  CacheEngine::Demand wanted = demand(context, steps);
  plan = reservePages(context, place, wanted);
  if (plan.fits())
    return std::nullopt;
  ++replicas[place.replica]->counters.refusals;
  own.release();
  return explainRefusal(context, steps, place, plan);
}

std::expected<Allocation, AllocationError>
PagedManager::reserve(TextGenerationContext &context, int32_t steps,
                      RequestPlace place, Purpose purpose) {
  using Reason = AllocationError::Reason;
  using Stage = PageLoader::LoadStage;
  if (std::optional<AllocationError> refused = checkStep(context, steps))
    return std::unexpected(std::move(*refused));
  PageLoader::LoadRequest request = loadable(place);
  Sequence &own = request.sequence;
  bool waits = !options.tiers.asynchronous || purpose == Purpose::Prefetch;
  auto coming = [&] {
    return std::unexpected(refuse(Reason::Loading, KV_STATUS_OUT_OF_MEMORY,
                                  "request ", context.id(), " waits for ",
                                  loader->awaited(request.index)));
  };
  // A load that an earlier call has begun goes on.
  Stage earlier = loader ? loader->stage(request.index) : Stage::None;
  int64_t before = earlier == Stage::None
                       ? context.processed()
                       : loader->processedBefore(request.index);
  if (earlier != Stage::None && !loader->resume(request, context, waits))
    return coming();
  bool isFirst = !own;
  if (isFirst)
    if (Expected<void> opened = open(context, place); !opened)
      return std::unexpected(
          AllocationError{Reason::Invalid, std::move(opened.error())});
  CacheEngine::Demand wanted =
      before > 0 ? demand(context, steps)
                 : firstDemand(context, steps, place.replica, own);
  // The pages of a load that goes on are there, but this call may want more.
  PageLoader::Found found;
  if (loader && earlier != Stage::Loading)
    found = loader->find(request, context.prompt(), wanted, waits);
  CacheEngine::Plan plan = reservePages(context, place, wanted);
  if (!plan.fits()) {
    ++request.figures.refusals;
    if (isFirst)
      own.release();
    return std::unexpected(explainRefusal(context, steps, place, plan));
  }
  if (found.known > own.committedPages())
    request.engine.keepState(own, found.known * params().pageSize(),
                             /*isJunction=*/true);
  context.skip(own.processedTokens() - context.processed());
  limitStep(context, place);
  if (isFirst && purpose == Purpose::Step)
    request.figures.promptTokens += context.length();
  Gauge &peak = replicas[place.replica]->peakUsedPages;
  peak = std::max<int32_t>(peak, request.engine.pool().numUsed());
  if (Expected<void> sound = checked(); !sound)
    return std::unexpected(AllocationError{Reason::Invalid, sound.error()});
  if (found.isAsked) {
    loader->ask(request, before);
    return coming();
  }
  if (wanted.loaded > 0) {
    loader->begin(request, wanted.loaded, before);
    if (!loader->resume(request, context, waits))
      return coming();
    if (request.engine.statePlaces(own).write == NullState) {
      // The state that was reserved is the one that was loaded.
      wanted.loaded = 0;
      [[maybe_unused]] bool fits = reservePages(context, place, wanted).fits();
      assert(fits && "its pages are reserved");
    }
    limitStep(context, place);
  }
  if (payloadBytes > 0 && before == 0 && !context.payload().empty())
    if (std::optional<AllocationError> refused =
            takePayload(context, steps, place, plan))
      return std::unexpected(std::move(*refused));
  int64_t cached = context.processed() - before;
  if (purpose == Purpose::Step) {
    request.figures.inputTokens += context.active();
    request.figures.cachedTokens += cached;
  }
  return Allocation{cached, plan.newPages};
}

Expected<int64_t> PagedManager::prefetch(const TextGenerationContext &context) {
  if (contains(context.id()))
    return makeError(KV_STATUS_INVALID_ARGUMENT, "request ", context.id(),
                     " is claimed already: alloc() loads its pages");
  if (!loader)
    return 0;
  int32_t replica = getOrRecommendReplica(context);
  if (Expected<void> claimed = claim(context.id(), replica); !claimed)
    return std::unexpected(claimed.error());
  // Nothing is computed, so no limit of a step matters.
  TextGenerationContext whole = context;
  whole.limitActive(1);
  int64_t cached = 0;
  loader->untilAnswered([&] {
    Expected<AllocationPlan> plan = probe(whole, /*steps=*/1);
    cached = plan ? plan->cachedTokens : 0;
    return plan.has_value();
  });
  if (cached > 0) {
    // A request that ends one token after the prefix reserves no more.
    TextGenerationContext part(context.id(),
                               context.tokens().first(cached + 1));
    part.limitActive(1);
    part.setScope(context.scope());
    part.setImages(context.images());
    part.setRetention(context.retention());
    (void)reserve(part, /*steps=*/1, *requests.find(context.id()),
                  Purpose::Prefetch);
    cached = part.processed();
  }
  if (Expected<void> released = release(context.id()); !released)
    return std::unexpected(released.error());
  return cached;
}

AllocationError
PagedManager::explainRefusal(const TextGenerationContext &context,
                             int32_t steps, RequestPlace place,
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
