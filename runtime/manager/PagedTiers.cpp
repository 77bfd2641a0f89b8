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
  for (const KVCacheParams &one : params.params) {
    const CacheGeometry &of = one.geometry;
    text += concat("; ", one.name, " dtype ", int(of.dtype), " layers ",
                   of.layers, " heads ", of.heads, " dim ", of.dim, " page ",
                   of.page, " v_dim ", of.vDim, " layout ", int(of.layout),
                   " scales ", of.scaleGroup, " of ", int(of.scaleDType),
                   " window ", of.window, " page_layers ", of.pageLayers);
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
  if (wanted.mostWait < 0)
    return makeError(KV_STATUS_INVALID_ARGUMENT,
                     "cache manager: tiers.mostWait is ", wanted.mostWait,
                     ", allowed: 0 or more nanoseconds");
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
       .open = wanted.open});
  if (!made)
    return std::unexpected(made.error());
  tiers = std::move(*made);
  return {};
}

void PagedKVCacheManager::findLoads(size_t request,
                                    const CacheEngineImpl &engine,
                                    const Sequence &sequence,
                                    const TextGenerationContext &context,
                                    CacheEngine::Demand &demand) const {
  if (!tiers)
    return;
  tiers->findNothing();
  if (!demand.reuse || !engine.canTakeOver(sequence))
    return;
  Prompt prompt = context.prompt();
  int64_t pageSize = params().pageSize();
  int64_t first = sequence.committedPages() +
                  engine.plan(sequence, prompt, demand).hitPages;
  demand.loaded =
      (tiers->find(request, prompt, first, lastLoad(engine, prompt)) - first) *
      pageSize;
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
  int64_t end = isLate ? first
                       : tiers->find(index(place), prompt, first,
                                     lastLoad(engine, prompt));
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
                                          CacheEngine::Demand &demand) {
  if (!tiers)
    return false;
  int64_t &deadline = loads[index(place)].loadDeadline;
  if (!hasAsked)
    deadline = loadDeadline();
  for (;;) {
    findLoads(index(place), engine(place), sequence(place), context, demand);
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
  findLoads(request, engine, sequence, context, wanted);
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
  int64_t last =
      std::max<int64_t>(context.length() - 1, 0) / params().pageSize();
  tiers->open(unclaimedRequest(), context.scope());
  int64_t end = tiers->find(unclaimedRequest(), context.prompt(),
                            first - reasons.begin(), last);
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
    PageTiers::Progress progress =
        tiers->load(index(place), context.prompt(), own, state.nextLoad,
                    state.endLoad, state.askedLoad, memories[place.replica]);
    if (progress.loaded > 0) {
      state.nextLoad += progress.loaded;
      int64_t tokens = state.nextLoad * params().pageSize();
      [[maybe_unused]] Expected<void> committed =
          engine.commit(own, context.prompt(), tokens);
      assert(committed && "the pages are reserved");
      context.skip(tokens - context.processed());
      counters.loadedPages += progress.loaded;
      state.loadDeadline = loadDeadline();
    }
    int64_t left = state.loadDeadline - nanosecondsNow();
    if (state.nextLoad == state.endLoad || !progress.isComing || left <= 0)
      break;
    if (options.tiers.asynchronous)
      return false;
    (void)tiers->wait(std::chrono::nanoseconds(left));
  }
  giveUpLoad(state, place.replica); // its pages are reserved
  return true;
}

void PagedKVCacheManager::giveUpLoad(LoadState &state, int32_t replica) {
  figuresOf(replica).abandonedPages += state.endLoad - state.nextLoad;
  state.nextLoad = state.endLoad = 0;
  state.isAsking = false;
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
