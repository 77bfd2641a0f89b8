//===- TieredHarness.cpp - A manager with tiers, and what pages hold ------===//

#include "TieredHarness.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numeric>

using namespace kv;
using namespace kv::test;

using Reason = AllocationError::Reason;

void TieredHarness::Coverage::add(const Coverage &more) {
  hits += more.hits;
  loaded += more.loaded;
  loading += more.loading;
  abandoned += more.abandoned;
  stored += more.stored;
  forks += more.forks;
  truncations += more.truncations;
  resets += more.resets;
  refused += more.refused;
  prefetched += more.prefetched;
  evicted += more.evicted;
  steppedWhileLoading += more.steppedWhileLoading;
  truncatedWhileLoading += more.truncatedWhileLoading;
  releasedWhileLoading += more.releasedWhileLoading;
  resetWhileLoading += more.resetWhileLoading;
  windows += more.windows;
  asking += more.asking;
  drafts += more.drafts;
  accepted += more.accepted;
  stateHits += more.stateHits;
  stateLoads += more.stateLoads;
  stateForks += more.stateForks;
}

/// Small numbers from one word.
struct TieredHarness::Choices {
  uint32_t word;

  int32_t operator()(uint32_t limit) {
    uint32_t value = word % limit;
    word /= limit;
    return static_cast<int32_t>(value);
  }
};

void TieredHarness::setCaches(Choices &below, uint64_t seed) {
  int64_t pageSize = 2 + below(3);
  KVCacheParams one = {.geometry = {.dtype = KV_DTYPE_F32,
                                    .layers = 1,
                                    .heads = 1,
                                    .dim = 1,
                                    .page = pageSize},
                       .enablePrefixCaching = true};
  int64_t replicas = 1 + below(2), shards = 1 + below(2);
  one.numDevices = replicas * shards;
  one.dataParallelDegree = replicas;
  bool hasDisk = below(4) > 0;
  one.connector = hasDisk ? KVConnector::Tiered : KVConnector::Host;
  int32_t groups = below(4);
  if (groups == 0 || groups > 1)
    params.params.push_back(one);
  if (groups > 0) {
    one.name = "window";
    one.geometry.window = pageSize + 1 + below(2 * pageSize);
    if (groups == 3) { // a page for each layer
      one.geometry.layers = 2;
      one.geometry.pageLayers = 1;
    }
    params.params.push_back(one);
    ++coverage.windows;
  }
  maxTokens = 12 * pageSize;
  int64_t recordBytes = 0;
  for (const KVCacheParams &each : params.params)
    recordBytes += each.bytesPerPage() * shards * each.geometry.bands();
  int32_t hostSlots = std::array{12, 1, 3, 40}[below(4)];
  if (seed >> 42 & 1) {
    for (int64_t heads : {3, 5}) {
      one.name = concat("state", heads);
      one.geometry = {.strategy = CacheStrategy::Recurrent,
                      .dtype = KV_DTYPE_F32,
                      .layers = 1 + static_cast<int64_t>(seed >> 43 & 1),
                      .heads = heads,
                      .dim = 2,
                      .page = pageSize};
      params.params.push_back(one);
    }
    PoolLayout layout = PoolLayout::of(params);
    hostSlots = std::max(2 * hostSlots, int32_t(1 + layout.stateParts()));
  }
  for (KVCacheParams &each : params.params)
    each.hostSwapSpaceGB = std::ldexp(double(hostSlots * recordBytes), -30);
}

void TieredHarness::setAround(const Around &around, bool hasDisk) {
  if (around.open) {
    options.tiers.open = around.open;
    options.tiers.mostWait = 10'000'000'000;
    if (hasDisk)
      options.tiers.diskDirectory = around.folder;
    if (hasDisk && !around.store.empty())
      options.tiers.blockStoreEndpoint = around.store;
    options.tiers.model = around.model;
    options.warn = [this](std::string_view text) {
      untold |= text.contains("may find what was forgotten");
    };
    hangs = false;
    longestWait = 1'000'000'000;
  }
  if (around.mostWait > 0) {
    options.tiers.mostWait = longestWait = around.mostWait;
    options.tiers.asynchronous = true;
    hangs = true;
  }
}

TieredHarness::TieredHarness(uint32_t word, const Around &around)
    : hasQueues(around.hasQueues), weights(around.weights) {
  uint64_t seed = word * 0x9E3779B97F4A7C15ull;
  Choices below{word};
  setCaches(below, seed);
  KVCacheParams &one = params.params[0];
  int64_t replicas = one.dataParallelDegree;
  bool hasDisk = one.connector == KVConnector::Tiered;
  int64_t numPaged = std::ranges::count_if(params.params, [](auto &each) {
    return each.geometry.strategy != CacheStrategy::Recurrent;
  });
  bool isAsynchronous = below(3) > 0;
  options = {.maxBatchSize = static_cast<int32_t>(3 * replicas),
             .maxSeqLen = maxTokens,
             .numPages = std::array{24, 13, 16, 50}[below(4)] * numPaged,
             .maxSteps = 4,
             .maxChunkTokens = maxTokens,
             .snapshots = std::array{-1, 0, 3, 8}[seed >> 45 & 3],
             .asynchronous = below(3) == 0,
             .retentionTick = 10,
             .tiers = {.diskDirectory = hasDisk ? "nowhere" : "",
                       .diskBytes = 1 << 20,
                       .ioThreads = 2,
                       .asynchronous = isAsynchronous},
             .explainMisses = below(2) == 0};
  FickleConnector::Moods moods = {
      .diskRecords = hasDisk ? std::array{50, 4}[below(2)] : 0,
      .delay = static_cast<uint32_t>(std::array{0, 2, 6}[below(3)]),
      .refuses = below(3) == 0 ? 20u : 0u,
      .loses = below(3) == 0 ? 20u : 0u,
      .fails = below(3) == 0 ? 60u : 0u,
      .hangs = below(8) == 0 ? 4u : 0u,
      .isStore = hasDisk && seed >> 40 & 1,
      .lies = seed >> 41 & 1 ? 20u : 0u};
  hangs = moods.hangs > 0;
  if (hangs) {
    options.tiers.mostWait = 10'000;
    longestWait = 1000;
  }
  std::shared_ptr<FickleConnector::Records> records =
      moods.isStore && around.shared
          ? around.shared
          : std::make_shared<FickleConnector::Records>();
  options.tiers.open = [&, moods, seed](const PageConnector::Options &given)
      -> Expected<std::unique_ptr<PageConnector>> {
    auto own =
        std::make_unique<FickleConnector>(given, moods, seed, fault, records);
    return around.wrap ? around.wrap(given, std::move(own)) : std::move(own);
  };
  setAround(around, hasDisk);
  for (int index = 0; hasQueues && index < one.numDevices; ++index)
    options.devices.push_back({Device::Kind::CUDA, index});
  auto made = PagedKVCacheManager::create(params, options);
  if (!made) {
    fault = made.error().message;
    return;
  }
  manager = std::move(*made);
}

//===----------------------------------------------------------------------===//
// Contents
//===----------------------------------------------------------------------===//

/// Few beginnings, so that many prefixes are shared.
std::vector<int32_t> TieredHarness::prompt(uint32_t word) const {
  int64_t length = 1 + word % maxTokens;
  uint32_t document = word / 64 % 3, turn = word / 256 % 16;
  std::vector<int32_t> tokens(static_cast<size_t>(length));
  for (int64_t i = 0; i < length; ++i)
    tokens[i] = static_cast<int32_t>(document * 100 + i);
  // One token that differs.
  if (turn < 4)
    tokens[(word >> 12) % tokens.size()] += 50;
  return tokens;
}

/// What the cache holds of a position is the prefix up to it, and the weights.
uint32_t TieredHarness::cell(const Request &request, int64_t position) const {
  uint32_t before = position > 0 ? request.cells[position - 1]
                                 : weights * 2654435761u + request.salt[0];
  uint32_t hash =
      (before ^ static_cast<uint32_t>(request.tokens[position])) * 0x9E3779B1u +
      weights;
  return hash ^ (hash >> 15);
}

void TieredHarness::rewrite(Request &request, int64_t kept) {
  // With the weights of now: so are pages that it takes over or loads.
  request.cells.resize(kept);
  while (static_cast<int64_t>(request.cells.size()) <
         request.context->processed())
    request.cells.push_back(
        cell(request, static_cast<int64_t>(request.cells.size())));
}

/// The state that the step reads is that of the tokens before it, and it leaves
/// one of the tokens with it.
std::string TieredHarness::computeState(const Request &request, int64_t row,
                                        uint32_t salt,
                                        const RaggedKVCacheInputs &one,
                                        const CacheGeometry &of) const {
  int64_t first = request.context->processed();
  int64_t end = first + request.context->active();
  int64_t size = of.layers * of.heads * of.dim;
  auto *places = static_cast<const int32_t *>(one.lookupTable.data) + 2 * row;
  auto *blocks = static_cast<uint32_t *>(one.blocks.data);
  auto number = [&](int64_t tokens, int64_t index) {
    return tokens == 0 ? 0
                       : request.cells[tokens - 1] * 31 + salt +
                             static_cast<uint32_t>(index);
  };
  if (places[1] <= 0 || places[1] >= one.blocks.sizes[0])
    return concat("request ", request.context->id(), " has no state to write");
  for (int64_t i = 0; i < size; ++i)
    if (blocks[places[0] * size + i] != number(first, i))
      return concat("request ", request.context->id(),
                    " reads a wrong state at token ", first, ", number ", i,
                    " of ", size);
  for (int64_t i = 0; i < size; ++i)
    blocks[places[1] * size + i] = number(end, i);
  return {};
}

std::string
TieredHarness::compute(const std::vector<const Request *> &batch,
                       std::span<const RaggedKVCacheInputs> inputs) {
  size_t collections = params.params.size();
  size_t shards = params.tensorParallelDegree();
  // What a step reads and writes comes after all that was queued before it.
  for (const Device &device : options.devices)
    if (Expected<void> done =
            (*device.backend())->wait((*device.backend())->mark());
        !done)
      return done.error().message;
  std::vector<int64_t> rows(params.dataParallelDegree());
  for (const Request *request : batch) {
    int64_t row = rows[request->replica]++;
    int64_t first = request->context->processed();
    int64_t end = first + request->context->active();
    for (size_t shard = 0; shard < shards; ++shard)
      for (size_t c = 0; c < collections; ++c) {
        const RaggedKVCacheInputs &one =
            inputs[(request->replica * shards + shard) * collections + c];
        const CacheGeometry &of = params.params[c].geometry;
        int64_t pageSize = of.page;
        if (of.isRecurrent()) {
          if (std::string wrong = computeState(
                  *request, row, static_cast<uint32_t>((c << 8) + shard), one,
                  of);
              !wrong.empty())
            return wrong;
          continue;
        }
        auto *blocks = static_cast<uint32_t *>(one.blocks.data);
        int64_t pitch = one.lookupTable.sizes[1] / of.bands();
        auto *table = static_cast<const int32_t *>(one.lookupTable.data) +
                      row * one.lookupTable.sizes[1];
        if (static_cast<const int32_t *>(one.cacheLengths.data)[row] != first)
          return "a length is wrong";
        int64_t from =
            of.window ? std::max<int64_t>(first - of.window + 1, 0) : 0;
        for (int64_t band = 0; band < of.bands(); ++band)
          for (int64_t position = from; position < end; ++position) {
            int64_t page = table[band * pitch + position / pageSize];
            if (page <= 0)
              return concat("position ", position, " has no page");
            uint32_t *key = blocks + page * 2 * pageSize + position % pageSize;
            uint32_t *value = key + pageSize;
            uint32_t wanted = static_cast<uint32_t>(
                request->cells[position] ^ (c << 4) ^ (band << 8) ^ shard);
            if (position >= first) {
              *key = wanted;
              *value = ~wanted;
            } else if (*key != wanted || *value != ~wanted) {
              return concat("request ", request->context->id(),
                            " reads a wrong page at position ", position,
                            " of ", first, ", collection ", c, ", shard ",
                            shard);
            }
          }
      }
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

TieredHarness::Request *TieredHarness::pick(uint32_t word) {
  return requests.empty() ? nullptr : &requests[word % requests.size()];
}

std::string TieredHarness::claim(uint32_t word) {
  Request made;
  made.tokens = prompt(word);
  made.salt = word % 5 ? "a" : "b";
  made.context = std::make_unique<TextGenerationContext>(++lastId, made.tokens);
  uint32_t moods = word >> 20;
  if (moods % 4 == 0)
    made.context->limitActive(1 + moods / 4 % maxTokens);
  made.replica =
      static_cast<int32_t>(manager->getOrRecommendReplica(*made.context));
  if (!manager->claim(lastId, made.replica))
    return {}; // all slots are taken
  requests.push_back(std::move(made));
  Request &own = requests.back();
  own.context->setScope({.salt = own.salt});
  own.context->setRetention(
      {.priority = static_cast<uint8_t>(moods % 3 ? 64 : moods % 128),
       .duration = moods % 5 * 10});
  return {};
}

std::string TieredHarness::alloc(Request &request, uint32_t word) {
  if (request.context->active() == 0)
    return {};
  int64_t before = request.context->processed();
  bool wasLoading = request.isLoading;
  if (!request.isOpen)
    request.weights = weights;
  int32_t steps = hasStates() ? 1 : 1 + static_cast<int32_t>(word % 3);
  steps = static_cast<int32_t>(
      std::min<int64_t>(steps, maxTokens - request.context->length() + 1));
  auto done = manager->alloc(*request.context, steps);
  int64_t after = request.context->processed();
  if (after > before && request.weights != weights)
    return "a request of before a reset has got pages after it";
  rewrite(request, before);
  if (request.drafts > 0 &&
      after >= std::max(before + 1, request.context->length() - request.drafts))
    return concat("request ", request.context->id(), " has processed ", after,
                  " of ", request.context->length(), " tokens, the last ",
                  request.drafts, " are drafts");
  request.isLoading = false;
  if (done) {
    coverage.hits += done->cachedTokens;
    coverage.stateHits += hasStates() && done->cachedTokens > 0;
    if (done->cachedTokens < 0 || done->cachedTokens > after)
      return concat(done->cachedTokens, " cached tokens of ", after);
    request.isOpen = true;
    request.steps = steps;
    request.refusals = 0;
    return {};
  }
  if (done.error().reason == Reason::Loading) {
    if (!options.tiers.asynchronous)
      return "a load that waits says that it does not";
    ++coverage.loading;
    coverage.asking +=
        done.error().error.message.ends_with("waits for what a store has");
    request.isOpen = request.isLoading = true;
    // The fickle one delays a record by 7 calls at most, but may be told to
    // bring it anew.
    if (++request.refusals > (hangs ? 1'000'000 : 20'000))
      return concat("request ", request.context->id(),
                    " waits for ever: ", done.error().error.message);
    return {};
  }
  ++coverage.refused;
  if (done.error().reason == Reason::Invalid)
    return done.error().error.message;
  if (after != before && !wasLoading)
    return "a refused reservation has changed its context";
  return {};
}

std::string TieredHarness::run(uint32_t word) {
  std::vector<const TextGenerationContext *> batch;
  std::vector<const Request *> rows;
  int32_t steps = options.maxSteps;
  for (int32_t replica = 0; replica < params.dataParallelDegree(); ++replica)
    for (size_t i = 0; i < requests.size(); ++i) {
      Request &request = requests[i];
      // One that waits for pages may as well compute them, if it has the room.
      bool computes =
          request.steps > 0 || (request.isLoading && word % 16 == 0 &&
                                request.context->active() > 0);
      if (request.replica != replica || !computes || (word >> i) % 8 == 7)
        continue;
      coverage.steppedWhileLoading += request.isLoading;
      steps = std::min(steps, std::max(request.steps, 1));
      batch.push_back(request.context.get());
      rows.push_back(&request);
    }
  if (batch.empty())
    return {};
  auto inputs = manager->runtimeInputs(batch, steps);
  if (!inputs)
    return inputs.error().message;
  for (const Request *row : rows) {
    auto &request = const_cast<Request &>(*row);
    int64_t end = request.context->processed() + request.context->active();
    while (static_cast<int64_t>(request.cells.size()) < end)
      request.cells.push_back(
          cell(request, static_cast<int64_t>(request.cells.size())));
  }
  if (std::string wrong = compute(rows, *inputs); !wrong.empty())
    return wrong;
  for (const Request *row : rows) {
    auto &request = const_cast<Request &>(*row);
    if (request.drafts == 0)
      request.context->advance();
    else if (std::string wrong = accept(request, word); !wrong.empty())
      return wrong;
    generate(request, word);
    request.steps = 0;
    request.isLoading = false;
    request.isOpen = true;
  }
  if (Expected<void> done = manager->step(batch); !done)
    return done.error().message;
  return {};
}

/// The model's token, and sometimes drafts. All go on as the prompts do, so
/// that others may have cached the same.
void TieredHarness::generate(Request &request, uint32_t word) {
  if (request.context->active() > 0 || request.context->length() == maxTokens)
    return;
  int64_t most = std::min(maxTokens - request.context->length(),
                          request.context->activeLimit());
  bool hasDrafts = !hasStates() && word % 4 == 1 && most > 1;
  int64_t count = hasDrafts ? 2 + word / 4 % (most - 1) : 1;
  for (int64_t i = 0; i < count; ++i)
    request.tokens.push_back(static_cast<int32_t>(request.tokens.back() + 1));
  request.drafts = count - 1;
  coverage.drafts += request.drafts;
  // The caller may say so, and may not.
  if (word / 16 % 2)
    request.context->extend(request.tokens, request.drafts);
  else
    request.context->extend(request.tokens);
}

/// The first of the active tokens are accepted.
std::string TieredHarness::accept(Request &request, uint32_t word) {
  std::vector<int32_t> path(1 + word / 8 % request.context->active());
  std::iota(path.begin(), path.end(), 0);
  if (Expected<void> done = manager->acceptPath(*request.context, path); !done)
    return done.error().message;
  auto count = static_cast<int64_t>(path.size());
  coverage.accepted += count - 1;
  request.tokens.resize(request.context->processed() + count);
  request.cells.resize(request.tokens.size());
  request.drafts = 0;
  request.context->accept(count, request.tokens);
  return {};
}

std::string TieredHarness::release(size_t index) {
  Request &request = requests[index];
  coverage.releasedWhileLoading += request.isLoading;
  if (Expected<void> done = manager->release(request.context->id()); !done)
    return done.error().message;
  requests.erase(requests.begin() + static_cast<int64_t>(index));
  return {};
}

std::string TieredHarness::fork(Request &source, uint32_t word) {
  int64_t tokens = static_cast<int64_t>(
      word % static_cast<uint64_t>(source.context->processed() + 1));
  if (hasStates() && word % 8) // other places are refused
    tokens = source.context->processed();
  if (tokens == maxTokens ||
      !manager->fork(source.context->id(), ++lastId, tokens))
    return {}; // no slot, or a window has passed
  ++coverage.forks;
  coverage.stateForks += hasStates();
  Request made;
  made.tokens.assign(source.tokens.begin(), source.tokens.begin() + tokens);
  made.tokens.push_back(static_cast<int32_t>(word % 3 + 500));
  made.cells.assign(source.cells.begin(), source.cells.begin() + tokens);
  made.salt = source.salt;
  made.replica = source.replica;
  made.weights = source.weights;
  made.isOpen = source.isOpen;
  made.context = std::make_unique<TextGenerationContext>(lastId, made.tokens);
  made.context->skip(tokens);
  requests.push_back(std::move(made));
  Request &own = requests.back();
  own.context->setScope({.salt = own.salt});
  return {};
}

std::string TieredHarness::truncate(Request &request, uint32_t word) {
  int64_t had = request.context->processed();
  int64_t tokens = static_cast<int64_t>(word % static_cast<uint64_t>(had + 1));
  if (hasStates())
    tokens = word % 3 ? 0 : had;
  if (word % 5 == 0)
    tokens = had; // keeps all that is computed, and nothing more
  tokens = std::min(tokens, maxTokens - 1); // something is to be computed
  if (!manager->truncate(request.context->id(), tokens))
    return {}; // a window has passed
  ++coverage.truncations;
  coverage.truncatedWhileLoading += request.isLoading;
  request.context->rewind(had - tokens);
  request.cells.resize(tokens);
  // Other tokens from here on.
  auto old = std::move(request.context);
  request.tokens.resize(tokens);
  int64_t more = 1 + word / 7 % 6;
  for (int64_t i = 0; i < more && tokens + i < maxTokens; ++i)
    request.tokens.push_back(static_cast<int32_t>(word % 4 * 200 + i));
  request.context =
      std::make_unique<TextGenerationContext>(old->id(), request.tokens);
  request.context->setScope(old->scope());
  request.context->setRetention(old->retention());
  request.context->skip(tokens);
  request.steps = 0;
  request.drafts = 0;
  request.isLoading = false;
  return {};
}

std::string TieredHarness::reset() {
  manager->resetPrefixCache();
  ++weights;
  ++coverage.resets;
  for (const Request &request : requests)
    coverage.resetWhileLoading += request.isLoading;
  return {};
}

std::string TieredHarness::prefetch(uint32_t word) {
  std::vector<int32_t> tokens = prompt(word);
  TextGenerationContext context(++lastId, tokens);
  std::string salt = word % 5 ? "a" : "b";
  context.setScope({.salt = salt});
  Expected<int64_t> fetched = manager->prefetch(context);
  if (!fetched)
    return {}; // all slots are taken
  if (*fetched < 0 || *fetched >= context.length())
    return concat(*fetched, " tokens prefetched of ", context.length());
  if (manager->contains(lastId))
    return "a prefetch has left its request";
  coverage.prefetched += *fetched;
  return {};
}

std::string TieredHarness::serve(const std::vector<int32_t> &tokens,
                                 std::string_view salt) {
  Request made;
  made.tokens = tokens;
  made.salt = salt == "a" ? "a" : "b";
  made.context = std::make_unique<TextGenerationContext>(++lastId, made.tokens);
  made.context->setScope({.salt = made.salt});
  made.replica =
      static_cast<int32_t>(manager->getOrRecommendReplica(*made.context));
  if (!manager->claim(lastId, made.replica))
    return {}; // all slots are taken
  RequestId id = lastId;
  requests.push_back(std::move(made));
  auto own = [&]() -> Request & {
    return *std::ranges::find_if(
        requests, [&](const Request &one) { return one.context->id() == id; });
  };
  for (int turn = 0; turn < 100; ++turn) {
    if (own().context->processed() == static_cast<int64_t>(tokens.size()))
      break;
    if (std::string wrong = alloc(own(), 0); !wrong.empty())
      return wrong;
    if (own().isLoading)
      (void)manager->waitForLoads(longestWait);
    else if (own().steps == 0)
      break; // there is no room for it now
    if (std::string wrong = run(1); !wrong.empty())
      return wrong;
  }
  return release(static_cast<size_t>(&own() - requests.data()));
}

/// Calls that change nothing.
std::string TieredHarness::look(uint32_t word) {
  std::vector<int32_t> tokens = prompt(word);
  TextGenerationContext context(++lastId, tokens);
  context.setScope({.salt = "a"});
  (void)manager->explain(context);
  (void)manager->getOrRecommendReplica(context);
  if (Request *request = pick(word / 3))
    if (request->context->active() > 0)
      (void)manager->probe(*request->context);
  return {};
}

std::string TieredHarness::step(uint32_t word) {
  if (!manager)
    return fault;
  ++commands;
  uint32_t what = word % 64, rest = word / 64;
  std::string wrong;
  Request *request = pick(rest);
  if (what < 10 || !request) {
    wrong = claim(rest);
  } else if (what < 30) {
    wrong = alloc(*request, rest / 8);
  } else if (what < 46) {
    wrong = run(rest);
  } else if (what < 54) {
    wrong = release(rest % requests.size());
  } else if (what < 56) {
    if (request->isOpen)
      wrong = fork(*request, rest / 8);
  } else if (what < 59) {
    if (request->isOpen && request->context->processed() > 0)
      wrong = truncate(*request, rest / 8);
  } else if (what == 59) {
    if (rest % 4 == 0)
      wrong = reset();
    else if (!manager->setTime(time += rest % 30))
      wrong = "time does not pass";
  } else if (what == 60) {
    wrong = prefetch(rest);
  } else if (what == 61) {
    (void)manager->waitForLoads(longestWait);
  } else if (what == 62) {
    manager->synchronize();
  } else {
    wrong = look(rest);
  }
  if (wrong.empty() && commands % 8 == 0)
    if (Expected<void> sound = manager->check(); !sound)
      wrong = sound.error().message;
  return wrong.empty() ? fault : wrong;
}

std::string TieredHarness::finish() {
  if (!manager)
    return fault;
  // Whoever waits gets its pages or computes them.
  for (Request &request : requests)
    while (request.isLoading) {
      (void)manager->waitForLoads(longestWait);
      if (std::string wrong = alloc(request, 1); !wrong.empty())
        return wrong;
    }
  while (!requests.empty())
    if (std::string wrong = release(0); !wrong.empty())
      return wrong;
  manager->synchronize();
  if (Expected<void> sound = manager->check(); !sound)
    return sound.error().message;
  for (int32_t replica = 0; replica < params.dataParallelDegree(); ++replica)
    if (manager->numFreeBlocks(replica) != options.numPages)
      return "pages are lost";
  KVCacheMetrics figures = manager->metrics();
  coverage.loaded += figures.loadedPages;
  coverage.stateLoads += hasStates() ? figures.loadedPages : 0;
  coverage.stored += figures.storedPages;
  coverage.evicted += figures.evictedPages;
  for (int32_t replica = 0; replica < params.dataParallelDegree(); ++replica)
    coverage.abandoned += manager->figures(replica).abandonedPages;
  manager.reset();
  return fault;
}
