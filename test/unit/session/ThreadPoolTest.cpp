//===- ThreadPoolTest.cpp - Parallel loops --------------------------------===//

#include "kv/Runtime/Base/ThreadPool.h"

#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

using namespace kv;

namespace {

class Pools : public ::testing::TestWithParam<unsigned> {};

TEST_P(Pools, EveryIterationOnce) {
  ThreadPool pool(GetParam());
  EXPECT_EQ(pool.threads(), GetParam());
  for (int64_t count : {0, 1, 2, 7, 64, 1000})
    for (int64_t grain : {0, 1, 3, 100, 5000}) {
      std::vector<std::atomic<int>> seen(count);
      pool.forRange(count, grain, [&](int64_t lo, int64_t hi) {
        EXPECT_LT(lo, hi);
        EXPECT_TRUE(hi - lo >= grain || hi == count);
        for (int64_t i = lo; i < hi; ++i)
          ++seen[i];
      });
      for (int64_t i = 0; i < count; ++i)
        ASSERT_EQ(seen[i], 1) << i << " of " << count << ", grain " << grain;
    }
}

/// Surplus threads would only take the cores from those that work.
TEST(ThreadPool, NoMoreAwakeThanCores) {
  unsigned cores = ThreadPool::cores();
  ThreadPool pool(4 * cores);
  std::atomic<unsigned> active = 0, most = 0;
  std::mutex mutex;
  std::set<std::thread::id> threads;
  for (int round = 0; round < 50; ++round)
    pool.forRange(16 * cores, 1, [&](int64_t, int64_t) {
      unsigned now = ++active, seen = most;
      while (now > seen && !most.compare_exchange_weak(seen, now)) {
      }
      {
        std::scoped_lock lock(mutex);
        threads.insert(std::this_thread::get_id());
      }
      std::this_thread::sleep_for(std::chrono::microseconds(50));
      --active;
    });
  EXPECT_LE(most, cores);
  EXPECT_GE(threads.size(), std::min(2u, cores));
}

TEST_P(Pools, NestedLoopsRunInline) {
  ThreadPool pool(GetParam());
  std::atomic<int64_t> total = 0;
  pool.forRange(100, 1, [&](int64_t lo, int64_t hi) {
    std::thread::id outer = std::this_thread::get_id();
    for (int64_t i = lo; i < hi; ++i)
      pool.forRange(50, 1, [&](int64_t a, int64_t b) {
        EXPECT_EQ(std::this_thread::get_id(), outer);
        total += b - a;
      });
  });
  EXPECT_EQ(total, 5000);
}

TEST_P(Pools, ManySmallLoops) {
  ThreadPool pool(GetParam());
  int64_t expected = 0, sum = 0;
  for (int round = 0; round < 20000; ++round) {
    // Plain memory: a loop must have ended, visibly, when parallelFor returns.
    int64_t parts[8] = {};
    pool.forRange(8, 1, [&](int64_t lo, int64_t hi) {
      for (int64_t i = lo; i < hi; ++i)
        parts[i] = round + i;
    });
    for (int64_t i = 0; i < 8; ++i) {
      sum += parts[i];
      expected += round + i;
    }
  }
  EXPECT_EQ(sum, expected);
}

// Longer than the workers spin, so that they sleep between loops.
TEST_P(Pools, LoopsAfterSleep) {
  ThreadPool pool(GetParam());
  for (int round = 0; round < 20; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    std::atomic<int64_t> sum = 0;
    pool.forRange(100, 1, [&](int64_t lo, int64_t hi) { sum += hi - lo; });
    ASSERT_EQ(sum, 100);
  }
}

TEST_P(Pools, SeveralCallers) {
  ThreadPool pool(GetParam());
  std::atomic<int64_t> total = 0;
  std::vector<std::thread> callers;
  for (int c = 0; c < 3; ++c)
    callers.emplace_back([&] {
      for (int round = 0; round < 500; ++round)
        pool.forRange(32, 1, [&](int64_t lo, int64_t hi) { total += hi - lo; });
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(total, 3 * 500 * 32);
}

INSTANTIATE_TEST_SUITE_P(Threads, Pools, ::testing::Values(1, 2, 3, 7));

TEST(ThreadPool, UsesItsThreads) {
  ThreadPool pool(3);
  std::mutex mutex;
  std::set<std::thread::id> ids;
  // Chunks long enough for everybody to wake up.
  for (int round = 0; round < 50 && ids.size() < 3; ++round)
    pool.forRange(12, 1, [&](int64_t, int64_t) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      std::lock_guard lock(mutex);
      ids.insert(std::this_thread::get_id());
    });
  EXPECT_EQ(ids.size(), 3u);
}

TEST(ThreadPool, DefaultIsOneThreadACore) {
  EXPECT_EQ(ThreadPool().threads(), ThreadPool::cores());
}

TEST(ThreadPool, StartsAndStops) {
  for (int round = 0; round < 100; ++round) {
    ThreadPool pool(3);
    if (round % 2)
      pool.forRange(10, 1, [](int64_t, int64_t) {});
  }
}

} // namespace
