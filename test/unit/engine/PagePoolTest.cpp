//===- PagePoolTest.cpp ---------------------------------------------------===//

#include "runtime/engine/structures/PagePool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>

using namespace kv;

namespace {

struct Pool : PagePool {
  explicit Pool(int32_t count) { EXPECT_TRUE(create(count, 2)); }

  PageId takeWithContent(uint32_t node) {
    PageId page = takeBlank();
    setContent(page, node);
    return page;
  }
  std::vector<PageId> order() const {
    std::vector<PageId> pages;
    eviction().visit([&](PageId page) {
      pages.push_back(page);
      return true;
    });
    return pages;
  }
};

using Pages = std::vector<PageId>;

} // namespace

TEST(PagePool, HandsOutAscendingIdsAndNeverTheNullPage) {
  Pool pool(3);
  EXPECT_EQ(pool.numFree(), 3);
  EXPECT_EQ(pool.takeBlank(), 1);
  EXPECT_EQ(pool.takeBlank(), 2);
  EXPECT_EQ(pool.takeBlank(), 3);
  EXPECT_EQ(pool.takeBlank(), NullPage);
  EXPECT_EQ(pool.numFree(), 0);
  EXPECT_EQ(pool.numUsed(), 3);
}

TEST(PagePool, ReleasedPageWithoutContentIsBlank) {
  Pool pool(2);
  PageId page = pool.takeBlank();
  pool.hold(page);
  pool.release(page, 0, {0});
  EXPECT_EQ(pool.numBlank(), 1);
  pool.release(page, 0, {0});
  EXPECT_EQ(pool.numBlank(), 2);
  EXPECT_EQ(pool.numCached(), 0);
  EXPECT_EQ(pool.victim(), NullPage);
}

TEST(PagePool, EvictsByPriorityThenInTheOrderOfRelease) {
  Pool pool(4);
  for (uint32_t node = 10; node < 14; ++node)
    pool.takeWithContent(node);
  pool.release(2, 0, {5});
  pool.release(1, 0, {5});
  pool.release(3, 0, {5});
  pool.release(4, 0, {1});
  EXPECT_EQ(pool.order(), (Pages{4, 2, 1, 3}));

  // A touched page becomes the most recent, and keeps the higher priority.
  pool.hold(2);
  EXPECT_EQ(pool.numFree(), 3);
  pool.release(2, 0, {1});
  EXPECT_EQ(pool.order(), (Pages{4, 1, 3, 2}));
  EXPECT_EQ(pool.victim(), 4);
  PageId victim = NullPage;
  EXPECT_EQ(pool.removeVictims(&victim, 1), 1);
  EXPECT_EQ(victim, 4);
  pool.takeVictim(4);
  EXPECT_EQ(pool.content(4), PagePool::NoContent);
  EXPECT_EQ(pool.victim(), 1);
  pool.release(4, 0, {127});

  pool.clearContent(3); // from the middle of the list
  EXPECT_EQ(pool.order(), (Pages{1, 2}));
  EXPECT_EQ(pool.takeBlank(), 3);
  EXPECT_EQ(pool.check(), nullptr);
}

TEST(PagePool, AHeldPageThatLosesItsContentStaysHeld) {
  Pool pool(1);
  PageId page = pool.takeWithContent(5);
  pool.clearContent(page);
  EXPECT_EQ(pool.numFree(), 0);
  pool.release(page, 0, {0});
  EXPECT_EQ(pool.numBlank(), 1);
}

TEST(PagePool, APageIsDeferredUntilItsStepIsComplete) {
  Pool pool(3);
  for (uint32_t node = 0; node < 3; ++node)
    pool.takeWithContent(node);
  pool.release(1, 2, {0});
  pool.release(2, 1, {0});
  pool.release(3, 0, {0});
  EXPECT_EQ(pool.numDeferred(), 2);
  EXPECT_EQ(pool.numAvailable(), 1);
  EXPECT_EQ(pool.numFree(), 3);
  pool.complete(1);
  EXPECT_EQ(pool.order(), (Pages{3, 2}));
  // Somebody takes the other one over before its step ends.
  pool.hold(1);
  EXPECT_EQ(pool.numDeferred(), 0);
  pool.complete(2);
  pool.release(1, 0, {0});
  EXPECT_EQ(pool.order(), (Pages{3, 2, 1}));
  EXPECT_EQ(pool.check(), nullptr);
}

TEST(PagePool, StalePagesGoFirst) {
  Pool pool(4);
  for (uint32_t node = 0; node < 4; ++node)
    pool.takeWithContent(node);
  pool.release(1, 0, {127});
  pool.release(2, 0, {3});
  pool.release(3, 1, {0});
  pool.makeStale();
  pool.release(4, 0, {0});
  EXPECT_EQ(pool.order(), (Pages{2, 1, 4}));
  pool.hold(4);
  pool.release(4, 0, {0}, /*stale=*/true);
  EXPECT_EQ(pool.order(), (Pages{2, 1, 4}));
  pool.complete(1);
  EXPECT_EQ(pool.order(), (Pages{2, 1, 4, 3}));
  EXPECT_EQ(pool.check(), nullptr);
}

/// Lists against deques: random pushes, removals from anywhere, and splices.
TEST(PageLists, AgreeWithDeques) {
  constexpr int32_t NumPages = 200, NumLists = 3;
  PageRecords records;
  ASSERT_TRUE(records.create(NumPages));
  PageLists lists;
  ASSERT_TRUE(lists.create(records, NumPages, NumLists));
  std::deque<PageId> model[NumLists];
  std::vector<PageId> outside;
  for (PageId page = 1; page <= NumPages; ++page)
    outside.push_back(page);
  std::mt19937 random(7);
  for (int step = 0; step < 50000; ++step) {
    uint32_t list = random() % NumLists;
    // Phases in which lists grow and shrink.
    bool grow = random() % 100 < (step / 500 % 2 ? 80 : 20);
    if (random() % 500 == 0) {
      uint32_t from = (list + 1) % NumLists;
      lists.append(list, from);
      model[list].insert(model[list].end(), model[from].begin(),
                         model[from].end());
      model[from].clear();
    } else if (grow && !outside.empty()) {
      std::swap(outside[random() % outside.size()], outside.back());
      lists.pushBack(list, outside.back());
      model[list].push_back(outside.back());
      outside.pop_back();
    } else if (!model[list].empty()) {
      size_t at = random() % model[list].size();
      PageId page = model[list][at];
      lists.remove(page);
      model[list].erase(model[list].begin() + at);
      outside.push_back(page);
    }
    ASSERT_EQ(lists.check(list), nullptr) << "step " << step;
    std::deque<PageId> seen;
    lists.visit(list, [&](PageId page) {
      seen.push_back(page);
      return true;
    });
    ASSERT_EQ(seen, model[list]) << "step " << step;
    ASSERT_EQ(lists.empty(list), model[list].empty());
    if (!model[list].empty()) {
      ASSERT_EQ(lists.front(list), model[list].front());
      ASSERT_EQ(lists.back(list), model[list].back());
    }
  }
}

/// Chunks that grow hollow from the middle are merged: the chunks that are set
/// aside suffice at any time.
TEST(PageLists, HollowChunksAreMerged) {
  constexpr int32_t NumPages = 13 * 100;
  PageRecords records;
  ASSERT_TRUE(records.create(NumPages));
  PageLists lists;
  ASSERT_TRUE(lists.create(records, NumPages, 2));
  std::mt19937 random(3);
  std::vector<PageId> order;
  for (PageId page = 1; page <= NumPages; ++page) {
    lists.pushBack(0, page);
    order.push_back(page);
  }
  // Each page is moved to the other list's end and back, in random order.
  for (int round = 0; round < 20; ++round) {
    std::ranges::shuffle(order, random);
    for (PageId page : order) {
      lists.remove(page);
      lists.pushBack(1, page);
    }
    for (PageId page : order) {
      lists.remove(page);
      lists.pushBack(0, page);
    }
    ASSERT_EQ(lists.check(0), nullptr);
  }
}
