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
  if (hasDisk == wanted.diskDirectory.empty())
    return makeError(KV_STATUS_INVALID_ARGUMENT, "cache manager: kv_connector ",
                     "is ", connectorName(params().connector()),
                     hasDisk ? ", diskDirectory is not given"
                             : ", which has no disk, diskDirectory is ",
                     wanted.diskDirectory);
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
                     .ioThreads = wanted.ioThreads},
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
  if (!tiers || !demand.reuse || !engine.canTakeOver(sequence))
    return;
  Prompt prompt = context.prompt();
  int64_t pageSize = params().pageSize();
  int64_t first = sequence.committedPages() +
                  engine.plan(sequence, prompt, demand).hitPages;
  // The last token is always computed.
  int64_t last = std::min(prompt.length() - 1, engine.maxTokens()) / pageSize;
  demand.loaded =
      (tiers->find(request, prompt, first, last) - first) * pageSize;
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
  using namespace std::chrono;
  LoadState &state = loads[index(place)];
  Sequence &own = sequence(place);
  CacheEngineImpl &engine = this->engine(place);
  Figures &counters = figuresOf(place.replica);
  auto now = [] {
    return nanoseconds(steady_clock::now().time_since_epoch()).count();
  };
  auto wait = [&](int64_t most) {
    int64_t time = now();
    state.loadDeadline = most > INT64_MAX - time ? INT64_MAX : time + most;
  };
  if (state.loadDeadline == 0)
    wait(options.tiers.mostWait);
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
      wait(options.tiers.mostWait);
    }
    int64_t left = state.loadDeadline - now();
    if (state.nextLoad == state.endLoad || !progress.isComing || left <= 0)
      break;
    if (options.tiers.asynchronous)
      return false;
    (void)tiers->wait(nanoseconds(left));
  }
  giveUpLoad(state, place.replica); // its pages are reserved
  return true;
}

void PagedKVCacheManager::giveUpLoad(LoadState &state, int32_t replica) {
  figuresOf(replica).abandonedPages += state.endLoad - state.nextLoad;
  state.nextLoad = state.endLoad = 0;
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
          .diskPagesWritten = metrics.writtenPages};
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
