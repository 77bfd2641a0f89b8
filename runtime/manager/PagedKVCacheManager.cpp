//===- PagedKVCacheManager.cpp - Pages for a batch of requests ------------===//

#include "PagedManager.h"

#include <algorithm>
#include <utility>

using namespace kv;

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

Expected<void> PagedOptions::validate() const {
#define RANGE_NUMBER(name, type, place, standard, least, most, ...)            \
  if (type value = place;                                                      \
      value && (std::cmp_less(value, least) || std::cmp_greater(value, most))) \
    return makeError(KV_STATUS_INVALID_ARGUMENT,                               \
                     "cache manager: " #name " is ", value,                    \
                     ", allowed: ", least, " to ", most);
#define RANGE_COUNT RANGE_NUMBER
#define RANGE_SWITCH(...)
#define RANGE_TEXT(...)
#define RANGE_CHOICE(...)
#define RANGE_OTHER(...)
#define KV_OPTION(kind, ...) RANGE_##kind(__VA_ARGS__)
#include "kv/ABI/ManagerOptions.def"
  return {};
}

Expected<std::unique_ptr<PagedKVCacheManager>>
PagedKVCacheManager::create(const MultiKVCacheParams &params,
                            const Options &options) {
  return orNoMemory([&] { return PagedManager::make(params, options); });
}

Expected<std::unique_ptr<PagedKVCacheManager>>
PagedManager::make(const MultiKVCacheParams &params, const Options &options) {
  Expected<Common> common = prepare(
      params, CacheStrategy::Paged, options.devices, options.maxBatchSize,
      options.maxSeqLen, options.maxSteps, options.enableRuntimeChecks);
  if (!common)
    return std::unexpected(common.error());
  auto invalid = [](const auto &...parts) {
    return makeError(KV_STATUS_INVALID_ARGUMENT, "cache manager: ", parts...);
  };
  if (int64_t most = PagedSizes::longestSequence(params);
      options.maxSeqLen > most)
    return invalid("maxSeqLen is ", options.maxSeqLen, ", allowed: 1 to ",
                   most);
  if (Expected<void> valid = options.validate(); !valid)
    return std::unexpected(valid.error());
  constexpr int64_t MostSnapshots = 1 << 20;
  if (options.snapshots < -1 || options.snapshots > MostSnapshots)
    return invalid("snapshots is ", options.snapshots, ", allowed: 0 to ",
                   MostSnapshots, ", or -1 (two a request)");
  StepLimits limits = {options.maxSteps, options.maxChunkTokens,
                       options.snapshots};
  if ((options.numPages == 0) == (options.availableCacheMemory == 0))
    return invalid("numPages is ", options.numPages,
                   ", availableCacheMemory is ", options.availableCacheMemory,
                   " bytes, allowed: one of the two, the other 0");
  Expected<int64_t> pages = options.numPages;
  if (options.numPages == 0)
    pages = numBlocks(params, options.maxBatchSize, options.maxSeqLen,
                      options.availableCacheMemory, limits);
  if (!pages)
    return std::unexpected(pages.error());
  if (*pages < 1 || *pages > CacheEngine::MostPages)
    return invalid("numPages is ", *pages, ", allowed: 1 to ",
                   CacheEngine::MostPages);
  auto replicas = static_cast<size_t>(params.dataParallelDegree());
  for (auto [given, sinks] :
       {std::pair(options.logs.size(), " logs are given, allowed: none, or "),
        {options.events.size(),
         " sinks of events are given, allowed: none, or "}})
    if (given != 0 && given != replicas)
      return invalid(given, sinks, replicas);
  std::unique_ptr<PagedManager> manager(
      new PagedManager(std::move(*common), options, *pages));
  if (Expected<void> enough = manager->checkCapacity(); !enough)
    return std::unexpected(enough.error());
  if (Expected<void> made = manager->createReplicas(); !made)
    return std::unexpected(made.error());
  Expected<std::unique_ptr<PageLoader>> loader = PageLoader::create(
      params, options, manager->devices()[0], manager->memories[0],
      manager->slots.size(), manager->payloadBytes * params.pageSize());
  if (!loader)
    return std::unexpected(loader.error());
  manager->loader = std::move(*loader);
  if (Expected<void> opened = manager->openResetSocket(); !opened)
    return std::unexpected(opened.error());
  return manager;
}

Expected<void> PagedManager::openResetSocket() {
  if (options.zmqEndpointBase.empty() && options.resetEndpoint.empty())
    return {};
  Expected<std::unique_ptr<ResetSocket>> socket =
      ResetSocket::open({.endpointBase = options.zmqEndpointBase,
                         .endpoint = options.resetEndpoint});
  if (!socket)
    return std::unexpected(socket.error());
  resetSocket = std::move(*socket);
  return {};
}

Expected<void> PagedManager::checkCapacity() const {
  int64_t one = blocksFor(maxSeqLen());
  int64_t rows = requests.slotsPerReplica();
  std::string pool = concat("the pool of a replica has ", numPages,
                            numPages == 1 ? " page of " : " pages of ",
                            params().pageSize(), " tokens");
  if (one > numPages) {
    std::string text =
        concat("cache manager: a sequence of maxSeqLen = ", maxSeqLen(),
               " tokens needs ", one, " pages, ", pool);
    if (options.availableCacheMemory)
      return makeError(KV_STATUS_OUT_OF_MEMORY, text,
                       ": lower maxSeqLen or raise availableCacheMemory from ",
                       options.availableCacheMemory, " bytes");
    if (options.warn)
      options.warn(concat(text, ": longer requests are refused"));
  } else if (__int128(one) * rows > numPages && options.warn) {
    options.warn(concat("cache manager: ", rows, " sequences of maxSeqLen = ",
                        maxSeqLen(), " tokens need ", one, " pages each, ",
                        pool, ": some of them will have to wait"));
  }
  return {};
}

static int64_t payloadBytesOf(const MultiKVCacheParams &params, int32_t ranks) {
  PoolLayout layout = PoolLayout::of(params);
  bool keeps = ranks > 0 && params.enablePrefixCaching() &&
               layout.hasFullGroup() && !layout.hasStates();
  return keeps ? 8 * (int64_t(ranks) + 1) : 0;
}

PagedManager::PagedManager(Common common, const Options &options, int64_t pages)
    : PagedKVCacheManager(std::move(common)), options(options),
      sizes(params(), requests.slotsPerReplica(), maxSeqLen(),
            {options.maxSteps, options.maxChunkTokens, options.snapshots}),
      numPages(pages), drafts(params().draftSlots()),
      payloadBytes(payloadBytesOf(params(), options.payloadRanks)),
      mainGroup(sizes.layout().mainGroup()) {}

Expected<void> PagedManager::createReplicas() {
  if (Expected<void> made =
          allocate(numPages, sizes.segment(numPages), sizes.states());
      !made)
    return made;
  int32_t rows = requests.slotsPerReplica();
  slots.resize(static_cast<size_t>(numReplicas()) * rows);
  for (int32_t index = 0; index < numReplicas(); ++index) {
    auto replica = std::make_unique<Replica>();
    Expected<std::unique_ptr<CacheEngineImpl>> engine = CacheEngineImpl::create(
        {.numPages = static_cast<int32_t>(numPages),
         .pageSize = static_cast<int32_t>(params().pageSize()),
         .groups = CacheGroups(sizes.groups()),
         .recurrent = sizes.layout().hasStates(),
         .snapshots = static_cast<int32_t>(sizes.snapshots()),
         .maxSequences = rows + 1, // planFresh() opens one more
         .maxTokens = maxSeqLen() + drafts,
         .prefixCaching = params().enablePrefixCaching(),
         .keepReplaced = options.keepReplacedPages,
         .key = options.key,
         // An open step needs a buffer with tables.
         .maxOpenSteps = CacheMemory::NumBuffers,
         .retentionTick = options.retentionTick,
         .log = options.logs.empty() ? nullptr : options.logs[index],
         .events = options.events.empty() ? nullptr : options.events[index],
         .explainMisses = options.explainMisses});
    if (!engine)
      return std::unexpected(engine.error());
    replica->engine = std::move(*engine);
    if (payloadBytes > 0 &&
        !replica->payloads.create(numPages, payloadBytes * params().pageSize()))
      return makeError(KV_STATUS_OUT_OF_MEMORY,
                       "cache manager: no memory for payloads of ",
                       payloadBytes, " bytes of each token");
    if (!replica->tables.create(memories[index], sizes.layout(), rows))
      return makeError(KV_STATUS_OUT_OF_MEMORY,
                       "cache manager: no memory for the tables of ", rows,
                       " requests");
    replicas.push_back(std::move(replica));
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

inline ReplicatedKVCacheManager::Extent
PagedManager::extent(RequestPlace place) const {
  const Sequence &own = sequence(place);
  if (!own)
    return {};
  return {own.processedTokens(), engine(place).room(own)};
}

void PagedManager::look(std::span<const RequestPlace> places,
                        Extent *extents) const {
  for (RequestPlace place : places)
    *extents++ = extent(place);
}

int32_t PagedManager::getOrRecommendReplica(
    const TextGenerationContext &context) const {
  if (contains(context.id()) || options.withoutPrefixAffinity ||
      numReplicas() == 1)
    return ReplicatedKVCacheManager::getOrRecommendReplica(context);
  int32_t best = 0;
  int64_t bestScore = INT64_MIN;
  for (int32_t replica = 0; replica < numReplicas(); ++replica) {
    int64_t score = INT64_MIN; // a full replica: no slot before a release
    if (requests.count(replica) < requests.slotsPerReplica()) {
      Expected<CacheEngine::Plan> plan =
          planFresh(replica, context, 1, /*loads=*/false);
      score = (plan ? plan->hitPages : 0) -
              int64_t(replicas[replica]->engine->pool().numUsed());
    }
    if (score > bestScore || (score == bestScore &&
                              requests.count(replica) < requests.count(best))) {
      best = replica;
      bestScore = score;
    }
  }
  return best;
}

Expected<std::span<const int32_t>>
PagedManager::getReqBlocks(RequestId id) const {
  const RequestPlace *place = requests.find(id);
  if (!place)
    return std::unexpected(unclaimed(id));
  const Sequence &own = sequence(*place);
  return own ? own.pages(mainGroup) : std::span<const int32_t>();
}

void PagedManager::free(RequestPlace place) {
  if (loader)
    loader->release(loadable(place));
  sequence(place).release();
  // The next request of this slot must not complete a step of this one.
  slots[index(place)].joined = 0;
}

Expected<void> PagedManager::fork(RequestId source, RequestId id,
                                  int64_t tokens) {
  const RequestPlace *place = requests.find(source);
  if (!place)
    return std::unexpected(unclaimed(source));
  if (tokens < 0 || tokens > extent(*place).held)
    return makeError(KV_STATUS_INVALID_ARGUMENT, "request ", source,
                     " cannot be forked at token ", tokens, ", allowed: 0 to ",
                     extent(*place).held);
  RequestPlace from = *place;
  // Before the fork: releasing a fork that cannot be claimed would raise the
  // worth of its pages.
  if (Expected<void> possible = canClaim(id, from.replica); !possible)
    return possible;
  Sequence forked;
  if (sequence(from)) {
    const Sequence &own = sequence(from);
    Expected<Sequence> made = engine(from).fork(own, tokens, own.retention());
    if (!made)
      return makeError(made.error().code, "request ", source,
                       " cannot be forked at token ", tokens, ": ",
                       made.error().message);
    forked = std::move(*made);
  }
  if (Expected<void> claimed = claim(id, from.replica); !claimed)
    return claimed;
  RequestPlace to = *requests.find(id);
  if (loader && forked)
    loader->fork(index(from), index(to), tokens);
  sequence(to) = std::move(forked);
  slots[index(to)].keptPages = tokens / params().pageSize(); // the source's
  if (loader)
    loader->willWrite(loadable(from), extent(from).held / params().pageSize());
  return checked();
}

Expected<void> PagedManager::truncate(RequestId id, int64_t tokens) {
  const RequestPlace *place = requests.find(id);
  if (!place)
    return std::unexpected(unclaimed(id));
  if (tokens < 0 || tokens > extent(*place).held)
    return makeError(KV_STATUS_INVALID_ARGUMENT, "request ", id,
                     " cannot be truncated to ", tokens,
                     " tokens, allowed: 0 to ", extent(*place).held);
  if (Sequence &own = sequence(*place))
    if (Expected<void> done = engine(*place).truncate(own, tokens); !done)
      return makeError(done.error().code, "request ", id,
                       " cannot be truncated: ", done.error().message);
  int64_t &kept = slots[index(*place)].keptPages;
  kept = std::min(kept, tokens / params().pageSize());
  if (loader)
    loader->truncate(loadable(*place), tokens);
  return checked();
}

Expected<void> PagedManager::setTime(int64_t nanoseconds) {
  // All engines have the same time, so if one refuses, the first one does, and
  // nothing has changed.
  for (const auto &replica : replicas)
    if (Expected<void> done = replica->engine->setTime(nanoseconds); !done)
      return makeError(done.error().code,
                       "cache manager: ", done.error().message);
  return checked();
}

std::vector<CacheEngine::Reason>
PagedManager::explain(const TextGenerationContext &context) const {
  int32_t replica = getOrRecommendReplica(context);
  std::vector<CacheEngine::Reason> reasons =
      replicas[replica]->engine->explain(context.scope(), context.prompt());
  if (!context.payload().empty()) {
    Expected<CacheEngine::Plan> plan =
        planFresh(replica, context, 1, /*loads=*/false);
    std::replace(reasons.begin() + (plan ? plan->hitPages : 0), reasons.end(),
                 CacheEngine::Reason::Hit, CacheEngine::Reason::WithoutPayload);
  }
  // Drafts are always computed.
  reasons.resize(params().pagesFor(context.length()),
                 CacheEngine::Reason::AlwaysComputed);
  if (loader)
    loader->explain(context, *replicas[0]->engine, reasons);
  return reasons;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

void PagedManager::runPageOps(int32_t replica, std::span<const PageOp> ops) {
  for (const PageOp &op : ops)
    if (op.kind == PageOp::Copy)
      memories[replica].copyPage(op.group, op.source, op.target);
    else
      memories[replica].zeroPage(op.group, op.target);
  if (options.pageOps && !ops.empty())
    options.pageOps(replica, ops);
}

void PagedManager::settle(int32_t replica) {
  CacheEngineImpl &engine = *replicas[replica]->engine;
  replicas[replica]->steps = {};
  engine.completeAllSteps();
  if (Expected<CacheEngine::Step> begun = engine.beginStep())
    runPageOps(replica, begun->ops);
  engine.completeAllSteps();
}

void PagedManager::synchronize() {
  for (int32_t replica = 0; replica < numReplicas(); ++replica)
    settle(replica);
}

Expected<void> PagedManager::beginStep(int32_t buffer) {
  if (resetSocket)
    serveResets();
  // On a synchronous device the last step was complete when it returned to the
  // caller.
  if (!options.asynchronous)
    for (const auto &replica : replicas) {
      replica->steps = {};
      replica->engine->completeAllSteps();
    }
  // All replicas have the same number of open steps, so if one refuses, the
  // first one does, and no step has begun.
  ++numSteps;
  for (int32_t index = 0; index < numReplicas(); ++index) {
    Expected<CacheEngine::Step> begun = replicas[index]->engine->beginStep();
    if (!begun)
      return makeError(begun.error().code,
                       "runtime inputs: ", begun.error().message);
    replicas[index]->steps[buffer] = {numSteps, begun->ticket};
    runPageOps(index, begun->ops);
  }
  return {};
}

void PagedManager::writeRows(int32_t index, int32_t buffer,
                             std::span<const RequestPlace> places) {
  Replica &replica = *replicas[index];
  const Replica::OpenStep &step = replica.steps[buffer];
  for (RequestPlace place : places) {
    RequestSlot &slot = slots[this->index(place)];
    [[maybe_unused]] Expected<void> joined =
        replica.engine->join(slot.sequence, step.ticket);
    assert(joined && "the step has just begun");
    slot.joined = step.number;
  }
  if (loader) // what they compute now is not waited for
    for (RequestPlace place : places)
      loader->giveUp(loadable(place));
  replica.tables.write(
      buffer, *replica.engine, places.size(),
      [&](size_t row) -> const Sequence & { return sequence(places[row]); });
}

Expected<void> PagedManager::commit(ContextBatch batch,
                                    std::span<const RequestPlace> places) {
  for (size_t row = 0; row < batch.size(); ++row)
    if (Sequence &own = sequence(places[row]))
      engine(places[row])
          .prefetchCommit(own, batch[row]->prompt(), batch[row]->processed());
  for (size_t row = 0; row < batch.size(); ++row) {
    // A request that has processed nothing may have no open sequence yet.
    Sequence &own = sequence(places[row]);
    if (!own)
      continue;
    Expected<void> done =
        loader
            ? loader->commit(loadable(places[row]), *batch[row])
            : engine(places[row])
                  .commit(own, batch[row]->prompt(), batch[row]->processed());
    if (!done)
      return done;
  }
  if (payloadBytes > 0)
    for (size_t row = 0; row < batch.size(); ++row)
      exchangePayload(places[row], *batch[row]);
  endStep(places);
  return {};
}

void PagedManager::endStep(std::span<const RequestPlace> places) {
  int64_t over = 0;
  for (RequestPlace place : places)
    over = std::max(over, slots[index(place)].joined);
  // Earlier steps are complete, too, since a device runs steps in order.
  for (const auto &replica : replicas)
    for (Replica::OpenStep &step : replica->steps)
      if (step.number > 0 && step.number <= over) {
        (void)replica->engine->completeStep(step.ticket);
        step.number = 0;
      }
}

void PagedManager::resetPrefixCache() {
  for (const auto &replica : replicas) {
    replica->engine->resetPrefixes();
    ++replica->counters.resets;
  }
  if (loader)
    if (Expected<void> done = loader->reset(); !done && options.warn)
      options.warn(concat("cache manager: a later process may find what was "
                          "forgotten: ",
                          done.error().message));
}

void PagedManager::serveResets() {
  if (!resetSocket || !resetSocket->isRequested())
    return;
  uint64_t upTo = resetSocket->take();
  if (params().enablePrefixCaching()) {
    resetPrefixCache();
    resetSocket->answer(upTo, {});
  } else {
    resetSocket->answer(upTo, makeError(KV_STATUS_INVALID_ARGUMENT,
                                        "prefix caching is off, there is "
                                        "nothing to forget"));
  }
}

int PagedManager::resetDescriptor() const {
  return resetSocket ? resetSocket->descriptor() : -1;
}

//===----------------------------------------------------------------------===//
// Figures
//===----------------------------------------------------------------------===//

int64_t PagedManager::totalNumHostPages() const {
  return loader ? loader->metrics().hostPages : 0;
}

double PagedManager::hostCommittedBlockPct() const {
  return loader ? static_cast<double>(loader->metrics().usedHostPages) /
                      loader->metrics().hostPages
                : 0;
}

int64_t PagedManager::hostBytes() const {
  return ReplicatedKVCacheManager::hostBytes() +
         (loader ? loader->hostBytes() : 0) +
         numReplicas() * replicas[0]->payloads.bytes();
}

KVCacheMetrics PagedManager::count() const {
  KVCacheMetrics sum;
  for (const auto &replica : replicas) {
    const Figures &counters = replica->counters;
    sum.inputTokens += counters.inputTokens;
    sum.cachedTokens += counters.cachedTokens;
    sum.refusals += counters.refusals;
    sum.loadedPages += counters.loadedPages;
    sum.evictedPages += replica->engine->metrics().evictedPages;
  }
  if (const TierMetrics *tiers = tierMetrics()) {
    sum.storedPages = tiers->storedPages;
    sum.diskPagesRead = tiers->readPages;
    sum.diskPagesWritten = tiers->writtenPages;
    sum.storePagesRead = tiers->storeReadPages;
    sum.storePagesWritten = tiers->storeWrittenPages;
  }
  return sum;
}

KVCacheMetrics PagedManager::metrics() const {
  using Metrics = KVCacheMetrics;
  Metrics since = count();
  for (int64_t Metrics::*figure :
       {&Metrics::inputTokens, &Metrics::cachedTokens, &Metrics::refusals,
        &Metrics::loadedPages, &Metrics::evictedPages, &Metrics::storedPages,
        &Metrics::diskPagesRead, &Metrics::diskPagesWritten,
        &Metrics::storePagesRead, &Metrics::storePagesWritten})
    since.*figure -= countBefore.*figure;
  for (const auto &replica : replicas)
    since.peakUsedPages += replica->peakUsedPages;
  return since;
}

void PagedManager::resetMetrics() {
  countBefore = count();
  for (const auto &replica : replicas)
    replica->peakUsedPages = replica->engine->pool().numUsed();
}

Expected<void> PagedManager::check() const {
  for (int32_t index = 0; index < numReplicas(); ++index)
    if (std::string fault = replicas[index]->engine->check(); !fault.empty())
      return makeError(KV_STATUS_INTERNAL, "cache manager: replica ", index,
                       ": ", fault);
  return {};
}
