//===- PagedSizesTest.cpp - MAX's figures and the edges of 64 bits --------===//

#include "kv/Runtime/Manager/PagedSizes.h"
#include "kv/Runtime/Manager/PagedKVCacheManager.h"

#include "test/unit/FakeModel.h"
#include "test/unit/Values.h"

#include <gtest/gtest.h>

using namespace kv;
using namespace kv::test;

namespace {

using Manager = PagedKVCacheManager;
constexpr int64_t GiB = int64_t(1) << 30;

/// f32, 8 KV heads of 128, one layer.
KVCacheParams params(int64_t page = 128, int64_t devices = 1,
                     int64_t replicas = 1) {
  return {.geometry = {.dtype = KV_DTYPE_F32,
                       .layers = 1,
                       .heads = 8,
                       .dim = 128,
                       .page = page},
          .numDevices = devices,
          .dataParallelDegree = replicas};
}

/// What two steps take of `slots` requests of `pages` pages: 64 lengths each,
/// and tables.
int64_t tables(int64_t slots, int64_t pages) {
  return 2 * slots * (64 + (pages + 7) / 8 * 8 + 16) * 4;
}

} // namespace

TEST(PagedSizes, AreThoseOfMaxLessWhatElseIsInTheMemory) {
  constexpr int64_t Long = 1 << 20;
  // MAX has 1024 pages of 1 MiB in 1 GiB, and a null page and tables beside it.
  EXPECT_EQ(*Manager::numBlocks(params(), 512, Long, GiB), 1018);
  EXPECT_EQ(*Manager::numBlocks(params(), 512, Long,
                                GiB + (1 << 20) + tables(512, 1024)),
            1024);
  EXPECT_EQ(*Manager::numBlocks(params(), 512, Long,
                                GiB + (1 << 20) + tables(512, 1024) - 1),
            1023);
  EXPECT_EQ(*Manager::numBlocks(params(), 4, 1000, GiB), 32);
  EXPECT_EQ(*Manager::numBlocks(params(128, 2, 2), 512, Long,
                                GiB + 2 * ((1 << 20) + tables(256, 512))),
            512);
  int64_t page = 777 * 8192;
  EXPECT_EQ(*Manager::numBlocks(params(777), 512, Long,
                                169 * page + tables(512, 168)),
            168);
  // MAX: 1 069 350 912.
  EXPECT_EQ(*Manager::estimatedMemorySize(params(777), 512, Long,
                                          169 * page + tables(512, 168)),
            1069350912 + page + tables(512, 168));
  EXPECT_EQ(*Manager::inferOptimalBatchSize(params(), Long, GiB), 512);
}

TEST(PagedSizes, EstimateIsWhatTheBatchNeedsOrTheMemoryHolds) {
  // 1000 tokens are 8 pages of 1 MiB; each pool has a null page.
  EXPECT_EQ(*Manager::estimatedMemorySize(params(), 4, 1000, GiB),
            (33 << 20) + tables(4, 8));
  EXPECT_EQ(*Manager::estimatedMemorySize(params(128, 2, 2), 4, 1000, GiB),
            (34 << 20) + 2 * tables(2, 8));
  // Shards: every page costs both devices its bytes.
  EXPECT_EQ(*Manager::estimatedMemorySize(params(128, 2, 1), 4, 1000, GiB),
            (66 << 20) + 2 * tables(4, 8));
  // Whole pages on every replica, whatever is left over.
  EXPECT_EQ(*Manager::estimatedMemorySize(params(128, 2, 2), 64, 1 << 20,
                                          (7 << 20) + 5),
            (6 << 20) + 2 * tables(32, 2));
}

TEST(PagedSizes, TheLongestSequenceIsOneThatTheManagerAccepts) {
  EXPECT_EQ(Manager::maxSupportedSequenceLength(params(), GiB), 1022 * 128);
  EXPECT_EQ(Manager::maxSupportedSequenceLength(params(777), GiB), 167 * 777);
  EXPECT_EQ(Manager::maxSupportedSequenceLength(params(128, 2, 2), GiB),
            510 * 128);
  EXPECT_EQ(Manager::maxSupportedSequenceLength(params(128, 2, 1), GiB),
            510 * 128);
  EXPECT_EQ(Manager::maxSupportedSequenceLength(params(), 1), 0);
  KVCacheParams drafting = params(4);
  drafting.speculativeMethod = SpeculativeMethod::Eagle;
  drafting.numDraftTokens = 4;
  // Three pages of 32 KiB and their tables, but room for eight drafts.
  int64_t bytes = 4 * drafting.bytesPerPage() + tables(1, 3);
  // Tokens of whole pages, beside those of the drafts.
  EXPECT_EQ(Manager::maxSupportedSequenceLength(drafting, bytes), 3 * 4 - 8);
  EXPECT_EQ(Manager::maxSupportedSequenceLength(drafting, bytes - 1), 0);
}

TEST(PagedSizes, DraftsAreCounted) {
  KVCacheParams one = params(4);
  one.speculativeMethod = SpeculativeMethod::Eagle;
  one.numDraftTokens = 4;
  one.geometry.heads = one.geometry.dim = 1;
  EXPECT_EQ(*Manager::numBlocks(one, 1, 8, GiB), 4); // 8 tokens, 8 slots
  auto manager = Manager::create(
      one, {.maxBatchSize = 1, .maxSeqLen = 8, .availableCacheMemory = GiB});
  ASSERT_TRUE(manager) << text(manager);
  Tokens tokens = iota(3);
  TextGenerationContext context(1, tokens);
  ASSERT_TRUE((*manager)->claim(1));
  ASSERT_TRUE((*manager)->alloc(context));
}

TEST(PagedSizes, EveryWindowIsCounted) {
  KVCacheParams full = params(4), near = params(4);
  full.geometry.heads = full.geometry.dim = 1;
  near.geometry = full.geometry;
  near.name = "near";
  near.geometry.window = 8;
  auto both = MultiKVCacheParams::fromParams({full, near});
  ASSERT_TRUE(both) << text(both);
  EXPECT_EQ(*Manager::numBlocks(*both, 1, 16, GiB), 8);
  // In chunks of 4 tokens the window can have 2 to 12, on as many pages; token
  // by token it has 8 at a time, on at most three.
  auto inChunks = [&](int64_t tokens, int64_t steps) {
    return *Manager::numBlocks(*both, 1, 16, GiB, {steps, tokens});
  };
  EXPECT_EQ(inChunks(4, 1), 8);
  EXPECT_EQ(inChunks(1, 1), 7);
  EXPECT_EQ(inChunks(1, 4), 8); // steps come in one reservation, too
  auto manager = Manager::create(
      *both, {.maxBatchSize = 1, .maxSeqLen = 16, .availableCacheMemory = GiB});
  ASSERT_TRUE(manager) << text(manager);
  Tokens tokens = iota(16);
  TextGenerationContext context(1, tokens);
  ASSERT_TRUE((*manager)->claim(1));
  ASSERT_TRUE((*manager)->alloc(context));
}

TEST(PagedSizes, SixtyFourBits) {
  KVCacheParams large = params(1 << 15);
  large.geometry.layers = 128; // 32 GiB a page... times 2
  int64_t page = large.bytesPerPage();
  EXPECT_EQ(page, int64_t(2) * 128 * (1 << 15) * 8 * 128 * 4);
  int64_t batch = 1 << 20;
  Expected<int64_t> pages =
      Manager::numBlocks(large, batch, INT32_MAX, INT64_MAX);
  EXPECT_EQ(*Manager::estimatedMemorySize(large, batch, INT32_MAX, INT64_MAX),
            (*pages + 1) * page + tables(batch, INT32_MAX / (1 << 15) + 1));
  EXPECT_GT(*Manager::estimatedMemorySize(large, batch, INT32_MAX, INT64_MAX),
            INT64_MAX - page);
  // In whole pages of 2^15 tokens.
  EXPECT_EQ(Manager::maxSupportedSequenceLength(large, INT64_MAX),
            INT32_MAX - ((1 << 15) - 1));
  // As many as an engine can number.
  KVCacheParams tiny = params(1);
  tiny.geometry.heads = tiny.geometry.dim = 1;
  EXPECT_EQ(*Manager::numBlocks(tiny, 1 << 20, INT32_MAX, INT64_MAX),
            INT32_MAX / 2);
}

TEST(PagedSizes, ErrorsNameBothSides) {
  EXPECT_EQ(text(Manager::numBlocks(params(), 4, 1000, 1)),
            "available_cache_memory is 1 bytes for 1 replica, one page, the "
            "null page and the tables of a replica take 2099968");
  EXPECT_EQ(
      text(Manager::estimatedMemorySize(params(128, 2, 2), 4, 1000, 1 << 20)),
      "available_cache_memory is 1048576 bytes for 2 replicas, one page, the "
      "null page and the tables of a replica take 2098560");
  EXPECT_EQ(text(Manager::numBlocks(params(128, 4, 4), 3, 1000, GiB)),
            "max_batch_size is 3, allowed: at least one for each of 4 "
            "replicas");
  EXPECT_EQ(text(Manager::numBlocks(params(), 4, 0, GiB)),
            "max_seq_len is 0, allowed: 1 to 2147483647");
  EXPECT_EQ(text(Manager::inferOptimalBatchSize(params(), -1, GiB)),
            "max_seq_len is -1, allowed: 1 to 2147483647");
  EXPECT_EQ(text(Manager::inferOptimalBatchSize(params(), 1, -1)),
            "available_cache_memory is -1 bytes, allowed: 0 or more");
  // Slots are another manager's.
  KVCacheParams slots = params();
  slots.geometry.strategy = CacheStrategy::Continuous;
  std::string_view wrong = "collection kv: strategy is continuous, this cache "
                           "manager needs paged";
  EXPECT_EQ(text(Manager::numBlocks(slots, 4, 1000, GiB)), wrong);
  EXPECT_EQ(text(Manager::estimatedMemorySize(slots, 4, 1000, GiB)), wrong);
  EXPECT_EQ(text(Manager::inferOptimalBatchSize(slots, 1000, GiB)), wrong);
}

TEST(PagedSizes, APageHas128TokensUnlessSaidOtherwise) {
  CacheGeometry geometry = {.layers = 1, .heads = 8, .dim = 128};
  EXPECT_EQ(geometry.page, 128);
  EXPECT_EQ(geometry.problem(), "");
  // How long a slot is, nobody can guess.
  CacheGeometry slot = {.strategy = CacheStrategy::Continuous,
                        .layers = 1,
                        .heads = 8,
                        .dim = 128};
  EXPECT_EQ(slot.problem(), "'max_seq' must be positive, not 0");
}

/// As much host memory as the devices have, or as much as one wants to give.
TEST(PagedSizes, HostPagesFollowTheDevices) {
  auto hostPages = [](const MultiKVCacheParams &of, int64_t slots,
                      int64_t pages, int64_t bytes) {
    return PagedSizes(of, slots, 0).hostPages(pages, bytes);
  };
  MultiKVCacheParams plain = params(128, 2, 2); // two replicas, pages of 1 MiB
  EXPECT_EQ(hostPages(plain, 4, 100, INT64_MAX), 200);
  EXPECT_EQ(hostPages(plain, 4, 100, 7 << 20), 7);
  EXPECT_EQ(hostPages(plain, 4, 100, 0), 1);
  KVCacheParams state = params();
  state.name = "state";
  state.geometry.strategy = CacheStrategy::Recurrent;
  state.geometry.heads = 20; // of 10 KiB: parts of 1 MiB, of which one will do
  MultiKVCacheParams hybrid;
  hybrid.params = {params(), state};
  int64_t states = PagedSizes(hybrid, 4, 0).states();
  EXPECT_EQ(hostPages(hybrid, 4, 100, INT64_MAX), 100 + states);
  EXPECT_EQ(hostPages(hybrid, 4, 100, 0), 2); // a page and a state
}
