//===- AcceptPathTest.cpp - Trees of drafts in the managers' memory -------===//

#include "kv/Runtime/Manager/ContinuousBatchingKVCacheManager.h"
#include "kv/Runtime/Manager/LoadKVCacheManager.h"
#include "kv/Runtime/Manager/NullKVCacheManager.h"

#include "test/unit/FakeModel.h"
#include "test/unit/Values.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

using namespace kv;
using namespace kv::test;

namespace {

using Path = std::vector<int32_t>;

/// What a step leaves of a token: different for every byte of its rows.
uint8_t byteOf(int32_t token, size_t collection, int64_t place) {
  uint64_t x = (uint64_t(token) * 31 + collection) * 1000003 + uint64_t(place);
  return static_cast<uint8_t>((x * 0x9E3779B97F4A7C15ull) >> 56);
}

/// Calls fn(byte, its number among the token's) for every byte of the token at
/// `slot` of a page, in any layout.
template <class Fn>
void forEachByte(const KvTensorView &view, CacheLayout layout, int64_t page,
                 int64_t slot, Fn fn) {
  int64_t size = dtypeBytes(static_cast<DType>(view.dtype)), number = 0;
  auto order = blockOrder(layout);
  auto *base = static_cast<uint8_t *>(view.data);
  for (int64_t i = 0; i < view.strides[0]; ++i) {
    int64_t rest = i, token = 0;
    for (int d = 1; d < 6; ++d) {
      if (order[d] == 3)
        token = rest / view.strides[d];
      rest %= view.strides[d];
    }
    for (int64_t byte = 0; token == slot && byte < size; ++byte)
      fn(base[(page * view.strides[0] + i) * size + byte], number++);
  }
}

/// A manager, and what its devices' memory must hold.
class Harness {
public:
  Harness(std::unique_ptr<KVCacheManager> given) : manager(std::move(given)) {}

  /// Runs alloc, and a step that writes all active tokens.
  void compute(TextGenerationContext &context) {
    auto allocation = manager->alloc(context);
    ASSERT_TRUE(allocation) << allocation.error().error.message;
    const TextGenerationContext *batch[] = {&context};
    auto made = manager->runtimeInputs(batch);
    ASSERT_TRUE(made) << text(made);
    inputs.assign(made->begin(), made->end());
    for (int64_t i = 0; i < context.active(); ++i)
      visit(context.processed() + i, [&](uint8_t &byte, size_t c, int64_t at) {
        byte = byteOf(context.activeTokens()[i], c, at);
      });
  }

  /// How many bytes of the first `tokens` tokens are not what was computed for
  /// them.
  int64_t wrongBytes(std::span<const int32_t> tokens, int64_t from = 0) {
    int64_t wrong = 0;
    for (size_t p = from; p < tokens.size(); ++p)
      visit(int64_t(p), [&](uint8_t &byte, size_t c, int64_t at) {
        wrong += byte != byteOf(tokens[p], c, at);
      });
    return wrong;
  }

  /// Every byte of a position, in all collections of all devices.
  template <class Fn> void visit(int64_t position, Fn fn) {
    const auto &all = manager->params().params;
    for (size_t i = 0; i < inputs.size(); ++i) {
      size_t collection = i % all.size();
      const CacheGeometry &geometry = all[collection].geometry;
      const RaggedKVCacheInputs &one = inputs[i];
      const KvTensorView &tables = one.lookupTable; // devices are CPUs
      auto *table = static_cast<const int32_t *>(tables.data);
      int64_t size = geometry.page;
      int64_t bands = geometry.isPaged() ? geometry.bands() : 1;
      for (int64_t band = 0; band < bands; ++band) {
        int64_t page = table[0], slot = position;
        if (geometry.isPaged()) {
          int64_t segment = tables.sizes[1] / bands;
          page = table[band * segment + position / size];
          slot = position % size;
        }
        int64_t begin = band << 32;
        for (const KvTensorView *view : {&one.blocks, &one.scales}) {
          if (view->data)
            forEachByte(*view, geometry.layout, page, slot,
                        [&](uint8_t &byte, int64_t number) {
                          fn(byte, collection, begin + number);
                        });
          begin += int64_t(1) << 24;
        }
      }
    }
  }

  std::unique_ptr<KVCacheManager> manager;
  std::vector<RaggedKVCacheInputs> inputs;
};

KVCacheParams quantised() {
  return {.name = "q",
          .geometry = {.dtype = KV_DTYPE_I8,
                       .layers = 5,
                       .heads = 3,
                       .dim = 8,
                       .page = 4,
                       .layout = CacheLayout::CPU,
                       .scaleGroup = 4,
                       .window = 9,
                       .pageLayers = 2},
          .numDevices = 2,
          .enablePrefixCaching = true};
}

MultiKVCacheParams pages() {
  KVCacheParams full = quantised(), heads = quantised();
  full.name = "full";
  full.geometry = {
      .dtype = KV_DTYPE_F32, .layers = 2, .heads = 2, .dim = 4, .page = 4};
  heads.name = "heads";
  heads.geometry = full.geometry;
  heads.geometry.dtype = KV_DTYPE_BF16;
  heads.geometry.layout = CacheLayout::HND;
  auto made = MultiKVCacheParams::fromParams({full, quantised(), heads});
  EXPECT_TRUE(made) << text(made);
  return *made;
}

std::unique_ptr<KVCacheManager> paged() {
  auto made =
      PagedKVCacheManager::create(pages(), {.maxSeqLen = 200,
                                            .numPages = 400,
                                            .maxChunkTokens = 80,
                                            .enableRuntimeChecks = true});
  EXPECT_TRUE(made) << text(made);
  return std::move(*made);
}

std::unique_ptr<KVCacheManager> continuous() {
  KVCacheParams params = {.geometry = {.strategy = CacheStrategy::Continuous,
                                       .dtype = KV_DTYPE_F16,
                                       .layers = 3,
                                       .heads = 2,
                                       .dim = 4,
                                       .page = 200,
                                       .layout = CacheLayout::HND}};
  auto made = ContinuousBatchingKVCacheManager::create(
      params, {.maxBatchSize = 3, .enableRuntimeChecks = true});
  EXPECT_TRUE(made) << text(made);
  return std::move(*made);
}

/// Ascending indices below `count`, at least one.
Path anyPath(std::mt19937 &random, int64_t count) {
  Path path;
  for (int32_t node = 0; node < count; ++node)
    if (random() % 3 == 0)
      path.push_back(node);
  if (path.empty())
    path.push_back(int32_t(random() % count));
  return path;
}

/// Steps of trees until there are 150 tokens: the memory holds what was
/// computed for the tokens that are left.
void runTrees(Harness &harness, RequestId id, uint32_t seed) {
  std::mt19937 random(seed);
  KVCacheManager &manager = *harness.manager;
  Tokens tokens = iota(11);
  TextGenerationContext context(id, tokens);
  context.setReusesPrefix(false);
  ASSERT_TRUE(manager.claim(id));
  const TextGenerationContext *batch[] = {&context};
  ASSERT_NO_FATAL_FAILURE(harness.compute(context));
  context.advance();
  ASSERT_TRUE(manager.step(batch));
  int32_t next = 1000;
  while (context.processed() < 150) {
    size_t done = size_t(context.processed());
    Tokens longer(tokens.begin(), tokens.begin() + int64_t(done));
    for (uint32_t nodes = 1 + random() % 40; nodes; --nodes)
      longer.push_back(next++);
    tokens = longer;
    context.extend(tokens);
    ASSERT_NO_FATAL_FAILURE(harness.compute(context));
    Path path = anyPath(random, context.active());
    Expected<void> moved = manager.acceptPath(context, path);
    ASSERT_TRUE(moved) << text(moved);
    Tokens kept(tokens.begin(), tokens.begin() + int64_t(done));
    for (int32_t node : path)
      kept.push_back(tokens[done + size_t(node)]);
    // What windows have passed is no longer there.
    ASSERT_EQ(
        harness.wrongBytes(kept, int64_t(done) - 8 > 0 ? int64_t(done) - 8 : 0),
        0);
    tokens = kept;
    context.accept(int64_t(path.size()), tokens);
    ASSERT_TRUE(manager.step(batch));
  }
  ASSERT_TRUE(manager.check());
}

} // namespace

TEST(AcceptPath, MovesTheRowsOfAPath) {
  for (uint32_t seed = 1; seed < 6; ++seed) {
    Harness pages(paged()), slots(continuous());
    ASSERT_NO_FATAL_FAILURE(runTrees(pages, 1, seed));
    ASSERT_NO_FATAL_FAILURE(runTrees(slots, 1, seed));
    ASSERT_NO_FATAL_FAILURE(runTrees(slots, 2, seed + 100));
  }
}

TEST(AcceptPath, WhatIsAcceptedIsFoundByOthers) {
  auto params = fakeParams(4);
  auto made =
      PagedKVCacheManager::create(params, {.maxSeqLen = 64, .numPages = 40});
  ASSERT_TRUE(made) << text(made);
  Harness harness(std::move(*made));
  KVCacheManager &manager = *harness.manager;
  Tokens tokens = iota(6);
  TextGenerationContext first(1, tokens);
  const TextGenerationContext *batch[] = {&first};
  ASSERT_TRUE(manager.claim(1));
  ASSERT_NO_FATAL_FAILURE(harness.compute(first));
  first.advance();
  ASSERT_TRUE(manager.step(batch));
  tokens.insert(tokens.end(), {60, 61, 62, 63, 64, 65, 66, 67, 68});
  first.extend(tokens);
  ASSERT_NO_FATAL_FAILURE(harness.compute(first));
  Path path = {0, 2, 3, 5, 7, 8};
  ASSERT_TRUE(manager.acceptPath(first, path));
  Tokens kept = iota(6);
  kept.insert(kept.end(), {60, 62, 63, 65, 67, 68});
  first.accept(6, kept);
  ASSERT_TRUE(manager.step(batch));

  Tokens longer = kept;
  longer.push_back(7);
  TextGenerationContext second(2, longer);
  ASSERT_TRUE(manager.claim(2));
  ASSERT_TRUE(manager.alloc(second));
  EXPECT_EQ(second.processed(), 12);
  // The drafts that were left out are nobody's prefix.
  tokens.push_back(7);
  TextGenerationContext third(3, tokens);
  ASSERT_TRUE(manager.claim(3));
  ASSERT_TRUE(manager.alloc(third));
  EXPECT_EQ(third.processed(), 4);
}

TEST(AcceptPath, Errors) {
  Harness harness(paged());
  KVCacheManager &manager = *harness.manager;
  Tokens tokens = iota(5);
  TextGenerationContext context(7, tokens);
  auto error = [&](Path path) {
    Expected<void> done = manager.acceptPath(context, path);
    return done ? "" : done.error().message;
  };
  EXPECT_EQ(error({0}), "request 7 is not claimed");
  ASSERT_TRUE(manager.claim(7));
  EXPECT_EQ(error({0}),
            "request 7: its context has processed 0 tokens and has 5 active "
            "ones, its cache holds 0 and has room for 0");
  ASSERT_NO_FATAL_FAILURE(harness.compute(context));
  EXPECT_EQ(error({}), "request 7: the accepted path is empty, allowed: 1 to 5 "
                       "of its active tokens");
  EXPECT_EQ(error({1, 1}), "request 7: the accepted path has the index 1 "
                           "behind 1, allowed: ascending ones from 0 to 4");
  EXPECT_EQ(error({0, 5}), "request 7: the accepted path has the index 5 "
                           "behind 0, allowed: ascending ones from 0 to 4");
  EXPECT_EQ(error({-1}), "request 7: the accepted path has the index -1 "
                         "behind -1, allowed: ascending ones from 0 to 4");
  EXPECT_EQ(harness.wrongBytes(tokens), 0);
  EXPECT_EQ(error({0, 3}), "");
}
