//===- PagePoolTest.cpp ---------------------------------------------------===//

#include "kv/Runtime/PagePool.h"

#include <gtest/gtest.h>

using namespace kv;

TEST(PagePool, HandsOutAscendingIdsAndNeverTheNullPage) {
  PagePool pool(3);
  EXPECT_EQ(pool.numFree(), 3);
  EXPECT_EQ(pool.takeBlank(), 1);
  EXPECT_EQ(pool.takeBlank(), 2);
  EXPECT_EQ(pool.takeBlank(), 3);
  EXPECT_EQ(pool.takeBlank(), NullPage);
  EXPECT_EQ(pool.numFree(), 0);
  EXPECT_EQ(pool.numUsed(), 3);
}

TEST(PagePool, ReleasedPageWithoutContentIsBlank) {
  PagePool pool(2);
  PageId page = pool.takeBlank();
  pool.hold(page);
  EXPECT_FALSE(pool.release(page));
  EXPECT_TRUE(pool.release(page));
  EXPECT_EQ(pool.numBlank(), 2);
  EXPECT_EQ(pool.numCached(), 0);
  EXPECT_EQ(pool.victim(), NullPage);
}

TEST(PagePool, EvictsInTheOrderOfRelease) {
  PagePool pool(3);
  for (uint32_t content = 10; content < 13; ++content)
    pool.setContent(pool.takeBlank(), content);
  pool.release(2);
  pool.release(1);
  pool.release(3);
  EXPECT_EQ(pool.numCached(), 3);
  EXPECT_EQ(pool.victim(), 2);

  // A touched page becomes the most recent.
  pool.hold(2);
  EXPECT_EQ(pool.numFree(), 2);
  EXPECT_EQ(pool.victim(), 1);
  pool.release(2);
  EXPECT_EQ(pool.nextVictim(1), 3);
  EXPECT_EQ(pool.nextVictim(3), 2);
  EXPECT_EQ(pool.nextVictim(2), NullPage);

  pool.clearContent(3); // from the middle of the list
  EXPECT_EQ(pool.nextVictim(1), 2);
  EXPECT_EQ(pool.takeBlank(), 3);
  EXPECT_EQ(pool.content(3), PagePool::NoContent);
  EXPECT_EQ(pool.takeBlank(), NullPage);
}

TEST(PagePool, AHeldPageThatLosesItsContentStaysHeld) {
  PagePool pool(1);
  PageId page = pool.takeBlank();
  pool.setContent(page, 5);
  pool.clearContent(page);
  EXPECT_EQ(pool.numFree(), 0);
  EXPECT_TRUE(pool.release(page));
  EXPECT_EQ(pool.numBlank(), 1);
}
