//===- PageLoader.cpp - Pages that a paged manager does not compute -------===//

#include "PageLoader.h"

#include <cmath>

using namespace kv;

/// The meaning of a page's bytes, in words: a directory on a disk is locked to
/// them.
static std::string describeRecords(const MultiKVCacheParams &params,
                                   int64_t payloadBytes) {
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
  if (payloadBytes > 0)
    text += concat("; payload ", payloadBytes);
  return text;
}

Expected<std::unique_ptr<PageLoader>>
PageLoader::create(const MultiKVCacheParams &params,
                   const PagedOptions &options, const Device &device,
                   const CacheMemory &memory, size_t requests,
                   int64_t payloadBytes) {
  if (!params.hasTiers())
    return nullptr;
  bool hasDisk = params.connector() == KVConnector::Tiered;
  const PagedTierOptions &wanted = options.tiers;
  auto cannot = [&](const std::string &why) {
    return makeError(KV_STATUS_INVALID_ARGUMENT, "cache manager: kv_connector ",
                     "is ", connectorName(params.connector()), why);
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
      {.connector = {.pageSize = static_cast<int32_t>(params.pageSize()),
                     .directory = wanted.diskDirectory,
                     .geometry = describeRecords(params, payloadBytes),
                     .model = wanted.model,
                     .diskBytes = wanted.diskBytes,
                     .ioThreads = wanted.ioThreads,
                     .blockStoreEndpoint = wanted.blockStoreEndpoint},
       .hostBytes = static_cast<int64_t>(
           std::min(std::ldexp(*params.hostSwapSpaceGB(), 30), 0x1p62)),
       .device = device,
       .requests = requests + 1,
       .recordBytes = memory.recordBytes(),
       .payloadBytes = payloadBytes,
       .stateParts = memory.stateParts(),
       .open = wanted.open,
       .events = options.events});
  if (!made)
    return std::unexpected(made.error());
  std::unique_ptr<PageLoader> loader(
      new PageLoader(params, wanted.mostWait, memory, requests));
  loader->tiers = std::move(*made);
  return loader;
}

//===----------------------------------------------------------------------===//
// Looking for records
//===----------------------------------------------------------------------===//

static int64_t nanosecondsNow() {
  using namespace std::chrono;
  return nanoseconds(steady_clock::now().time_since_epoch()).count();
}

int64_t PageLoader::deadline() const {
  int64_t time = nanosecondsNow();
  return mostWait > INT64_MAX - time ? INT64_MAX : time + mostWait;
}

bool PageLoader::waitUntil(int64_t until) {
  int64_t left = until - nanosecondsNow();
  if (left > 0)
    (void)wait(left);
  return left > 0;
}

PageLoader::Loadable PageLoader::findRecords(size_t request,
                                             const CacheEngineImpl &engine,
                                             const Prompt &prompt,
                                             int64_t first) {
  // The last token is always computed.
  int64_t last = std::min(prompt.length() - 1, engine.maxTokens()) / pageSize;
  int64_t known = tiers->find(request, prompt, first, last);
  int64_t end = known;
  if (hasStates && !tiers->awaitsAnswer())
    end = tiers->findState(request, prompt, first, known);
  return {end, known};
}

int64_t PageLoader::findLoads(size_t request, const CacheEngineImpl &engine,
                              const Sequence &sequence, const Prompt &prompt,
                              CacheEngine::Demand &demand) {
  tiers->findNothing();
  if (!demand.reuse || !engine.canTakeOver(sequence) ||
      (hasStates && !engine.canLoadState(sequence)))
    return 0;
  int64_t first = sequence.committedPages() +
                  engine.plan(sequence, prompt, demand).hitPages;
  Loadable found = findRecords(request, engine, prompt, first);
  demand.loaded = (found.end - first) * pageSize;
  return found.known;
}

PageLoader::Found PageLoader::find(const LoadRequest &request,
                                   const Prompt &prompt,
                                   CacheEngine::Demand &demand, bool waits) {
  State &state = states[request.index];
  if (state.stage == LoadStage::None)
    state.until = deadline();
  state.stage = LoadStage::None;
  for (;;) {
    int64_t known = findLoads(request.index, request.engine, request.sequence,
                              prompt, demand);
    if (!tiers->awaitsAnswer() || nanosecondsNow() >= state.until)
      return {.known = known};
    if (!waits) {
      demand.loaded = 0;
      return {.known = known, .isAsked = true};
    }
    (void)waitUntil(state.until);
  }
}

CacheEngine::Plan PageLoader::plan(size_t request,
                                   const CacheEngineImpl &engine,
                                   const Sequence &sequence,
                                   const Prompt &prompt,
                                   CacheEngine::Demand demand) {
  (void)findLoads(request, engine, sequence, prompt, demand);
  CacheEngine::Plan plan = engine.plan(sequence, prompt, demand);
  if (demand.loaded > 0 && plan.fits()) {
    plan.hitPages += static_cast<int32_t>(demand.loaded / pageSize);
  } else if (demand.loaded > 0) {
    demand.loaded = 0;
    plan = engine.plan(sequence, prompt, demand);
  }
  return plan;
}

void PageLoader::explain(const TextGenerationContext &context,
                         const CacheEngineImpl &engine,
                         std::span<CacheEngine::Reason> reasons) {
  using Reason = CacheEngine::Reason;
  auto first = std::ranges::find_if(
      reasons, [](Reason reason) { return reason != Reason::Hit; });
  if (context.length() == 0)
    return;
  auto mark = [&](const TextGenerationContext &looking, Reason reason) {
    int64_t end = findRecords(openUnclaimed(looking), engine, looking.prompt(),
                              first - reasons.begin())
                      .end;
    auto last = std::max(first, reasons.begin() + end);
    std::fill(first, last, reason);
    first = last;
  };
  mark(context, Reason::OtherTier);
  if (context.payload().empty())
    return;
  TextGenerationContext any = context;
  any.setPayload({});
  mark(any, Reason::WithoutPayload);
}

//===----------------------------------------------------------------------===//
// Loading them
//===----------------------------------------------------------------------===//

bool PageLoader::resume(const LoadRequest &request,
                        TextGenerationContext &context, bool waits) {
  if (stage(request.index) == LoadStage::Asking)
    return isAnswered(request, context.prompt());
  return load(request, context, waits);
}

bool PageLoader::isAnswered(const LoadRequest &request, const Prompt &prompt) {
  if (nanosecondsNow() >= states[request.index].until)
    return true;
  Sequence &own = request.sequence;
  int64_t first = own.committedPages();
  int64_t end = findRecords(request.index, request.engine, prompt, first).end;
  if (tiers->awaitsAnswer())
    return false;
  if (end > first) {
    // The pages that it holds to compute in are reserved anew, after those that
    // are loaded.
    [[maybe_unused]] Expected<void> cut =
        request.engine.truncate(own, own.processedTokens());
    assert(cut && "what is committed stays");
  }
  return true;
}

void PageLoader::begin(const LoadRequest &request, int64_t tokens,
                       int64_t before) {
  State &state = states[request.index];
  state.stage = LoadStage::Loading;
  state.until = deadline();
  state.next = state.asked = state.committed =
      request.sequence.committedPages();
  state.pagesEnd = state.next + tokens / pageSize;
  state.end = state.pagesEnd + request.memory.stateParts();
  state.processedBefore = before;
  request.engine.keepState(request.sequence, state.pagesEnd * pageSize,
                           /*isJunction=*/false);
}

bool PageLoader::load(const LoadRequest &request,
                      TextGenerationContext &context, bool waits) {
  auto &[index, engine, memory, figures, own] = request;
  State &state = states[index];
  for (;;) {
    PageTiers::Prefix prefix = {state.pagesEnd, engine.statePlaces(own).write};
    PageTiers::Progress progress =
        tiers->load(index, context.prompt(), context.payload(), own, prefix,
                    state.next, state.end, state.asked, memory);
    state.next += progress.loaded;
    // Pages without the state after them are of no use.
    bool counts = prefix.state == NullState || state.next == state.end;
    if (progress.loaded > 0 && counts) {
      int64_t pages = std::min(state.next, state.pagesEnd);
      int64_t tokens = pages * pageSize;
      [[maybe_unused]] Expected<void> committed =
          engine.commit(own, context.prompt(), tokens);
      assert(committed && "the pages are reserved");
      context.skip(tokens - context.processed());
      figures.loadedPages += pages - state.committed;
      state.committed = state.hitEnd = pages;
    }
    if (progress.loaded > 0)
      state.until = deadline();
    if (state.next == state.end || !progress.isComing ||
        nanosecondsNow() >= state.until)
      break;
    if (!waits)
      return false;
    (void)waitUntil(state.until);
  }
  giveUp(request); // its pages are reserved
  return true;
}

std::string PageLoader::awaited(size_t request) const {
  const State &state = states[request];
  return state.stage == LoadStage::Asking
             ? std::string("what a store has")
             : concat(state.end - state.next, " pages from other tiers");
}

void PageLoader::giveUp(const LoadRequest &request) {
  State &state = states[request.index];
  if (state.stage == LoadStage::Loading)
    request.figures.abandonedPages += state.pagesEnd - state.committed;
  state.stage = LoadStage::None;
  tiers->endLoad(request.index);
}

//===----------------------------------------------------------------------===//
// Requests and their records
//===----------------------------------------------------------------------===//

void PageLoader::truncate(const LoadRequest &request, int64_t tokens) {
  giveUp(request);
  if (request.sequence)
    tiers->truncate(request.index, tokens / pageSize);
}

void PageLoader::release(const LoadRequest &request) {
  if (request.sequence) {
    storeState(request, /*ifPlanned=*/false);
    touchRecords(request);
  }
  giveUp(request);
  states[request.index].hitEnd = 0;
}

Expected<void> PageLoader::reset() {
  // Pages that later requests store do not continue those that these have
  // loaded.
  for (State &state : states) {
    state.end = state.next;
    state.pagesEnd = std::min(state.pagesEnd, state.end);
    if (state.stage == LoadStage::Asking)
      state.until = 0; // it is not waited for
  }
  return tiers->reset();
}

void PageLoader::willWrite(const LoadRequest &request, int64_t first) {
  if (request.sequence)
    tiers->willWrite(request.sequence, first,
                     request.engine.statePlaces(request.sequence).write,
                     request.memory);
}

Expected<void> PageLoader::commit(const LoadRequest &request,
                                  const TextGenerationContext &context) {
  auto &[index, engine, memory, figures, own] = request;
  int64_t first = own.committedPages();
  tiers->stage(own, first, context.processed() / pageSize, memory);
  if (Expected<void> done =
          engine.commit(own, context.prompt(), context.processed());
      !done)
    return done;
  if (own.committedPages() == first)
    return {};
  tiers->store(index, context.prompt(), context.payload(), own.retention(),
               first, own.committedPages(), memory);
  if (context.processed() == own.committedPages() * pageSize)
    storeState(request, /*ifPlanned=*/true);
  return {};
}

void PageLoader::storeState(const LoadRequest &request, bool ifPlanned) {
  const Sequence &own = request.sequence;
  CacheEngineImpl::Snapshot snapshot = request.engine.snapshotAt(
      own, static_cast<int32_t>(own.committedPages()));
  if (snapshot.id != NullState && (snapshot.isPlanned || !ifPlanned))
    tiers->storeState(request.index, snapshot.tokens, own.retention(),
                      own.committedPages(), snapshot.id, request.memory);
}

/// States first: without the pages they are of no use. One that is superseded
/// is left to be forgotten.
void PageLoader::touchRecords(const LoadRequest &request) {
  const Sequence &own = request.sequence;
  int64_t pages = own.committedPages(), hit = states[request.index].hitEnd;
  auto touchState = [&](int64_t at) {
    CacheEngineImpl::Snapshot snapshot =
        request.engine.snapshotAt(own, static_cast<int32_t>(at));
    if (snapshot.id != NullState && !snapshot.isSuperseded)
      tiers->touchState(request.index, snapshot.tokens, at, own.retention());
  };
  if (hit < pages)
    touchState(hit);
  touchState(pages);
  tiers->touch(request.index, pages, own.retention());
}
