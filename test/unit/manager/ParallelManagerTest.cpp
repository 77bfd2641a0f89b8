//===- ParallelManagerTest.cpp - Replicas, shards, several caches ---------===//

#include "kv/Runtime/Manager/PagedKVCacheManager.h"

#include "test/unit/FakeModel.h"
#include "test/unit/Values.h"

#include <gtest/gtest.h>

using namespace kv;
using namespace kv::test;

namespace {

using Manager = std::unique_ptr<PagedKVCacheManager>;
using Ints = std::vector<int32_t>;

KVCacheParams parallel(int64_t replicas, int64_t shards, int64_t page = 2) {
  KVCacheParams params = fakeParams(page);
  params.numDevices = replicas * shards;
  params.dataParallelDegree = replicas;
  return params;
}

Manager make(const MultiKVCacheParams &params,
             PagedKVCacheManager::Options options = {}) {
  options.maxSeqLen = 64;
  options.maxSteps = 4;
  if (options.numPages == 0)
    options.numPages = 16;
  options.enableRuntimeChecks = true;
  auto manager = PagedKVCacheManager::create(params, options);
  EXPECT_TRUE(manager) << text(manager);
  return std::move(*manager);
}

Ints ints(const KvTensorView &view) {
  int64_t count = 1;
  for (int64_t i = 0; i < view.rank; ++i)
    count *= view.sizes[i];
  auto *data = static_cast<const int32_t *>(view.data);
  return Ints(data, data + count);
}

/// Requests that own their tokens, on given replicas, with pages.
struct Requests {
  Requests(PagedKVCacheManager &manager,
           std::initializer_list<std::pair<int32_t, int32_t>> list,
           int32_t steps = 1) {
    tokens.reserve(list.size());
    contexts.reserve(list.size());
    for (auto [replica, length] : list) {
      RequestId id = contexts.size() + 1;
      tokens.push_back(iota(length, 100 * static_cast<int32_t>(id)));
      contexts.emplace_back(id, tokens.back());
      EXPECT_TRUE(manager.claim(id, replica));
      EXPECT_TRUE(manager.alloc(contexts.back(), steps));
      batch.push_back(&contexts.back());
    }
  }

  std::vector<Tokens> tokens;
  std::vector<TextGenerationContext> contexts;
  std::vector<const TextGenerationContext *> batch;
};

void serve(PagedKVCacheManager &manager, RequestId id, int32_t replica,
           const Tokens &tokens) {
  ASSERT_TRUE(manager.claim(id, replica));
  TextGenerationContext context(id, tokens);
  ASSERT_TRUE(manager.alloc(context));
  context.advance();
  const TextGenerationContext *batch[] = {&context};
  ASSERT_TRUE(manager.step(batch));
  ASSERT_TRUE(manager.release(id));
}

} // namespace

TEST(ParallelManager, EveryReplicaHasItsPoolAndIndex) {
  Manager manager = make(parallel(2, 1));
  EXPECT_EQ(manager->totalNumPages(), 32);
  // Pages of 16 bytes; lengths and tables of two steps for eight requests.
  EXPECT_EQ(manager->poolBytes(), 2 * (17 * 16 + 2 * 8 * (4 + 32) * 4));
  serve(*manager, 1, 0, iota(6));
  auto hit = [&](RequestId id, int32_t replica) {
    Tokens tokens = iota(6);
    TextGenerationContext context(id, tokens);
    EXPECT_TRUE(manager->claim(id, replica));
    auto allocated = manager->alloc(context);
    EXPECT_TRUE(allocated);
    return allocated->cachedTokens;
  };
  EXPECT_EQ(hit(2, 1), 0);
  EXPECT_EQ(hit(3, 0), 4);
  EXPECT_EQ(manager->numFreeBlocks(0), 13);
  EXPECT_EQ(manager->numFreeBlocks(1), 13);
  EXPECT_EQ(manager->numFreeBlocks(), 26);
  EXPECT_EQ(manager->usedBlocksPct(), 1 - 26.0 / 32);
  EXPECT_EQ(*manager->getReplica(2), 1);
  EXPECT_EQ(manager->metrics().cachedTokens, 4);
  EXPECT_EQ(manager->metrics().inputTokens, 6 + 6 + 2);
  EXPECT_EQ(manager->metrics().cacheHitRate(), 4.0 / 18);
  EXPECT_EQ(text(manager->release(3)), "no error");
  manager->resetPrefixCache();
  EXPECT_EQ(hit(4, 0), 0);
}

TEST(ParallelManager, ShardsGetOneTableEachInTheirOwnMemory) {
  Manager manager = make(parallel(2, 2));
  Requests requests(*manager, {{0, 3}, {0, 5}, {1, 2}});
  auto inputs = manager->runtimeInputs(requests.batch);
  ASSERT_TRUE(inputs) << text(inputs);
  ASSERT_EQ(inputs->size(), 4u);
  for (int replica = 0; replica < 2; ++replica) {
    const RaggedKVCacheInputs &a = (*inputs)[2 * replica];
    const RaggedKVCacheInputs &b = (*inputs)[2 * replica + 1];
    EXPECT_NE(a.lookupTable.data, b.lookupTable.data);
    EXPECT_NE(a.cacheLengths.data, b.cacheLengths.data);
    EXPECT_NE(a.blocks.data, b.blocks.data);
    EXPECT_EQ(ints(a.lookupTable), ints(b.lookupTable));
    EXPECT_EQ(ints(a.cacheLengths), ints(b.cacheLengths));
    EXPECT_EQ(ints(a.maxLengths), ints(b.maxLengths));
  }
  EXPECT_EQ(describe((*inputs)[1].cacheLengths), "i32[2]");
  EXPECT_EQ(describe((*inputs)[3].cacheLengths), "i32[1]");
  EXPECT_EQ(ints((*inputs)[1].maxLengths), (Ints{5, 5}));
  EXPECT_EQ(ints((*inputs)[3].maxLengths), (Ints{2, 2}));
  Ints row = ints((*inputs)[1].lookupTable);
  std::span<const int32_t> pages = *manager->getReqBlocks(2);
  EXPECT_EQ(pages.size(), 3u);
  EXPECT_TRUE(std::ranges::equal(
      pages, std::span(row).subspan(row.size() / 2, pages.size())));
}

TEST(ParallelManager, AnEmptyReplicaGetsEmptyInputs) {
  Manager manager = make(parallel(3, 1));
  Requests requests(*manager, {{1, 3}});
  auto inputs = manager->runtimeInputs(requests.batch);
  ASSERT_TRUE(inputs);
  EXPECT_EQ(describe((*inputs)[0].lookupTable), "i32[0, 32]");
  EXPECT_EQ(describe((*inputs)[1].lookupTable), "i32[1, 32]");
  EXPECT_EQ(ints((*inputs)[0].maxLengths), (Ints{0, 0}));
  EXPECT_EQ(ints((*inputs)[2].maxLengths), (Ints{0, 0}));
}

TEST(ParallelManager, Splits) {
  Manager manager = make(parallel(3, 1));
  Requests requests(*manager, {{0, 1}, {0, 1}, {2, 1}});
  auto splits = manager->getDataParallelSplits(requests.batch);
  ASSERT_TRUE(splits);
  EXPECT_TRUE(std::ranges::equal(*splits, std::vector<int64_t>{0, 2, 2, 3}));
  splits = manager->getDataParallelSplits({});
  EXPECT_TRUE(std::ranges::equal(*splits, std::vector<int64_t>{0, 0, 0, 0}));
}

TEST(ParallelManager, ANewRequestGoesWhereItsPrefixIsLessTheLoad) {
  Manager manager = make(parallel(3, 1));
  auto recommend = [&](const Tokens &tokens) {
    return manager->getOrRecommendReplica(TextGenerationContext(99, tokens));
  };
  EXPECT_EQ(recommend(iota(7)), 0); // all equal: the lowest
  serve(*manager, 1, 2, iota(7));   // three full pages stay cached
  EXPECT_EQ(recommend(iota(7)), 2);
  EXPECT_EQ(recommend(iota(7, 50)), 0);
  Tokens two = iota(4, 60), eight = iota(16, 60);
  ASSERT_TRUE(manager->claim(2, 2));
  TextGenerationContext context(2, two);
  ASSERT_TRUE(manager->alloc(context)); // a load of two pages: 3 - 2 > 0
  EXPECT_EQ(recommend(iota(7)), 2);
  ASSERT_TRUE(manager->claim(3, 2));
  TextGenerationContext more(3, eight);
  ASSERT_TRUE(manager->alloc(more));
  EXPECT_EQ(recommend(iota(7)), 0);
  // A claimed request stays where it is.
  EXPECT_EQ(manager->getOrRecommendReplica(more), 2);
  // Among equals, the fewest requests; those that hold nothing yet count.
  ASSERT_TRUE(manager->claim(4, 0));
  EXPECT_EQ(recommend(iota(7)), 1);
}

TEST(ParallelManager, WithoutAffinityTheFewestRequestsDecide) {
  PagedKVCacheManager::Options options;
  options.withoutPrefixAffinity = true;
  Manager manager = make(parallel(3, 1), options);
  serve(*manager, 1, 2, iota(7));
  Tokens tokens = iota(7);
  TextGenerationContext context(99, tokens);
  EXPECT_EQ(manager->getOrRecommendReplica(context), 0);
  ASSERT_TRUE(manager->claim(2, 0));
  EXPECT_EQ(manager->getOrRecommendReplica(context), 1);
  ASSERT_TRUE(manager->claim(3, 1));
  EXPECT_EQ(manager->getOrRecommendReplica(context), 2);
}

TEST(ParallelManager, AFullReplicaIsNotRecommended) {
  PagedKVCacheManager::Options options;
  options.maxBatchSize = 2; // one a replica
  Manager manager = make(parallel(2, 1), options);
  serve(*manager, 1, 0, iota(7));
  ASSERT_TRUE(manager->claim(2, 0));
  Tokens tokens = iota(7);
  EXPECT_EQ(manager->getOrRecommendReplica(TextGenerationContext(9, tokens)),
            1);
  EXPECT_EQ(text(manager->claim(3, 0)),
            "request 3 cannot be claimed: all 1 sequence slots are in use on "
            "replica 0");
}

TEST(ParallelManager, IncrementCacheLengths) {
  Manager manager = make(parallel(2, 2));
  Requests requests(*manager, {{0, 3}, {0, 5}, {1, 2}}, 3);
  auto inputs = manager->runtimeInputs(requests.batch, 3);
  ASSERT_TRUE(inputs) << text(inputs);
  std::vector<RaggedKVCacheInputs> loop(inputs->begin(), inputs->end());
  Ints offsets = {0, 3, 8, 10};
  ASSERT_TRUE(manager->incrementCacheLengths(loop, offsets));
  for (int shard = 0; shard < 2; ++shard) {
    EXPECT_FALSE(loop[shard].isCacheEmpty);
    EXPECT_EQ(ints(loop[shard].cacheLengths), (Ints{3, 5}));
    EXPECT_EQ(ints(loop[2 + shard].cacheLengths), (Ints{2}));
    EXPECT_EQ(ints(loop[shard].maxLengths), (Ints{1, 6, 1, 7}));
    EXPECT_EQ(ints(loop[2 + shard].maxLengths), (Ints{1, 3, 1, 4}));
  }
  offsets = {0, 1, 2, 3};
  ASSERT_TRUE(manager->incrementCacheLengths(loop, offsets));
  EXPECT_EQ(ints(loop[1].cacheLengths), (Ints{4, 6}));
  EXPECT_EQ(ints(loop[3].maxLengths), (Ints{1, 4}));
  // Steps that compute less than was asked of them.
  inputs = manager->runtimeInputs(requests.batch, 3);
  loop.assign(inputs->begin(), inputs->end());
  ASSERT_TRUE(manager->incrementCacheLengths(loop, Ints{0, 2, 7, 9}));
  EXPECT_EQ(ints(loop[1].cacheLengths), (Ints{2, 5}));
  EXPECT_EQ(ints(loop[3].cacheLengths), (Ints{2}));
  ASSERT_TRUE(manager->incrementCacheLengths(loop, Ints{0, 1, 1, 2}));
  for (int shard = 0; shard < 2; ++shard) {
    EXPECT_EQ(ints(loop[shard].cacheLengths), (Ints{3, 5}));
    EXPECT_EQ(ints(loop[2 + shard].cacheLengths), (Ints{3}));
  }

  auto error = [&](std::span<RaggedKVCacheInputs> given, const Ints &rows) {
    Ints before = ints(loop[0].cacheLengths);
    std::string message = text(manager->incrementCacheLengths(given, rows));
    EXPECT_EQ(ints(loop[0].cacheLengths), before);
    std::string_view start = "increment of cache lengths: ";
    return message.starts_with(start) ? message.substr(start.size()) : message;
  };
  EXPECT_EQ(error(loop, offsets), "input 0 has no step left after this one");
  inputs = manager->runtimeInputs(requests.batch, 3);
  EXPECT_EQ(error(inputs->first(2), offsets),
            "2 inputs are given, this manager's are 4");
  EXPECT_EQ(error(*inputs, {0, 1, 2}),
            "3 row offsets are given for 3 sequences, needed: 4");
  EXPECT_EQ(error(*inputs, {0, 2, 1, 3}),
            "row offset 2 is 1, less than 2 before it");
  EXPECT_EQ(error(*inputs, {0, 3, 9, 10}),
            "sequence 1 has computed 6 tokens, allowed: 0 to 5");
  EXPECT_EQ(error(*inputs, {INT32_MIN, INT32_MAX, INT32_MAX, INT32_MAX}),
            "sequence 0 has computed 4294967295 tokens, allowed: 0 to 5");
  std::vector<RaggedKVCacheInputs> swapped(inputs->begin(), inputs->end());
  std::swap(swapped[0], swapped[2]);
  EXPECT_EQ(error(swapped, offsets),
            "input 0 is not of the latest runtime inputs");
  // Those of an earlier step of the same loop.
  std::vector<RaggedKVCacheInputs> old(inputs->begin(), inputs->end());
  ASSERT_TRUE(manager->incrementCacheLengths(*inputs, Ints{0, 3, 8, 10}));
  EXPECT_EQ(error(old, {0, 1, 2, 3}),
            "input 0 is not of the latest runtime inputs");
}

// What max_lengths cannot say: of cached [0, 5] they are [10, 10].
TEST(ParallelManager, WhetherCachesAreEmpty) {
  Manager manager = make(parallel(1, 1, 1), {.numPages = 40});
  Tokens longer = iota(10), shorter = iota(10, 100);
  TextGenerationContext one(1, longer), two(2, shorter);
  two.limitActive(5);
  const TextGenerationContext *batch[] = {&one, &two};
  const std::span<const TextGenerationContext *const> both = batch;
  for (TextGenerationContext *context : {&one, &two}) {
    ASSERT_TRUE(manager->claim(context->id()));
    ASSERT_TRUE(manager->alloc(*context));
  }
  EXPECT_TRUE((*manager->runtimeInputs(both))[0].isCacheEmpty);
  two.advance();
  ASSERT_TRUE(manager->step(both.last(1)));
  ASSERT_TRUE(manager->alloc(two));
  auto inputs = manager->runtimeInputs(both);
  ASSERT_TRUE(inputs) << text(inputs);
  EXPECT_EQ(ints((*inputs)[0].cacheLengths), (Ints{0, 5}));
  EXPECT_EQ(ints((*inputs)[0].maxLengths), (Ints{10, 10}));
  EXPECT_FALSE((*inputs)[0].isCacheEmpty);
  EXPECT_TRUE((*manager->runtimeInputs(both.first(1)))[0].isCacheEmpty);
  EXPECT_TRUE((*manager->runtimeInputs({}))[0].isCacheEmpty);
  // Each replica's devices have their own.
  Manager replicas = make(parallel(2, 1));
  Requests requests(*replicas, {{0, 3}, {1, 2}}, 1);
  inputs = replicas->runtimeInputs(requests.batch);
  EXPECT_TRUE((*inputs)[0].isCacheEmpty && (*inputs)[1].isCacheEmpty);
}

TEST(ParallelManager, SeveralCachesShareIdsAndTables) {
  KVCacheParams full = fakeParams(2), draft = fakeParams(2);
  draft.name = "draft";
  draft.geometry = {.dtype = KV_DTYPE_I8,
                    .layers = 3,
                    .heads = 2,
                    .dim = 8,
                    .page = 2,
                    .layout = CacheLayout::HND,
                    .scaleGroup = 4};
  auto both = MultiKVCacheParams::fromParams({full, draft});
  ASSERT_TRUE(both) << text(both);
  Manager manager = make(*both);
  EXPECT_EQ(manager->poolBytes(),
            17 * both->bytesPerPage() + 2 * 16 * (4 + 32) * 4);
  Requests requests(*manager, {{0, 3}, {0, 5}}, 2);
  auto inputs = manager->runtimeInputs(requests.batch, 2);
  ASSERT_TRUE(inputs) << text(inputs);
  ASSERT_EQ(inputs->size(), 2u);
  EXPECT_EQ(describe((*inputs)[0].blocks), "f32[17, 2, 1, 2, 1, 1]");
  EXPECT_EQ((*inputs)[0].scales.data, nullptr);
  EXPECT_EQ(describe((*inputs)[1].blocks), "i8[17, 2, 3, 2, 2, 8]");
  EXPECT_EQ(describe((*inputs)[1].scales), "f32[17, 2, 3, 2, 2, 2]");
  EXPECT_EQ((*inputs)[0].lookupTable.data, (*inputs)[1].lookupTable.data);
  // Lengths that two caches share grow once.
  ASSERT_TRUE(manager->incrementCacheLengths(*inputs, Ints{0, 3, 8}));
  EXPECT_EQ(ints((*inputs)[1].cacheLengths), (Ints{3, 5}));
  EXPECT_EQ(ints((*inputs)[1].maxLengths), (Ints{1, 6}));
}

TEST(ParallelManager, SymbolicInputsNameReplicasAndShards) {
  auto names = [](const MultiKVCacheParams &params) {
    std::string result;
    for (const auto &device : make(params)->symbolicInputs())
      result += concat(device[0].name, " of ", device[0].shape[0].symbol, "; ",
                       device[2].name, " of ", device[2].shape[0].symbol, "\n");
    return result;
  };
  EXPECT_EQ(names(parallel(1, 1)),
            "kv.blocks of kv.pages; kv.lookup_table of kv.batch\n");
  EXPECT_EQ(names(parallel(2, 1)),
            "replica_0.kv.blocks of replica_0.kv.pages; "
            "replica_0.kv.lookup_table of replica_0.kv.batch\n"
            "replica_1.kv.blocks of replica_1.kv.pages; "
            "replica_1.kv.lookup_table of replica_1.kv.batch\n");
  EXPECT_EQ(names(parallel(1, 2)),
            "replica_0.shard_0.kv.blocks of replica_0.kv.pages; "
            "replica_0.shard_0.kv.lookup_table of replica_0.kv.batch\n"
            "replica_0.shard_1.kv.blocks of replica_0.kv.pages; "
            "replica_0.shard_1.kv.lookup_table of replica_0.kv.batch\n");
  Manager manager = make(parallel(2, 2));
  EXPECT_EQ(manager->symbolicInputs(3).size(), 3u);
  EXPECT_EQ(manager->symbolicInputs({}, 7)[0][0].shape[2].size, 7);
  // What runtimeInputs gives has these types, element by element.
  Requests requests(*manager, {{0, 3}, {1, 2}});
  auto inputs = manager->runtimeInputs(requests.batch);
  auto symbols = manager->symbolicInputs();
  ASSERT_EQ(inputs->size(), symbols.size());
  for (size_t i = 0; i < symbols.size(); ++i) {
    const RaggedKVCacheInputs &one = (*inputs)[i];
    const KvTensorView *views[] = {&one.blocks, &one.cacheLengths,
                                   &one.lookupTable, &one.maxLengths};
    ASSERT_EQ(symbols[i].size(), 4u);
    for (size_t j = 0; j < 4; ++j) {
      EXPECT_EQ(static_cast<int64_t>(symbols[i][j].dtype), views[j]->dtype);
      ASSERT_EQ(static_cast<int64_t>(symbols[i][j].shape.size()),
                views[j]->rank);
      for (int64_t d = 0; d < views[j]->rank; ++d) {
        const Dimension &dimension = symbols[i][j].shape[d];
        EXPECT_TRUE(!dimension.isStatic() ||
                    dimension.size == views[j]->sizes[d]);
      }
    }
  }
}

TEST(ParallelManager, DraftTokensReserveSlots) {
  // MAX: 3 tokens, pages of 4, 8 draft slots: 11 slots, 3 pages.
  KVCacheParams params = parallel(1, 1, 4);
  params.speculativeMethod = SpeculativeMethod::Eagle;
  params.numDraftTokens = 4;
  EXPECT_EQ(MultiKVCacheParams(params).draftSlots(), 8);
  Manager manager = make(params);
  Requests requests(*manager, {{0, 3}});
  EXPECT_EQ(manager->getReqBlocks(1)->size(), 3u);
  params.speculativeMethod = SpeculativeMethod::DFlash; // one more: a block
  EXPECT_EQ(MultiKVCacheParams(params).draftSlots(), 9);
  EXPECT_EQ(MultiKVCacheParams(parallel(1, 1)).draftSlots(), 0);
}

TEST(ParallelManager, Misuse) {
  Manager manager = make(parallel(2, 1));
  EXPECT_EQ(text(manager->claim(7)), "request 7 cannot be claimed without a "
                                     "replica, of which there are 2");
  EXPECT_EQ(text(manager->claim(7, 2)),
            "request 7 cannot be claimed on replica 2, allowed: 0 to 1");
  EXPECT_EQ(text(manager->claim(7, -1)),
            "request 7 cannot be claimed on replica -1, allowed: 0 to 1");
  EXPECT_FALSE(manager->contains(7));
  EXPECT_EQ(text(manager->getReplica(7)), "request 7 is not claimed");

  Requests requests(*manager, {{0, 3}, {1, 2}, {1, 4}});
  std::vector<const TextGenerationContext *> batch = requests.batch;
  std::swap(batch[0], batch[2]);
  std::string order = "the batch is not in the order of replicas: request 1 of "
                      "replica 0 comes after request 2 of replica 1";
  EXPECT_EQ(text(manager->runtimeInputs(batch)), order);
  EXPECT_EQ(text(manager->getDataParallelSplits(batch)), order);
  for (TextGenerationContext &context : requests.contexts)
    context.advance();
  EXPECT_EQ(text(manager->step(batch)), order);
  batch = {requests.batch[1], requests.batch[2], requests.batch[1]};
  EXPECT_EQ(text(manager->step(batch)), "request 2 is in the batch twice");
  // Nothing of a wrong batch was committed.
  ASSERT_TRUE(manager->release(2));
  Tokens again = iota(2, 200);
  again.push_back(0);
  TextGenerationContext context(2, again);
  ASSERT_TRUE(manager->claim(2, 1));
  EXPECT_EQ(manager->alloc(context)->cachedTokens, 0);
}

TEST(ParallelManager, DevicesMustFit) {
  auto error = [](KVCacheParams params, PagedKVCacheManager::Options options) {
    options.maxSeqLen = 8;
    options.numPages = 4;
    return text(PagedKVCacheManager::create(params, options));
  };
  Device one{Device::Kind::CPU, 1}, two{Device::Kind::CPU, 2};
  EXPECT_EQ(error(parallel(2, 1), {.devices = {one, two}}), "no error");
  EXPECT_EQ(error(parallel(2, 2), {.devices = {one, two}}),
            "cache manager: 2 devices are given, n_devices is 4");
  EXPECT_EQ(error(parallel(2, 1), {.devices = {two, two}}),
            "cache manager: the device cpu:2 is given twice");
  EXPECT_EQ(error(parallel(4, 1), {.maxBatchSize = 3}),
            "cache manager: maxBatchSize is 3, allowed: 4 to 1048576");
}

TEST(ParallelManager, PagesComeFromTheMemory) {
  auto pages = [](int64_t memory, int32_t maxBatch) {
    auto manager = PagedKVCacheManager::create(
        parallel(2, 1), {.maxBatchSize = maxBatch,
                         .maxSeqLen = 5,
                         .availableCacheMemory = memory});
    return manager ? std::to_string((*manager)->numPagesPerReplica())
                   : manager.error().message;
  };
  // 16 bytes a page, the null page too, and a request's lengths and tables.
  constexpr int64_t Tables = 2 * (64 + 24) * 4;
  EXPECT_EQ(pages(2 * (11 * 16 + 32 * Tables), 64), "10");
  EXPECT_EQ(pages(2 * (11 * 16 + 32 * Tables) - 1, 64), "9");
  EXPECT_EQ(pages(1 << 20, 4), "6"); // two requests of three pages
  EXPECT_EQ(pages(31, 4),
            "available_cache_memory is 31 bytes for 2 replicas, one page, the "
            "null page and the tables of a replica take 1440");
  EXPECT_EQ(pages(0, 4),
            "cache manager: numPages is 0, availableCacheMemory is 0 bytes, "
            "allowed: one of the two, the other 0");
}
