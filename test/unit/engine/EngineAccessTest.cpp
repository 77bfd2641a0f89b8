//===- EngineAccessTest.cpp - What a call looks at, whatever the pool -----===//
//
// Linked with the engine that counts (Accesses.h).
//
//===----------------------------------------------------------------------===//

#include "EngineFixture.h"

#include <functional>

using namespace kv;
using namespace kv::test;

namespace {

constexpr int32_t PageSize = 16;

int64_t accessesOf(const std::function<void()> &work) {
  detail::accesses = 0;
  work();
  return detail::accesses;
}

/// Accesses of each call of one request in a full pool.
std::vector<int64_t> costs(int32_t numPages, int32_t context) {
  auto engine = make({.numPages = numPages, .pageSize = PageSize});
  constexpr int32_t Long = 64;
  for (int32_t i = 0; i < numPages / Long; ++i) // fills it
    run(*engine, iota(Long * PageSize, i * Long * PageSize));
  EXPECT_EQ(engine->pool().numCached(), numPages);

  std::vector<int64_t> counts;
  Tokens tokens = iota(context + 65 * PageSize, -context - 65 * PageSize);
  Sequence sequence = open(*engine);
  engine->reserve(sequence, tokens, {.length = context});
  commit(*engine, sequence, tokens, context);
  auto count = [&](auto &&work) { counts.push_back(accessesOf(work)); };
  count([&] { // 64 evictions
    engine->reserve(sequence, tokens, {.length = context + 64 * PageSize});
  });
  count([&] { commit(*engine, sequence, tokens, context + 64 * PageSize); });
  count([&] { engine->truncate(sequence, context); });
  count([&] { // a decode step with a new page
    engine->reserve(sequence, tokens, {.length = context + 1, .reuse = false});
    CacheEngine::Step step = begin(*engine);
    EXPECT_TRUE(engine->join(sequence, step.ticket));
    commit(*engine, sequence, tokens, context + 1);
    EXPECT_TRUE(engine->completeStep(step.ticket));
  });
  EXPECT_EQ(engine->check(), "");
  return counts;
}

} // namespace

TEST(EngineAccesses, NeitherThePoolNorTheContextMatters) {
  std::vector<int64_t> few = costs(1 << 10, 8 * PageSize);
  ASSERT_EQ(few.size(), 4u);
  for (auto [numPages, context] :
       {std::pair(1 << 17, 8), {1 << 12, 2048}, {1 << 17, 4096}}) {
    std::vector<int64_t> many = costs(numPages, context * PageSize);
    for (size_t call = 0; call < few.size(); ++call) {
      // Which chunk of a list is full, and which bucket, may differ.
      EXPECT_LE(many[call], few[call] + few[call] / 4 + 8)
          << call << " of " << numPages << " pages, context " << context;
    }
  }
  EXPECT_LE(few[0], 64 * 16);
  EXPECT_LE(few[1], 64 * 16);
  EXPECT_LE(few[2], 64 * 16);
  EXPECT_LE(few[3], 60);
}
