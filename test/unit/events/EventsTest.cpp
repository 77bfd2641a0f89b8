//===- EventsTest.cpp - What is published of the prefix index -------------===//

#include "runtime/events/EventEncoder.h"
#include "test/unit/engine/EngineFixture.h"
#include "test/unit/engine/EngineHarness.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>

using namespace kv;
using namespace kv::test;

namespace {

std::string hex(std::string_view bytes) {
  std::string text;
  for (unsigned char byte : bytes) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

std::string encoded(const EventPublisher::Options &options,
                    const CacheEvent &event) {
  return hex(EventEncoder(options).encode(1.5, {&event, 1}));
}

CacheEvent storedEvent() {
  return {.kind = CacheEvent::Stored,
          .blocks = {0xfeedfacecafebeef},
          .tokens = {1, 70000},
          .scope = std::make_shared<const BlockScope>()};
}

/// What a subscriber knows: the blocks of each group.
struct Subscriber {
  std::vector<std::set<uint64_t>> groups;
  std::string fault;

  void apply(const CacheEvent &event) {
    if (event.kind == CacheEvent::Cleared)
      return (void)(groups.assign(groups.size(), {}));
    std::set<uint64_t> &blocks = groups[event.group];
    for (uint64_t block : event.blocks)
      if (event.kind == CacheEvent::Stored ? !blocks.insert(block).second
                                           : blocks.erase(block) == 0)
        fault = event.kind == CacheEvent::Stored ? "stored twice"
                                                 : "removed, but not there";
  }
};

/// What an engine's findable nodes are called, by group.
std::vector<std::set<uint64_t>> blocksOf(const CacheEngineImpl &engine,
                                         const ScopeTable &scopes) {
  const PrefixIndex &index = engine.index();
  BlockHasher hasher;
  std::function<BlockDigest(uint32_t)> digest = [&](uint32_t id) {
    NodeRef parent = index.parent(id);
    std::span<const std::byte> images;
    if (index.images(id) != PrefixIndex::NoImages)
      images = scopes.bytes(index.images(id));
    return hasher.block(
        parent.isRoot()
            ? hasher.root(
                  scopes.bytes(parent.scope()).subspan(ScopeBytes::ScopeHeader))
            : digest(parent.id),
        images, index.tokens(id));
  };
  std::vector<std::set<uint64_t>> groups(engine.numGroups());
  for (uint32_t id = index.firstId(); id < index.numIds(); ++id)
    if (index.isUsed(id) && engine.isFindable(id))
      for (int32_t group = 0; group < engine.numGroups(); ++group)
        if (index.page(id, group) != NullPage)
          groups[group].insert(wireHash(digest(id)));
  return groups;
}

} // namespace

//===----------------------------------------------------------------------===//
// Encoding
//===----------------------------------------------------------------------===//

TEST(EventEncoder, Arrays) {
  EventPublisher::Options options = {.pageSize = 16, .medium = "CPU"};
  CacheEvent event = storedEvent();
  // [1.5, [["BlockStored", [0xfeedfacecafebeef], nil, [1, 70000], 16, nil,
  // "CPU", nil]], 0]
  EXPECT_EQ(encoded(options, event),
            "93cb3ff80000000000009198ab426c6f636b53746f72656491cffeedfacecafebe"
            "efc09201ce0001117010c0a3435055c000");
  // A salt is the ninth field; a group and its kind follow.
  event.scope = std::make_shared<const BlockScope>(
      BlockScope{.model = {}, .adapter = {}, .salt = "s"});
  std::string salted = encoded(options, event);
  EXPECT_TRUE(salted.starts_with("93cb3ff80000000000009199")) << salted;
  EXPECT_TRUE(salted.ends_with("c09191a17300")) << salted;
  options.groups = {CacheGroup::full(), CacheGroup::slidingWindow(512)};
  event.group = 1;
  std::string windowed = encoded(options, event);
  EXPECT_TRUE(windowed.starts_with("93cb3ff8000000000000919c")) << windowed;
  EXPECT_TRUE(windowed.ends_with("9191a17301ae736c6964696e675f77696e646f77cd02"
                                 "0000"))
      << windowed;
  event = {.kind = CacheEvent::Removed, .blocks = {7}};
  options.groups = {};
  options.rank = 3;
  EXPECT_EQ(encoded(options, event),
            "93cb3ff80000000000009193ac426c6f636b52656d"
            "6f7665649107a343505503");
  EXPECT_EQ(encoded(options, {}), "93cb3ff80000000000009191b0416c6c426c6f636b73"
                                  "436c656172656403");
}

TEST(EventEncoder, Maps) {
  EventPublisher::Options options = {.encoding = EventPublisher::Encoding::Map,
                                     .pageSize = 16};
  std::string text = EventEncoder(options).encode(1.5, {});
  EXPECT_EQ(hex(text), "93cb3ff80000000000009000");
  // {"type": "AllBlocksCleared"}
  EXPECT_EQ(encoded(options, {}),
            "93cb3ff80000000000009181a474797065b0416c6c426c6f636b73436c65617265"
            "6400");
}

/// As vLLM's offloading tells of what it has no tokens of.
TEST(EventEncoder, RecordsBesideTheDevices) {
  EventPublisher::Options options = {.pageSize = 16};
  options.groups = {CacheGroup::full(), CacheGroup::slidingWindow(512)};
  CacheEvent event = {
      .kind = CacheEvent::Stored, .blocks = {7}, .tier = Tier::Host};
  // ["BlockStored", [7], nil, [], 0, nil, "CPU", nil, nil, nil, nil, nil,
  // "LOCAL"]
  EXPECT_EQ(encoded(options, event),
            "93cb3ff8000000000000919dab426c6f636b53746f7265649107c09000c0a34350"
            "55c0c0c0c0c0a54c4f43414c00");
  event = {.kind = CacheEvent::Removed, .blocks = {7}, .tier = Tier::Disk};
  // ["BlockRemoved", [7], "STORAGE", nil, "LOCAL"]
  EXPECT_EQ(encoded(options, event),
            "93cb3ff80000000000009195ac426c6f636b52656d6f7665649107a753544f5241"
            "4745c0a54c4f43414c00");
  options.encoding = EventPublisher::Encoding::Map;
  event.tier = Tier::Store;
  // {"type", "block_hashes": [7], "medium": "STORAGE", "locality": "REMOTE"}
  std::string remote = encoded(options, event);
  EXPECT_TRUE(remote.starts_with("93cb3ff80000000000009184a474797065"))
      << remote;
  EXPECT_TRUE(remote.ends_with("a652454d4f544500")) << remote;
}

TEST(EventEncoder, Sequences) {
  EXPECT_EQ(hex(sequenceFrame(258)), "0000000000000102");
  EXPECT_EQ(hex(sequenceFrame(-1)), "ffffffffffffffff");
}

TEST(EventPublisher, EndpointsOfReplicas) {
  EXPECT_EQ(EventPublisher::endpointOf("tcp://*:5557", 0), "tcp://*:5557");
  EXPECT_EQ(EventPublisher::endpointOf("tcp://*:5557", 2), "tcp://*:5559");
  // Which is no port, as whoever opens it says.
  EXPECT_EQ(EventPublisher::endpointOf("tcp://*:65535", 1), "tcp://*:65536");
  EXPECT_EQ(EventPublisher::endpointOf("ipc:///tmp/a", 1), "ipc:///tmp/a_dp1");
  EXPECT_EQ(EventPublisher::endpointOf("", 1), "");
}

//===----------------------------------------------------------------------===//
// Hashes
//===----------------------------------------------------------------------===//

TEST(BlockHash, ScopesNeverMeet) {
  BlockHasher hasher;
  std::set<uint64_t> seen;
  const Tokens tokens = {1, 2, 3, 4};
  std::optional<std::string_view> values[] = {std::nullopt, "", "a", "b"};
  for (auto model : values)
    for (auto adapter : values)
      for (auto salt : values) {
        ScopeBytes bytes = ScopeBytes::of({model, adapter, salt}, 9);
        auto fields = std::span(bytes.data(), bytes.size())
                          .subspan(ScopeBytes::ScopeHeader);
        BlockDigest first = hasher.block(hasher.root(fields), {}, tokens);
        EXPECT_TRUE(seen.insert(wireHash(first)).second);
        EXPECT_TRUE(
            seen.insert(wireHash(hasher.block(first, {}, tokens))).second);
        BlockScope read = BlockScope::of(fields);
        EXPECT_EQ(read.model, model);
        EXPECT_EQ(read.adapter, adapter);
        EXPECT_EQ(read.salt, salt);
      }
  EXPECT_EQ(seen.size(), 128u);
}

//===----------------------------------------------------------------------===//
// Queue
//===----------------------------------------------------------------------===//

TEST(EventQueue, KeepsTheOrderWhileThreadsRun) {
  EventQueue queue(1 << 16, 4);
  constexpr int32_t Count = 200'000;
  std::thread writer([&] {
    for (int32_t i = 0; i < Count;) {
      // Records of all sizes, so that they meet the ring's end everywhere.
      Tokens nodes(1 + i % 7), tokens;
      for (int32_t &node : nodes) {
        node = i++;
        tokens.insert(tokens.end(), {node, node + 1, node + 2, node + 3});
      }
      int64_t before = queue.dropped();
      queue.stored({.nodes = nodes, .tokens = tokens, .groups = 1});
      if (queue.dropped() != before) { // full: what an engine would do
        while (!queue.wantsAll())
          std::this_thread::yield();
        queue.beginAll();
        queue.stored({.nodes = nodes, .tokens = tokens, .groups = 1});
        queue.endAll();
      }
    }
  });
  int32_t expected = 0;
  int64_t again = 0;
  while (expected < Count)
    queue.drain([&](const EventRecord &record) {
      again += record.kind == EventRecord::Lost;
      if (record.kind != EventRecord::Stored)
        return;
      ASSERT_EQ(record.pages.tokens.size(), 4 * record.pages.nodes.size());
      for (size_t i = 0; i < record.pages.nodes.size(); ++i) {
        ASSERT_EQ(record.pages.nodes[i], expected++);
        ASSERT_EQ(record.pages.tokens[4 * i + 3], expected + 2);
      }
    });
  writer.join();
  EXPECT_EQ(again, queue.gaps());
}

/// The kinds of all records.
static std::vector<EventRecord::Kind> drained(EventQueue &queue) {
  std::vector<EventRecord::Kind> kinds;
  queue.drain([&](const EventRecord &record) { kinds.push_back(record.kind); });
  return kinds;
}

TEST(EventQueue, AFullQueueDropsUntilAllIsTold) {
  EventQueue queue(1 << 16, 4);
  Tokens nodes(100), tokens(400);
  StoredPages pages = {.nodes = nodes, .tokens = tokens, .groups = 1};
  while (queue.gaps() == 0)
    queue.stored(pages);
  EXPECT_EQ(queue.dropped(), 100);
  EXPECT_FALSE(queue.wantsAll()); // the reader has not read what is there
  queue.removed(nodes, 1);
  EXPECT_EQ(queue.dropped(), 200);
  std::vector<EventRecord::Kind> kinds = drained(queue);
  EXPECT_GT(kinds.size(), 10u);
  EXPECT_EQ(kinds.back(), EventRecord::Lost);
  EXPECT_EQ(std::ranges::count(kinds, EventRecord::Stored),
            std::ssize(kinds) - 1);
  EXPECT_TRUE(queue.wantsAll());
  queue.cleared(); // still lost
  queue.beginAll();
  queue.stored(pages);
  queue.endAll();
  queue.cleared();
  EXPECT_EQ(drained(queue),
            (std::vector{EventRecord::Stored, EventRecord::Cleared}));
  EXPECT_EQ(queue.gaps(), 1);
}

TEST(EventQueue, ALossBehindALossIsTold) {
  EventQueue queue(1 << 12, 4);
  Tokens nodes(10), tokens(40);
  StoredPages pages = {.nodes = nodes, .tokens = tokens, .groups = 1};
  auto fill = [&](int64_t gaps) {
    while (queue.gaps() < gaps)
      queue.stored(pages);
  };
  fill(1);
  EXPECT_EQ(drained(queue).back(), EventRecord::Lost);
  // All is told, and more is lost, before the reader looks again.
  queue.beginAll();
  queue.stored(pages);
  queue.endAll();
  fill(2);
  std::vector<EventRecord::Kind> kinds = drained(queue);
  EXPECT_EQ(kinds.front(), EventRecord::Stored);
  EXPECT_EQ(kinds.back(), EventRecord::Lost);
  EXPECT_EQ(std::ranges::count(kinds, EventRecord::Lost), 1);
  EXPECT_TRUE(queue.wantsAll());
  queue.beginAll();
  queue.endAll();
  EXPECT_TRUE(drained(queue).empty());
}

TEST(EventQueue, LongRunsGoInParts) {
  EventQueue queue(1 << 16, 4);
  Tokens nodes = iota(4000), tokens = iota(16000);
  std::vector<std::byte> scope(10);
  queue.stored({.nodes = nodes, .tokens = tokens, .groups = 1, .scope = scope});
  ASSERT_EQ(queue.gaps(), 1); // larger than the ring, but not its parts
  int32_t next = 0;
  queue.drain([&](const EventRecord &record) {
    if (record.kind == EventRecord::Lost)
      return;
    EXPECT_EQ(record.pages.parent, next - 1);
    EXPECT_EQ(record.pages.scope.size(), next == 0 ? 10u : 0u);
    EXPECT_EQ(record.pages.nodes[0], next);
    EXPECT_EQ(record.pages.tokens[0], 4 * next);
    next += static_cast<int32_t>(record.pages.nodes.size());
  });
  EXPECT_GT(next, 1000);
}

TEST(EventQueue, TiersAreToldAnewAfterALoss) {
  using Interest = CacheEventSink::TierInterest;
  EXPECT_EQ(EventQueue(1 << 12, 4).tierInterest(), Interest::None);
  EventQueue queue(1 << 12, 4, /*tellsTiers=*/true);
  EXPECT_EQ(queue.tierInterest(), Interest::All); // there may be some
  const TierChange change = {5, Tier::Disk, true};
  queue.tiersChanged({&change, 1}, /*all=*/true);
  EXPECT_EQ(queue.tierInterest(), Interest::Changes);
  queue.tiersChanged({&change, 1}, /*all=*/false);
  EXPECT_EQ(drained(queue),
            (std::vector{EventRecord::TiersCleared, EventRecord::Tiers,
                         EventRecord::Tiers}));
  while (queue.gaps() == 0)
    queue.tiersChanged({&change, 1}, /*all=*/false);
  EXPECT_EQ(queue.tierInterest(), Interest::Changes); // the engine comes first
  EXPECT_EQ(drained(queue).back(), EventRecord::Lost);
  queue.beginAll();
  queue.endAll();
  EXPECT_EQ(queue.tierInterest(), Interest::All);
  // More than the queue holds.
  std::vector<TierChange> many(100'000, change);
  queue.tiersChanged(many, /*all=*/true);
  EXPECT_EQ(queue.gaps(), 1);
  EXPECT_EQ(queue.tierInterest(), Interest::Changes);
  int64_t blocks = 0;
  queue.drain([&](const EventRecord &record) {
    if (record.kind != EventRecord::Tiers)
      return;
    EXPECT_EQ(record.tier(), Tier::Disk);
    EXPECT_TRUE(record.isStored());
    blocks += static_cast<int64_t>(record.pages.images.size()) / 8;
  });
  EXPECT_EQ(blocks, 100'000);
}

//===----------------------------------------------------------------------===//
// Table
//===----------------------------------------------------------------------===//

TEST(BlockTable, SubscribersKnowTheTiers) {
  std::mt19937 random(5);
  EventQueue queue(1 << 12, 4, /*tellsTiers=*/true);
  BlockTable table(4, 1);
  std::set<std::pair<Tier, uint64_t>> wanted, known;
  auto apply = [](std::set<std::pair<Tier, uint64_t>> &to,
                  const CacheEvent &event) {
    if (event.kind == CacheEvent::Cleared)
      return to.clear();
    for (uint64_t block : event.blocks)
      if (event.kind == CacheEvent::Stored
              ? !to.insert({event.tier, block}).second
              : to.erase({event.tier, block}) == 0)
        ADD_FAILURE() << "told twice, or never";
  };
  int64_t compared = 0;
  for (int step = 0; step < 20'000; ++step) {
    if (queue.wantsAll()) { // what an engine does
      queue.beginAll();
      queue.endAll();
    }
    std::vector<TierChange> changes;
    bool all = queue.tierInterest() == CacheEventSink::TierInterest::All ||
               random() % 500 == 0;
    for (uint32_t count = random() % 20; count > 0; --count) {
      Tier tier = random() % 2 ? Tier::Host : Tier::Disk;
      uint64_t block = random() % 50;
      bool isStored = random() % 2;
      changes.push_back({block, tier, isStored});
      isStored ? void(wanted.insert({tier, block}))
               : void(wanted.erase({tier, block}));
    }
    if (random() % 1000 == 0) { // all is forgotten
      queue.cleared();
      wanted.clear();
      changes.clear();
    }
    if (all) {
      changes.clear();
      for (auto [tier, block] : wanted)
        changes.push_back({block, tier, true});
    }
    queue.tiersChanged(changes, all);
    if (random() % 8 && step % 1000 < 900) // the reader is slow
      continue;
    queue.drain([&](const EventRecord &record) {
      if (record.kind == EventRecord::Lost) {
        table.clear();
        return known.clear();
      }
      table.apply(record,
                  [&](const CacheEvent &event) { apply(known, event); });
    });
    if (queue.wantsAll() ||
        queue.tierInterest() == CacheEventSink::TierInterest::All)
      continue;
    ++compared;
    ASSERT_EQ(known, wanted) << "step " << step;
    std::set<std::pair<Tier, uint64_t>> anew;
    table.snapshot([&](const CacheEvent &event) { apply(anew, event); });
    ASSERT_EQ(anew, wanted);
  }
  EXPECT_GT(queue.gaps(), 20);
  EXPECT_GT(compared, 2000);
}

TEST(BlockTable, ImagesBelongToABlock) {
  BlockTable table(4, 1);
  BlockHasher hasher;
  std::vector<CacheEvent> events;
  auto apply = [&](EventRecord::Kind kind, const StoredPages &pages) {
    table.apply({.kind = kind, .pages = pages},
                [&](CacheEvent event) { events.push_back(std::move(event)); });
  };
  const Tokens tokens = {1, 2, 3, 4}, node = {5};
  ScopeBytes scope = ScopeBytes::of(Scope{.salt = "s"}, 0);
  ImageSpan spans[] = {{-2, 4, "\x01\xaf"}, {3, 2, "b"}};
  ScopeBytes images = ScopeBytes::of(spans, 0, 4);
  StoredPages pages = {.nodes = node,
                       .tokens = tokens,
                       .groups = 1,
                       .scope = std::span(scope.data(), scope.size())
                                    .subspan(ScopeBytes::ScopeHeader),
                       .images = {images.data(), images.size()}};
  apply(EventRecord::Stored, pages);
  EXPECT_EQ(events.back().images, (std::vector<std::string>{"01af", "62"}));
  uint64_t shown = events.back().blocks[0];
  EXPECT_EQ(shown, wireHash(hasher.block(hasher.root(pages.scope), pages.images,
                                         tokens)));
  table.snapshot([&](const CacheEvent &event) {
    EXPECT_EQ(event.images, events.back().images);
  });
  apply(EventRecord::Removed, {.nodes = node, .groups = 1});
  EXPECT_EQ(events.back().blocks, std::vector{shown});
  // The node stands for another prefix now.
  pages.images = {};
  apply(EventRecord::Stored, pages);
  EXPECT_TRUE(events.back().images.empty());
  EXPECT_NE(events.back().blocks[0], shown);
}

TEST(BlockTable, SubscribersKnowTheIndex) {
  std::mt19937 random(3);
  int64_t events = 0, again = 0, blocks = 0;
  for (int round = 0; round < 300; ++round) {
    CacheEngine::Options options = optionsOf(random());
    EventQueue queue(1 << 10, options.pageSize);
    options.events = &queue;
    EngineHarness harness(options);
    BlockTable table(options.pageSize, options.groups.size());
    Subscriber subscriber;
    subscriber.groups.resize(options.groups.size());
    auto drain = [&] {
      queue.drain([&](const EventRecord &record) {
        if (record.kind == EventRecord::Lost) {
          ++again;
          table.clear();
          return subscriber.apply({});
        }
        table.apply(record, [&](const CacheEvent &event) {
          ++events;
          subscriber.apply(event);
        });
      });
    };
    for (int step = 0; step < 1200; ++step) {
      ASSERT_EQ(harness.step(random()), "");
      // Every other round the reader is slow.
      if (round % 2 && random() % 100 != 0)
        continue;
      drain();
      ASSERT_EQ(subscriber.fault, "") << "round " << round << " step " << step;
      if (queue.wantsAll() || step % 10)
        continue;
      auto wanted = blocksOf(harness.engine(), harness.engine().scopeTable());
      Subscriber anew;
      anew.groups.resize(options.groups.size());
      table.snapshot([&](const CacheEvent &event) { anew.apply(event); });
      for (size_t group = 0; group < wanted.size(); ++group) {
        // Blocks that no prefix leads to any more may yet be known.
        ASSERT_TRUE(
            std::ranges::includes(subscriber.groups[group], wanted[group]))
            << "round " << round << " step " << step;
        ASSERT_EQ(anew.groups[group], subscriber.groups[group]);
        blocks += static_cast<int64_t>(wanted[group].size());
      }
    }
  }
  EXPECT_GT(events, 5000);
  EXPECT_GT(again, 20);
  EXPECT_GT(blocks, 5000);
}
