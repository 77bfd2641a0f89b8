//===- PagedSharingTest.cpp - Forks and truncations of a manager ----------===//

#include "kv/Runtime/Manager/PagedKVCacheManager.h"

#include "test/unit/FakeModel.h"
#include "test/unit/Values.h"

#include <gtest/gtest.h>

using namespace kv;
using namespace kv::test;

namespace {

std::unique_ptr<PagedKVCacheManager> make(PagedKVCacheManager::Options options,
                                          int64_t pageSize = 4) {
  options.maxSeqLen = 64;
  options.maxSteps = 4;
  options.enableRuntimeChecks = true;
  auto manager = PagedKVCacheManager::create(fakeParams(pageSize), options);
  EXPECT_TRUE(manager) << text(manager);
  return std::move(*manager);
}

/// Claims, reserves, computes and commits all of `context`.
void start(PagedKVCacheManager &manager, TextGenerationContext &context) {
  ASSERT_TRUE(manager.claim(context.id()));
  auto allocated = manager.alloc(context);
  ASSERT_TRUE(allocated) << allocated.error().error.message;
  const TextGenerationContext *batch[] = {&context};
  auto inputs = manager.runtimeInputs(batch);
  ASSERT_TRUE(inputs) << text(inputs);
  context.advance();
  auto done = manager.step(batch);
  ASSERT_TRUE(done) << text(done);
}

/// A request whose first `processed` tokens stand in the cache.
TextGenerationContext resume(RequestId id, const Tokens &tokens,
                             int64_t processed) {
  TextGenerationContext context(id, tokens);
  context.skip(processed);
  return context;
}

} // namespace

// Its last page is another's, too: a step without a reservation would write
// there.
TEST(PagedSharing, AForkReservesBeforeItsStep) {
  auto manager = make({.numPages = 8});
  Tokens tokens = iota(7);
  TextGenerationContext source(1, tokens);
  start(*manager, source);
  ASSERT_TRUE(manager->fork(1, 2, 6));
  TextGenerationContext forked = resume(2, tokens, 6);
  const TextGenerationContext *batch[] = {&forked};
  EXPECT_EQ(text(manager->runtimeInputs(batch)),
            "request 2 needs room for 7 tokens in this step, 6 are reserved "
            "(is a call of alloc missing?)");
  ASSERT_TRUE(manager->alloc(forked));
  EXPECT_NE(manager->getReqBlocks(1)->back(), manager->getReqBlocks(2)->back());
  EXPECT_TRUE(manager->runtimeInputs(batch));
}

// What is left of its last page is in the index, where others find it.
TEST(PagedSharing, ATruncatedRequestReservesBeforeItsStep) {
  auto manager = make({.numPages = 8});
  Tokens tokens = iota(8), edited = iota(7);
  edited[6] = 900;
  TextGenerationContext context(1, tokens);
  start(*manager, context);
  ASSERT_TRUE(manager->truncate(1, 6));
  context = resume(1, edited, 6);
  const TextGenerationContext *batch[] = {&context};
  EXPECT_EQ(text(manager->runtimeInputs(batch)),
            "request 1 needs room for 7 tokens in this step, 6 are reserved "
            "(is a call of alloc missing?)");
  ASSERT_TRUE(manager->alloc(context));
  EXPECT_TRUE(manager->runtimeInputs(batch));
}

TEST(PagedSharing, AStepThatOneRequestCannotMakeCommitsNothing) {
  auto manager = make({.numPages = 16});
  Tokens tokens = iota(7), others = iota(8, 100);
  TextGenerationContext source(1, tokens), other(3, others);
  start(*manager, source);
  ASSERT_TRUE(manager->fork(1, 2, 6));
  ASSERT_TRUE(manager->claim(3));
  ASSERT_TRUE(manager->alloc(other));
  TextGenerationContext forked = resume(2, tokens, 6);
  other.advance();
  forked.advance();
  const TextGenerationContext *batch[] = {&other, &forked};
  EXPECT_EQ(text(manager->step(batch)),
            "request 2: its context has processed 7 tokens, allowed: 6 to 6");
  // Had it been committed, it could not be behind now.
  TextGenerationContext behind(3, others);
  EXPECT_TRUE(manager->alloc(behind));
  EXPECT_EQ(behind.processed(), 0);
}

// The source's pages are worth what they were: the first to be evicted.
TEST(PagedSharing, AForkThatIsRefusedChangesNothing) {
  auto manager = make({.maxBatchSize = 2, .numPages = 4});
  Tokens cheap = iota(8), usual = iota(8, 100), others = iota(4, 200);
  TextGenerationContext first(1, cheap), second(2, usual);
  first.setRetention({.priority = 10});
  start(*manager, first);
  start(*manager, second);
  EXPECT_EQ(text(manager->fork(1, 2, 8)), "request 2 is claimed already");
  EXPECT_EQ(text(manager->fork(1, 3, 8)),
            "request 3 cannot be claimed: all 2 sequence slots are in use");
  ASSERT_TRUE(manager->release(2));
  ASSERT_TRUE(manager->release(1));
  TextGenerationContext third(3, others);
  ASSERT_TRUE(manager->claim(3));
  ASSERT_TRUE(manager->alloc(third));
  usual.push_back(1);
  auto explained = manager->explain(TextGenerationContext(2, usual));
  EXPECT_EQ(explained[0], CacheEngine::Reason::Hit);
  EXPECT_EQ(explained[1], CacheEngine::Reason::Hit);
}

TEST(PagedSharing, AForkIsKeptAsLongAsItsSource) {
  auto manager = make({.maxBatchSize = 3, .numPages = 4});
  Tokens cheap = iota(8), usual = iota(8, 100), others = iota(4, 200);
  TextGenerationContext first(1, cheap), second(2, usual);
  first.setRetention({.priority = 10});
  start(*manager, first);
  start(*manager, second);
  ASSERT_TRUE(manager->fork(1, 3, 8));
  for (RequestId id : {2, 1, 3})
    ASSERT_TRUE(manager->release(id));
  TextGenerationContext third(4, others);
  ASSERT_TRUE(manager->claim(4));
  ASSERT_TRUE(manager->alloc(third));
  usual.push_back(1);
  auto explained = manager->explain(TextGenerationContext(2, usual));
  EXPECT_EQ(explained[1], CacheEngine::Reason::Hit);
}

// A slot forgets the steps of the request that had it before.
TEST(PagedSharing, AStepInFlightIsNotEndedByWhoTookNoPartInIt) {
  auto manager = make({.maxBatchSize = 1, .numPages = 2, .asynchronous = true});
  Tokens tokens = iota(8), others = iota(4, 100);
  TextGenerationContext gone(1, tokens), next(2, others);
  ASSERT_TRUE(manager->claim(1));
  ASSERT_TRUE(manager->alloc(gone));
  const TextGenerationContext *batch[] = {&gone};
  ASSERT_TRUE(manager->runtimeInputs(batch));
  ASSERT_TRUE(manager->release(1)); // the device still writes its pages
  ASSERT_TRUE(manager->claim(2));
  batch[0] = &next;
  ASSERT_TRUE(manager->step(batch));
  auto refused = manager->alloc(next);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, AllocationError::Reason::Wait);
  manager->synchronize();
  EXPECT_TRUE(manager->alloc(next));
}

// A scope that no sequence can have is an error of a probe, too.
TEST(PagedSharing, AProbeSaysWhatAllocWouldSay) {
  auto manager = make({.numPages = 4});
  std::string salt(300, 's');
  Tokens tokens = iota(4);
  TextGenerationContext context(1, tokens);
  context.setScope({.salt = salt});
  ASSERT_TRUE(manager->claim(1));
  std::string expected =
      "request 1: cache engine: a scope of 316 bytes, allowed: 256";
  EXPECT_EQ(manager->alloc(context).error().error.message, expected);
  EXPECT_EQ(text(manager->probe(context)), expected);
}

// On a synchronous device alloc waits for steps itself.
TEST(PagedSharing, AProbeSaysWhatAllocWouldDo) {
  for (bool asynchronous : {false, true}) {
    auto manager = make({.numPages = 2, .asynchronous = asynchronous});
    Tokens tokens = iota(8);
    TextGenerationContext gone(1, tokens), next(2, tokens);
    ASSERT_TRUE(manager->claim(1));
    ASSERT_TRUE(manager->alloc(gone));
    const TextGenerationContext *batch[] = {&gone};
    ASSERT_TRUE(manager->runtimeInputs(batch));
    ASSERT_TRUE(manager->release(1)); // its step is not over
    ASSERT_TRUE(manager->claim(2));
    EXPECT_EQ(manager->probe(next)->fits, !asynchronous);
    EXPECT_EQ(manager->alloc(next).has_value(), !asynchronous);
  }
}

TEST(PagedSharing, ALimitOfAllTokensIsNone) {
  auto manager = make({.numPages = 4});
  Tokens tokens = iota(4);
  TextGenerationContext context(1, tokens);
  context.limitActive(INT64_MAX);
  ASSERT_TRUE(manager->claim(1));
  auto allocated = manager->alloc(context, 4);
  ASSERT_TRUE(allocated);
  EXPECT_EQ(allocated->newPages, 2);
}
