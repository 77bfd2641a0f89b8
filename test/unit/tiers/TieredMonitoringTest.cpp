//===- TieredMonitoringTest.cpp - Tiers beside other threads --------------===//
//
// One thread serves with a disk tier, whose threads read and write; others
// publish its events and read all figures. scripts/test-threads.sh runs it
// under ThreadSanitizer.
//
//===----------------------------------------------------------------------===//

#include "kv/Runtime/Events/EventPublisher.h"
#include "kv/Runtime/Manager/ManagerMetrics.h"
#include "kv/Runtime/Manager/PagedKVCacheManager.h"

#include "test/unit/TemporaryFile.h"
#include "test/unit/Values.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <random>
#include <thread>

using namespace kv;
using namespace kv::test;

namespace {

/// Serves prompts that share beginnings, and resets now and then.
void serve(PagedKVCacheManager &manager, const std::atomic<bool> &ended) {
  std::mt19937 random(1);
  for (int64_t round = 1; !ended; ++round) {
    Tokens prompt = iota(20 + static_cast<int32_t>(random() % 50),
                         static_cast<int32_t>(random() % 8) * 100);
    TextGenerationContext request(1, prompt);
    ASSERT_TRUE(manager.claim(1));
    for (;;) {
      auto allocated = manager.alloc(request);
      if (allocated)
        break;
      ASSERT_EQ(allocated.error().reason, AllocationError::Reason::Loading);
      manager.waitForLoads(1'000'000);
    }
    const TextGenerationContext *batch[] = {&request};
    ASSERT_TRUE(manager.runtimeInputs(batch));
    request.advance();
    ASSERT_TRUE(manager.step(batch));
    ASSERT_TRUE(manager.release(1));
    if (round % 500 == 0)
      manager.resetPrefixCache();
  }
}

} // namespace

TEST(TieredMonitoring, RunsBesideTheEnginesThread) {
  TemporaryFolder folder;
  auto publisher =
      EventPublisher::open({.endpoint = localEndpoint("events"),
                            .pageSize = 4,
                            .interval = std::chrono::milliseconds(1)});
  ASSERT_TRUE(publisher) << text(publisher);
  KVCacheParams params = {.geometry = {.dtype = KV_DTYPE_F16,
                                       .layers = 1,
                                       .heads = 1,
                                       .dim = 8,
                                       .page = 4},
                          .enablePrefixCaching = true,
                          .connector = KVConnector::Tiered,
                          .hostSwapSpaceGB = std::ldexp(24 * 128, -30)};
  auto manager = PagedKVCacheManager::create(
      params, {.maxBatchSize = 2,
               .maxSeqLen = 100,
               .numPages = 30,
               .events = {publisher->get()},
               .tiers = {.diskDirectory = folder.path(),
                         .diskBytes = 80 * 4096,
                         .asynchronous = true},
               .explainMisses = true});
  ASSERT_TRUE(manager) << text(manager);
  const TierMetrics &tiers = *(*manager)->tierMetrics();

  std::atomic<bool> ended = false;
  std::thread engine([&] { serve(**manager, ended); });
  auto allWereThere = [&] {
    return tiers.readPages > 200 && tiers.writtenPages > 200 &&
           tiers.evictedDiskPages > 0 && (*manager)->figures(0).resets > 2;
  };
  // All have had their turn within a minute, also where others compute.
  int64_t scrapes = 0;
  for (int i = 0; i < 100 || (i < 6000 && !allWereThere()); ++i, ++scrapes) {
    EXPECT_EQ(tiers.hostPages, 24);
    EXPECT_LE(tiers.usedHostPages, 24);
    EXPECT_EQ(tiers.diskPages, 80);
    EXPECT_LE(tiers.usedDiskPages, 80);
    EXPECT_GE(tiers.diskOperations, 0);
    EXPECT_GE((*manager)->figures(0).loadedPages, 0);
    MetricFamilies families;
    collectMetrics(**manager, families);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ended = true;
  engine.join();
  EXPECT_TRUE(allWereThere());
  EXPECT_EQ(tiers.failedReads, 0);
  EXPECT_EQ(tiers.failedWrites, 0);
  EXPECT_EQ(tiers.unindexedPages, 0);
  EXPECT_GT((*manager)->figures(0).loadedPages, 200);
  EXPECT_GT((*publisher)->figures().stored, 100);
}
