//===- PagedStatesTest.cpp - Recurrent collections of a manager -----------===//

#include "kv/Runtime/Manager/PagedKVCacheManager.h"

#include "test/unit/Values.h"

#include <gtest/gtest.h>

using namespace kv;
using namespace kv::test;

namespace {

constexpr int64_t Page = 4;

KVCacheParams paged() {
  return {.name = "kv",
          .geometry = {.dtype = KV_DTYPE_F32,
                       .layers = 1,
                       .heads = 1,
                       .dim = 8,
                       .page = Page},
          .enablePrefixCaching = true};
}

KVCacheParams recurrent(std::string name, int64_t heads) {
  KVCacheParams params = paged();
  params.name = std::move(name);
  params.geometry = {.strategy = CacheStrategy::Recurrent,
                     .dtype = KV_DTYPE_F32,
                     .layers = 3,
                     .heads = heads,
                     .dim = 2,
                     .page = Page};
  return params;
}

MultiKVCacheParams hybrid() {
  MultiKVCacheParams all = paged();
  all.params.push_back(recurrent("conv", 3));
  all.params.push_back(recurrent("state", 5));
  return all;
}

std::unique_ptr<PagedKVCacheManager>
make(PagedKVCacheManager::Options options) {
  options.maxSeqLen = 64;
  options.enableRuntimeChecks = true;
  auto manager = PagedKVCacheManager::create(hybrid(), options);
  EXPECT_TRUE(manager) << text(manager);
  return std::move(*manager);
}

/// One step of all that `context` may compute now. Writes to each state it
/// writes how many tokens the state is of, and checks the one it reads.
void step(PagedKVCacheManager &manager, TextGenerationContext &context) {
  auto allocated = manager.alloc(context);
  ASSERT_TRUE(allocated) << allocated.error().error.message;
  const TextGenerationContext *batch[] = {&context};
  auto inputs = manager.runtimeInputs(batch);
  ASSERT_TRUE(inputs) << text(inputs);
  for (size_t i : {1, 2}) {
    const RaggedKVCacheInputs &one = (*inputs)[i];
    ASSERT_EQ(one.lookupTable.sizes[1], 2);
    auto *places = static_cast<int32_t *>(one.lookupTable.data);
    auto *blocks = static_cast<float *>(one.blocks.data);
    int64_t size = 3 * one.blocks.sizes[4] * 2;
    EXPECT_EQ(one.blocks.sizes[3], 1);
    EXPECT_EQ(blocks[places[0] * size], context.processed());
    ASSERT_GT(places[1], 0);
    ASSERT_LT(places[1], one.blocks.sizes[0]);
    blocks[places[1] * size] = context.processed() + context.active();
    EXPECT_EQ(places[0],
              static_cast<int32_t *>((*inputs)[1].lookupTable.data)[0]);
  }
  context.advance();
  auto done = manager.step(batch);
  ASSERT_TRUE(done) << text(done);
}

/// Computes all tokens; returns where the steps ended.
std::vector<int64_t> run(PagedKVCacheManager &manager,
                         TextGenerationContext &context) {
  std::vector<int64_t> ends;
  EXPECT_TRUE(manager.claim(context.id()));
  while (context.processed() < context.length() &&
         !testing::Test::HasFatalFailure()) {
    step(manager, context);
    ends.push_back(context.processed());
  }
  return ends;
}

} // namespace

TEST(PagedStates, StepsEndWhereStatesAreKept) {
  auto manager = make({.maxBatchSize = 2, .numPages = 32});
  Tokens tokens = iota(15), other = iota(15);
  other[9] = 900;
  TextGenerationContext first(1, tokens), second(2, other);
  EXPECT_EQ(run(*manager, first), (std::vector<int64_t>{12, 15}));
  // Two pages are the same: there is no state behind them yet.
  EXPECT_EQ(run(*manager, second), (std::vector<int64_t>{8, 12, 15}));
  ASSERT_TRUE(manager->release(1));
  ASSERT_TRUE(manager->release(2));
  Tokens third = iota(30);
  third[8] = 901;
  TextGenerationContext both(3, third), again(4, tokens);
  EXPECT_EQ(run(*manager, both), (std::vector<int64_t>{28, 30}));
  EXPECT_EQ(manager->metrics().cachedTokens, 8);
  EXPECT_EQ(run(*manager, again), (std::vector<int64_t>{15}));
  EXPECT_EQ(manager->metrics().cachedTokens, 20);
}

TEST(PagedStates, AnotherRequestsStateIsNotWritten) {
  auto manager = make({.maxBatchSize = 2, .numPages = 32});
  Tokens tokens = iota(10);
  TextGenerationContext source(1, tokens);
  run(*manager, source);
  EXPECT_EQ(text(manager->fork(1, 2, 7)),
            "request 1 cannot be forked at token 7: cache engine: 7 tokens are "
            "to be kept, with recurrent layers allowed: 0 or 10, of which "
            "there is a state");
  ASSERT_TRUE(manager->fork(1, 2, 10));
  Tokens longer = iota(13);
  TextGenerationContext fork(2, longer);
  fork.skip(10);
  const TextGenerationContext *batch[] = {&fork};
  EXPECT_FALSE(manager->runtimeInputs(batch)); // without a reservation
  step(*manager, fork);
  Tokens more = iota(11);
  source.extend(more);
  step(*manager, source); // reads what it has written itself
}

TEST(PagedStates, TheSizesAreExact) {
  for (int64_t snapshots : {-1, 0, 7}) {
    auto manager = make({.maxBatchSize = 2,
                         .numPages = 32,
                         .maxSteps = 1,
                         .snapshots = snapshots});
    PagedSizes sizes(hybrid(), 2, 64, {1, 0, snapshots});
    EXPECT_EQ(sizes.states(), 6 + (snapshots < 0 ? 4 : snapshots));
    EXPECT_EQ(manager->poolBytes(), static_cast<int64_t>(sizes.bytesFor(32)));
    // A state of both collections has 3 layers of 6 and of 10 numbers.
    EXPECT_EQ(static_cast<int64_t>(sizes.layout().bytesPerState()),
              3 * (6 + 10) * 4);
  }
}

TEST(PagedStates, WhatIsNotSupportedIsSaid) {
  auto refused = [](MultiKVCacheParams params) {
    return text(MultiKVCacheParams::fromParams(params.params));
  };
  EXPECT_EQ(text(PagedKVCacheManager::create(recurrent("state", 1),
                                             {.maxSeqLen = 8, .numPages = 8})),
            "collection state: strategy is recurrent, this cache manager needs "
            "paged");
  MultiKVCacheParams drafts = hybrid();
  for (KVCacheParams &one : drafts.params) {
    one.speculativeMethod = SpeculativeMethod::Eagle;
    one.numDraftTokens = 2;
  }
  EXPECT_EQ(refused(drafts),
            "collection conv: num_draft_tokens is 2, allowed: 0, since a state "
            "cannot go back to before a rejected draft");
  MultiKVCacheParams tiers = hybrid();
  for (KVCacheParams &one : tiers.params) {
    one.connector = KVConnector::Host;
    one.hostSwapSpaceGB = 0x1p-20;
  }
  tiers.params[2].geometry.dtype = KV_DTYPE_BF16;
  EXPECT_EQ(refused(tiers), "collection state: kv_connector is host, allowed "
                            "beside states of bf16: none, null");
  tiers.params[2].geometry.dtype = KV_DTYPE_F32;
  // A page has 256 bytes, a state 192.
  for (KVCacheParams &one : tiers.params)
    one.hostSwapSpaceGB = 511 * 0x1p-30;
  EXPECT_EQ(
      text(PagedKVCacheManager::create(tiers, {.maxSeqLen = 8, .numPages = 8})),
      "cache manager: host_kvcache_swap_space_gb is 511 bytes, allowed: 512 "
      "(one page and one state) to 2147483647 pages");
  MultiKVCacheParams pages = hybrid();
  pages.params[2].geometry.page = 2 * Page;
  EXPECT_EQ(refused(pages), "collections kv and state share pages, but page is "
                            "4 in the first and 8 in the second");
  EXPECT_EQ(text(PagedKVCacheManager::create(
                hybrid(), {.maxSeqLen = 8, .numPages = 8, .snapshots = -2})),
            "cache manager: snapshots is -2, allowed: 0 to 1048576, or -1 (two "
            "a request)");
  auto manager = make({.maxBatchSize = 2, .numPages = 32});
  Tokens tokens = iota(5);
  TextGenerationContext context(1, tokens);
  ASSERT_TRUE(manager->claim(1));
  auto allocated = manager->alloc(context, 2);
  ASSERT_FALSE(allocated);
  EXPECT_EQ(allocated.error().error.message,
            "request 1: 2 steps, with recurrent collections allowed: 1");
}
