//===- TieredManagerTest.cpp - Pages that come back from other tiers ------===//

#include "FickleConnector.h"
#include "test/unit/ModelServer.h"
#include "test/unit/TemporaryFile.h"

#include <cmath>

using namespace kv;
using namespace kv::test;

namespace {

constexpr int64_t PageSize = 4;
/// Keys and values of a page of fakeParams().
constexpr int64_t RecordBytes = 2 * PageSize * 4;

KVCacheParams tieredParams(int64_t hostPages, bool disk) {
  KVCacheParams params = fakeParams(PageSize);
  params.connector = disk ? KVConnector::Tiered : KVConnector::Host;
  params.hostSwapSpaceGB = std::ldexp(double(hostPages * RecordBytes), -30);
  return params;
}

struct Server : ModelServer {
  Server(int64_t pages, int64_t hostPages, const std::string &folder = {},
         PagedKVCacheManager::TierOptions tiers = {}, int32_t maxBatch = 16) {
    tiers.diskDirectory = folder;
    tiers.diskBytes = folder.empty() ? 0 : 64 << 20;
    auto made = PagedKVCacheManager::create(
        tieredParams(hostPages, !folder.empty()), {.maxBatchSize = maxBatch,
                                                   .maxSeqLen = 200,
                                                   .numPages = pages,
                                                   .maxSteps = 4,
                                                   .enableRuntimeChecks = true,
                                                   .tiers = tiers,
                                                   .explainMisses = true});
    EXPECT_TRUE(made) << text(made);
    manager = std::move(*made);
  }

  /// Serves a prompt alone and returns the tokens that it had in a cache.
  int64_t serve(const Tokens &prompt, const Scope &scope = {}) {
    Tokens tokens = prompt;
    TextGenerationContext context(++last, tokens);
    context.setScope(scope);
    EXPECT_TRUE(manager->claim(last));
    auto allocated = manager->alloc(context);
    EXPECT_TRUE(allocated) << allocated.error().error.message;
    EXPECT_EQ(allocated->cachedTokens, context.processed());
    compute(context, tokens);
    EXPECT_TRUE(manager->release(last));
    return allocated->cachedTokens;
  }
};

Tokens promptOf(int32_t seed, int64_t length = 40) {
  Tokens tokens = iota(length);
  for (int32_t &token : tokens)
    token = token * 7 + seed * 1000;
  return tokens;
}

} // namespace

TEST(TieredManager, WhatTheDeviceEvictedComesFromTheHost) {
  Server server(/*pages=*/12, /*hostPages=*/100);
  EXPECT_EQ(server.manager->totalNumHostPages(), 100);
  EXPECT_EQ(server.serve(promptOf(1)), 0);
  EXPECT_EQ(server.serve(promptOf(1)), 36);
  EXPECT_EQ(server.manager->metrics().loadedPages, 0);
  for (int32_t seed = 2; seed < 6; ++seed)
    EXPECT_EQ(server.serve(promptOf(seed)), 0);
  EXPECT_EQ(server.serve(promptOf(1)), 36);
  EXPECT_EQ(server.manager->metrics().loadedPages, 9);
  EXPECT_EQ(server.manager->metrics().storedPages, 50);
  EXPECT_EQ(server.manager->hostCommittedBlockPct(), 0.5);
}

TEST(TieredManager, AProcessFindsWhatAnEarlierOneStored) {
  TemporaryFolder folder;
  Scope tenant = {.salt = "a"}, stranger = {.salt = "b"};
  {
    Server server(20, 60, folder.path());
    for (int32_t seed = 1; seed < 6; ++seed)
      server.serve(promptOf(seed), tenant);
  }
  Server server(20, 8, folder.path());
  for (int32_t seed = 1; seed < 6; ++seed) {
    EXPECT_EQ(server.serve(promptOf(seed), stranger), 0);
    EXPECT_EQ(server.serve(promptOf(seed), tenant), 36);
  }
  server.manager->resetPrefixCache();
  EXPECT_EQ(server.serve(promptOf(1), tenant), 0);
}

/// In host memory that holds less than they load, requests take turns: records
/// of one do not drive out what another one has not taken yet.
TEST(TieredManager, LittleHostMemoryReadsARecordOnce) {
  constexpr int32_t Prompts = 24;
  constexpr int64_t Pages = 30; // that each prompt loads
  TemporaryFolder folder;
  {
    Server server(/*pages=*/40, /*hostPages=*/1000, folder.path());
    for (int32_t seed = 1; seed <= Prompts; ++seed)
      server.serve(promptOf(seed, Pages * PageSize + 1));
  }
  for (int64_t hostPages : {1, 2, 4, 64}) {
    Server server(Prompts * (Pages + 2), hostPages, folder.path(),
                  {.asynchronous = true}, Prompts);
    std::vector<Tokens> tokens;
    std::vector<TextGenerationContext> open;
    for (int32_t id = 0; id < Prompts; ++id)
      tokens.push_back(promptOf(id + 1, Pages * PageSize + 1));
    for (int32_t id = 0; id < Prompts; ++id) {
      open.emplace_back(id, tokens[id]);
      ASSERT_TRUE(server.manager->claim(id));
    }
    for (int rounds = 0; !open.empty(); ++rounds) {
      ASSERT_LT(rounds, 100'000);
      std::erase_if(open, [&](TextGenerationContext &context) {
        auto allocated = server.manager->alloc(context);
        if (!allocated)
          return false;
        EXPECT_EQ(context.processed(), Pages * PageSize);
        server.compute(context, tokens[context.id()]);
        EXPECT_TRUE(server.manager->release(context.id()));
        return true;
      });
      (void)server.manager->waitForLoads(1'000'000'000);
    }
    KVCacheMetrics metrics = server.manager->metrics();
    EXPECT_EQ(metrics.loadedPages, Prompts * Pages);
    EXPECT_LE(metrics.diskPagesRead, Prompts * Pages * 11 / 10)
        << hostPages << " pages of host memory";
  }
}

/// A request that loads no more leaves its turn to the next one at once.
TEST(TieredManager, AnEndedLoadLeavesItsTurn) {
  TemporaryFolder folder;
  {
    Server server(20, 60, folder.path());
    server.serve(promptOf(1));
    server.serve(promptOf(2));
  }
  using End = std::function<void(Server &, TextGenerationContext &)>;
  Tokens first = promptOf(1), second = promptOf(2);
  End ends[] = {[](Server &server, TextGenerationContext &) {
                  EXPECT_TRUE(server.manager->release(1));
                },
                [](Server &server, TextGenerationContext &) {
                  EXPECT_TRUE(server.manager->truncate(1, 0));
                },
                [&](Server &server, TextGenerationContext &context) {
                  server.compute(context, first);
                }};
  for (const End &end : ends) {
    Server server(40, /*hostPages=*/2, folder.path(), {.asynchronous = true});
    TextGenerationContext ended(1, first), next(2, second);
    ASSERT_TRUE(server.manager->claim(1));
    ASSERT_TRUE(server.manager->claim(2));
    EXPECT_FALSE(server.manager->alloc(ended));
    EXPECT_TRUE(server.manager->waitForLoads(20'000'000'000));
    end(server, ended);
    while (server.manager->waitForLoads(20'000'000'000))
      ;
    EXPECT_FALSE(server.manager->alloc(next));
    EXPECT_TRUE(server.manager->waitForLoads(20'000'000'000));
  }
}

/// Nobody waits for a request that its caller has forgotten.
TEST(TieredManager, AForgottenLoadHoldsNobodyUp) {
  TemporaryFolder folder;
  {
    Server server(20, 60, folder.path());
    server.serve(promptOf(1));
    server.serve(promptOf(2));
  }
  for (int64_t hostPages : {1, 2, 4}) {
    Server server(40, hostPages, folder.path(), {.asynchronous = true});
    Tokens first = promptOf(1), second = promptOf(2);
    TextGenerationContext forgotten(1, first), next(2, second);
    ASSERT_TRUE(server.manager->claim(1));
    ASSERT_TRUE(server.manager->claim(2));
    EXPECT_FALSE(server.manager->alloc(forgotten));
    for (int turns = 0; !server.manager->alloc(next); ++turns) {
      ASSERT_LT(turns, 1000);
      (void)server.manager->waitForLoads(1'000'000'000);
    }
    EXPECT_EQ(next.processed(), 36);
    server.compute(next, second);
    // The first one goes on where it was.
    for (int turns = 0; !server.manager->alloc(forgotten); ++turns) {
      ASSERT_LT(turns, 1000);
      (void)server.manager->waitForLoads(1'000'000'000);
    }
    EXPECT_EQ(forgotten.processed(), 36);
    server.compute(forgotten, first);
  }
}

/// All shards hold the rows of a latent cache: a record has them once, and they
/// come back to each shard. Other rows are there for each shard.
TEST(TieredManager, ALatentCacheIsKeptOnceForAllShards) {
  KVCacheParams latent = {.name = "latent",
                          .geometry = {.dtype = KV_DTYPE_F32,
                                       .layers = 2,
                                       .heads = 1,
                                       .dim = 4,
                                       .page = PageSize,
                                       .vDim = 3},
                          .numDevices = 2,
                          .enablePrefixCaching = true,
                          .connector = KVConnector::Host,
                          .hostSwapSpaceGB = 0x1p-14};
  KVCacheParams plain = latent;
  plain.name = "plain";
  plain.geometry.vDim = 0;
  int64_t latentBytes = 2 * PageSize * 4 * 4, plainBytes = 2 * latentBytes;
  struct Case {
    std::vector<KVCacheParams> caches;
    int64_t bytes;
  };
  for (const Case &one :
       {Case{{latent}, latentBytes},
        Case{{latent, plain}, latentBytes + 2 * plainBytes},
        Case{{plain, latent}, latentBytes + 2 * plainBytes}}) {
    auto params = *MultiKVCacheParams::fromParams(one.caches);
    EXPECT_EQ(PoolLayout::of(params).recordBytes(), one.bytes);
    auto made = PagedKVCacheManager::create(
        params, {.maxSeqLen = 40, .numPages = 12, .enableRuntimeChecks = true});
    ASSERT_TRUE(made) << text(made);
    PagedKVCacheManager &manager = **made;
    EXPECT_EQ(manager.totalNumHostPages(), (1 << 16) / one.bytes);
    RequestId last = 0;
    // Fills the tokens with what only they have, or compares.
    auto serve = [&](int32_t seed) {
      Tokens tokens = promptOf(seed, 21);
      TextGenerationContext context(++last, tokens);
      EXPECT_TRUE(manager.claim(last));
      EXPECT_TRUE(manager.alloc(context));
      const TextGenerationContext *batch[] = {&context};
      auto inputs = manager.runtimeInputs(batch);
      int64_t wrong = 0;
      for (size_t i = 0; i < inputs->size(); ++i) {
        const KvTensorView &blocks = (*inputs)[i].blocks;
        bool isLatent = one.caches[i % one.caches.size()].geometry.isLatent();
        auto *pages = static_cast<float *>(blocks.data);
        auto *table =
            static_cast<const int32_t *>((*inputs)[i].lookupTable.data);
        int64_t size = blocks.strides[0];
        for (int64_t page = 0; page < 5; ++page)
          for (int64_t at = 0; at < size; ++at) {
            auto wanted = static_cast<float>(seed * 100'000 + page * 1000 + at +
                                             (isLatent ? 0 : 500'000 * i));
            float &value = pages[table[page] * size + at];
            if (page * PageSize < context.processed())
              wrong += value != wanted;
            else
              value = wanted;
          }
      }
      EXPECT_EQ(wrong, 0);
      int64_t cached = context.processed();
      context.advance();
      EXPECT_TRUE(manager.step(batch));
      EXPECT_TRUE(manager.release(last));
      return cached;
    };
    EXPECT_EQ(serve(1), 0);
    EXPECT_EQ(serve(2), 0);
    EXPECT_EQ(serve(3), 0);
    EXPECT_EQ(serve(1), 20);
    EXPECT_GT(manager.metrics().loadedPages, 0);
  }
}

TEST(TieredManager, LoadsWithoutWaiting) {
  TemporaryFolder folder;
  {
    Server(20, 60, folder.path()).serve(promptOf(1));
  }
  Server server(20, 60, folder.path(), {.asynchronous = true});
  Tokens tokens = promptOf(1);
  TextGenerationContext context(1, tokens);
  ASSERT_TRUE(server.manager->claim(1));
  int waits = 0;
  for (;; ++waits) {
    auto allocated = server.manager->alloc(context);
    if (allocated) {
      EXPECT_EQ(allocated->cachedTokens, 36);
      break;
    }
    ASSERT_EQ(allocated.error().reason, AllocationError::Reason::Loading);
    ASSERT_LT(waits, 100);
    server.manager->waitForLoads(1'000'000'000);
  }
  EXPECT_GE(waits, 1);
  server.compute(context, tokens);
}

TEST(TieredManager, PrefetchesTheNextTurn) {
  TemporaryFolder folder;
  {
    Server(20, 60, folder.path()).serve(promptOf(1));
  }
  Server server(20, 60, folder.path());
  Tokens tokens = promptOf(1);
  TextGenerationContext context(77, tokens);
  auto fetched = server.manager->prefetch(context);
  ASSERT_TRUE(fetched) << text(fetched);
  EXPECT_EQ(*fetched, 36);
  EXPECT_EQ(server.manager->metrics().loadedPages, 9);
  EXPECT_EQ(server.serve(tokens), 36);
  EXPECT_EQ(server.manager->metrics().loadedPages, 9);
}

namespace {

/// Opens a connector with these moods, of which `fault` hears.
PagedKVCacheManager::TierOptions fickle(const FickleConnector::Moods &moods,
                                        std::string &fault,
                                        FickleConnector **made = nullptr) {
  return {.open = [=, &fault](const PageConnector::Options &options)
              -> Expected<std::unique_ptr<PageConnector>> {
    auto connector =
        std::make_unique<FickleConnector>(options, moods, 1, fault);
    if (made)
      *made = connector.get();
    return connector;
  }};
}

} // namespace

/// A request that waits for what another one has asked for takes nobody's turn.
TEST(TieredManager, WhoAsksForNothingLeavesTheTurnToOthers) {
  std::string fault;
  auto records = std::make_shared<FickleConnector::Records>();
  auto over = [&](const FickleConnector::Moods &moods) {
    return PagedKVCacheManager::TierOptions{
        .asynchronous = true,
        .open = [&, moods](const PageConnector::Options &options)
            -> Expected<std::unique_ptr<PageConnector>> {
          return std::make_unique<FickleConnector>(options, moods, 1, fault,
                                                   records);
        }};
  };
  Tokens shared = promptOf(1, 2 * PageSize + 1), other = promptOf(2);
  {
    Server server(40, 40, "nowhere", over({.diskRecords = 100}));
    server.serve(shared);
    server.serve(other);
  }
  Server server(40, /*hostPages=*/6, "nowhere",
                over({.diskRecords = 100, .hangs = 256}));
  const TierMetrics &metrics = *server.manager->tierMetrics();
  TextGenerationContext first(1, shared), second(2, shared), third(3, other);
  TextGenerationContext *contexts[] = {&first, &second, &third};
  for (TextGenerationContext *context : contexts)
    ASSERT_TRUE(server.manager->claim(context->id()));
  for (int rounds = 0; rounds < 3; ++rounds)
    for (TextGenerationContext *context : contexts)
      EXPECT_FALSE(server.manager->alloc(*context));
  // Two for the first, none for the second, and what is left of half.
  EXPECT_EQ(metrics.diskOperations, 3);
}

TEST(TieredManager, ADiskThatHangsCostsEveryRequestOneWait) {
  std::string fault;
  FickleConnector *connector = nullptr;
  auto tiers = fickle({.diskRecords = 100, .hangs = 256}, fault, &connector);
  tiers.mostWait = 20'000'000;
  Server server(/*pages=*/12, /*hostPages=*/20, "nowhere", tiers);
  for (int32_t seed = 1; seed < 4; ++seed)
    server.serve(promptOf(seed));
  Tokens tokens = promptOf(1);
  TextGenerationContext context(100, tokens);
  context.limitActive(PageSize); // which would be a wait for every chunk
  int64_t before = connector->deadlines();
  ASSERT_TRUE(server.manager->claim(100));
  while (context.processed() < context.length()) {
    ASSERT_TRUE(server.manager->alloc(context));
    server.compute(context, tokens);
  }
  EXPECT_EQ(connector->deadlines() - before, 1);
  EXPECT_GT(server.manager->figures(0).abandonedPages, 0);
  ASSERT_TRUE(server.manager->release(100));
}

TEST(TieredManager, AnAllocationThatGoesOnMayWantMore) {
  TemporaryFolder folder;
  {
    Server(20, 60, folder.path()).serve(promptOf(1));
  }
  Server server(20, 60, folder.path(), {.asynchronous = true});
  Tokens tokens = promptOf(1);
  TextGenerationContext context(1, tokens);
  ASSERT_TRUE(server.manager->claim(1));
  ASSERT_FALSE(server.manager->alloc(context));
  while (!server.manager->alloc(context, /*steps=*/4))
    server.manager->waitForLoads(1'000'000'000);
  EXPECT_EQ(context.processed(), 36);
  const TextGenerationContext *batch[] = {&context};
  EXPECT_EQ(text(server.manager->runtimeInputs(batch, 4)), "no error");
}

TEST(TieredManager, AResetEndsLoads) {
  TemporaryFolder folder;
  {
    Server(20, 60, folder.path()).serve(promptOf(1));
  }
  Server server(20, 60, folder.path(), {.asynchronous = true});
  Tokens tokens = promptOf(1);
  TextGenerationContext context(100, tokens);
  ASSERT_TRUE(server.manager->claim(100));
  ASSERT_FALSE(server.manager->alloc(context));
  int64_t before = context.processed();
  server.manager->resetPrefixCache();
  // Others store the same prefix again, perhaps with other weights.
  EXPECT_EQ(server.serve(tokens), 0);
  ASSERT_TRUE(server.manager->alloc(context));
  EXPECT_EQ(context.processed(), before);
  server.compute(context, tokens);
}

TEST(TieredManager, WhatIsTooLongForANameIsAMiss) {
  Server server(12, 100);
  std::string longText(10'000, 'x');
  Tokens tokens = promptOf(1);
  TextGenerationContext context(1, tokens);
  context.setScope({.salt = longText});
  for (CacheEngine::Reason reason : server.manager->explain(context))
    EXPECT_NE(reason, CacheEngine::Reason::OtherTier);
  // Many images on one page.
  context.setScope({});
  std::vector<ImageSpan> images;
  for (int64_t at = 0; at < 8; ++at)
    images.push_back({at, 1, longText});
  context.setImages(images);
  for (CacheEngine::Reason reason : server.manager->explain(context))
    EXPECT_NE(reason, CacheEngine::Reason::OtherTier);
  ASSERT_TRUE(server.manager->claim(1));
  ASSERT_TRUE(server.manager->alloc(context));
  server.compute(context, tokens);
  EXPECT_EQ(server.manager->metrics().storedPages, 0);
}

TEST(TieredManager, PrefetchesWhereAStepHasALimit) {
  KVCacheParams params = tieredParams(60, /*disk=*/false);
  params.geometry.window = 12;
  auto manager =
      PagedKVCacheManager::create(params, {.maxSeqLen = 200,
                                           .numPages = 14,
                                           .maxChunkTokens = 16,
                                           .enableRuntimeChecks = true});
  ASSERT_TRUE(manager) << text(manager);
  auto serve = [&](int32_t seed) {
    Tokens tokens = promptOf(seed);
    TextGenerationContext context(1, tokens);
    context.limitActive(16);
    EXPECT_TRUE((*manager)->claim(1));
    while (context.active() > 0) {
      EXPECT_TRUE((*manager)->alloc(context));
      const TextGenerationContext *batch[] = {&context};
      EXPECT_TRUE((*manager)->runtimeInputs(batch));
      context.advance();
      EXPECT_TRUE((*manager)->step(batch));
    }
    EXPECT_TRUE((*manager)->release(1));
  };
  for (int32_t seed = 1; seed < 5; ++seed)
    serve(seed);
  Tokens tokens = promptOf(1);
  TextGenerationContext context(1, tokens);
  auto fetched = (*manager)->prefetch(context);
  ASSERT_TRUE(fetched) << text(fetched);
  EXPECT_EQ(*fetched, 36);
  EXPECT_EQ((*manager)->numFreeBlocks(), 14);
}

TEST(TieredManager, OptionsThatMakeNoSense) {
  auto create = [](PagedKVCacheManager::TierOptions tiers, bool disk) {
    return text(PagedKVCacheManager::create(
        tieredParams(4, disk),
        {.maxSeqLen = 40, .numPages = 20, .tiers = tiers}));
  };
  EXPECT_EQ(create({.mostWait = -1}, false),
            "cache manager: mostLoadWait is -1, allowed: 0 to "
            "9223372036854775807");
  EXPECT_EQ(create({}, true), "cache manager: kv_connector is tiered, "
                              "diskDirectory is not given, nor is "
                              "blockStoreEndpoint");
  EXPECT_EQ(create({.diskDirectory = "x"}, false),
            "cache manager: kv_connector is host, which has no disk, "
            "diskDirectory is x");
  TemporaryFolder folder;
  EXPECT_EQ(
      create(
          {.diskDirectory = folder.path(), .diskBytes = 4096, .ioThreads = 0},
          true),
      "disk tier: ioThreads is 0, allowed: 1 to 256");
  EXPECT_EQ(create({.diskDirectory = folder.path(),
                    .diskBytes = 4096,
                    .mostWait = INT64_MAX},
                   true),
            "no error");
}
