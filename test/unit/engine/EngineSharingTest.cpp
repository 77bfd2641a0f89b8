//===- EngineSharingTest.cpp - Scopes, forks, windows, steps --------------===//

#include "EngineFixture.h"

#include "runtime/engine/structures/LookupTable.h"

#include <algorithm>

using namespace kv;
using namespace kv::test;

using Pages = std::vector<PageId>;

static Pages pagesOf(const Sequence &sequence, int32_t group = 0) {
  auto pages = sequence.pages(group);
  return {pages.begin(), pages.end()};
}

static uint64_t constantTag(uint64_t, uint64_t, std::span<const int32_t>) {
  return 1;
}

//===----------------------------------------------------------------------===//
// Scopes
//===----------------------------------------------------------------------===//

TEST(EngineScopes, OnlyEqualScopesShare) {
  for (TagFunction tags : {TagFunction(nullptr), TagFunction(constantTag)}) {
    auto engine = make({.numPages = 32, .pageSize = 2, .tagFunction = tags});
    Tokens tokens = iota(5);
    run(*engine, tokens, {.salt = "a"}).release();
    EXPECT_EQ(hits(*engine, tokens, {.salt = "a"}), 2);
    for (const Scope &other :
         {Scope{}, Scope{.salt = "b"}, Scope{.salt = ""}, Scope{.adapter = "a"},
          Scope{.model = "a"}, Scope{.model = "m", .salt = "a"}})
      EXPECT_EQ(hits(*engine, tokens, other), 0);
    engine->resetPrefixes();
    EXPECT_EQ(hits(*engine, tokens, {.salt = "a"}), 0);
    EXPECT_EQ(engine->check(), "");
  }
}

TEST(EngineScopes, BeyondTheTableSequencesRunWithoutCaching) {
  auto engine = make({.numPages = 8, .pageSize = 1, .maxScopes = 1});
  Sequence first = run(*engine, iota(2), {.salt = "a"});
  Sequence second = run(*engine, iota(2), {.salt = "b"});
  EXPECT_EQ(first.committedPages(), 2);
  EXPECT_EQ(second.committedPages(), 0);
  first.release();
  EXPECT_EQ(run(*engine, iota(2), {.salt = "c"}).committedPages(), 0);
  EXPECT_EQ(hits(*engine, iota(3), {.salt = "a"}), 2);
  // An image needs an entry, too.
  ImageSpan cat[] = {{.begin = 1, .length = 1, .hash = "cat"}};
  Sequence third = run(*engine, Prompt(iota(3, 50), cat), {.salt = "a"});
  EXPECT_EQ(third.committedPages(), 1);
  EXPECT_EQ(engine->check(), "");
}

TEST(EngineSharing, AReplacedPageStaysWithWhoKnowsItsId) {
  for (bool keeps : {false, true}) {
    auto engine = make({.numPages = 8, .pageSize = 2, .keepReplaced = keeps});
    Tokens tokens = iota(4);
    Sequence first = run(*engine, tokens), second = open(*engine);
    ASSERT_TRUE(
        engine->reserve(second, tokens, {.length = 4, .reuse = false}).fits());
    commit(*engine, second, tokens, 4);
    EXPECT_EQ(pagesOf(second), pagesOf(first));
    EXPECT_EQ(engine->pageCounts().held, keeps ? 4 : 2);
    first.release();
    ASSERT_TRUE(engine->truncate(second, 2));
    EXPECT_EQ(engine->pageCounts().held, keeps ? 2 : 1);
    Sequence fork = *engine->fork(second, 2);
    second.release();
    EXPECT_EQ(engine->pageCounts().held, 1);
    EXPECT_EQ(hits(*engine, iota(5)), 2);
    EXPECT_EQ(engine->check(), "");
  }
  EXPECT_FALSE(
      CacheEngineImpl::create({.numPages = 8,
                               .pageSize = 2,
                               .groups = {CacheGroup::slidingWindow(2)},
                               .keepReplaced = true}));
}

//===----------------------------------------------------------------------===//
// Forks
//===----------------------------------------------------------------------===//

TEST(EngineForks, ShareFullPagesAndCopyTheLastBeforeItIsWritten) {
  auto engine = make({.numPages = 16, .pageSize = 4});
  Tokens tokens = iota(10);
  Sequence first = run(*engine, tokens);
  Sequence second = std::move(*engine->fork(first, 10));
  EXPECT_EQ(pagesOf(second), pagesOf(first));
  EXPECT_EQ(engine->pool().numUsed(), 3);

  ASSERT_EQ(text(engine->join(second, begin(*engine).ticket)),
            "cache engine: sequence 1 shares its last page, a reservation "
            "comes before its next step");
  Tokens own = tokens;
  own.push_back(77);
  ASSERT_EQ(engine->reserve(second, own, {.length = 11}).newPages, 1);
  EXPECT_NE(second.pages()[2], first.pages()[2]);
  ASSERT_EQ(text(engine->join(second, 1)),
            "cache engine: sequence 1 has page operations that come with the "
            "next step, step 1 is too early");
  CacheEngine::Step step = begin(*engine);
  ASSERT_EQ(step.ops.size(), 1u);
  EXPECT_EQ(step.ops[0],
            (PageOp{PageOp::Copy, 0, first.pages()[2], second.pages()[2], 2}));
  // The first one goes on in its own page.
  Tokens longer = iota(11);
  EXPECT_EQ(engine->reserve(first, longer, {.length = 11}).newPages, 0);
  EXPECT_EQ(engine->check(), "");

  // The copied page comes back with the step.
  first.release();
  EXPECT_EQ(engine->pool().numDeferred(), 1);
  engine->completeAllSteps();
  EXPECT_EQ(engine->pool().numDeferred(), 0);
  EXPECT_EQ(engine->check(), "");
}

TEST(EngineForks, AChainOfForksIsCopiedFromItsOrigin) {
  auto engine = make({.numPages = 8, .pageSize = 4});
  Tokens tokens = iota(3);
  Sequence a = run(*engine, tokens);
  Sequence b = std::move(*engine->fork(a, 3));
  Tokens longer = iota(4);
  ASSERT_TRUE(engine->reserve(b, longer, {.length = 4}).fits());
  // The page of b has not been copied yet when c copies it.
  Sequence c = std::move(*engine->fork(b, 2));
  ASSERT_TRUE(engine->reserve(c, longer, {.length = 4}).fits());
  CacheEngine::Step step = begin(*engine);
  ASSERT_EQ(step.ops.size(), 2u);
  EXPECT_EQ(step.ops[1],
            (PageOp{PageOp::Copy, 0, a.pages()[0], c.pages()[0], 2}));
}

TEST(EngineForks, ARewoundSourceIsNotWrittenBeforeItIsCopied) {
  auto engine = make({.numPages = 8, .pageSize = 4});
  Tokens tokens = iota(8);
  Sequence source = open(*engine);
  engine->reserve(source, tokens, {.length = 3});
  CacheEngine::Step early = begin(*engine);
  ASSERT_TRUE(engine->join(source, early.ticket));
  commit(*engine, source, tokens, 3);
  Sequence forked = std::move(*engine->fork(source, 3));
  engine->reserve(forked, tokens, {.length = 4}); // a copy, by the next step
  ASSERT_TRUE(engine->truncate(source, 1));
  engine->reserve(source, tokens, {.length = 3});
  // In a step that has begun, its tokens 1 and 2 would be copied instead.
  EXPECT_EQ(text(engine->join(source, early.ticket)),
            "cache engine: sequence 0 has page operations that come with the "
            "next step, step 1 is too early");
  CacheEngine::Step next = begin(*engine);
  EXPECT_EQ(next.ops.size(), 1u);
  EXPECT_EQ(text(engine->join(source, next.ticket)), "no error");
}

TEST(EngineForks, AtAnyToken) {
  for (int64_t at = 0; at <= 9; ++at) {
    auto engine = make({.numPages = 16, .pageSize = 3});
    Tokens tokens = iota(9);
    Sequence first = run(*engine, tokens);
    Sequence second = std::move(*engine->fork(first, at));
    EXPECT_EQ(second.processedTokens(), at);
    EXPECT_EQ(second.committedPages(), at / 3);
    Tokens other = iota(at);
    other.resize(12, 99);
    CacheEngine::Plan plan = engine->reserve(second, other, {.length = 12});
    EXPECT_EQ(plan.newPages, 4 - at / 3);
    commit(*engine, second, other, 12);
    EXPECT_EQ(engine->check(), "");
    first.release();
    second.release();
    EXPECT_EQ(engine->pool().numUsed(), 0);
  }
}

TEST(EngineForks, TruncationTakesBackTokensAndPages) {
  auto engine = make({.numPages = 16, .pageSize = 4});
  Tokens tokens = iota(15);
  Sequence sequence = run(*engine, tokens);
  // Drafts behind the accepted tokens.
  ASSERT_EQ(
      engine->reserve(sequence, tokens, {.length = 15, .draft = 5}).newPages,
      1);
  ASSERT_TRUE(engine->truncate(sequence, 15));
  EXPECT_EQ(sequence.pages().size(), 4u);
  // Into a page that is in the index: it is copied before it is written.
  ASSERT_TRUE(engine->truncate(sequence, 6));
  EXPECT_EQ(sequence.pages().size(), 2u);
  EXPECT_EQ(sequence.committedPages(), 1);
  Tokens other = iota(6);
  other.resize(8, 50);
  EXPECT_EQ(engine->reserve(sequence, other, {.length = 8}).newPages, 1);
  commit(*engine, sequence, other, 8);
  EXPECT_EQ(hits(*engine, tokens), 3);
  other.push_back(1);
  EXPECT_EQ(hits(*engine, other), 2);
  EXPECT_EQ(engine->check(), "");
  // To nothing, and from there on to a hit.
  ASSERT_TRUE(engine->truncate(sequence, 0));
  EXPECT_EQ(engine->reserve(sequence, tokens, {.length = 15}).hitPages, 3);
  EXPECT_EQ(engine->check(), "");
}

TEST(EngineForks, DraftsAreNeverCommitted) {
  auto engine = make({.numPages = 16, .pageSize = 2});
  Tokens tokens = iota(3);
  Sequence sequence = run(*engine, tokens);
  ASSERT_TRUE(
      engine->reserve(sequence, tokens, {.length = 3, .draft = 6}).fits());
  EXPECT_EQ(sequence.pages().size(), 5u);
  // One of the drafts was right.
  tokens = iota(4);
  commit(*engine, sequence, tokens, 4);
  EXPECT_EQ(engine->index().size(), 2);
  EXPECT_EQ(text(engine->commit(sequence, tokens, 5)),
            "cache engine: 5 tokens have been computed, allowed: 4 to 4");
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

TEST(EngineWindows, ATinyWindowCanLoseItsOwnPast) {
  // One token: nothing of a committed page is kept, so that it can be evicted
  // while its sequence runs.
  auto engine = make({.numPages = 2,
                      .pageSize = 1,
                      .groups = {CacheGroup::slidingWindow(1)},
                      .maxTokens = 64});
  Tokens tokens = iota(64), others = iota(64, 100);
  Sequence a = open(*engine), b = open(*engine);
  for (int64_t done = 0; done < 60; ++done) {
    for (auto [sequence, prompt] :
         {std::pair(&a, &tokens), std::pair(&b, &others)}) {
      ASSERT_TRUE(
          engine->reserve(*sequence, *prompt, {.length = done + 1}).fits());
      commit(*engine, *sequence, *prompt, done + 1);
      ASSERT_EQ(engine->check(), "") << done;
    }
  }
  EXPECT_GT(engine->metrics().uncommittedPages, 0);
  ASSERT_TRUE(engine->truncate(a, 60));
  EXPECT_EQ(engine->check(), "");
}

//===----------------------------------------------------------------------===//
// Steps and operations
//===----------------------------------------------------------------------===//

TEST(EngineSteps, TakeEffectInTheOrderTheyBegan) {
  auto engine = make({.numPages = 4, .pageSize = 1});
  Sequence a = run(*engine, iota(2)), b = run(*engine, iota(2, 50));
  Ticket first = begin(*engine).ticket, second = begin(*engine).ticket;
  ASSERT_TRUE(engine->join(a, first));
  ASSERT_TRUE(engine->join(b, second));
  a.release();
  b.release();
  ASSERT_TRUE(engine->completeStep(second));
  EXPECT_EQ(engine->pool().numDeferred(), 4);
  EXPECT_EQ(text(engine->completeStep(second)),
            "cache engine: step 2 is not open");
  ASSERT_TRUE(engine->completeStep(first));
  EXPECT_EQ(engine->pool().numDeferred(), 0);
  // A page that waits can be taken over all the same.
  ASSERT_TRUE(engine->completeStep(begin(*engine).ticket));
  Sequence c = run(*engine, iota(3));
  ASSERT_TRUE(engine->join(c, begin(*engine).ticket));
  c.release();
  EXPECT_EQ(hits(*engine, iota(3)), 2);
  Sequence d = open(*engine);
  ASSERT_EQ(engine->reserve(d, iota(3), {.length = 2}).hitPages, 2);
  EXPECT_EQ(engine->check(), "");
}

TEST(EngineSteps, NewPagesAreZeroedWhereMemoryChangesItsMeaning) {
  auto engine = make({.numPages = 8,
                      .pageSize = 2,
                      .groups = {CacheGroup::full(), {.zeroFill = true}}});
  Sequence sequence = open(*engine);
  ASSERT_TRUE(engine->reserve(sequence, iota(4), {.length = 4}).fits());
  CacheEngine::Step step = begin(*engine);
  ASSERT_EQ(step.ops.size(), 2u);
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(step.ops[i],
              (PageOp{PageOp::ZeroFill, 1, NullPage, sequence.pages(1)[i], 0}));
  EXPECT_TRUE(begin(*engine).ops.empty());
}

TEST(EngineSteps, ATableIsWrittenWhereItChanged) {
  auto engine = make({.numPages = 64, .pageSize = 2});
  Pages memory(2 * 32);
  LookupTable table;
  ASSERT_TRUE(table.create(memory.data(), 2, 32));
  auto expect = [&](const Sequence &sequence, int64_t row) {
    Pages pages = pagesOf(sequence);
    pages.resize(32);
    EXPECT_TRUE(
        std::ranges::equal(pages, std::span(memory).subspan(row * 32, 32)));
  };
  Tokens tokens = iota(40);
  Sequence sequence = open(*engine);
  ASSERT_TRUE(engine->reserve(sequence, tokens, {.length = 20}).fits());
  EXPECT_EQ(table.update(0, sequence), 10);
  EXPECT_EQ(table.update(0, sequence), 0);
  ASSERT_TRUE(engine->reserve(sequence, tokens, {.length = 23}).fits());
  EXPECT_EQ(table.update(0, sequence), 2);
  expect(sequence, 0);
  EXPECT_EQ(table.update(1, sequence), 12); // another row knows nothing of it

  // A twin replaces a page from the front.
  Sequence twin = run(*engine, iota(9));
  commit(*engine, sequence, tokens, 23);
  EXPECT_EQ(table.update(0, sequence), 12);
  expect(sequence, 0);
  ASSERT_TRUE(engine->truncate(sequence, 16));
  EXPECT_EQ(table.update(0, sequence), 4); // cleared
  // What was committed of the rest is hit.
  ASSERT_EQ(engine->reserve(sequence, tokens, {.length = 18}).hitPages, 3);
  EXPECT_EQ(table.update(0, sequence), 3);
  expect(sequence, 0);
  // Two changes since this row was written: all of it.
  EXPECT_EQ(table.update(1, sequence), 12);
  expect(sequence, 1);
  // Another sequence in the row, and a shorter one.
  EXPECT_EQ(table.update(0, twin), 11);
  expect(twin, 0);
}
