//===- WindowedPoolTest.cpp - What windows save ---------------------------===//
//
// A model of 24 layers with a window of 512 tokens and 4 full ones, pages of 4
// layers each: how many requests of 8192 tokens run beside each other in the
// same memory with the window, and how many if all 28 layers were full. All of
// them go through their prompt chunk by chunk and then token by token, side by
// side: so all are at their largest at the same time, and none is refused at
// any moment.
//
//===----------------------------------------------------------------------===//

#include "kv/Runtime/Manager/PagedKVCacheManager.h"

#include "test/unit/Values.h"

#include <gtest/gtest.h>

#include <iostream>

using namespace kv;
using namespace kv::test;

namespace {

constexpr int64_t Length = 8192, Prompt = 7680, Page = 16;

KVCacheParams cache(const char *name, int64_t layers, int64_t window) {
  return {.name = name,
          .geometry = {.dtype = KV_DTYPE_BF16,
                       .layers = layers,
                       .heads = 2,
                       .dim = 64,
                       .page = Page,
                       .window = window,
                       .pageLayers = 4}};
}

/// Whether `count` requests run to their end in `bytes` bytes.
bool serves(const MultiKVCacheParams &params, int64_t bytes, int64_t chunk,
            int32_t count) {
  auto manager =
      PagedKVCacheManager::create(params, {.maxBatchSize = count,
                                           .maxSeqLen = Length,
                                           .availableCacheMemory = bytes,
                                           .maxSteps = 1,
                                           .maxChunkTokens = chunk});
  EXPECT_TRUE(manager) << text(manager);
  EXPECT_LE((*manager)->poolBytes(), bytes);
  std::vector<Tokens> tokens(count, Tokens(Length));
  std::vector<TextGenerationContext> contexts;
  std::vector<const TextGenerationContext *> batch;
  contexts.reserve(count);
  for (int32_t i = 0; i < count; ++i) {
    contexts.emplace_back(i, std::span(tokens[i]).first(Prompt));
    contexts.back().limitActive(chunk);
    batch.push_back(&contexts.back());
    EXPECT_TRUE((*manager)->claim(i));
  }
  while (contexts[0].processed() < Length) {
    for (TextGenerationContext &context : contexts)
      if (!(*manager)->alloc(context))
        return false;
    EXPECT_TRUE((*manager)->runtimeInputs(batch));
    for (int32_t i = 0; i < count; ++i) {
      contexts[i].advance();
      if (contexts[i].active() == 0 && contexts[i].length() < Length)
        contexts[i].extend(
            std::span(tokens[i]).first(contexts[i].length() + 1));
    }
    EXPECT_TRUE((*manager)->step(batch));
  }
  return true;
}

/// The most requests that run to their end beside each other.
int32_t most(const MultiKVCacheParams &params, int64_t bytes, int64_t chunk) {
  int32_t served = 0, refused = 1;
  while (serves(params, bytes, chunk, refused))
    served = std::exchange(refused, 2 * refused);
  while (refused - served > 1) {
    int32_t middle = served + (refused - served) / 2;
    (serves(params, bytes, chunk, middle) ? served : refused) = middle;
  }
  return served;
}

} // namespace

TEST(WindowedPool, ServesFourTimesTheRequests) {
  MultiKVCacheParams without = cache("all", 28, 0);
  MultiKVCacheParams windowed = *MultiKVCacheParams::fromParams(
      {cache("near", 24, 512), cache("full", 4, 0)});
  // Each has one slab, and a page of the window serves the full layers.
  int64_t page = without.bytesPerPage();
  ASSERT_EQ(page, 2 * 4 * Page * 2 * 64 * 2);
  ASSERT_EQ(windowed.bytesPerPage(), page);
  constexpr int64_t Beside = 20; // requests, without the window
  int64_t bytes =
      static_cast<int64_t>(PagedSizes(without, Beside, Length, {1})
                               .bytesFor(Beside * 7 * Length / Page));
  ASSERT_EQ(most(without, bytes, 512), Beside);
  for (int64_t chunk : {512, 256}) {
    int32_t count = most(windowed, bytes, chunk);
    std::cout << "chunks of " << chunk << " tokens: " << count << " requests, "
              << Beside << " without the window\n";
    EXPECT_GE(count, 4 * Beside);
    // What sizes promise is less, since it is for every order of chunks and
    // for every prompt, but not by much.
    int64_t blocks =
        PagedSizes(windowed, 1, Length, {1, chunk}).blocksFor(Length);
    EXPECT_LE(count * blocks, Beside * 7 * Length / Page * 11 / 10);
  }
}
