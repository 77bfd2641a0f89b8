//===- EngineFixture.h - An engine and sequences in tests -------*- C++ -*-===//

#ifndef KV_TEST_UNIT_ENGINE_ENGINEFIXTURE_H
#define KV_TEST_UNIT_ENGINE_ENGINEFIXTURE_H

#include "runtime/engine/CacheEngineImpl.h"

#include "test/unit/Values.h"

#include <gtest/gtest.h>

namespace kv::test {

using Verdict = CacheEngine::Verdict;

inline std::unique_ptr<CacheEngineImpl> make(CacheEngine::Options options) {
  auto engine = CacheEngineImpl::create(options);
  EXPECT_TRUE(engine) << engine.error().message;
  return std::move(*engine);
}

inline Sequence open(CacheEngineImpl &engine, const Scope &scope = {},
                     const Retention &retention = {}) {
  Expected<Sequence> sequence = engine.open(scope, retention);
  EXPECT_TRUE(sequence) << sequence.error().message;
  return std::move(*sequence);
}

/// Commits the first `processed` tokens.
inline void commit(CacheEngineImpl &engine, Sequence &sequence,
                   const Prompt &prompt, int64_t processed) {
  Expected<void> done = engine.commit(sequence, prompt, processed);
  EXPECT_TRUE(done) << done.error().message;
}

/// A new sequence that reserves, computes and commits all of `prompt`.
inline Sequence run(CacheEngineImpl &engine, const Prompt &prompt,
                    const Scope &scope = {}, const Retention &retention = {}) {
  Sequence sequence = open(engine, scope, retention);
  CacheEngine::Plan plan =
      engine.reserve(sequence, prompt, {.length = prompt.length()});
  EXPECT_TRUE(plan.fits());
  commit(engine, sequence, prompt, prompt.length());
  return sequence;
}

/// Pages of `prompt` that a new sequence would find.
inline int32_t hits(CacheEngineImpl &engine, const Prompt &prompt,
                    const Scope &scope = {}) {
  Sequence probe = open(engine, scope);
  return engine.plan(probe, prompt, {.length = prompt.length()}).hitPages;
}

/// The tokens of cached pages, the next to be evicted first.
inline std::vector<Tokens> order(const CacheEngineImpl &engine) {
  std::vector<Tokens> pages;
  engine.pool().eviction().visit([&](PageId page) {
    auto tokens = engine.index().tokens(engine.pool().content(page));
    pages.emplace_back(tokens.begin(), tokens.end());
    return true;
  });
  return pages;
}

inline CacheEngine::Step begin(CacheEngineImpl &engine) {
  Expected<CacheEngine::Step> step = engine.beginStep();
  EXPECT_TRUE(step) << step.error().message;
  return *step;
}

} // namespace kv::test

#endif // KV_TEST_UNIT_ENGINE_ENGINEFIXTURE_H
