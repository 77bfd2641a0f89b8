//===- CacheEngineTest.cpp ------------------------------------------------===//

#include "kv/Runtime/CacheEngine.h"

#include <gtest/gtest.h>

#include <numeric>

using namespace kv;

namespace {

using Tokens = std::vector<int32_t>;

Tokens iota(int32_t count, int32_t first = 0) {
  Tokens tokens(count);
  std::iota(tokens.begin(), tokens.end(), first);
  return tokens;
}

uint64_t constantTag(uint64_t, NodeRef, std::span<const int32_t>) { return 1; }

/// Reserves, computes and commits all of `tokens`.
Sequence run(CacheEngine &engine, const Tokens &tokens) {
  Sequence sequence;
  engine.open(sequence, engine.pool().numTotal());
  EXPECT_TRUE(engine
                  .reserve(sequence, tokens,
                           {.length = static_cast<int64_t>(tokens.size())})
                  .fits);
  engine.commit(sequence, tokens, tokens.size());
  return sequence;
}

#define EXPECT_CONSISTENT(engine, ...)                                         \
  do {                                                                         \
    std::vector<const Sequence *> open = {__VA_ARGS__};                        \
    EXPECT_EQ((engine).check(open), "");                                       \
  } while (false)

} // namespace

TEST(CacheEngine, SharesFullPagesAndComputesTheLastToken) {
  for (int32_t pageSize : {1, 4, 16, 128}) {
    CacheEngine engine({.numPages = 64, .pageSize = pageSize});
    Tokens tokens = iota(3 * pageSize);
    Sequence first = run(engine, tokens);
    EXPECT_EQ(first.committedPages(), 3);

    // The whole prompt is cached, and its last page is still computed.
    Sequence second;
    engine.open(second, 64);
    CacheEngine::Plan plan = engine.reserve(
        second, tokens, {.length = static_cast<int64_t>(tokens.size())});
    EXPECT_EQ(plan.hitPages, 2);
    EXPECT_EQ(plan.revivedPages, 0);
    EXPECT_EQ(plan.newPages, 1);
    EXPECT_EQ(second.processedTokens(), 2 * pageSize);
    EXPECT_EQ(second.pages()[1], first.pages()[1]);
    EXPECT_NE(second.pages()[2], first.pages()[2]);
    EXPECT_CONSISTENT(engine, &first, &second);

    // Committing it finds the twin and gives the copy back.
    engine.commit(second, tokens, tokens.size());
    EXPECT_EQ(second.pages(), first.pages());
    EXPECT_EQ(engine.pool().numUsed(), 3);
    engine.release(first);
    engine.release(second);
    EXPECT_EQ(engine.pool().numFree(), 64);
    EXPECT_CONSISTENT(engine);
  }
}

TEST(CacheEngine, APartOfAPageIsNotShared) {
  CacheEngine engine({.numPages = 8, .pageSize = 4});
  Sequence first = run(engine, iota(6));
  EXPECT_EQ(first.committedPages(), 1);
  Tokens other = iota(8);
  Sequence second;
  engine.open(second, 8);
  EXPECT_EQ(engine.plan(second, other, {.length = 8}).hitPages, 1);
  other[3] = 77;
  EXPECT_EQ(engine.plan(second, other, {.length = 8}).hitPages, 0);
  engine.release(first);
}

TEST(CacheEngine, CollidingTagsNeverShare) {
  CacheEngine engine(
      {.numPages = 16, .pageSize = 2, .tagFunction = constantTag});
  Sequence first = run(engine, {1, 2, 3, 4, 5, 6});
  Sequence second = run(engine, {3, 4, 1, 2, 5, 6});
  EXPECT_EQ(second.committedPages(), 3);
  for (int i = 0; i < 3; ++i)
    EXPECT_NE(first.pages()[i], second.pages()[i]);
  Sequence third;
  engine.open(third, 16);
  // Page {1, 2} of the first, then {5, 6}, which both have further down.
  EXPECT_EQ(
      engine.reserve(third, Tokens{1, 2, 5, 6, 0}, {.length = 5}).hitPages, 1);
  EXPECT_EQ(third.pages()[0], first.pages()[0]);
  EXPECT_CONSISTENT(engine, &first, &second, &third);
}

TEST(CacheEngine, AFailedReservationChangesNothing) {
  CacheEngine engine({.numPages = 6, .pageSize = 1});
  Sequence cached = run(engine, iota(3));
  engine.release(cached);
  Sequence busy = run(engine, iota(2, 100));
  PageId victim = engine.pool().victim();

  // Two hits, and five more pages of four free.
  Tokens tokens = iota(7);
  Sequence sequence;
  engine.open(sequence, 8);
  CacheEngine::Plan plan = engine.reserve(sequence, tokens, {.length = 7});
  EXPECT_FALSE(plan.fits);
  EXPECT_EQ(plan.hitPages, 3);
  EXPECT_EQ(plan.revivedPages, 3);
  EXPECT_EQ(plan.newPages, 4);
  EXPECT_TRUE(sequence.pages().empty());
  EXPECT_EQ(sequence.processedTokens(), 0);
  EXPECT_EQ(engine.pool().victim(), victim);
  EXPECT_EQ(engine.pool().numFree(), 4);
  EXPECT_EQ(engine.numEvictions(), 0);
  EXPECT_CONSISTENT(engine, &busy, &sequence);

  // Revived pages count as taken: 3 hits + 1 page of 4 free just fits.
  EXPECT_TRUE(engine.reserve(sequence, tokens, {.length = 4}).fits);
  EXPECT_EQ(engine.pool().numFree(), 0);
  EXPECT_EQ(engine.numEvictions(), 0);
}

TEST(CacheEngine, HitsAreNotEvictedByTheRestOfTheirReservation) {
  CacheEngine engine({.numPages = 4, .pageSize = 1});
  Sequence old = run(engine, iota(2));
  engine.release(old); // the oldest, and what is hit below
  Sequence recent = run(engine, iota(2, 100));
  engine.release(recent);
  Sequence sequence;
  engine.open(sequence, 4);
  ASSERT_TRUE(engine.reserve(sequence, Tokens{0, 1, 2, 3}, {.length = 4}).fits);
  EXPECT_EQ(sequence.processedTokens(), 2);
  EXPECT_CONSISTENT(engine, &sequence);
  EXPECT_EQ(engine.index().size(), 2);
}

TEST(CacheEngine, ALeafIsEvictedBeforeItsParent) {
  CacheEngine engine({.numPages = 6, .pageSize = 1});
  // Two branches of one trunk: 0 1 2 and 0 1 9.
  Sequence a = run(engine, {0, 1, 2});
  Sequence b = run(engine, {0, 1, 9});
  engine.release(a);
  engine.release(b);
  EXPECT_CONSISTENT(engine);
  // Two pages are blank; each further one takes a leaf, then the trunk.
  Sequence probe;
  auto hits = [&](const Tokens &tokens) {
    engine.open(probe, 6);
    return engine
        .plan(probe, tokens, {.length = static_cast<int64_t>(tokens.size())})
        .hitPages;
  };
  Sequence filler;
  engine.open(filler, 6);
  Tokens other = iota(6, 50);
  ASSERT_TRUE(engine.reserve(filler, other, {.length = 3}).fits);
  EXPECT_EQ(hits({0, 1, 2, 5}), 2);
  EXPECT_EQ(hits({0, 1, 9, 5}), 3);
  ASSERT_TRUE(engine.reserve(filler, other, {.length = 4}).fits);
  EXPECT_EQ(hits({0, 1, 9, 5}), 2);
  ASSERT_TRUE(engine.reserve(filler, other, {.length = 5}).fits);
  EXPECT_EQ(hits({0, 1, 9, 5}), 1);
  EXPECT_EQ(engine.numEvictions(), 3);
  EXPECT_CONSISTENT(engine, &filler);
}

TEST(CacheEngine, OnlyWhatWasComputedIsCommitted) {
  CacheEngine engine({.numPages = 8, .pageSize = 2});
  Sequence sequence;
  engine.open(sequence, 8);
  Tokens tokens = iota(6);
  ASSERT_TRUE(engine.reserve(sequence, tokens, {.length = 6}).fits);
  EXPECT_EQ(engine.index().size(), 0);
  engine.commit(sequence, tokens, 3);
  EXPECT_EQ(sequence.committedPages(), 1);
  engine.release(sequence);
  EXPECT_EQ(engine.pool().numCached(), 1);
  EXPECT_EQ(engine.pool().numBlank(), 7);
}

TEST(CacheEngine, AChunkIsCountedFromTheEndOfTheHit) {
  CacheEngine engine({.numPages = 16, .pageSize = 2});
  Tokens tokens = iota(12);
  Sequence first = run(engine, {0, 1, 2, 3, 4, 5});
  Sequence second;
  engine.open(second, 16);
  CacheEngine::Plan plan =
      engine.reserve(second, tokens, {.length = 12, .chunk = 3});
  EXPECT_EQ(plan.hitPages, 3);
  EXPECT_EQ(plan.newPages, 2); // tokens 6, 7, 8
  engine.commit(second, tokens, 9);
  plan = engine.reserve(second, tokens, {.length = 12, .chunk = 100});
  EXPECT_EQ(plan.newPages, 1);
  EXPECT_CONSISTENT(engine, &first, &second);
}

TEST(CacheEngine, ResetKeepsRunningSequencesAndForgetsTheRest) {
  CacheEngine engine({.numPages = 6, .pageSize = 1});
  Sequence idle = run(engine, iota(2, 100));
  engine.release(idle);
  Tokens tokens = iota(4);
  Sequence running;
  engine.open(running, 6);
  ASSERT_TRUE(engine.reserve(running, tokens, {.length = 4}).fits);
  engine.commit(running, tokens, 2);
  engine.resetPrefixes();
  EXPECT_CONSISTENT(engine, &running);

  engine.commit(running, tokens, 4); // computed, no longer committed
  EXPECT_EQ(running.committedPages(), 2);
  Sequence probe;
  engine.open(probe, 6);
  EXPECT_EQ(engine.plan(probe, tokens, {.length = 4}).hitPages, 0);
  EXPECT_EQ(engine.plan(probe, iota(3, 100), {.length = 3}).hitPages, 0);

  engine.release(running); // its pages are of no use to anybody
  EXPECT_EQ(engine.pool().numCached(), 2);
  EXPECT_CONSISTENT(engine);
  Sequence again = run(engine, tokens);
  EXPECT_EQ(again.committedPages(), 4);
  EXPECT_EQ(engine.numEvictions(), 0);
  EXPECT_CONSISTENT(engine, &again);
}

TEST(CacheEngine, WithoutPrefixCachingNothingIsKept) {
  CacheEngine engine({.numPages = 4, .pageSize = 1, .prefixCaching = false});
  Sequence sequence = run(engine, iota(3));
  EXPECT_EQ(sequence.committedPages(), 0);
  engine.release(sequence);
  EXPECT_EQ(engine.pool().numBlank(), 4);
}

TEST(CacheEngine, CheckSeesALostHold) {
  CacheEngine engine({.numPages = 4, .pageSize = 1});
  Sequence sequence = run(engine, iota(2));
  EXPECT_EQ(engine.check({}), "page 1 has 1 holds, sequences hold it 0 times");
  EXPECT_CONSISTENT(engine, &sequence);
}
