//===- PrefixIndexTest.cpp ------------------------------------------------===//

#include "kv/Runtime/PrefixIndex.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

using namespace kv;

namespace {

using Tokens = std::vector<int32_t>;

/// Everything collides.
uint64_t constantTag(uint64_t, NodeRef, std::span<const int32_t>) { return 7; }
/// Everything lands on the table's last slot, so that probes wrap around.
uint64_t lastSlotTag(uint64_t, NodeRef, std::span<const int32_t> tokens) {
  return 0xFFFFFFFF00000000ull | static_cast<uint32_t>(tokens[0] & 1);
}
/// Few homes: long runs of mixed homes.
uint64_t coarseTag(uint64_t, NodeRef parent, std::span<const int32_t> tokens) {
  return uint64_t((tokens[0] * 5 + parent.id) & 7) << 61;
}

class PrefixIndexTags
    : public testing::TestWithParam<PrefixIndex::TagFunction> {};

} // namespace

TEST(PrefixIndex, FindsWhatWasInsertedUnderItsParentOnly) {
  PrefixIndex index(8, 2, 1);
  NodeRef a = index.insert(index.root(), Tokens{1, 2}, 5);
  NodeRef b = index.insert(a, Tokens{3, 4}, 6);
  EXPECT_EQ(index.find(index.root(), Tokens{1, 2}), a);
  EXPECT_EQ(index.find(a, Tokens{3, 4}), b);
  EXPECT_EQ(index.find(index.root(), Tokens{3, 4}), std::nullopt);
  EXPECT_EQ(index.find(a, Tokens{3, 5}), std::nullopt);
  EXPECT_EQ(index.find(b, Tokens{3, 4}), std::nullopt);
  EXPECT_EQ(index.page(b.id), 6);
  EXPECT_EQ(index.numChildren(a.id), 1);
}

TEST(PrefixIndex, AReusedSlotHasAnotherGeneration) {
  PrefixIndex index(2, 1, 1);
  NodeRef parent = index.insert(index.root(), Tokens{1}, 1);
  NodeRef child = index.insert(parent, Tokens{2}, 2);
  index.erase(parent.id);
  NodeRef other = index.insert(index.root(), Tokens{9}, 3);
  ASSERT_EQ(other.id, parent.id);
  EXPECT_FALSE(index.isLive(parent));
  // The orphan has the slot of `other` as parent, and still is not its child.
  EXPECT_TRUE(index.isLive(child));
  EXPECT_EQ(index.find(other, Tokens{2}), std::nullopt);
  EXPECT_EQ(index.numChildren(other.id), 0);
  index.erase(child.id); // must not take a child from `other`
  EXPECT_EQ(index.numChildren(other.id), 0);
}

TEST(PrefixIndex, ResetHidesEverythingAtOnce) {
  PrefixIndex index(4, 1, 1);
  NodeRef old = index.insert(index.root(), Tokens{1}, 1);
  index.reset();
  EXPECT_EQ(index.find(index.root(), Tokens{1}), std::nullopt);
  EXPECT_FALSE(index.isCurrent(old.id));
  NodeRef fresh = index.insert(index.root(), Tokens{1}, 2);
  EXPECT_EQ(index.find(index.root(), Tokens{1}), fresh);
  EXPECT_EQ(index.size(), 2);
}

TEST(PrefixIndex, TheDefaultTagDependsOnKeyParentAndTokens) {
  auto tag = PrefixIndex::defaultTag;
  Tokens tokens = {1, 2};
  uint64_t base = tag(1, {3, 4}, tokens);
  EXPECT_EQ(base, tag(1, {3, 4}, tokens));
  EXPECT_NE(base, tag(2, {3, 4}, tokens));
  EXPECT_NE(base, tag(1, {4, 4}, tokens));
  EXPECT_NE(base, tag(1, {3, 5}, tokens));
  EXPECT_NE(base, tag(1, {3, 4}, Tokens{2, 1}));
}

/// Random insertions and removals against a map, under tags from good to
/// hopeless.
TEST_P(PrefixIndexTags, AgreesWithAMap) {
  constexpr int32_t Capacity = 24;
  std::mt19937 random(42);
  PrefixIndex index(Capacity, 2, 99, GetParam());
  using Key = std::tuple<uint32_t, uint32_t, Tokens>;
  std::map<Key, NodeRef> model;
  std::vector<NodeRef> parents = {index.root()};
  for (int step = 0; step < 20000; ++step) {
    NodeRef parent = parents[random() % parents.size()];
    Tokens tokens = {static_cast<int32_t>(random() % 4),
                     static_cast<int32_t>(random() % 3)};
    Key key = {parent.id, parent.generation, tokens};
    auto known = model.find(key);
    std::optional<NodeRef> found = index.find(parent, tokens);
    ASSERT_EQ(found.has_value(), known != model.end());
    if (found) {
      ASSERT_EQ(*found, known->second);
      if (random() % 2 == 0) {
        std::erase(parents, *found);
        index.erase(found->id);
        model.erase(known);
      }
    } else if (index.size() < Capacity) {
      NodeRef node = index.insert(parent, tokens, 1 + random() % 100);
      model[key] = node;
      parents.push_back(node);
    } else {
      auto victim = std::next(model.begin(), random() % model.size());
      std::erase(parents, victim->second);
      index.erase(victim->second.id);
      model.erase(victim);
    }
    ASSERT_EQ(index.size(), static_cast<int32_t>(model.size()));
  }
  for (const auto &[key, node] : model)
    EXPECT_EQ(
        index.find({std::get<0>(key), std::get<1>(key)}, std::get<2>(key)),
        node);
}

INSTANTIATE_TEST_SUITE_P(Tags, PrefixIndexTags,
                         testing::Values(PrefixIndex::defaultTag, constantTag,
                                         lastSlotTag, coarseTag));
