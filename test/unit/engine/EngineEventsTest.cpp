//===- EngineEventsTest.cpp - Events say what the index holds -------------===//

#include "EngineFixture.h"
#include "EngineHarness.h"

#include <map>

using namespace kv;
using namespace kv::test;

namespace {

/// What a listener knows, also after it has lost events.
class Listener : public CacheEventSink {
public:
  struct Node {
    int32_t parent;
    uint32_t groups;
    Tokens tokens;
  };
  std::map<int32_t, Node> nodes;
  bool deaf = false; // loses what it is told
  int64_t lost = 0, told = 0;

  void stored(const StoredPages &pages) override {
    if (skips())
      return;
    ASSERT_FALSE(pages.nodes.empty());
    size_t pageSize = pages.tokens.size() / pages.nodes.size();
    int32_t parent = pages.parent;
    EXPECT_EQ(parent == StoredPages::NoParent, !pages.scope.empty());
    EXPECT_TRUE(parent == StoredPages::NoParent || nodes.contains(parent));
    for (size_t i = 0; i < pages.nodes.size(); ++i) {
      auto tokens = pages.tokens.subspan(i * pageSize, pageSize);
      nodes[pages.nodes[i]] = {
          parent, pages.groups, {tokens.begin(), tokens.end()}};
      parent = pages.nodes[i];
    }
  }
  void restored(int32_t node, uint32_t groups) override {
    if (skips())
      return;
    ASSERT_TRUE(nodes.contains(node));
    EXPECT_EQ(nodes[node].groups & groups, 0u);
    nodes[node].groups |= groups;
  }
  void removed(std::span<const int32_t> gone, uint32_t groups) override {
    if (skips())
      return;
    for (int32_t node : gone)
      if (auto at = nodes.find(node); at != nodes.end())
        at->second.groups &= ~groups;
  }
  void cleared() override {
    if (!skips())
      nodes.clear();
  }
  bool wantsAll() const override { return lost > 0 && !deaf; }
  void beginAll() override {
    nodes.clear();
    lost = 0;
  }
  void endAll() override {}

private:
  bool skips() {
    lost += deaf;
    told += !deaf;
    return deaf || lost > 0;
  }
};

/// What a listener must know: every prefix that can be found.
std::string compare(const CacheEngineImpl &engine, const Listener &listener) {
  const PrefixIndex &index = engine.index();
  auto groupsOf = [&](uint32_t id) {
    uint32_t groups = 0;
    for (int32_t group = 0; group < engine.numGroups(); ++group)
      groups |= uint32_t(index.page(id, group) != NullPage) << group;
    return groups | uint32_t(engine.hasSnapshot(id)) << engine.numGroups();
  };
  for (uint32_t id = index.firstId(); id < index.numIds(); ++id) {
    if (!index.isUsed(id) || !engine.isFindable(id) || groupsOf(id) == 0)
      continue;
    auto known = listener.nodes.find(static_cast<int32_t>(id));
    if (known == listener.nodes.end())
      return concat("node ", id, " was never told");
    if (known->second.groups != groupsOf(id) ||
        !std::ranges::equal(known->second.tokens, index.tokens(id)))
      return concat("node ", id, " is another");
    NodeRef parent = index.parent(id);
    if (known->second.parent !=
        (parent.isRoot() ? -1 : static_cast<int32_t>(parent.id)))
      return concat("node ", id, " has another parent");
  }
  for (const auto &[id, node] : listener.nodes)
    if (node.groups != 0 &&
        (!index.isUsed(static_cast<uint32_t>(id)) ||
         groupsOf(static_cast<uint32_t>(id)) != node.groups ||
         !std::ranges::equal(index.tokens(static_cast<uint32_t>(id)),
                             node.tokens)))
      return concat("node ", id, " is gone, which was not told");
  return "";
}

} // namespace

TEST(EngineEvents, AListenerKnowsTheIndex) {
  std::mt19937 random(5);
  int64_t told = 0, deaf = 0, announced = 0;
  for (int round = 0; round < 400; ++round) {
    Listener listener;
    CacheEngine::Options options = optionsOf(random());
    options.events = &listener;
    EngineHarness harness(options);
    std::string fault;
    for (int step = 0; step < 300 && fault.empty(); ++step) {
      if (round % 2 && random() % 40 == 0)
        listener.deaf = !listener.deaf;
      bool wanted = listener.wantsAll();
      fault = harness.step(random());
      ASSERT_EQ(fault, "");
      deaf += listener.deaf;
      announced += wanted && !listener.wantsAll();
      if (!listener.deaf && listener.lost == 0)
        fault = compare(harness.engine(), listener);
    }
    ASSERT_EQ(fault, "") << "round " << round;
    told += listener.told;
  }
  EXPECT_GT(told, 10000);
  EXPECT_GT(deaf, 1000);
  EXPECT_GT(announced, 100);
}

/// Snapshots of states come with steps, and go with pages, with later ones, and
/// when all are taken.
TEST(EngineEvents, AListenerKnowsTheSnapshots) {
  constexpr int32_t Page = 4;
  std::mt19937 random(6);
  int64_t hits = 0, evicted = 0;
  for (int seed = 0; seed < 40; ++seed) {
    Listener listener;
    CacheEngine::Options options = {.numPages = 40,
                                    .pageSize = Page,
                                    .recurrent = true,
                                    .snapshots = seed % 4,
                                    .maxSequences = 3,
                                    .maxTokens = 80,
                                    .events = &listener};
    if (seed % 2)
      options.groups = CacheGroups({{.window = 0}, {.window = 9}});
    auto made = CacheEngineImpl::create(options);
    ASSERT_TRUE(made) << text(made);
    CacheEngineImpl &engine = **made;
    for (int step = 0; step < 300; ++step) {
      Tokens tokens = iota(10 + static_cast<int32_t>(random() % 30));
      tokens[random() % tokens.size()] += static_cast<int32_t>(random() % 3);
      auto length = static_cast<int64_t>(tokens.size());
      Expected<Sequence> own = engine.open();
      ASSERT_TRUE(own);
      while (own->processedTokens() < length) {
        if (!engine.reserve(*own, tokens, {.length = length}).fits())
          break;
        int64_t end = std::min(length, engine.nextSnapshot(*own));
        ASSERT_TRUE(engine.commit(*own, tokens, end));
      }
      if (random() % 40 == 0)
        engine.resetPrefixes();
      listener.deaf = random() % 20 == 0;
      own->release();
      Expected<CacheEngine::Step> begun = engine.beginStep(); // tells all anew
      ASSERT_TRUE(begun);
      engine.completeAllSteps();
      if (listener.lost == 0)
        ASSERT_EQ(compare(engine, listener), "") << "seed " << seed;
    }
    hits += engine.metrics().hitPages;
    evicted += engine.metrics().evictedPages;
    EXPECT_EQ(engine.check(), "");
  }
  EXPECT_GT(hits, 1000);
  EXPECT_GT(evicted, 1000);
}

TEST(EngineEvents, ReasonsAreCountedAsExplained) {
  std::mt19937 random(7);
  for (CacheGroups groups :
       {CacheGroups(),
        CacheGroups{CacheGroup::full(), CacheGroup::slidingWindow(5)}}) {
    auto engine = make({.numPages = 300,
                        .pageSize = 4,
                        .groups = groups,
                        .explainMisses = true});
    std::array<int64_t, 6> expected = {};
    const std::string salts[] = {"a", "b"};
    for (int i = 0; i < 2000; ++i) {
      // Few different prompts that share their beginnings.
      Tokens prompt = iota(4 + static_cast<int32_t>(random() % 60),
                           static_cast<int32_t>(random() % 12));
      Scope scope = {.salt = salts[random() % 2]};
      std::vector<CacheEngine::Reason> reasons = engine->explain(scope, prompt);
      for (size_t page = 0; page < (prompt.size() - 1) / 4; ++page)
        ++expected[static_cast<size_t>(reasons[page])];
      Sequence sequence = run(*engine, prompt, scope);
      if (i % 500 == 499)
        engine->resetPrefixes();
    }
    for (size_t reason = 0; reason < 6; ++reason)
      EXPECT_EQ(engine->metrics().lookedUp[reason], expected[reason])
          << "reason " << reason;
    for (auto reason :
         {CacheEngine::Reason::Hit, CacheEngine::Reason::NeverSeen,
          CacheEngine::Reason::Evicted, CacheEngine::Reason::OtherScope})
      EXPECT_GT(expected[static_cast<size_t>(reason)], 0);
    EXPECT_EQ(expected[0], engine->metrics().hitPages);
  }
}
