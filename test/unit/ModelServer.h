//===- ModelServer.h - A manager and a model that uses it -------*- C++ -*-===//

#ifndef KV_TEST_UNIT_MODELSERVER_H
#define KV_TEST_UNIT_MODELSERVER_H

#include "FakeModel.h"
#include "Values.h"

#include "kv/Runtime/Manager/PagedKVCacheManager.h"

#include <gtest/gtest.h>

namespace kv::test {

/// A manager and a model whose logits depend on every cell of the cache.
struct ModelServer {
  std::unique_ptr<PagedKVCacheManager> manager;
  FakeModel model;
  RequestId last = 0; // of the latest request

  /// Computes the active tokens of `tokens`, and compares the logits.
  void compute(TextGenerationContext &context, const Tokens &tokens) {
    const TextGenerationContext *batch[] = {&context};
    auto inputs = manager->runtimeInputs(batch);
    ASSERT_TRUE(inputs) << text(inputs);
    std::span<const int32_t> active = context.activeTokens();
    std::vector<int32_t> offsets = {0, static_cast<int32_t>(active.size())};
    std::vector<int32_t> rows = {offsets[1] - 1};
    auto logits = model.run({.tokens = active,
                             .rowOffsets = offsets,
                             .logitRows = rows,
                             .kv = *inputs});
    ASSERT_TRUE(logits) << text(logits);
    std::vector<float> wanted = FakeModel::logits(
        std::span(tokens).first(context.processed() + active.size()));
    EXPECT_EQ(std::vector(logits->begin(), logits->end()), wanted);
    context.advance();
    ASSERT_TRUE(manager->step(batch));
  }
};

} // namespace kv::test

#endif // KV_TEST_UNIT_MODELSERVER_H
