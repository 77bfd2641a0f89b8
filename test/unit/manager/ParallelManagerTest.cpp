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

} // namespace

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

TEST(ParallelManager, IncrementsTheLatestInputsOnly) {
  Manager manager = make(parallel(2, 2));
  Requests requests(*manager, {{0, 3}, {0, 5}, {1, 2}}, 3);
  auto inputs = manager->runtimeInputs(requests.batch, 3);
  ASSERT_TRUE(inputs) << text(inputs);
  auto error = [&](std::span<RaggedKVCacheInputs> given, const Ints &rows) {
    Ints before = ints((*inputs)[0].cacheLengths);
    std::string message = text(manager->incrementCacheLengths(given, rows));
    EXPECT_EQ(ints((*inputs)[0].cacheLengths), before);
    return message;
  };
  Ints offsets = {0, 1, 2, 3};
  EXPECT_EQ(error(inputs->first(2), offsets),
            "increment of cache lengths: 2 inputs are given, this manager's "
            "are 4");
  std::string late = "increment of cache lengths: input 0 is not of the latest "
                     "runtime inputs";
  std::vector<RaggedKVCacheInputs> swapped(inputs->begin(), inputs->end());
  std::swap(swapped[0], swapped[2]);
  EXPECT_EQ(error(swapped, offsets), late);
  // Those of an earlier step of the same loop.
  std::vector<RaggedKVCacheInputs> old(inputs->begin(), inputs->end());
  ASSERT_TRUE(manager->incrementCacheLengths(*inputs, Ints{0, 3, 8, 10}));
  EXPECT_EQ(error(old, offsets), late);
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
