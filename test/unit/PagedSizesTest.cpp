//===- PagedSizesTest.cpp - MAX's figures and the edges of 64 bits --------===//

#include "kv/Runtime/Manager/PagedKVCacheManager.h"

#include "Values.h"

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

} // namespace

TEST(PagedSizes, AreThoseOfMax) {
  constexpr int64_t Long = 1 << 20;
  EXPECT_EQ(*Manager::numBlocks(params(), 512, Long, GiB), 1024);
  EXPECT_EQ(*Manager::numBlocks(params(), 4, 1000, GiB), 32);
  EXPECT_EQ(*Manager::numBlocks(params(128, 2, 2), 512, Long, GiB), 512);
  EXPECT_EQ(*Manager::numBlocks(params(777), 512, Long, GiB), 168);
  EXPECT_EQ(*Manager::estimatedMemorySize(params(777), 512, Long, GiB),
            1069350912);
  EXPECT_EQ(*Manager::inferOptimalBatchSize(params(), Long, GiB), 512);
}

TEST(PagedSizes, EstimateIsWhatTheBatchNeedsOrTheMemoryHolds) {
  // 1000 tokens are 8 pages of 1 MiB.
  EXPECT_EQ(*Manager::estimatedMemorySize(params(), 4, 1000, GiB), 32 << 20);
  EXPECT_EQ(*Manager::estimatedMemorySize(params(128, 2, 2), 4, 1000, GiB),
            32 << 20);
  // Shards: every page costs both devices its bytes.
  EXPECT_EQ(*Manager::estimatedMemorySize(params(128, 2, 1), 4, 1000, GiB),
            64 << 20);
  // Whole pages on every replica, whatever is left over.
  EXPECT_EQ(*Manager::estimatedMemorySize(params(128, 2, 2), 64, 1 << 20,
                                          (7 << 20) + 5),
            6 << 20);
}

TEST(PagedSizes, LongestSequenceIsPageAligned) {
  EXPECT_EQ(Manager::maxSupportedSequenceLength(params(), GiB), 1024 * 128);
  EXPECT_EQ(Manager::maxSupportedSequenceLength(params(777), GiB), 168 * 777);
  EXPECT_EQ(Manager::maxSupportedSequenceLength(params(128, 2, 2), GiB),
            512 * 128);
  EXPECT_EQ(Manager::maxSupportedSequenceLength(params(128, 2, 1), GiB),
            512 * 128);
  EXPECT_EQ(Manager::maxSupportedSequenceLength(params(), 1), 0);
}

TEST(PagedSizes, SixtyFourBits) {
  KVCacheParams large = params(1 << 15);
  large.geometry.layers = 128; // 32 GiB a page... times 2
  int64_t page = large.bytesPerPage();
  EXPECT_EQ(page, int64_t(2) * 128 * (1 << 15) * 8 * 128 * 4);
  EXPECT_EQ(*Manager::estimatedMemorySize(large, 1 << 20, INT32_MAX, INT64_MAX),
            INT64_MAX / page * page);
  EXPECT_EQ(Manager::maxSupportedSequenceLength(large, INT64_MAX),
            INT64_MAX / page * (1 << 15));
  // As many as an engine can number.
  KVCacheParams tiny = params(1);
  tiny.geometry.heads = tiny.geometry.dim = 1;
  EXPECT_EQ(*Manager::numBlocks(tiny, 1 << 20, INT32_MAX, INT64_MAX),
            INT32_MAX / 2);
}

TEST(PagedSizes, ErrorsNameBothSides) {
  EXPECT_EQ(text(Manager::numBlocks(params(), 4, 1000, 1)),
            "available_cache_memory is 1 bytes for 1 replica, one page of a "
            "replica takes 1048576");
  EXPECT_EQ(
      text(Manager::estimatedMemorySize(params(128, 2, 2), 4, 1000, 1 << 20)),
      "available_cache_memory is 1048576 bytes for 2 replicas, one page "
      "of a replica takes 1048576");
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
