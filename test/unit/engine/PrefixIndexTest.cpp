//===- PrefixIndexTest.cpp ------------------------------------------------===//

#include "runtime/engine/structures/PrefixIndex.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

using namespace kv;

namespace {

using Tokens = std::vector<int32_t>;

/// Everything collides.
uint64_t constantTag(uint64_t, uint64_t, std::span<const int32_t>) { return 7; }
/// Everything lands on the table's last slot, so that probes wrap around.
uint64_t lastSlotTag(uint64_t, uint64_t, std::span<const int32_t> tokens) {
  return 0xFFFFFFFF00000000ull | static_cast<uint32_t>(tokens[0] & 1);
}
/// Few homes: long runs of mixed homes.
uint64_t coarseTag(uint64_t, uint64_t parent, std::span<const int32_t> tokens) {
  return uint64_t((tokens[0] * 5 + parent) & 7) << 61;
}

/// The last bit chooses one half of the table.
uint64_t halfTag(uint64_t, uint64_t, std::span<const int32_t> tokens) {
  return uint64_t(tokens[0] & 1) << 63 | static_cast<uint32_t>(tokens[0]);
}

struct Index : PrefixIndex {
  ScopeTable scopes;
  uint32_t scope;

  Index(int32_t capacity, int32_t pageSize, TagFunction tagFunction = nullptr) {
    EXPECT_TRUE(scopes.create(4, 64, 1));
    EXPECT_TRUE(create({.capacity = capacity,
                        .pageSize = pageSize,
                        .key = 1,
                        .tagFunction = tagFunction},
                       scopes));
    scope = scopes.intern(ScopeBytes::of(Scope{}, 0));
  }
  NodeRef top() const { return root(scope); }
  // Neither is inlined: a compiler that sees a list of one token warns of the
  // branch for pages of sixteen.
  [[gnu::noinline]] uint32_t look(NodeRef parent, const Tokens &tokens,
                                  uint32_t images = NoImages) const {
    return find(childTag(tagOf(parent), tokens), parent, images, tokens.data());
  }
  [[gnu::noinline]] NodeRef add(NodeRef parent, const Tokens &tokens,
                                uint32_t images = NoImages) {
    return ref(
        insert(childTag(tagOf(parent), tokens), parent, images, tokens.data()));
  }
};

class PrefixIndexTags : public testing::TestWithParam<TagFunction> {};

} // namespace

TEST(PrefixIndex, FindsWhatWasInsertedUnderItsParentOnly) {
  Index index(8, 2);
  NodeRef a = index.add(index.top(), {1, 2});
  NodeRef b = index.add(a, {3, 4});
  index.setPage(b.id, 0, 6);
  EXPECT_EQ(index.look(index.top(), {1, 2}), a.id);
  EXPECT_EQ(index.look(a, {3, 4}), b.id);
  EXPECT_EQ(index.look(index.top(), {3, 4}), PrefixIndex::NoNode);
  EXPECT_EQ(index.look(a, {3, 5}), PrefixIndex::NoNode);
  EXPECT_EQ(index.look(b, {3, 4}), PrefixIndex::NoNode);
  EXPECT_EQ(index.page(b.id), 6);
  EXPECT_EQ(index.numChildren(a.id), 1u);
  EXPECT_EQ(index.check(), nullptr);
}

/// A search goes past buckets that overflowed once; it must end where it began
/// when all have.
TEST(PrefixIndex, EveryBucketCanHaveOverflowed) {
  Index index(9, 1, halfTag); // two buckets of seven
  std::vector<NodeRef> nodes;
  for (int32_t token = 0; token < 16; token += 2)
    nodes.push_back(index.add(index.top(), {token})); // the last in the other
  for (int32_t i = 0; i < 7; ++i)
    index.erase(nodes[i].id);
  for (int32_t token = 1; token < 15; token += 2)
    index.add(index.top(), {token}); // and the last of these in this one
  EXPECT_EQ(index.look(index.top(), {16}), PrefixIndex::NoNode);
  EXPECT_EQ(index.candidate(uint64_t(1) << 40), PrefixIndex::NoNode);
  EXPECT_EQ(index.look(index.top(), {14}), nodes.back().id);
  EXPECT_EQ(index.check(), nullptr);
}

TEST(PrefixIndex, AReusedSlotHasAnotherGeneration) {
  Index index(2, 1, constantTag);
  NodeRef parent = index.add(index.top(), {1});
  NodeRef child = index.add(parent, {2});
  index.erase(parent.id);
  NodeRef other = index.add(index.top(), {9});
  ASSERT_EQ(other.id, parent.id);
  EXPECT_FALSE(index.isLive(parent));
  // The orphan has the slot of `other` as parent, and still is not its child.
  EXPECT_TRUE(index.isLive(child));
  EXPECT_EQ(index.look(other, {2}), PrefixIndex::NoNode);
  EXPECT_EQ(index.numChildren(other.id), 0u);
  index.erase(child.id); // must not take a child from `other`
  EXPECT_EQ(index.numChildren(other.id), 0u);
}

TEST(PrefixIndex, ARootIsItsScope) {
  Index index(4, 1);
  index.add(index.top(), {1});
  uint32_t other = index.scopes.intern(ScopeBytes::of({.salt = "x"}, 0));
  EXPECT_EQ(index.look(index.root(other), {1}), PrefixIndex::NoNode);
  // Its id comes to mean another scope; nodes below the old one are not found.
  NodeRef below = index.add(index.root(other), {1});
  index.erase(below.id);
  index.scopes.release(other);
  uint32_t reused = index.scopes.intern(ScopeBytes::of({.salt = "y"}, 0));
  ASSERT_EQ(reused, other);
  EXPECT_EQ(index.look(index.root(reused), {1}), PrefixIndex::NoNode);
}

TEST(PrefixIndex, ImagesAreComparedBesideTheTokens) {
  Index index(4, 1, constantTag);
  Tokens tokens = {5};
  uint32_t cat = index.scopes.intern(
      ScopeBytes::of({{{.begin = 0, .length = 1, .hash = "cat"}}}, 0, 1));
  index.add(index.top(), tokens, cat);
  EXPECT_NE(index.look(index.top(), tokens, cat), PrefixIndex::NoNode);
  EXPECT_EQ(index.look(index.top(), tokens), PrefixIndex::NoNode);
}

TEST(PrefixIndex, TheTagDependsOnKeyParentAndTokens) {
  ScopeTable scopes;
  ASSERT_TRUE(scopes.create(1, 64, 1));
  auto tag = [&](uint64_t key, uint64_t parent, const Tokens &tokens) {
    PrefixIndex index;
    EXPECT_TRUE(
        index.create({.capacity = 1, .pageSize = 2, .key = key}, scopes));
    uint64_t one = index.childTag(parent, tokens), many = 0;
    index.childTags(parent, tokens, &many);
    EXPECT_EQ(one, many);
    return one;
  };
  uint64_t base = tag(1, 3, {1, 2});
  EXPECT_EQ(base, tag(1, 3, {1, 2}));
  EXPECT_NE(base, tag(2, 3, {1, 2}));
  EXPECT_NE(base, tag(1, 4, {1, 2}));
  EXPECT_NE(base, tag(1, 3, {2, 1}));
}

/// Random insertions and removals against a map, under tags from good to
/// hopeless.
TEST_P(PrefixIndexTags, AgreesWithAMap) {
  constexpr int32_t Capacity = 24;
  std::mt19937 random(42);
  Index index(Capacity, 2, GetParam());
  using Key = std::tuple<uint32_t, uint32_t, Tokens>;
  std::map<Key, NodeRef> model;
  std::vector<NodeRef> parents = {index.top()};
  auto erase = [&](std::map<Key, NodeRef>::iterator at) {
    std::erase(parents, at->second);
    index.erase(at->second.id);
    model.erase(at);
  };
  for (int step = 0; step < 20000; ++step) {
    NodeRef parent = parents[random() % parents.size()];
    Tokens tokens = {static_cast<int32_t>(random() % 4),
                     static_cast<int32_t>(random() % 3)};
    Key key = {parent.id, parent.generation, tokens};
    auto known = model.find(key);
    uint32_t found = index.look(parent, tokens);
    ASSERT_EQ(found != PrefixIndex::NoNode, known != model.end());
    if (known != model.end()) {
      ASSERT_EQ(index.ref(found), known->second);
      if (random() % 2 == 0)
        erase(known);
    } else if (!index.isFull()) {
      NodeRef node = index.add(parent, tokens);
      model[key] = node;
      parents.push_back(node);
    } else {
      erase(std::next(model.begin(), random() % model.size()));
    }
    ASSERT_EQ(index.size(), static_cast<int32_t>(model.size()));
  }
  for (const auto &[key, node] : model) {
    auto &[parent, generation, tokens] = key;
    // The tag of a parent that has gone is not known any more.
    if (NodeRef above = {parent, generation}; index.isLive(above)) {
      EXPECT_EQ(index.look(above, tokens), node.id);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Tags, PrefixIndexTags,
                         testing::Values(nullptr, constantTag, lastSlotTag,
                                         coarseTag));

TEST(ScopeTable, FieldsAreFramed) {
  ScopeTable table;
  ASSERT_TRUE(table.create(16, 64, 3));
  std::vector<Scope> all = {
      {},
      {.adapter = ""},
      {.adapter = "0"},
      {.salt = ""},
      {.adapter = "a", .salt = "bc"},
      {.adapter = "ab", .salt = "c"},
      {.model = "a", .salt = "bc"},
      {.adapter = "abc"},
  };
  std::vector<uint32_t> ids;
  for (const Scope &scope : all)
    ids.push_back(table.intern(ScopeBytes::of(scope, 0)));
  ids.push_back(table.intern(ScopeBytes::of(Scope{}, 1)));
  std::ranges::sort(ids);
  EXPECT_EQ(std::ranges::adjacent_find(ids), ids.end());
  EXPECT_EQ(table.size(), 9);
  EXPECT_EQ(table.intern(ScopeBytes::of(all[4], 0)),
            table.find(ScopeBytes::of(all[4], 0)));
}

TEST(ScopeTable, IsFullAndForgets) {
  ScopeTable table;
  ASSERT_TRUE(table.create(2, 32, 3));
  auto bytes = [](std::string_view salt) {
    return ScopeBytes::of({.salt = salt}, 0);
  };
  uint32_t a = table.intern(bytes("a"));
  EXPECT_EQ(table.intern(bytes("0123456789abcdefg")), ScopeTable::None);
  uint32_t b = table.intern(bytes("b"));
  EXPECT_EQ(table.intern(bytes("c")), ScopeTable::None);
  EXPECT_EQ(table.intern(bytes("a")), a);
  table.release(a);
  EXPECT_EQ(table.intern(bytes("c")), ScopeTable::None);
  uint32_t generation = table.generation(a);
  table.release(a);
  EXPECT_EQ(table.find(bytes("a")), ScopeTable::None);
  EXPECT_EQ(table.intern(bytes("c")), a);
  EXPECT_NE(table.generation(a), generation);
  EXPECT_EQ(table.find(bytes("b")), b);
}

TEST(ScopeTable, ImagesAreSeenFromThePage) {
  ImageSpan images[] = {{.begin = 3, .length = 4, .hash = "cat"},
                        {.begin = 9, .length = 2, .hash = "dog"}};
  auto bytes = [&](int64_t begin, int64_t end) {
    ScopeBytes made = ScopeBytes::of(images, begin, end);
    return std::string(reinterpret_cast<const char *>(made.data()),
                       made.size());
  };
  EXPECT_EQ(bytes(0, 3), "");
  EXPECT_EQ(bytes(7, 9), "");
  EXPECT_NE(bytes(0, 4), bytes(2, 6)); // another part of the cat
  EXPECT_NE(bytes(4, 8), bytes(4, 12));
  images[1].begin = 10;
  std::string moved = bytes(8, 12);
  images[1].begin = 9;
  EXPECT_NE(moved, bytes(8, 12));
}
