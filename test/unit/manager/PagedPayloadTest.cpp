//===- PagedPayloadTest.cpp - What a manager keeps with its pages ---------===//

#include "test/unit/PayloadServer.h"

using namespace kv;
using namespace kv::test;

using enum CacheEngine::Reason;
using Reasons = std::vector<CacheEngine::Reason>;

/// All but the last token of the hit, which is computed on a copy of its page.
TEST(PagedPayload, AHitBringsIt) {
  PayloadServer server({.numPages = 16});
  Tokens prompt = iota(14);
  EXPECT_EQ(server.serve(prompt), 0);
  EXPECT_EQ(server.serve(prompt), 11);
  EXPECT_EQ(server.explain(prompt), (Reasons{Hit, Hit, Hit, AlwaysComputed}));
  // Of the next prompt two pages are the same.
  prompt[9] = 77;
  EXPECT_EQ(server.serve(prompt), 7);
  // Others take the whole page.
  EXPECT_EQ(server.serve(iota(14), /*hasPayload=*/false), 12);
  EXPECT_EQ(server.manager->numFreeBlocks(), 16);
}

TEST(PagedPayload, APageWithoutItIsNoHit) {
  PayloadServer server({.numPages = 16});
  Tokens longer = iota(14), prompt = iota(10);
  EXPECT_EQ(server.serve(prompt), 0);
  EXPECT_EQ(server.serve(longer, /*hasPayload=*/false), 8);
  EXPECT_EQ(server.explain(longer),
            (Reasons{Hit, Hit, WithoutPayload, AlwaysComputed}));
  EXPECT_EQ(server.explain(longer, /*hasPayload=*/false),
            (Reasons{Hit, Hit, Hit, AlwaysComputed}));
  // The page that is there takes over the payload of the equal one that is
  // computed.
  EXPECT_EQ(server.serve(longer), 7);
  EXPECT_EQ(server.serve(longer), 11);
  EXPECT_EQ(server.manager->engineMetrics(0).twinPages, 2 + 1);
}

TEST(PagedPayload, ReasonsAreCounted) {
  PayloadServer server({.numPages = 16, .explainMisses = true});
  server.serve(iota(14), /*hasPayload=*/false);
  server.serve(iota(14));
  server.serve(iota(14));
  auto count = [&](CacheEngine::Reason reason) {
    return int64_t(
        server.manager->engineMetrics(0).lookedUp[static_cast<size_t>(reason)]);
  };
  EXPECT_EQ(count(NeverSeen), 3);
  EXPECT_EQ(count(WithoutPayload), 3);
  EXPECT_EQ(count(Hit), 3);
}

/// A page that is evicted and computed again by a request without a payload has
/// none, though the page before it, in the same place, had one.
TEST(PagedPayload, NewContentHasNone) {
  PayloadServer server({.numPages = 6});
  EXPECT_EQ(server.serve(iota(24)), 0);
  Tokens other = iota(14, 100);
  EXPECT_EQ(server.serve(other, /*hasPayload=*/false), 0);
  EXPECT_EQ(server.serve(other, /*hasPayload=*/false), 12);
  EXPECT_EQ(server.serve(other), 0);
}

/// Where the pool has no page for the copy, the whole prompt is computed.
TEST(PagedPayload, WithoutRoomForTheCopyAllIsComputed) {
  PayloadServer server({.numPages = 4});
  EXPECT_EQ(server.serve(iota(16)), 0);
  EXPECT_EQ(server.serve(iota(16)), 0);
  EXPECT_EQ(server.serve(iota(12)), 7);
  EXPECT_EQ(server.manager->metrics().refusals, 0);
}

/// Of pages that a fork shares, it has no payload to give.
TEST(PagedPayload, AForkGivesWhatItComputes) {
  PayloadServer server({.numPages = 16});
  Tokens prompt = iota(14);
  TextGenerationContext source(1000, std::span(prompt).first(9));
  TextGenerationContext fork(1001, prompt);
  ASSERT_TRUE(server.manager->claim(1000));
  ASSERT_TRUE(server.manager->alloc(source));
  server.compute(source, prompt);
  ASSERT_TRUE(server.manager->fork(1000, 1001, 9));
  std::vector<std::byte> payload(prompt.size() * PayloadServer::Bytes);
  fork.setPayload(payload);
  fork.skip(9);
  ASSERT_TRUE(server.manager->alloc(fork));
  std::ranges::copy(PayloadServer::payloadOf(prompt), payload.begin());
  std::fill_n(payload.begin(), 8 * PayloadServer::Bytes, std::byte());
  server.compute(fork, prompt);
  for (RequestId id : {1000, 1001})
    ASSERT_TRUE(server.manager->release(id));
  EXPECT_EQ(server.explain(prompt), (Reasons{WithoutPayload, WithoutPayload,
                                             WithoutPayload, AlwaysComputed}));
  EXPECT_EQ(server.serve(prompt), 0);
  EXPECT_EQ(server.serve(prompt), 11);
}

/// The window of the last token reaches a page that the prefix, one token
/// longer, has passed.
TEST(PagedPayload, WindowsThatHavePassedThePage) {
  for (int64_t window : {4, 5, 8}) {
    PayloadServer server({.numPages = 40}, 0, window);
    EXPECT_EQ(server.serve(iota(22), true, 5), 0);
    EXPECT_EQ(server.serve(iota(22), true, 5), window == 5 ? 0 : 19);
    EXPECT_EQ(server.manager->numFreeBlocks(), 40);
  }
}

TEST(PagedPayload, ProbesTellOfIt) {
  PayloadServer server({.numPages = 16});
  server.serve(iota(14));
  Tokens prompt = iota(14);
  std::vector<std::byte> payload(prompt.size() * PayloadServer::Bytes);
  TextGenerationContext context(7, prompt);
  context.setPayload(payload);
  Expected<AllocationPlan> plan = server.manager->probe(context);
  ASSERT_TRUE(plan) << text(plan);
  EXPECT_EQ(plan->cachedTokens, 11);
  EXPECT_EQ(plan->pages, 3 + 1 + 1); // the hit, the copy, the prompt's end
  // A payload of two pages.
  context.setPayload(std::span(payload).first(11 * PayloadServer::Bytes));
  EXPECT_EQ(server.manager->probe(context)->cachedTokens, 7);
}

TEST(PagedPayload, CachesThatCannotKeepItSaySo) {
  auto bytes = [](KVCacheParams params) {
    auto made = PagedKVCacheManager::create(
        {{params}}, {.maxSeqLen = 16, .numPages = 8, .payloadRanks = 20});
    EXPECT_TRUE(made) << text(made);
    return (*made)->payloadBytesPerToken();
  };
  KVCacheParams params = fakeParams(4);
  EXPECT_EQ(bytes(params), 8 * 21);
  params.geometry.window = 8;
  EXPECT_EQ(bytes(params), 0);
  params = fakeParams(4);
  params.enablePrefixCaching = false;
  EXPECT_EQ(bytes(params), 0);
  auto refused = PagedKVCacheManager::create(
      {{fakeParams(4)}}, {.maxSeqLen = 16, .numPages = 8, .payloadRanks = 21});
  EXPECT_EQ(text(refused),
            "cache manager: cachedLogprobs is 21, allowed: 1 to 20");
}
