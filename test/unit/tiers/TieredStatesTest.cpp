//===- TieredStatesTest.cpp - Snapshots of states beside the devices ------===//
//
// A state says of how many tokens it is, and of which prompt; the tests compare
// hits with a list of everything that was ever kept.
//
//===----------------------------------------------------------------------===//

#include "kv/Runtime/Manager/PagedKVCacheManager.h"

#include "test/unit/TemporaryFile.h"
#include "test/unit/Values.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

using namespace kv;
using namespace kv::test;

namespace {

constexpr int64_t Page = 4, MostTokens = 64;

/// A page has 64 bytes, a state 200: four records.
MultiKVCacheParams hybrid(double hostBytes) {
  KVCacheParams one = {.geometry = {.dtype = KV_DTYPE_F32,
                                    .layers = 1,
                                    .heads = 1,
                                    .dim = 2,
                                    .page = Page},
                       .enablePrefixCaching = true,
                       .connector = KVConnector::Tiered,
                       .hostSwapSpaceGB = hostBytes * 0x1p-30};
  MultiKVCacheParams all = one;
  for (int64_t heads : {2, 3}) {
    one.name = concat("state", heads);
    one.geometry = {.strategy = CacheStrategy::Recurrent,
                    .dtype = KV_DTYPE_F32,
                    .layers = 2,
                    .heads = heads,
                    .dim = 5,
                    .page = Page};
    all.params.push_back(one);
  }
  return all;
}

using Prefixes = std::set<Tokens>;

struct Machine {
  std::unique_ptr<PagedKVCacheManager> manager;
  RequestId last = 0;
  /// Prefixes of which a state is in records, and in records or was on the
  /// device.
  Prefixes &stored, kept;

  Machine(const std::string &folder, Prefixes &stored, int64_t pages = 40,
          int64_t snapshots = 2, double hostBytes = 1 << 20)
      : stored(stored), kept(stored) {
    auto made = PagedKVCacheManager::create(hybrid(hostBytes),
                                            {.maxBatchSize = 2,
                                             .maxSeqLen = MostTokens,
                                             .numPages = pages,
                                             .snapshots = snapshots,
                                             .enableRuntimeChecks = true,
                                             .tiers = {.diskDirectory = folder,
                                                       .diskBytes = 1 << 24,
                                                       .asynchronous = false}});
    EXPECT_TRUE(made) << text(made);
    manager = std::move(*made);
  }

  static float stateOf(const Tokens &tokens, int64_t count, size_t collection,
                       int64_t index) {
    float sum = static_cast<float>(count * 8 + collection) + 0.125f * index;
    for (int64_t i = 0; i < count; ++i)
      sum += 64.f * static_cast<float>(tokens[i] % 100 * (i + 1));
    return count == 0 ? 0 : sum;
  }

  /// One step; the state that it reads is that of the tokens before it.
  void step(TextGenerationContext &context, const Tokens &tokens) {
    const TextGenerationContext *batch[] = {&context};
    auto inputs = manager->runtimeInputs(batch);
    ASSERT_TRUE(inputs) << text(inputs);
    int64_t end = context.processed() + context.active();
    for (size_t i : {1, 2}) {
      const RaggedKVCacheInputs &one = (*inputs)[i];
      auto *places = static_cast<int32_t *>(one.lookupTable.data);
      auto *blocks = static_cast<float *>(one.blocks.data);
      int64_t size = 2 * one.blocks.sizes[4] * 5;
      for (int64_t at = 0; at < size; ++at) {
        ASSERT_EQ(blocks[places[0] * size + at],
                  stateOf(tokens, context.processed(), i, at))
            << "number " << at << " of the state of " << context.processed();
        blocks[places[1] * size + at] = stateOf(tokens, end, i, at);
      }
    }
    context.advance();
    ASSERT_TRUE(manager->step(batch));
  }

  /// A request that generates the tokens behind the first `length` ones.
  /// Returns the tokens that it has not computed.
  int64_t run(const Tokens &tokens, int64_t length) {
    Tokens known(tokens.begin(), tokens.begin() + length);
    TextGenerationContext context(++last, known);
    EXPECT_TRUE(manager->claim(last));
    int64_t hit = -1, end = 0;
    while (context.processed() < std::ssize(tokens) - 1) {
      auto allocated = manager->alloc(context);
      if (!allocated) {
        ADD_FAILURE() << allocated.error().error.message;
        break;
      }
      if (hit < 0)
        hit = allocated->cachedTokens;
      step(context, known);
      if (testing::Test::HasFatalFailure())
        break;
      end = context.processed();
      if (end % Page == 0) {
        kept.insert(Tokens(known.begin(), known.begin() + end));
        if (end < length)
          stored.insert(Tokens(known.begin(), known.begin() + end));
      }
      if (end == std::ssize(known) && end < std::ssize(tokens)) {
        known.push_back(tokens[static_cast<size_t>(end)]);
        context.extend(known);
      }
    }
    EXPECT_TRUE(manager->release(last));
    end = end / Page * Page;
    Tokens whole(tokens.begin(), tokens.begin() + end);
    if (kept.contains(whole))
      stored.insert(whole);
    return hit;
  }
};

int64_t longest(const Prefixes &known, const Tokens &tokens, int64_t length) {
  for (int64_t end = (length - 1) / Page * Page; end > 0; end -= Page)
    if (known.contains(Tokens(tokens.begin(), tokens.begin() + end)))
      return end;
  return 0;
}

} // namespace

/// A device that keeps almost nothing, and then a later process with the disk
/// of the first one: what was stored is a hit, and nothing else.
TEST(TieredStates, HitsAreThoseOfAnOracle) {
  TemporaryFolder folder;
  Prefixes stored;
  std::mt19937 random(7);
  auto below = [&](uint32_t most) {
    return static_cast<int32_t>(random() % most);
  };
  int64_t hits = 0, loaded = 0;
  for (int process = 0; process < 3; ++process) {
    Machine machine(folder.path(), stored);
    for (int request = 0; request < 120; ++request) {
      // Three beginnings, which part at few places.
      Tokens tokens = iota(20 + below(40));
      int32_t kind = below(3);
      for (size_t at = 0; at < tokens.size(); ++at)
        tokens[at] += kind * 1000 + (at >= 18 ? below(2) * 7 : 0) *
                                        static_cast<int32_t>(at % 9 == 0);
      int64_t length = 1 + below(static_cast<uint32_t>(tokens.size()));
      int64_t least = longest(stored, tokens, length),
              most = longest(machine.kept, tokens, length);
      int64_t hit = machine.run(tokens, length);
      ASSERT_FALSE(HasFatalFailure());
      EXPECT_GE(hit, least) << "request " << request;
      EXPECT_LE(hit, most) << "request " << request;
      hits += hit > 0;
    }
    loaded += machine.manager->metrics().loadedPages;
  }
  EXPECT_GT(hits, 150);
  EXPECT_GT(loaded, 300);
}

/// Where prompts part is known from records alone, and the state there is kept
/// for the third one.
TEST(TieredStates, AnotherProcessKeepsTheStateWherePromptsPart) {
  TemporaryFolder folder;
  Prefixes stored;
  Tokens first = iota(30), second = iota(30), third = iota(30);
  for (int32_t at = 14; at < 30; ++at) {
    second[at] += 100;
    third[at] += 200;
  }
  EXPECT_EQ(Machine(folder.path(), stored).run(first, 30), 0);
  {
    Machine other(folder.path(), stored);
    // Three pages are the same, but nobody has kept the state behind them.
    EXPECT_EQ(other.run(second, 30), 0);
    EXPECT_TRUE(stored.contains(iota(12)));
  }
  Machine another(folder.path(), stored);
  EXPECT_EQ(another.run(third, 30), 12);
  EXPECT_EQ(another.run(first, 30), 28);
  EXPECT_EQ(another.manager->metrics().loadedPages, 3 + 4);
}

/// A record of a state that is lost is a miss of its prefix, and the pages are
/// computed, not half of it.
TEST(TieredStates, AStateOfWhichAPartIsMissingIsAMiss) {
  Prefixes stored;
  TemporaryFolder folder;
  // Host memory of a page and a state, and a disk that forgets: whatever is
  // there, hits are right, as each step checks.
  std::mt19937 random(3);
  auto made = PagedKVCacheManager::create(
      hybrid(6 * 64),
      {.maxBatchSize = 2,
       .maxSeqLen = MostTokens,
       .numPages = 40,
       .snapshots = 0,
       .tiers = {.diskDirectory = folder.path(), .diskBytes = 40 << 10}});
  ASSERT_TRUE(made) << text(made);
  Machine machine(folder.path() + "-2", stored, 40, 0, 6 * 64);
  machine.manager = std::move(*made);
  int64_t hits = 0, misses = 0;
  for (int request = 0; request < 200; ++request) {
    Tokens tokens = iota(30 + static_cast<int32_t>(random() % 8));
    tokens[0] = static_cast<int32_t>(random() % 12);
    int64_t known = longest(stored, tokens, 30);
    int64_t hit = machine.run(tokens, 30);
    ASSERT_FALSE(HasFatalFailure());
    EXPECT_TRUE(hit == 0 ||
                stored.contains(Tokens(tokens.begin(), tokens.begin() + hit)))
        << hit;
    hits += hit > 0;
    misses += hit < known;
  }
  EXPECT_GT(hits, 10);
  EXPECT_GT(misses, 10);
}

/// prefetch() brings the state with the pages.
TEST(TieredStates, PrefetchBringsTheState) {
  TemporaryFolder folder;
  Prefixes stored;
  Tokens tokens = iota(30);
  Machine(folder.path(), stored).run(tokens, 30);
  Machine machine(folder.path(), stored);
  TextGenerationContext context(100, tokens);
  Expected<int64_t> brought = machine.manager->prefetch(context);
  ASSERT_TRUE(brought) << text(brought);
  EXPECT_EQ(*brought, 28);
  EXPECT_EQ(machine.manager->metrics().loadedPages, 7);
  using Reason = CacheEngine::Reason;
  std::vector<Reason> reasons = machine.manager->explain(context);
  EXPECT_EQ(std::ranges::count(reasons, Reason::Hit), 7);
  EXPECT_EQ(machine.run(tokens, 30), 28);
  EXPECT_EQ(machine.manager->metrics().loadedPages, 7);
}
