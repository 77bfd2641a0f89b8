//===- PagedMemoryTest.cpp - Tables, copies and memory of a manager -------===//

#include "kv/Runtime/Manager/LoadKVCacheManager.h"

#include "FakeModel.h"
#include "Values.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>

using namespace kv;
using namespace kv::test;

/// CountingNew.cpp
extern std::atomic<int64_t> heapAllocations, heapFailsAfter;

namespace {

std::unique_ptr<PagedKVCacheManager>
make(const MultiKVCacheParams &params, PagedKVCacheManager::Options options) {
  auto manager = PagedKVCacheManager::create(params, options);
  EXPECT_TRUE(manager) << text(manager);
  return std::move(*manager);
}

const int32_t *ints(const KvTensorView &view) {
  return static_cast<const int32_t *>(view.data);
}

/// Where the bytes of a page begin, in any layout.
char *page(const KvTensorView &blocks, int64_t id) {
  return static_cast<char *>(blocks.data) +
         id * blocks.strides[0] * dtypeBytes(static_cast<DType>(blocks.dtype));
}

KVCacheParams named(const char *name, int64_t window) {
  KVCacheParams params = fakeParams(2);
  params.name = name;
  params.windowSize = window;
  return params;
}

} // namespace

TEST(PagedMemory, TheTablesOfTwoStepsStand) {
  auto manager = make(fakeParams(2), {.maxSeqLen = 16, .numPages = 8});
  Tokens a = iota(3), b = iota(4, 50);
  TextGenerationContext first(1, a), second(2, b);
  for (TextGenerationContext *context : {&first, &second}) {
    ASSERT_TRUE(manager->claim(context->id()));
    ASSERT_TRUE(manager->alloc(*context));
  }
  const TextGenerationContext *one[] = {&first}, *two[] = {&second};
  RaggedKVCacheInputs before = (*manager->runtimeInputs(one))[0];
  std::vector<int32_t> row(ints(before.lookupTable),
                           ints(before.lookupTable) + 2);
  RaggedKVCacheInputs after = (*manager->runtimeInputs(two))[0];
  EXPECT_NE(before.lookupTable.data, after.lookupTable.data);
  EXPECT_TRUE(std::ranges::equal(*manager->getReqBlocks(1), row));
  EXPECT_TRUE(std::equal(row.begin(), row.end(), ints(before.lookupTable)));
  EXPECT_EQ(ints(before.maxLengths)[0], 3);
  EXPECT_EQ(ints(after.maxLengths)[0], 4);
  // The third step uses the first one's memory again, and only that.
  EXPECT_EQ((*manager->runtimeInputs(one))[0].lookupTable.data,
            before.lookupTable.data);
  EXPECT_TRUE(std::ranges::equal(*manager->getReqBlocks(2),
                                 std::span(ints(after.lookupTable), 2)));
}

TEST(PagedMemory, EqualWindowsShareTables) {
  auto params = MultiKVCacheParams::fromParams(
      {named("full", 0), named("near", 4), named("draft", 0)});
  ASSERT_TRUE(params) << text(params);
  auto manager = make(*params, {.maxSeqLen = 32, .numPages = 32});
  EXPECT_EQ(manager->blocksFor(6), 6);   // three pages of each window
  EXPECT_EQ(manager->blocksFor(20), 13); // ten, and three at most
  Tokens tokens = iota(5);
  TextGenerationContext context(1, tokens);
  ASSERT_TRUE(manager->claim(1));
  EXPECT_EQ(manager->alloc(context)->newPages, 6);
  const TextGenerationContext *batch[] = {&context};
  auto inputs = *manager->runtimeInputs(batch);
  ASSERT_EQ(inputs.size(), 3u);
  EXPECT_EQ(inputs[0].lookupTable.data, inputs[2].lookupTable.data);
  EXPECT_NE(inputs[0].lookupTable.data, inputs[1].lookupTable.data);
  std::vector<int32_t> ids(ints(inputs[0].lookupTable),
                           ints(inputs[0].lookupTable) + 3);
  ids.insert(ids.end(), ints(inputs[1].lookupTable),
             ints(inputs[1].lookupTable) + 3);
  std::ranges::sort(ids);
  EXPECT_EQ(ids, (Tokens{1, 2, 3, 4, 5, 6}));
}

TEST(PagedMemory, ACopiedPageIsCopiedEverywhere) {
  KVCacheParams plain = fakeParams(4), quantized = fakeParams(4);
  quantized.name = "q";
  quantized.geometry = {.dtype = KV_DTYPE_I8,
                        .layers = 2,
                        .heads = 3,
                        .dim = 8,
                        .page = 4,
                        .layout = CacheLayout::CPU,
                        .scaleGroup = 4};
  plain.numDevices = quantized.numDevices = 2;
  auto params = MultiKVCacheParams::fromParams({plain, quantized});
  ASSERT_TRUE(params) << text(params);
  auto manager = make(*params, {.maxSeqLen = 16, .numPages = 8});
  Tokens tokens = iota(6);
  TextGenerationContext context(1, tokens);
  ASSERT_TRUE(manager->claim(1));
  ASSERT_TRUE(manager->alloc(context));
  const TextGenerationContext *batch[] = {&context};
  auto inputs = *manager->runtimeInputs(batch);
  ASSERT_EQ(inputs.size(), 4u);
  int32_t source = manager->getReqBlocks(1)->back();
  auto forEach = [&](auto fn) {
    int mark = 1;
    for (RaggedKVCacheInputs &one : inputs)
      for (const KvTensorView *view : {&one.blocks, &one.scales})
        if (view->data)
          fn(*view,
             view->strides[0] * dtypeBytes(static_cast<DType>(view->dtype)),
             mark++);
  };
  forEach([&](const KvTensorView &view, size_t bytes, int mark) {
    std::memset(page(view, source), mark, bytes);
  });
  context.advance();
  ASSERT_TRUE(manager->step(batch));

  ASSERT_TRUE(manager->fork(1, 2, 6));
  Tokens longer = iota(7);
  TextGenerationContext forked(2, longer);
  forked.skip(6);
  ASSERT_TRUE(manager->alloc(forked));
  int32_t target = manager->getReqBlocks(2)->back();
  ASSERT_NE(source, target);
  const TextGenerationContext *next[] = {&forked};
  ASSERT_TRUE(manager->runtimeInputs(next));
  int copies = 0;
  forEach([&](const KvTensorView &view, size_t bytes, int mark) {
    std::vector<char> expected(bytes, static_cast<char>(mark));
    EXPECT_EQ(std::memcmp(page(view, target), expected.data(), bytes), 0);
    // The null page and its neighbours are as they were.
    std::vector<char> zeros(bytes);
    EXPECT_EQ(std::memcmp(page(view, 0), zeros.data(), bytes), 0);
    EXPECT_EQ(std::memcmp(page(view, 8), zeros.data(), bytes), 0);
    ++copies;
  });
  EXPECT_EQ(copies, 6);
}

TEST(PagedMemory, NothingIsAllocatedAfterConstruction) {
  KVCacheParams params = fakeParams(2);
  params.numDevices = params.dataParallelDegree = 2;
  auto manager =
      make(params,
           {.maxBatchSize = 8, .maxSeqLen = 64, .numPages = 40, .maxSteps = 2});
  std::vector<Tokens> tokens;
  std::vector<TextGenerationContext> contexts;
  std::vector<const TextGenerationContext *> batch;
  for (int32_t i = 0; i < 8; ++i) {
    tokens.push_back(iota(9, 7 * (i % 3)));
    tokens.back().reserve(64);
  }
  contexts.reserve(8);
  batch.reserve(8);
  int64_t before = heapAllocations;
  for (int round = 0; round < 3; ++round) {
    for (int32_t i = 0; i < 8; ++i) {
      contexts.emplace_back(i, tokens[i]);
      contexts.back().limitActive(4);
      ASSERT_GE(manager->getOrRecommendReplica(contexts.back()), 0);
      ASSERT_TRUE(manager->claim(i, i / 4));
      batch.push_back(&contexts.back());
    }
    for (int step = 0; step < 6; ++step) {
      for (TextGenerationContext &context : contexts) {
        ASSERT_TRUE(manager->probe(context, 2));
        ASSERT_TRUE(manager->alloc(context, 2));
      }
      ASSERT_TRUE(manager->getDataParallelSplits(batch));
      ASSERT_TRUE(manager->runtimeInputs(batch, 2));
      for (int32_t i = 0; i < 8; ++i) {
        contexts[i].advance();
        if (contexts[i].active() == 0) {
          tokens[i].push_back(step);
          contexts[i].extend(tokens[i]);
        }
      }
      ASSERT_TRUE(manager->step(batch));
    }
    for (int32_t i = 0; i < 8; ++i)
      ASSERT_TRUE(manager->release(i));
    contexts.clear();
    batch.clear();
    manager->resetPrefixCache();
  }
  EXPECT_EQ(heapAllocations - before, 0);
  EXPECT_GT(manager->metrics().evictedPages, 0);
}

TEST(PagedMemory, EveryAllocationOfConstructionMayFail) {
  KVCacheParams paged = fakeParams(2), slots = fakeParams(2);
  paged.numDevices = paged.dataParallelDegree = 2;
  slots.geometry.strategy = CacheStrategy::Continuous;
  slots.enablePrefixCaching = false;
  for (const KVCacheParams &params : {paged, slots}) {
    MultiKVCacheParams given(params);
    PagedKVCacheManager::Options options = {
        .maxBatchSize = 4, .maxSeqLen = 2, .numPages = 4};
    int64_t failures = 0;
    for (;; ++failures) {
      heapFailsAfter = failures;
      auto made = loadKVCacheManager(given, options);
      bool wasRefused = heapFailsAfter < 0;
      heapFailsAfter = -1;
      if (made) {
        // The last allocation has been reached, and none was overlooked.
        EXPECT_FALSE(wasRefused);
        break;
      }
      ASSERT_EQ(made.error().code, KV_STATUS_OUT_OF_MEMORY);
    }
    EXPECT_GT(failures, 10);
  }
}

TEST(PagedMemory, APoolThatTheDeviceRefusesIsAnError) {
  KVCacheParams params = fakeParams(2);
  params.geometry.layers = 1 << 16;
  params.geometry.dim = 1 << 12; // 4 GiB a page
  EXPECT_EQ(text(PagedKVCacheManager::create(
                params, {.maxSeqLen = 16, .numPages = 1 << 16})),
            "the tensor f32[65537, 2, 65536, 2, 1, 4096]: device cpu:0: "
            "281479271677952 bytes asked for: Cannot allocate memory");
}

TEST(PagedMemory, OptionsAboutEngines) {
  std::vector<KVCacheParams> many;
  static const char *const Names[] = {"a", "b", "c", "d", "e",
                                      "f", "g", "h", "i"};
  for (int64_t window = 1; window <= 9; ++window)
    many.push_back(named(Names[window - 1], window));
  auto params = MultiKVCacheParams::fromParams(many);
  ASSERT_TRUE(params) << text(params);
  EXPECT_EQ(text(PagedKVCacheManager::create(
                *params, {.maxSeqLen = 16, .numPages = 64})),
            "cache manager: 9 different window sizes, at most 8 are allowed");
  EXPECT_EQ(text(PagedKVCacheManager::create(
                fakeParams(2),
                {.maxSeqLen = 16, .numPages = 8, .logs = {nullptr, nullptr}})),
            "cache manager: 2 logs are given, allowed: none, or 1");
  struct Counting : CommandSink {
    void command(const Command &) override { ++count; }
    int count = 0;
  } sink;
  auto manager =
      make(fakeParams(2), {.maxSeqLen = 16, .numPages = 8, .logs = {&sink}});
  Tokens tokens = iota(3);
  TextGenerationContext context(1, tokens);
  ASSERT_TRUE(manager->claim(1));
  ASSERT_TRUE(manager->alloc(context));
  EXPECT_GT(sink.count, 0);
}
