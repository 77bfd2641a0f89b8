//===- PagedKVCacheManagerTest.cpp ----------------------------------------===//

#include "kv/Runtime/Manager/PagedKVCacheManager.h"

#include "test/unit/FakeModel.h"
#include "test/unit/Values.h"

#include <gtest/gtest.h>

using namespace kv;
using namespace kv::test;

namespace {

using Reason = AllocationError::Reason;
using Manager = std::unique_ptr<PagedKVCacheManager>;

Manager make(int64_t pageSize, int64_t pages,
             PagedKVCacheManager::Options options = {}) {
  options.numPages = pages;
  if (options.maxSeqLen == 0)
    options.maxSeqLen = 1024;
  options.maxSteps = 8;
  options.enableRuntimeChecks = true;
  auto manager = PagedKVCacheManager::create(fakeParams(pageSize), options);
  EXPECT_TRUE(manager) << manager.error().message;
  return std::move(*manager);
}

/// Computes all that is active and commits it.
void compute(PagedKVCacheManager &manager, TextGenerationContext &context) {
  const TextGenerationContext *batch[] = {&context};
  auto inputs = manager.runtimeInputs(batch);
  ASSERT_TRUE(inputs) << inputs.error().message;
  context.advance();
  auto done = manager.step(batch);
  ASSERT_TRUE(done) << done.error().message;
}

int64_t serve(PagedKVCacheManager &manager, RequestId id,
              const Tokens &tokens) {
  EXPECT_TRUE(manager.claim(id));
  TextGenerationContext context(id, tokens);
  auto allocated = manager.alloc(context);
  EXPECT_TRUE(allocated) << allocated.error().error.message;
  compute(manager, context);
  EXPECT_TRUE(manager.release(id));
  return allocated->cachedTokens;
}

const int32_t *ints(const KvTensorView &view) {
  return static_cast<const int32_t *>(view.data);
}

class PageSizes : public testing::TestWithParam<int> {};

} // namespace

TEST_P(PageSizes, ReusesFullPagesAndComputesAtLeastOneToken) {
  int page = GetParam();
  Manager manager = make(page, 64);
  Tokens tokens = iota(3 * page);
  EXPECT_EQ(serve(*manager, 1, tokens), 0);
  EXPECT_EQ(serve(*manager, 2, tokens), 2 * page);
  tokens.push_back(7);
  EXPECT_EQ(serve(*manager, 3, tokens), 3 * page);
  tokens[2 * page] = 900; // the third page differs
  EXPECT_EQ(serve(*manager, 4, tokens), 2 * page);
  // A prefix that ends within a page shares only the pages before it.
  EXPECT_EQ(serve(*manager, 5, iota(2 * page)), page);
  EXPECT_EQ(manager->numFreeBlocks(), 64);
  EXPECT_EQ(manager->metrics().cachedTokens, 8 * page);
}

INSTANTIATE_TEST_SUITE_P(All, PageSizes, testing::Values(1, 3, 16, 128));

TEST(PagedKVCacheManager, RuntimeInputs) {
  PagedKVCacheManager::Options options;
  options.maxSeqLen = 36; // 9 pages: 16 entries and 16 of slack
  Manager manager = make(4, 9, options);
  Tokens a = iota(6), b = iota(3, 100);
  TextGenerationContext first(1, a), second(2, b);
  for (TextGenerationContext *context : {&first, &second}) {
    ASSERT_TRUE(manager->claim(context->id()));
    ASSERT_TRUE(manager->alloc(*context));
  }
  compute(*manager, first);
  a.push_back(50);
  first = TextGenerationContext(1, a);
  first.skip(6);
  ASSERT_TRUE(manager->alloc(first, 3)); // 9 tokens: a third page
  ASSERT_TRUE(manager->alloc(second, 3));

  const TextGenerationContext *batch[] = {&second, &first};
  auto inputs = manager->runtimeInputs(batch, 3);
  ASSERT_TRUE(inputs) << inputs.error().message;
  EXPECT_EQ(describe((*inputs)[0].blocks), "f32[10, 2, 1, 4, 1, 1]");
  EXPECT_EQ(describe((*inputs)[0].cacheLengths), "i32[2]");
  EXPECT_EQ(describe((*inputs)[0].lookupTable), "i32[2, 32]");
  EXPECT_EQ(describe((*inputs)[0].maxLengths), "i32[3, 2]");
  EXPECT_EQ(ints((*inputs)[0].cacheLengths)[0], 0);
  EXPECT_EQ(ints((*inputs)[0].cacheLengths)[1], 6);
  std::vector<int32_t> table(ints((*inputs)[0].lookupTable),
                             ints((*inputs)[0].lookupTable) + 64);
  std::vector<int32_t> expected(64);
  std::span<const int32_t> secondPages = *manager->getReqBlocks(2);
  std::span<const int32_t> firstPages = *manager->getReqBlocks(1);
  ASSERT_EQ(secondPages.size(), 2u);
  ASSERT_EQ(firstPages.size(), 3u);
  std::ranges::copy(secondPages, expected.begin());
  std::ranges::copy(firstPages, expected.begin() + 32);
  EXPECT_EQ(table, expected);
  std::vector<int32_t> maxima(ints((*inputs)[0].maxLengths),
                              ints((*inputs)[0].maxLengths) + 6);
  EXPECT_EQ(maxima, (std::vector<int32_t>{3, 7, 1, 8, 1, 9}));
}

TEST(PagedKVCacheManager, StaleTableEntriesAreCleared) {
  Manager manager = make(1, 16);
  Tokens longer = iota(9), shorter = iota(2, 50);
  TextGenerationContext a(1, longer), b(2, shorter);
  ASSERT_TRUE(manager->claim(1));
  ASSERT_TRUE(manager->alloc(a));
  compute(*manager, a);
  ASSERT_TRUE(manager->claim(2));
  ASSERT_TRUE(manager->alloc(b));
  const TextGenerationContext *batch[] = {&b};
  auto inputs = manager->runtimeInputs(batch);
  ASSERT_TRUE(inputs);
  for (int64_t i = 2; i < (*inputs)[0].lookupTable.sizes[1]; ++i)
    EXPECT_EQ(ints((*inputs)[0].lookupTable)[i], 0);
}

TEST(PagedKVCacheManager, TheNullPageIsZeroAndNeverGivenOut) {
  Manager manager = make(2, 3);
  Tokens tokens = iota(6);
  TextGenerationContext context(1, tokens);
  ASSERT_TRUE(manager->claim(1));
  ASSERT_TRUE(manager->alloc(context));
  std::span<const int32_t> pages = *manager->getReqBlocks(1);
  for (int32_t page : pages)
    EXPECT_GT(page, 0) << "the null page";
  const TextGenerationContext *batch[] = {&context};
  auto inputs = manager->runtimeInputs(batch);
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(static_cast<float *>((*inputs)[0].blocks.data)[i], 0.0f);
}

TEST(PagedKVCacheManager, ARefusedReservationLeavesEverythingUntouched) {
  Manager manager = make(1, 6);
  serve(*manager, 1, iota(3)); // three cached pages
  Tokens busyTokens = iota(2, 100);
  TextGenerationContext busy(2, busyTokens);
  ASSERT_TRUE(manager->claim(2));
  ASSERT_TRUE(manager->alloc(busy));
  KVCacheMetrics before = manager->metrics();

  Tokens tokens = iota(6);
  TextGenerationContext context(3, tokens);
  ASSERT_TRUE(manager->claim(3));
  auto refused = manager->alloc(context);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, Reason::Full);
  EXPECT_EQ(refused.error().error.message,
            "request 3 needs 6 more pages, 4 of 6 are free");
  EXPECT_EQ(context.processed(), 0);
  EXPECT_TRUE(manager->getReqBlocks(3)->empty());
  EXPECT_EQ(manager->numFreeBlocks(), 4);
  EXPECT_EQ(manager->metrics().inputTokens, before.inputTokens);
  EXPECT_EQ(manager->metrics().cachedTokens, before.cachedTokens);
  EXPECT_EQ(manager->metrics().evictedPages, 0);

  ASSERT_TRUE(manager->release(2));
  auto allocated = manager->alloc(context);
  ASSERT_TRUE(allocated);
  EXPECT_EQ(allocated->cachedTokens, 3);
  EXPECT_EQ(context.processed(), 3);
}

TEST(PagedKVCacheManager, SaysWhatNeverFits) {
  PagedKVCacheManager::Options options;
  options.maxSeqLen = 20;
  Manager manager = make(2, 4, options);
  ASSERT_TRUE(manager->claim(1));
  Tokens tokens = iota(9);
  TextGenerationContext context(1, tokens);
  context.limitActive(2); // all chunks count
  auto refused = manager->alloc(context);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, Reason::NeverFits);
  EXPECT_EQ(refused.error().error.message,
            "request 1 needs 5 pages of 2 tokens, the pool has 4");
  tokens = iota(21);
  context = TextGenerationContext(1, tokens);
  refused = manager->alloc(context);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, Reason::NeverFits);
  EXPECT_EQ(refused.error().error.message, "request 1 needs room for 21 "
                                           "tokens, the longest sequence is "
                                           "20");
}

TEST(PagedKVCacheManager, EvictsTheLeafFirst) {
  Manager manager = make(1, 4);
  serve(*manager, 1, iota(3));      // pages of 0, 1, 2
  serve(*manager, 2, iota(2, 100)); // evicts the page of 2
  EXPECT_EQ(manager->metrics().evictedPages, 1);
  EXPECT_EQ(serve(*manager, 3, iota(3)), 2);
}

TEST(PagedKVCacheManager, ReleaseWithoutStepCommitsNothing) {
  Manager manager = make(2, 8);
  Tokens tokens = iota(6);
  TextGenerationContext context(1, tokens);
  ASSERT_TRUE(manager->claim(1));
  ASSERT_TRUE(manager->alloc(context));
  const TextGenerationContext *batch[] = {&context};
  ASSERT_TRUE(manager->runtimeInputs(batch));
  ASSERT_TRUE(manager->release(1));
  EXPECT_EQ(manager->numFreeBlocks(), 8);
  EXPECT_EQ(serve(*manager, 2, tokens), 0);
}

TEST(PagedKVCacheManager, ChunksReserveWhatTheyCompute) {
  Manager manager = make(2, 8);
  Tokens tokens = iota(10);
  serve(*manager, 1, iota(5));
  TextGenerationContext context(2, tokens);
  ASSERT_TRUE(manager->claim(2));
  context.limitActive(3);
  ASSERT_TRUE(manager->alloc(context)); // 4 from the cache, 3 to compute
  EXPECT_EQ(context.processed(), 4);
  EXPECT_EQ(context.active(), 3);
  EXPECT_EQ(manager->getReqBlocks(2)->size(), 4u);
  compute(*manager, context);
  ASSERT_TRUE(manager->alloc(context));
  EXPECT_EQ(context.processed(), 7);
  EXPECT_EQ(manager->getReqBlocks(2)->size(), 5u);
  compute(*manager, context);
  EXPECT_EQ(context.processed(), 10);
}

TEST(PagedKVCacheManager, ResetForgetsPrefixes) {
  Manager manager = make(1, 16);
  Tokens tokens = iota(5);
  EXPECT_EQ(serve(*manager, 1, tokens), 0);
  EXPECT_EQ(serve(*manager, 2, tokens), 4);
  manager->resetPrefixCache();
  EXPECT_EQ(serve(*manager, 3, tokens), 0);
  EXPECT_EQ(serve(*manager, 4, tokens), 4);
  manager->resetMetrics();
  EXPECT_EQ(manager->metrics().cachedTokens, 0);
  EXPECT_EQ(manager->metrics().evictedPages, 0);
}

TEST(PagedKVCacheManager, PrefixCachingCanBeOffForAllOrForOne) {
  PagedKVCacheManager::Options options;
  KVCacheParams params = fakeParams(1);
  params.enablePrefixCaching = false;
  options.numPages = 16;
  options.maxSeqLen = 64;
  Manager off = *PagedKVCacheManager::create(params, options);
  serve(*off, 1, iota(5));
  EXPECT_EQ(serve(*off, 2, iota(5)), 0);

  Manager on = make(1, 16);
  Tokens tokens = iota(5);
  serve(*on, 1, tokens);
  TextGenerationContext context(2, tokens);
  context.setReusesPrefix(false);
  ASSERT_TRUE(on->claim(2));
  EXPECT_EQ(on->alloc(context)->cachedTokens, 0);
}

TEST(PagedKVCacheManager, FreeAndUsedAddUp) {
  Manager manager = make(2, 8);
  EXPECT_EQ(manager->freeBlocksPct(), 1.0);
  Tokens tokens = iota(4);
  TextGenerationContext context(1, tokens);
  ASSERT_TRUE(manager->claim(1));
  ASSERT_TRUE(manager->alloc(context));
  EXPECT_EQ(manager->numFreeBlocks(), 6);
  EXPECT_EQ(manager->totalNumPages(), 8);
  EXPECT_EQ(manager->freeBlocksPct(), 0.75);
  EXPECT_EQ(manager->usedBlocksPct(), 0.25);
  // Nine pages, and lengths and tables of two steps for 16 requests.
  EXPECT_EQ(manager->poolBytes(), 9 * 2 * 2 * 4 + 2 * 16 * (8 + 24) * 4);
  EXPECT_EQ(manager->metrics().peakUsedPages, 2);
}

TEST(PagedKVCacheManager, AsManySnapshotsAsAllowed) {
  for (auto [snapshots, isGood] :
       {std::pair(1 << 20, true), {(1 << 20) + 1, false}, {-2, false}}) {
    auto made = PagedKVCacheManager::create(
        fakeParams(2),
        {.maxSeqLen = 16, .numPages = 8, .snapshots = snapshots});
    EXPECT_EQ(made.has_value(), isGood) << snapshots;
  }
}

TEST(PagedKVCacheManager, Misuse) {
  PagedKVCacheManager::Options options;
  options.maxBatchSize = 2;
  Manager manager = make(2, 8, options);
  auto text = [](const auto &result) {
    return result ? "no error" : result.error().message;
  };
  Tokens tokens = iota(4);
  tokens.reserve(5); // contexts look at this memory
  TextGenerationContext context(1, tokens);
  const TextGenerationContext *batch[] = {&context};
  EXPECT_EQ(text(manager->release(1)), "request 1 is not claimed");
  EXPECT_EQ(text(manager->getReqBlocks(1)), "request 1 is not claimed");
  EXPECT_TRUE(manager->probe(context)->fits); // needs no claim
  EXPECT_EQ(text(manager->runtimeInputs(batch)), "request 1 is not claimed");
  EXPECT_EQ(text(manager->step(batch)), "request 1 is not claimed");
  EXPECT_EQ(manager->alloc(context).error().reason, Reason::Invalid);
  ASSERT_TRUE(manager->claim(1));
  EXPECT_EQ(text(manager->claim(1)), "request 1 is claimed already");
  ASSERT_TRUE(manager->claim(2));
  EXPECT_EQ(text(manager->claim(3)), "request 3 cannot be claimed: all 2 "
                                     "sequence slots are in use");
  EXPECT_EQ(text(manager->runtimeInputs(batch)),
            "request 1 needs room for 4 tokens in this step, 0 are reserved "
            "(is a call of alloc missing?)");
  EXPECT_EQ(manager->alloc(context, 9).error().error.message,
            "request 1: 9 steps, allowed: 1 to maxSteps = 8");
  ASSERT_TRUE(manager->alloc(context));
  context.advance();
  EXPECT_EQ(manager->alloc(context).error().error.message,
            "request 1 has no token to compute");
  tokens.push_back(1);
  TextGenerationContext ahead(1, tokens);
  ahead.skip(4);
  EXPECT_EQ(manager->alloc(ahead).error().error.message,
            "request 1: its context has processed 4 tokens, its cache holds 0 "
            "(is a call of step missing?)");
  ASSERT_TRUE(manager->step(batch));
  TextGenerationContext behind(1, tokens);
  const TextGenerationContext *wrong[] = {&behind};
  EXPECT_EQ(text(manager->step(wrong)), "request 1: its context has processed "
                                        "0 tokens, allowed: 4 to 4");
}

// What cannot be served at all is refused at once where memory decides, and
// said where pages are given; that some requests will wait is only said.
TEST(PagedKVCacheManager, ThePoolHoldsTheLongestSequence) {
  std::vector<std::string> warnings;
  PagedKVCacheManager::Options options;
  options.maxBatchSize = 3;
  options.maxSeqLen = 10; // 5 pages
  options.warn = [&](std::string_view text) { warnings.emplace_back(text); };
  auto create = [&](int64_t pages, int64_t bytes, int64_t drafts = 0) {
    KVCacheParams params = fakeParams(2);
    params.speculativeMethod = SpeculativeMethod::MTP;
    params.numDraftTokens = drafts;
    options.numPages = pages;
    options.availableCacheMemory = bytes;
    warnings.clear();
    return text(PagedKVCacheManager::create(params, options));
  };
  int64_t page = fakeParams(2).bytesPerPage();
  EXPECT_EQ(create(15, 0), "no error");
  EXPECT_TRUE(warnings.empty());
  EXPECT_EQ(create(14, 0), "no error");
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0],
            "cache manager: 3 sequences of maxSeqLen = 10 tokens need 5 pages "
            "each, the pool of a replica has 14 pages of 2 tokens: some of "
            "them will have to wait");
  EXPECT_EQ(create(4, 0), "no error");
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0],
            "cache manager: a sequence of maxSeqLen = 10 tokens needs 5 pages, "
            "the pool of a replica has 4 pages of 2 tokens: longer requests "
            "are refused");
  // The null page, and lengths and tables of two steps for three requests.
  int64_t beside = page + 2 * 3 * (64 + 24) * 4;
  EXPECT_EQ(create(0, beside + 4 * page),
            concat("cache manager: a sequence of maxSeqLen = 10 tokens needs 5 "
                   "pages, the pool of a replica has 4 pages of 2 tokens: "
                   "lower maxSeqLen or raise availableCacheMemory from ",
                   beside + 4 * page, " bytes"));
  EXPECT_EQ(create(0, beside + 15 * page), "no error");
  EXPECT_TRUE(warnings.empty());
  // Draft slots need pages, too: 10 tokens and 2 of them, and 1 of a block.
  EXPECT_EQ(create(6, 0, 1), "no error");
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_TRUE(warnings[0].starts_with(
      "cache manager: a sequence of maxSeqLen = 10 tokens needs 7 pages"))
      << warnings[0];
}

// As in the pages: two replicas, ten steps, and nothing else said.
TEST(PagedKVCacheManager, TheExampleOfThePagesRunsAsItStands) {
  KVCacheParams params = {.geometry = {.layers = 2, .heads = 2, .dim = 8},
                          .numDevices = 2,
                          .dataParallelDegree = 2,
                          .enablePrefixCaching = true};
  auto made = PagedKVCacheManager::create(
      params, {.maxSeqLen = 1024, .availableCacheMemory = 64 << 20});
  ASSERT_TRUE(made) << text(made);
  PagedKVCacheManager &manager = **made;
  Tokens first = iota(200), second = iota(130, 1000);
  first.reserve(201);
  second.reserve(131);
  TextGenerationContext one(1, first), two(2, second);
  const TextGenerationContext *batch[] = {&one, &two};
  ASSERT_TRUE(manager.claim(1, 0));
  ASSERT_TRUE(manager.claim(2, 1));
  EXPECT_EQ(manager.alloc(one, 10)->newPages, 2);
  EXPECT_EQ(manager.alloc(two, 10)->newPages, 2);
  auto inputs = manager.runtimeInputs(batch, 10);
  ASSERT_TRUE(inputs) << text(inputs);
  EXPECT_EQ(inputs->size(), 2u);
  first.push_back(42);
  second.push_back(42);
  one.update(first);
  two.update(second);
  ASSERT_TRUE(manager.step(batch));
  ASSERT_TRUE(manager.release(1));
  ASSERT_TRUE(manager.release(2));
  EXPECT_EQ(text(manager.runtimeInputs({}, 65)),
            "runtime inputs of 65 steps, allowed: 1 to maxSteps = 64");
}

TEST(PagedKVCacheManager, ManyIdsInFewSlots) {
  PagedKVCacheManager::Options options;
  options.maxBatchSize = 5;
  Manager manager = make(2, 8, options);
  std::vector<RequestId> claimed;
  uint64_t state = 1;
  for (int step = 0; step < 5000; ++step) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    if (claimed.size() == 5 || (claimed.size() && (state >> 40) % 2)) {
      size_t at = (state >> 50) % claimed.size();
      ASSERT_TRUE(manager->release(claimed[at]));
      ASSERT_FALSE(manager->contains(claimed[at]));
      claimed.erase(claimed.begin() + at);
    } else {
      ASSERT_TRUE(manager->claim(state));
      claimed.push_back(state);
    }
    for (RequestId id : claimed)
      ASSERT_TRUE(manager->contains(id));
  }
}

TEST(PagedKVCacheManager, Options) {
  auto text = [](KVCacheParams params, PagedKVCacheManager::Options options) {
    auto made = PagedKVCacheManager::create(params, options);
    return made ? "no error" : made.error().message;
  };
  PagedKVCacheManager::Options good = {.maxSeqLen = 8, .numPages = 4};
  EXPECT_EQ(text(fakeParams(2), good), "no error");
  PagedKVCacheManager::Options bad = good;
  bad.numPages = -1;
  EXPECT_EQ(text(fakeParams(2), bad),
            "cache manager: numPages is -1, allowed: 1 to 1073741823");
  bad.numPages = 0;
  EXPECT_EQ(text(fakeParams(2), bad),
            "cache manager: numPages is 0, availableCacheMemory is 0 bytes, "
            "allowed: one of the two, the other 0");
  bad = good;
  bad.availableCacheMemory = 4096;
  EXPECT_EQ(text(fakeParams(2), bad),
            "cache manager: numPages is 4, availableCacheMemory is 4096 bytes, "
            "allowed: one of the two, the other 0");
  bad = good;
  bad.maxSteps = 0;
  EXPECT_EQ(text(fakeParams(2), bad),
            "cache manager: maxSteps is 0, allowed: 1 to 1048576");
  bad = good;
  bad.maxBatchSize = 0;
  EXPECT_EQ(text(fakeParams(2), bad),
            "cache manager: maxBatchSize is 0, allowed: 1 to 1048576");
  KVCacheParams params = fakeParams(0);
  EXPECT_EQ(text(params, good),
            "collection kv: 'page' must be positive, not 0");
  params = fakeParams(2);
  params.geometry.strategy = CacheStrategy::Continuous;
  params.enablePrefixCaching = false;
  EXPECT_EQ(
      text(params, good),
      "collection kv: strategy is continuous, this cache manager needs paged");
}
