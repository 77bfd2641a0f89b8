//===- PlanTest.cpp - Every key once, whatever the lengths ----------------===//
//
// KV_TEST_PLANS sets how many random plans are looked at.
//
//===----------------------------------------------------------------------===//

#include "PlanCase.h"
#include "kv/Definition/Fold.h"
#include "test/Environment.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <set>

using namespace kv::plan;
using namespace kv::plan::test;

namespace {

#define EXPECT(condition)                                                      \
  if (!(condition))                                                            \
  return ::testing::AssertionFailure() << #condition

/// Every row of the class lies in one tile, with all keys that it sees.
::testing::AssertionResult rowsCovered(const Planned &p) {
  size_t tile = 0;
  int64_t line = 0;
  for (int32_t b = 0; b < p.batch.sequences; ++b) {
    Sequence sequence = sequenceAt(p.batch, b);
    EXPECT(sequence.token >= 0 && sequence.added >= 0 &&
           sequence.token + sequence.added <= p.batch.tokens);
    EXPECT(sequence.length <= p.batch.capacity && sequence.length >= 0);
    int64_t rows = sequence.added * p.shape.group;
    if (rows < p.shape.rowsFrom || rows >= p.shape.rowsTo)
      continue;
    for (int64_t row = 0; row < rows; row += p.shape.tileRows, ++tile) {
      if (tile == size_t(p.header.tiles))
        return ::testing::AssertionSuccess(); // hostile offsets, no room
      const Tile &t = p.tiles[tile];
      EXPECT(t.sequence == b && t.row == row && t.start == line);
      line += unitCost(t) * p.shape.heads;
      int64_t end = std::min<int64_t>(row + p.shape.tileRows, rows);
      for (int64_t r = row; r < end; r += p.shape.group) {
        Keys keys =
            visibleKeys(p.shape.mask, p.shape.window,
                        sequence.cached + r / p.shape.group, sequence.length);
        EXPECT(keys.first >= 0 && keys.last <= sequence.length);
        if (keys.first < keys.last)
          EXPECT(keys.first / p.shape.leaf >= t.leafBegin &&
                 (keys.last - 1) / p.shape.leaf < t.leafEnd);
      }
    }
  }
  EXPECT(tile == size_t(p.header.tiles) && line == p.header.total);
  return ::testing::AssertionSuccess();
}

/// Every leaf of every unit is done once, in order of the parts; each piece
/// has a slot of its own; the parts are what unitParts says.
::testing::AssertionResult leavesCovered(const Planned &p) {
  struct Unit {
    int64_t next;
    int64_t first = -1, last = -1;
  };
  std::vector<Unit> units;
  for (int32_t t = 0; t < p.header.tiles; ++t)
    units.resize(units.size() + p.shape.heads, {p.tiles[t].leafBegin});
  std::vector<char> taken(int64_t(p.shape.parts) * p.shape.slots);
  std::set<int64_t> completed, shared;
  Cut end = p.cuts[0];
  EXPECT((end == Cut{0, 0, p.header.tiles ? p.tiles[0].leafBegin : 0}));
  for (int64_t part = 0; part < p.shape.parts; ++part) {
    Cut at = end;
    end = p.cuts[part + 1];
    Work work;
    for (; at.tile < p.header.tiles && workAt(p.tiles[at.tile], at, end, work);
         at = cutAfter(p.shape, work)) {
      const Tile &tile = p.tiles[work.tile];
      EXPECT(work.tile < p.header.tiles && work.head < p.shape.heads);
      Unit &unit = units[int64_t(work.tile) * p.shape.heads + work.head];
      EXPECT(work.leafBegin == unit.next);
      EXPECT(work.leafEnd > work.leafBegin || tile.leafBegin == tile.leafEnd);
      EXPECT(work.starts == (unit.first < 0));
      Parts parts = unitParts(p.shape, p.header, tile, work.head);
      Leaves leaves =
          partLeaves(p.shape, p.header, tile, work.head, parts, part);
      EXPECT(leaves.begin == work.leafBegin && leaves.end == work.leafEnd);
      unit.next = work.leafEnd;
      EXPECT(work.ends == (unit.next == tile.leafEnd));
      if (work.starts)
        unit.first = part;
      unit.last = part;
      for (int32_t leaf = work.leafBegin; leaf < work.leafEnd; ++leaf)
        EXPECT(partOf(p.shape, p.header, tile, work.head, parts, leaf) == part);
      if (work.whole())
        continue;
      EXPECT(completed.insert(parts.first).second == work.starts);
      int64_t index = 0;
      for (int64_t leaf = work.leafBegin; leaf < work.leafEnd; ++index) {
        int64_t slot = slotOf(p.shape, part, work.starts, index);
        EXPECT(slot >= part * p.shape.slots &&
               slot < (part + 1) * p.shape.slots);
        EXPECT(!taken[slot]);
        taken[slot] = 1;
        int64_t next = pieceEnd(leaf, work.leafEnd);
        EXPECT(next > leaf && (leaf % LeavesPerGroup == 0 || next == leaf + 1));
        EXPECT(leaf / LeavesPerGroup == (next - 1) / LeavesPerGroup);
        for (int64_t inside = leaf; inside < next; ++inside)
          EXPECT(pieceBegins(leaves, inside) == (inside == leaf));
        EXPECT(index == pieceCount(leaves.begin, leaf));
        leaf = next;
      }
      EXPECT(index == pieceCount(work.leafBegin, work.leafEnd));
      // Every group that ends here, with the part that has its first leaf.
      for (int32_t g = 0; g < groupCount(tile); ++g) {
        Leaves group = groupLeaves(tile, g);
        EXPECT(group.begin < group.end);
        EXPECT(g ? group.begin == groupLeaves(tile, g - 1).end
                 : group.begin == tile.leafBegin);
        if (group.end <= work.leafBegin || group.end > work.leafEnd)
          continue;
        int64_t first =
            partOf(p.shape, p.header, tile, work.head, parts, group.begin);
        if (first < part) // a counter of its own
          EXPECT(shared.insert(first).second);
      }
    }
  }
  EXPECT((end == Cut{p.header.tiles, 0, 0}));
  for (size_t i = 0; i < units.size(); ++i) {
    int32_t tile = i / p.shape.heads, head = i % p.shape.heads;
    EXPECT(units[i].first >= 0 && units[i].next == p.tiles[tile].leafEnd);
    Parts parts = unitParts(p.shape, p.header, p.tiles[tile], head);
    EXPECT(parts.first == units[i].first && parts.last == units[i].last);
  }
  return ::testing::AssertionSuccess();
}

} // namespace

TEST(Plan, EveryKeyOnce) {
  int64_t cut = 0, count = kv::test::environment("KV_TEST_PLANS", 20000);
  for (int64_t seed = 0; seed < count; ++seed) {
    std::mt19937 random(seed);
    Planned p = randomPlan(random);
    ASSERT_TRUE(rowsCovered(p)) << "seed " << seed;
    ASSERT_TRUE(leavesCovered(p)) << "seed " << seed;
    for (int32_t t = 0; t < p.header.tiles; ++t)
      cut += mayCut(p.shape, p.header, unitCost(p.tiles[t]));
  }
  // The random plans are not all trivial.
  EXPECT_GT(cut, count);
}

TEST(Plan, OneRequestIsSharedByAllParts) {
  Planned p;
  p.cached = {2047};
  p.offsets = {0, 1};
  p.shape = {2, 4, 16, GpuLeaf, KV_MASK_CAUSAL, 0, 0, INT64_MAX, 16, 64};
  p.batch.tokens = 1;
  p.batch.capacity = 4096;
  p.make();
  ASSERT_EQ(p.header.tiles, 1);
  EXPECT_EQ(p.header.payload, 3); // (16 leaves + 2) * 2 heads / 16 parts
  Parts parts = unitParts(p.shape, p.header, p.tiles[0], 1);
  EXPECT_EQ(parts.first, 6);
  EXPECT_EQ(parts.last, 11);
  EXPECT_TRUE(leavesCovered(p));
}

// A short request: every leaf on its own.
TEST(Plan, PartsShorterThanTheFixedCost) {
  Planned p;
  p.cached = {1023};
  p.offsets = {0, 1};
  p.shape = {8, 4, 16, GpuLeaf, KV_MASK_CAUSAL, 0, 0, INT64_MAX, 264, 64};
  p.batch.tokens = 1;
  p.batch.capacity = 4096;
  p.make();
  EXPECT_EQ(p.header.payload, 1);
  Parts parts = unitParts(p.shape, p.header, p.tiles[0], 7);
  EXPECT_EQ(parts.last - parts.first + 1, 8);
  EXPECT_TRUE(leavesCovered(p));
}

TEST(Plan, EmptySequencesKeepOneWork) {
  Planned p;
  p.cached = {0, 0};
  p.offsets = {0, 2, 2}; // the second one asks for nothing
  p.shape = {3, 1, 16, GpuLeaf, KV_MASK_CAUSAL, 0, 0, INT64_MAX, 4, 64};
  p.batch.tokens = 2;
  p.batch.capacity = 0; // a table without room: rows without keys
  p.make();
  ASSERT_EQ(p.header.tiles, 1);
  EXPECT_EQ(p.tiles[0].leafBegin, p.tiles[0].leafEnd);
  EXPECT_TRUE(leavesCovered(p));
}

TEST(Plan, VisibleKeysByTheDefinition) {
  for (int32_t mask = KV_MASK_NONE; mask <= KV_MASK_CHUNKED_CAUSAL; ++mask)
    for (int64_t window : {1, 2, 5, 16, 100})
      for (int64_t length = 0; length < 24; ++length)
        for (int64_t p = 0; p < 28; ++p) {
          Keys keys = visibleKeys(mask, window, p, length);
          for (int64_t k = 0; k < length; ++k) {
            bool causal = k <= p, near = p - window < k,
                 chunk = k / window == p / window;
            bool sees = mask == KV_MASK_NONE             ? true
                        : mask == KV_MASK_CAUSAL         ? causal
                        : mask == KV_MASK_SLIDING        ? causal && near
                        : mask == KV_MASK_CHUNKED        ? chunk
                        : mask == KV_MASK_CHUNKED_CAUSAL ? causal && chunk
                                                         : near;
            EXPECT_EQ(sees, keys.first <= k && k < keys.last)
                << mask << ' ' << window << ' ' << p << ' ' << k;
          }
        }
}

TEST(Fold, NothingChangesNoBit) {
  Softmax left{3.25f, 1.7f};
  Weights weights = fold(left, {});
  EXPECT_EQ(left.maximum, 3.25f);
  EXPECT_EQ(left.sum, 1.7f);
  EXPECT_EQ(foldValue(-0.3f, 0, weights), -0.3f);
  Softmax empty;
  weights = fold(empty, {3.25f, 1.7f});
  EXPECT_EQ(empty.sum, 1.7f);
  EXPECT_EQ(foldValue(0, -0.3f, weights), -0.3f);
  Softmax both;
  weights = fold(both, {});
  EXPECT_EQ(both.maximum, NoScore);
  EXPECT_EQ(both.sum, 0);
  EXPECT_EQ(foldValue(0, 0, weights), 0);
}

TEST(Fold, IsASoftmax) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> score(-30, 30);
  for (int n = 0; n < 1000; ++n) {
    Softmax folded;
    double sum = 0, value = 0;
    float foldedValue = 0;
    for (int i = 0; i < 9; ++i) {
      float s = score(random), v = score(random);
      sum += std::exp2(double(s));
      value += std::exp2(double(s)) * v;
      Weights weights = fold(folded, {s, 1});
      foldedValue = foldValue(foldedValue, v, weights);
    }
    EXPECT_NEAR(folded.maximum + std::log2(double(folded.sum)), std::log2(sum),
                1e-5);
    EXPECT_NEAR(foldedValue / folded.sum, value / sum, 1e-4);
  }
}
