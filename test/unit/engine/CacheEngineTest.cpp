//===- CacheEngineTest.cpp - What scenarios do not say of the engine ------===//
//
// Pages that are shared, evicted and refused are rows of test/conformance. Here
// is the order of eviction, page by page, and what only the engine is told.
//
//===----------------------------------------------------------------------===//

#include "EngineFixture.h"

using namespace kv;
using namespace kv::test;

static uint64_t constantTag(uint64_t, uint64_t, std::span<const int32_t>) {
  return 1;
}

TEST(CacheEngine, CollidingTagsNeverShare) {
  auto engine =
      make({.numPages = 16, .pageSize = 2, .tagFunction = constantTag});
  Sequence first = run(*engine, Tokens{1, 2, 3, 4, 5, 6});
  Sequence second = run(*engine, Tokens{3, 4, 1, 2, 5, 6});
  EXPECT_EQ(second.committedPages(), 3);
  for (int i = 0; i < 3; ++i)
    EXPECT_NE(first.pages()[i], second.pages()[i]);
  // Page {1, 2} of the first, then {5, 6}, which both have further down.
  Sequence third = open(*engine);
  Tokens tokens = {1, 2, 5, 6, 0};
  EXPECT_EQ(engine->reserve(third, tokens, {.length = 5}).hitPages, 1);
  EXPECT_EQ(third.pages()[0], first.pages()[0]);
  EXPECT_EQ(engine->check(), "");
}

TEST(CacheEngine, PrioritiesBeatRecencyAndReachAncestors) {
  auto engine = make({.numPages = 6, .pageSize = 1});
  // A low leaf below a trunk that a high branch shares.
  run(*engine, Tokens{0, 1, 2}, {}, {.priority = 10}).release();
  run(*engine, Tokens{0, 5}, {}, {.priority = 90}).release();
  run(*engine, Tokens{7}, {}, {.priority = 50}).release();
  EXPECT_EQ(engine->check(), "");
  EXPECT_EQ(order(*engine), (std::vector<Tokens>{{2}, {1}, {7}, {5}, {0}}));
}

TEST(CacheEngine, APriorityEndsWithItsDuration) {
  auto engine = make({.numPages = 8, .pageSize = 1, .retentionTick = 10});
  Retention kept = {.priority = 100, .duration = 25};
  run(*engine, Tokens{0, 1}, {}, kept).release(); // until 25: the tick of 30
  run(*engine, Tokens{5}).release();
  ASSERT_TRUE(engine->setTime(29));
  EXPECT_EQ(order(*engine), (std::vector<Tokens>{{5}, {1}, {0}}));
  // A release without a higher priority lengthens nothing, one with it does.
  run(*engine, Tokens{0, 1, 2}).release();
  run(*engine, Tokens{0, 7}, {}, {.priority = 90, .duration = 30}).release();
  EXPECT_EQ(order(*engine), (std::vector<Tokens>{{5}, {2}, {7}, {1}, {0}}));
  ASSERT_TRUE(engine->setTime(30));
  EXPECT_EQ(order(*engine), (std::vector<Tokens>{{5}, {2}, {1}, {7}, {0}}));
  ASSERT_TRUE(engine->setTime(60));
  EXPECT_EQ(order(*engine), (std::vector<Tokens>{{5}, {2}, {1}, {7}, {0}}));
  run(*engine, Tokens{8}).release();
  EXPECT_EQ(order(*engine).back(), Tokens{8}); // all have the default now
  // A higher priority without an end takes the end away.
  run(*engine, Tokens{9}, {}, kept).release();
  run(*engine, Tokens{9}, {}, {.priority = 80}).release();
  ASSERT_TRUE(engine->setTime(1'000'000)); // once around the wheel, and more
  run(*engine, Tokens{3}).release();
  EXPECT_EQ(order(*engine).back(), Tokens{9});
  EXPECT_EQ(engine->check(), "");
}

/// The parent was raised by another for a shorter time, which ended while this
/// one held it: what the child has from both is passed on to it.
TEST(CacheEngine, AParentOutlastsWhatTwoMadeOfItsChild) {
  auto engine = make({.numPages = 4, .pageSize = 1, .retentionTick = 10});
  Sequence first =
      run(*engine, Tokens{0, 1}, {}, {.priority = 66, .duration = 30});
  Sequence second =
      run(*engine, Tokens{0, 1}, {}, {.priority = 65, .duration = 65});
  first.release();
  ASSERT_TRUE(engine->truncate(second, 1));
  ASSERT_TRUE(engine->setTime(38));
  second.release();
  EXPECT_EQ(order(*engine), (std::vector<Tokens>{{1}, {0}}));
  EXPECT_EQ(engine->check(), "");
}

/// Also those that a limit has raised, and their turn does not bring them back.
TEST(CacheEngine, AResetForgetsLimitsToo) {
  auto engine = make({.numPages = 4, .pageSize = 1, .retentionTick = 10});
  run(*engine, Tokens{0, 1}, {}, {.priority = 100, .duration = 10}).release();
  engine->resetPrefixes();
  run(*engine, Tokens{5}, {}, {.priority = 0}).release();
  ASSERT_TRUE(engine->setTime(50));
  EXPECT_EQ(order(*engine), (std::vector<Tokens>{{1}, {0}, {5}}));
  EXPECT_EQ(engine->check(), "");
}

TEST(CacheEngine, Misuse) {
  EXPECT_EQ(text(CacheEngine::create({.numPages = 0, .pageSize = 1})),
            "cache engine: numPages is 0, allowed: 1 to 1073741823");
  EXPECT_EQ(text(CacheEngine::create({.numPages = 1, .pageSize = 0})),
            "cache engine: pageSize is 0, allowed: 1 to 1048576");
  EXPECT_EQ(text(CacheEngine::create(
                {.numPages = 1, .pageSize = 1, .groups = {CacheGroup{-3}}})),
            "cache engine: a group's window is -3, allowed: 0 to 2147483647");
  EXPECT_EQ(text(CacheEngine::create(
                {.numPages = 1, .pageSize = 1, .maxOpenSteps = 64})),
            "cache engine: maxOpenSteps is 64, allowed: 1 to 63");
  // Fewer, and what copies the last page in every group would wait forever.
  EXPECT_EQ(text(CacheEngine::create(
                {.numPages = 4,
                 .pageSize = 1,
                 .groups = {CacheGroup::full(), CacheGroup::slidingWindow(2)},
                 .maxPageOps = 1})),
            "cache engine: maxPageOps is 1, allowed: 2 to 2147483647");

  auto engine = make(
      {.numPages = 4, .pageSize = 2, .maxSequences = 1, .maxOpenSteps = 1});
  EXPECT_EQ(text(engine->open({}, {.priority = 128})),
            "cache engine: a priority of 128, allowed: 0 to 127");
  EXPECT_EQ(text(engine->open({.salt = std::string_view("x", 1)})), "no error");
  std::string longSalt(300, 'x');
  EXPECT_EQ(text(engine->open({.salt = longSalt})),
            "cache engine: a scope of 316 bytes, allowed: 256");
  Sequence sequence = run(*engine, iota(3));
  EXPECT_EQ(text(engine->open()), "cache engine: all 1 sequences are in use");
  EXPECT_EQ(text(engine->fork(sequence, 2)),
            "cache engine: all 1 sequences are in use");
  EXPECT_EQ(text(engine->commit(sequence, iota(9), 2)),
            "cache engine: 2 tokens have been computed, allowed: 3 to 4");
  EXPECT_EQ(text(engine->commit(sequence, iota(9), 5)),
            "cache engine: 5 tokens have been computed, allowed: 3 to 4");
  EXPECT_EQ(text(engine->truncate(sequence, 4)),
            "cache engine: 4 tokens are to be kept, allowed: 0 to 3");
  EXPECT_EQ(text(engine->truncate(sequence, -1)),
            "cache engine: -1 tokens are to be kept, allowed: 0 to 3");
  EXPECT_EQ(text(engine->setRetention(sequence, {.prefixPriority = 200})),
            "cache engine: a priority of 200, allowed: 0 to 127");
  EXPECT_EQ(text(engine->setRetention(sequence, {.prefixDuration = -1})),
            "cache engine: a priority lasts -1 ns, allowed: 0 (for good) to "
            "4094000000000");
  ASSERT_TRUE(engine->setTime(7));
  EXPECT_EQ(text(engine->setTime(6)),
            "cache engine: the time is 6 ns, allowed: 7 to "
            "4611686018427387904");
  EXPECT_EQ(text(engine->join(sequence, 1)),
            "cache engine: step 1 is not open");
  EXPECT_EQ(text(engine->completeStep(1)), "cache engine: step 1 is not open");
  begin(*engine);
  EXPECT_EQ(text(engine->beginStep()),
            "cache engine: 1 steps are open, allowed: 1");
  EXPECT_EQ(engine->check(), "");
}

TEST(CacheEngine, NeedsAtMost160BytesAPage) {
  for (int32_t numPages : {100'000, 1'000'000}) {
    auto engine = make({.numPages = numPages,
                        .pageSize = 16,
                        .maxSequences = 1,
                        .maxTokens = 16});
    EXPECT_LE(engine->poolBytes(), size_t(160) * numPages);
  }
}
