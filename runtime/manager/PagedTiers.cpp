//===- PagedTiers.cpp - Pages of a paged manager beside its devices -------===//

#include "kv/Runtime/Manager/PagedKVCacheManager.h"

#include "PageTiers.h"
#include "PagedReplica.h"

#include <cmath>

using namespace kv;

/// What the bytes of a page mean, in words: a directory on a disk is locked to
/// them.
static std::string describeRecords(const MultiKVCacheParams &params) {
  std::string text = concat(params.tensorParallelDegree(), " shards");
  if (params.tensorParallelDegree() > 1)
    text += ", replicated rows once, states end to end";
  for (const KVCacheParams &one : params.params) {
    const CacheGeometry &of = one.geometry;
    text += concat("; ", one.name, " dtype ", int(of.dtype), " layers ",
                   of.layers, " heads ", of.heads, " dim ", of.dim, " page ",
                   of.page, " v_dim ", of.vDim, " layout ", int(of.layout),
                   " scales ", of.scaleGroup, " of ", int(of.scaleDType),
                   " window ", of.window, " page_layers ", of.pageLayers,
                   of.isRecurrent() ? " recurrent" : "");
  }
  return text;
}

Expected<void> PagedKVCacheManager::createTiers() {
  if (!params().hasTiers())
    return {};
  bool hasDisk = params().connector() == KVConnector::Tiered;
  const TierOptions &wanted = options.tiers;
  auto cannot = [&](const std::string &why) {
    return makeError(KV_STATUS_INVALID_ARGUMENT, "cache manager: kv_connector ",
                     "is ", connectorName(params().connector()), why);
  };
  if (hasDisk && wanted.diskDirectory.empty() &&
      wanted.blockStoreEndpoint.empty())
    return cannot(", diskDirectory is not given, nor is blockStoreEndpoint");
  if (!hasDisk && !wanted.diskDirectory.empty())
    return cannot(
        concat(", which has no disk, diskDirectory is ", wanted.diskDirectory));
  if (!hasDisk && !wanted.blockStoreEndpoint.empty())
    return cannot(", which has no store, blockStoreEndpoint is given");
  Expected<std::unique_ptr<PageTiers>> made = PageTiers::create(
      {.connector = {.pageSize = static_cast<int32_t>(params().pageSize()),
                     .directory = wanted.diskDirectory,
                     .geometry = describeRecords(params()),
                     .model = wanted.model,
                     .diskBytes = wanted.diskBytes,
                     .ioThreads = wanted.ioThreads,
                     .blockStoreEndpoint = wanted.blockStoreEndpoint},
       .hostBytes = static_cast<int64_t>(
           std::min(std::ldexp(*params().hostSwapSpaceGB(), 30), 0x1p62)),
       .device = devices()[0],
       .requests = slots.size() + 1,
       .recordBytes = memories[0].recordBytes(),
       .stateParts = memories[0].stateParts(),
       .open = wanted.open,
       .events = options.events});
  if (!made)
    return std::unexpected(made.error());
  tiers = std::move(*made);
  return {};
}

PagedKVCacheManager::Loadable
PagedKVCacheManager::findRecords(size_t request, const CacheEngineImpl &engine,
                                 const Prompt &prompt, int64_t first) const {
  int64_t known = tiers->find(request, prompt, first, lastLoad(engine, prompt));
  int64_t end = known;
  if (sizes.layout().hasStates() && !tiers->awaitsAnswer())
    end = tiers->findState(request, prompt, first, known);
  return {end, known};
}

int64_t PagedKVCacheManager::findLoads(size_t request,
                                       const CacheEngineImpl &engine,
                                       const Sequence &sequence,
                                       const TextGenerationContext &context,
                                       CacheEngine::Demand &demand) const {
  if (!tiers)
    return 0;
  tiers->findNothing();
  if (!demand.reuse || !engine.canTakeOver(sequence) ||
      (sizes.layout().hasStates() && !engine.canLoadState(sequence)))
    return 0;
  Prompt prompt = context.prompt();
  int64_t first = sequence.committedPages() +
                  engine.plan(sequence, prompt, demand).hitPages;
  Loadable found = findRecords(request, engine, prompt, first);
  demand.loaded = (found.end - first) * params().pageSize();
  return found.known;
}

int64_t PagedKVCacheManager::lastLoad(const CacheEngineImpl &engine,
                                      const Prompt &prompt) const {
  // The last token is always computed.
  return std::min(prompt.length() - 1, engine.maxTokens()) /
         params().pageSize();
}

static int64_t nanosecondsNow() {
  using namespace std::chrono;
  return nanoseconds(steady_clock::now().time_since_epoch()).count();
}

int64_t PagedKVCacheManager::loadDeadline() const {
  int64_t time = nanosecondsNow(), most = options.tiers.mostWait;
  return most > INT64_MAX - time ? INT64_MAX : time + most;
}

bool PagedKVCacheManager::asks(const TextGenerationContext &context,
                               Place place) {
  LoadState &state = loads[index(place)];
  if (!state.isAsking)
    return false;
  Sequence &own = sequence(place);
  CacheEngineImpl &engine = this->engine(place);
  Prompt prompt = context.prompt();
  int64_t first = own.committedPages();
  bool isLate = nanosecondsNow() >= state.loadDeadline;
  int64_t end =
      isLate ? first : findRecords(index(place), engine, prompt, first).end;
  if (!isLate && tiers->awaitsAnswer())
    return true;
  state.isAsking = false;
  if (end > first) {
    // The pages that it holds to compute in are reserved anew, behind those
    // that are loaded.
    [[maybe_unused]] Expected<void> cut =
        engine.truncate(own, own.processedTokens());
    assert(cut && "what is committed stays");
  }
  return false;
}

bool PagedKVCacheManager::findLoadsInTime(const TextGenerationContext &context,
                                          Place place, bool hasAsked,
                                          CacheEngine::Demand &demand,
                                          int64_t &known) {
  if (!tiers)
    return false;
  int64_t &deadline = loads[index(place)].loadDeadline;
  if (!hasAsked)
    deadline = loadDeadline();
  for (;;) {
    known = findLoads(index(place), engine(place), sequence(place), context,
                      demand);
    int64_t left = deadline - nanosecondsNow();
    if (!tiers->awaitsAnswer() || left <= 0)
      return false;
    if (options.tiers.asynchronous)
      break;
    (void)tiers->wait(std::chrono::nanoseconds(left));
  }
  demand.loaded = 0; // all is loaded at once, when it is known
  return true;
}

CacheEngine::Plan PagedKVCacheManager::planWithLoads(
    size_t request, const CacheEngineImpl &engine, const Sequence &sequence,
    const TextGenerationContext &context, int32_t steps) const {
  CacheEngine::Demand wanted = demand(context, steps);
  (void)findLoads(request, engine, sequence, context, wanted);
  CacheEngine::Plan plan = engine.plan(sequence, context.prompt(), wanted);
  if (wanted.loaded > 0 && plan.fits()) {
    plan.hitPages += static_cast<int32_t>(wanted.loaded / params().pageSize());
  } else if (wanted.loaded > 0) {
    wanted.loaded = 0;
    plan = engine.plan(sequence, context.prompt(), wanted);
  }
  return plan;
}

void PagedKVCacheManager::explainLoads(
    const TextGenerationContext &context,
    std::span<CacheEngine::Reason> reasons) const {
  using Reason = CacheEngine::Reason;
  if (!tiers)
    return;
  auto first = std::ranges::find_if(
      reasons, [](Reason reason) { return reason != Reason::Hit; });
  if (context.length() == 0)
    return;
  tiers->open(unclaimedRequest(), context.scope());
  int64_t end = findRecords(unclaimedRequest(), *replicas[0]->engine,
                            context.prompt(), first - reasons.begin())
                    .end;
  std::fill(first, std::max(first, reasons.begin() + end), Reason::OtherTier);
}

bool PagedKVCacheManager::load(TextGenerationContext &context, Place place) {
  LoadState &state = loads[index(place)];
  Sequence &own = sequence(place);
  CacheEngineImpl &engine = this->engine(place);
  Figures &counters = figuresOf(place.replica);
  if (state.loadDeadline == 0)
    state.loadDeadline = loadDeadline();
  for (;;) {
    PageTiers::Prefix prefix = {state.pagesEnd, engine.statePlaces(own).write};
    PageTiers::Progress progress =
        tiers->load(index(place), context.prompt(), own, prefix, state.nextLoad,
                    state.endLoad, state.askedLoad, memories[place.replica]);
    state.nextLoad += progress.loaded;
    // Pages without the state behind them are of no use.
    bool counts = prefix.state == NullState || state.nextLoad == state.endLoad;
    if (progress.loaded > 0 && counts) {
      int64_t pages = std::min(state.nextLoad, state.pagesEnd);
      int64_t tokens = pages * params().pageSize();
      [[maybe_unused]] Expected<void> committed =
          engine.commit(own, context.prompt(), tokens);
      assert(committed && "the pages are reserved");
      context.skip(tokens - context.processed());
      counters.loadedPages += pages - state.doneLoad;
      state.doneLoad = state.hitEnd = pages;
    }
    if (progress.loaded > 0)
      state.loadDeadline = loadDeadline();
    int64_t left = state.loadDeadline - nanosecondsNow();
    if (state.nextLoad == state.endLoad || !progress.isComing || left <= 0)
      break;
    if (options.tiers.asynchronous)
      return false;
    (void)tiers->wait(std::chrono::nanoseconds(left));
  }
  giveUpLoad(place); // its pages are reserved
  return true;
}

void PagedKVCacheManager::beginLoad(Place place, int64_t loaded) {
  LoadState &state = loads[index(place)];
  Sequence &own = sequence(place);
  state.nextLoad = state.askedLoad = state.doneLoad = own.committedPages();
  state.pagesEnd = state.nextLoad + loaded / params().pageSize();
  state.endLoad = state.pagesEnd + memories[place.replica].stateParts();
  state.loadDeadline = 0;
  engine(place).keepState(own, state.pagesEnd * params().pageSize(),
                          /*isJunction=*/false);
}

void PagedKVCacheManager::giveUpLoad(Place place) {
  LoadState &state = loads[index(place)];
  if (state.endLoad > 0)
    figuresOf(place.replica).abandonedPages += state.pagesEnd - state.doneLoad;
  if (tiers)
    tiers->endLoad(index(place));
  state.nextLoad = state.endLoad = 0;
  state.isAsking = false;
}

void PagedKVCacheManager::followWrites(Place place, int64_t first) {
  if (tiers && sequence(place))
    tiers->willWrite(sequence(place), first,
                     engine(place).statePlaces(sequence(place)).write,
                     memories[place.replica]);
}

void PagedKVCacheManager::storeState(Place place, bool ifPlanned) {
  const Sequence &own = sequence(place);
  CacheEngineImpl::Snapshot snapshot =
      engine(place).snapshotAt(own, static_cast<int32_t>(own.committedPages()));
  if (snapshot.id != NullState && (snapshot.isPlanned || !ifPlanned))
    tiers->storeState(index(place), snapshot.tokens, own.retention(),
                      own.committedPages(), snapshot.id,
                      memories[place.replica]);
}

/// States first: without the pages they are of no use. One that is superseded
/// is left to be forgotten.
void PagedKVCacheManager::touchRecords(Place place) {
  const Sequence &own = sequence(place);
  int64_t pages = own.committedPages(), hit = loads[index(place)].hitEnd;
  auto touchState = [&](int64_t at) {
    CacheEngineImpl::Snapshot snapshot =
        engine(place).snapshotAt(own, static_cast<int32_t>(at));
    if (snapshot.id != NullState && !snapshot.isSuperseded)
      tiers->touchState(index(place), snapshot.tokens, at, own.retention());
  };
  if (hit < pages)
    touchState(hit);
  touchState(pages);
  tiers->touch(index(place), pages, own.retention());
}

Expected<int64_t>
PagedKVCacheManager::prefetch(const TextGenerationContext &context) {
  if (contains(context.id()))
    return makeError(KV_STATUS_INVALID_ARGUMENT, "request ", context.id(),
                     " is claimed already: alloc() loads its pages");
  if (!tiers)
    return 0;
  int32_t replica = getOrRecommendReplica(context);
  if (Expected<void> claimed = claim(context.id(), replica); !claimed)
    return std::unexpected(claimed.error());
  // Nothing is computed, so no limit of a step matters.
  TextGenerationContext whole = context;
  whole.limitActive(1);
  Expected<AllocationPlan> plan = probe(whole);
  for (int64_t until = loadDeadline();
       plan && tiers->awaitsAnswer() && nanosecondsNow() < until;
       plan = probe(whole))
    (void)tiers->wait(std::chrono::nanoseconds(until - nanosecondsNow()));
  int64_t cached = plan ? plan->cachedTokens : 0;
  if (cached > 0) {
    // A request that ends one token behind the prefix reserves no more.
    TextGenerationContext part(context.id(),
                               context.tokens().first(cached + 1));
    part.limitActive(1);
    part.setScope(context.scope());
    part.setImages(context.images());
    part.setRetention(context.retention());
    bool waits = std::exchange(options.tiers.asynchronous, false);
    isPrefetching = true;
    (void)alloc(part);
    isPrefetching = false;
    options.tiers.asynchronous = waits;
    cached = part.processed();
  }
  if (Expected<void> released = release(context.id()); !released)
    return std::unexpected(released.error());
  return cached;
}

bool PagedKVCacheManager::waitForLoads(int64_t nanoseconds) {
  return tiers && tiers->wait(std::chrono::nanoseconds(nanoseconds));
}

const TierMetrics *PagedKVCacheManager::tierMetrics() const {
  return tiers ? &tiers->metrics() : nullptr;
}

KVCacheMetrics PagedKVCacheManager::countTiers() const {
  if (!tiers)
    return {};
  const TierMetrics &metrics = tiers->metrics();
  return {.storedPages = metrics.storedPages,
          .diskPagesRead = metrics.readPages,
          .diskPagesWritten = metrics.writtenPages,
          .storePagesRead = metrics.storeReadPages,
          .storePagesWritten = metrics.storeWrittenPages};
}

int64_t PagedKVCacheManager::totalNumHostPages() const {
  return tiers ? tiers->metrics().hostPages : 0;
}

double PagedKVCacheManager::hostCommittedBlockPct() const {
  return tiers ? static_cast<double>(tiers->metrics().usedHostPages) /
                     tiers->metrics().hostPages
               : 0;
}

int64_t PagedKVCacheManager::hostBytes() const {
  return ReplicatedKVCacheManager::hostBytes() +
         (tiers ? tiers->hostBytes() : 0);
}
