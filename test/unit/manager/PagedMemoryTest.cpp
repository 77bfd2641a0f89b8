//===- PagedMemoryTest.cpp - Tables, copies and memory of a manager -------===//

#include "kv/Runtime/Manager/LoadKVCacheManager.h"

#include "test/unit/FakeModel.h"
#include "test/unit/Values.h"

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
  params.geometry.window = window;
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
  auto manager = make(
      *params,
      {.maxSeqLen = 32, .numPages = 32, .maxSteps = 1, .maxChunkTokens = 5});
  EXPECT_EQ(manager->blocksFor(5), 6); // three pages of each window
  // Ten, and those of a window of four tokens and a chunk of five.
  EXPECT_EQ(manager->blocksFor(20), 15);
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

namespace {

/// 6 layers of a window in bands of 2, and 2 full layers, of one row's length;
/// and a quantized draft with the same window.
MultiKVCacheParams banded() {
  KVCacheParams full = named("full", 0), near = named("near", 4);
  full.geometry.layers = 2;
  near.geometry.layers = 6;
  near.geometry.pageLayers = 2;
  KVCacheParams draft = named("draft", 4);
  draft.geometry = {.dtype = KV_DTYPE_I8,
                    .layers = 3,
                    .heads = 1,
                    .dim = 4,
                    .page = 2,
                    .scaleGroup = 4,
                    .window = 4,
                    .pageLayers = 2};
  return *MultiKVCacheParams::fromParams({full, near, draft});
}

} // namespace

TEST(PagedMemory, RowsOfEqualLengthShareASlab) {
  MultiKVCacheParams params = banded();
  PoolLayout layout = PoolLayout::of(params);
  // full: [P + 1, 2, 2, 2, 1, 1] f32, as near and the draft's scales and, by
  // chance, its blocks: 32 bytes. The window has three of them, full one.
  EXPECT_EQ(layout.slabs, (std::vector<int64_t>{32, 32, 32}));
  EXPECT_EQ(params.bytesPerPage(), 96);
  ASSERT_EQ(layout.numGroups(), 4);
  using Slabs = std::vector<int32_t>;
  auto group = [&](int32_t at) { return layout.groups[at]; };
  EXPECT_EQ(group(0).window, 0);
  EXPECT_EQ(group(0).slabs, (Slabs{0}));
  for (int32_t band = 0; band < 3; ++band) {
    EXPECT_EQ(group(1 + band).window, 4);
    EXPECT_EQ(group(1 + band).band, band);
    // The draft has layers in the first two bands only.
    EXPECT_EQ(group(1 + band).slabs, (band < 2 ? Slabs{0, 1, 2} : Slabs{0}));
  }
  // near and draft differ in bands, so each has a table.
  ASSERT_EQ(layout.tables.size(), 3u);
  EXPECT_EQ(layout.tables[1].bands, 3);
  EXPECT_EQ(layout.tables[2].bands, 2);
  EXPECT_EQ(layout.tables[2].firstGroup, 1);
  EXPECT_EQ(layout.mainGroup(), 0);

  // Other lengths get slabs of their own.
  params.params[0].geometry.layers = 1;
  EXPECT_EQ(params.bytesPerPage(), 16 + 96);
  // A continuous cache gives nothing back: each collection has its slots.
  for (KVCacheParams &one : params.params) {
    one.enablePrefixCaching = false;
    one.geometry.strategy = CacheStrategy::Continuous;
    one.geometry.pageLayers = 0;
  }
  ASSERT_TRUE(params.validate()) << text(params.validate());
  EXPECT_EQ(params.bytesPerPage(), 16 + 96 + 48 + 48);
}

TEST(PagedMemory, TablesHaveASegmentABand) {
  MultiKVCacheParams params = banded();
  auto manager = make(params, {.maxSeqLen = 16, .numPages = 40});
  Tokens tokens = iota(5);
  TextGenerationContext context(1, tokens);
  ASSERT_TRUE(manager->claim(1));
  EXPECT_EQ(manager->alloc(context)->newPages, 3 * 4);
  const TextGenerationContext *batch[] = {&context};
  auto inputs = *manager->runtimeInputs(batch);
  EXPECT_EQ(describe(inputs[0].blocks), "f32[41, 2, 2, 2, 1, 1]");
  EXPECT_EQ(describe(inputs[1].blocks), "f32[41, 2, 2, 2, 1, 1]");
  EXPECT_EQ(describe(inputs[2].blocks), "i8[41, 2, 2, 2, 1, 4]");
  EXPECT_EQ(describe(inputs[2].scales), "f32[41, 2, 2, 2, 1, 1]");
  EXPECT_EQ(inputs[0].blocks.data, inputs[1].blocks.data);
  EXPECT_NE(inputs[1].blocks.data, inputs[2].blocks.data);
  int64_t segment = PagedKVCacheManager::tablePitch(8);
  EXPECT_EQ(inputs[0].lookupTable.sizes[1], segment);
  EXPECT_EQ(inputs[1].lookupTable.sizes[1], 3 * segment);
  EXPECT_EQ(inputs[2].lookupTable.sizes[1], 2 * segment);
  auto ids = [&](int32_t input, int32_t band) {
    const int32_t *row = ints(inputs[input].lookupTable) + band * segment;
    EXPECT_EQ(row[3], 0); // and the rest of the segment
    return std::vector<int32_t>(row, row + 3);
  };
  // Every page is in one row only, but those that two collections share.
  std::vector<int32_t> all = ids(0, 0);
  for (int32_t band = 0; band < 3; ++band)
    std::ranges::copy(ids(1, band), std::back_inserter(all));
  std::ranges::sort(all);
  EXPECT_EQ(all, iota(12, 1));
  EXPECT_EQ(ids(2, 0), ids(1, 0));
  EXPECT_EQ(ids(2, 1), ids(1, 1));
  EXPECT_TRUE(std::ranges::equal(*manager->getReqBlocks(1), ids(0, 0)));
}

TEST(PagedMemory, APageThatAWindowHasPassedServesAnyone) {
  MultiKVCacheParams params = banded();
  auto manager = make(params, {.maxSeqLen = 16,
                               .numPages = 20,
                               .maxSteps = 1,
                               .maxChunkTokens = 2,
                               .enableRuntimeChecks = true});
  // 8 pages of full, and three bands of at most three pages at once.
  ASSERT_EQ(manager->blocksFor(16), 8 + 3 * 3);
  Tokens tokens = iota(16);
  TextGenerationContext context(1, tokens);
  context.setReusesPrefix(false);
  context.limitActive(2);
  ASSERT_TRUE(manager->claim(1));
  std::vector<int32_t> windows, passed;
  while (context.active() > 0) {
    ASSERT_TRUE(manager->alloc(context));
    const TextGenerationContext *batch[] = {&context};
    auto inputs = *manager->runtimeInputs(batch);
    int64_t segment = inputs[0].lookupTable.sizes[1];
    for (int32_t band = 0; band < 3; ++band)
      windows.push_back(ints(
          inputs[1].lookupTable)[band * segment + context.processed() / 2]);
    context.advance();
    ASSERT_TRUE(manager->step(batch));
  }
  std::span<const int32_t> pages = *manager->getReqBlocks(1);
  EXPECT_EQ(pages.size(), 8u);
  for (int32_t page : pages)
    if (std::ranges::find(windows, page) != windows.end())
      passed.push_back(page);
  EXPECT_FALSE(passed.empty());
  // Nothing beyond what was promised has been held.
  EXPECT_LE(manager->metrics().peakUsedPages, 17);
}

TEST(PagedMemory, ACopyTouchesItsGroupsBytesOnly) {
  MultiKVCacheParams params = banded();
  auto manager = make(params, {.maxSeqLen = 16, .numPages = 20});
  Tokens tokens = iota(3);
  TextGenerationContext context(1, tokens);
  ASSERT_TRUE(manager->claim(1));
  ASSERT_TRUE(manager->alloc(context));
  const TextGenerationContext *batch[] = {&context};
  auto inputs = *manager->runtimeInputs(batch);
  int64_t segment = inputs[0].lookupTable.sizes[1];
  // Row `page` of each of the three slabs, which all have 32 bytes.
  const KvTensorView slabs[] = {inputs[0].blocks, inputs[2].blocks,
                                inputs[2].scales};
  for (const KvTensorView &slab : slabs)
    for (int32_t id = 1; id <= 20; ++id)
      std::memset(page(slab, id), id, 32);
  /// The second page of each group: full, and the window's bands.
  auto seconds = [&](std::span<RaggedKVCacheInputs> of) {
    std::vector<int32_t> ids = {ints(of[0].lookupTable)[1]};
    for (int32_t band = 0; band < 3; ++band)
      ids.push_back(ints(of[1].lookupTable)[band * segment + 1]);
    return ids;
  };
  std::vector<int32_t> sources = seconds(inputs);
  context.advance();
  ASSERT_TRUE(manager->step(batch));
  ASSERT_TRUE(manager->fork(1, 2, 3));
  Tokens longer = iota(4);
  TextGenerationContext forked(2, longer);
  forked.skip(3);
  ASSERT_TRUE(manager->alloc(forked));
  const TextGenerationContext *next[] = {&forked};
  std::vector<int32_t> targets = seconds(*manager->runtimeInputs(next));
  for (size_t group = 0; group < targets.size(); ++group)
    for (size_t slab = 0; slab < 3; ++slab) {
      // Bands 0 and 1 of the window are in all slabs, the others in the first.
      bool isOfGroup = slab == 0 || group == 1 || group == 2;
      int32_t expected = isOfGroup ? sources[group] : targets[group];
      EXPECT_NE(sources[group], targets[group]);
      EXPECT_EQ(*page(slabs[slab], targets[group]), expected)
          << "group " << group << " slab " << slab;
      EXPECT_EQ(*page(slabs[slab], 0), 0);
    }
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
            "a slab of 65537 rows of 4294967296 bytes: device cpu:0: "
            "281479271677952 bytes asked for: Cannot allocate memory");
}

TEST(PagedMemory, OptionsAboutEngines) {
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
