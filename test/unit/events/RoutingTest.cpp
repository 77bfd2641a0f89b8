//===- RoutingTest.cpp - Which machine has the prefix of a request --------===//

#include "kv/Runtime/Engine/CacheEngine.h"
#include "kv/Runtime/Events/EventPublisher.h"
#include "kv/Runtime/Routing/PrefixRouter.h"
#include "runtime/events/EventEncoder.h"
#include "runtime/routing/PrefixHashes.h"

#include "FollowAll.h"
#include "test/unit/TemporaryFile.h"
#include "test/unit/Values.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <thread>

using namespace kv;
using namespace kv::test;

namespace {

using Machine = PrefixRouter::Machine;

/// A prefix of a tree: its name says which.
std::vector<uint64_t> branch(uint64_t seed, int64_t pages) {
  std::vector<uint64_t> names;
  uint64_t hash = 1;
  for (int64_t page = 0; page < pages; ++page) {
    // Branches part at pages 4 and 12.
    uint64_t own = page < 4 ? 0 : page < 12 ? seed % 5 : seed;
    hash = (hash ^ (own + 977 * static_cast<uint64_t>(page))) *
           0x9E3779B97F4A7C15ull;
    hash ^= hash >> 31;
    names.push_back(hash);
  }
  return names;
}

} // namespace

//===----------------------------------------------------------------------===//
// The index
//===----------------------------------------------------------------------===//

TEST(PrefixRouter, KnowsWhatASetOfEachMachineKnows) {
  constexpr uint32_t Machines = 300;
  PrefixRouter router(Machines);
  std::vector<std::set<uint64_t>> wanted(Machines);
  std::mt19937 random(1);
  int64_t hits = 0, chosen = 0;
  for (int step = 0; step < 60'000; ++step) {
    Machine machine = random() % Machines;
    std::vector<uint64_t> prompt = branch(random() % 40, 1 + random() % 24);
    switch (random() % 16) {
    default:
      router.stored(machine, prompt);
      wanted[machine].insert(prompt.begin(), prompt.end());
      break;
    case 0:
    case 1:
    case 2: { // what hangs on a page goes first: all are cut at one page
      std::set<uint64_t> cut;
      int64_t from = random() % 24;
      for (uint64_t seed = 0; seed < 40; ++seed) {
        std::vector<uint64_t> all = branch(seed, 24);
        cut.insert(all.begin() + from, all.end());
      }
      std::vector<uint64_t> list(cut.begin(), cut.end());
      router.removed(machine, list);
      for (uint64_t one : list)
        wanted[machine].erase(one);
      break;
    }
    case 3:
      if (random() % 8 == 0) {
        router.cleared(machine);
        wanted[machine].clear();
      }
      break;
    case 4:
      router.addLoad(machine, static_cast<int64_t>(random() % 9) - 4);
      break;
    }
    ASSERT_EQ(router.numBlocks(machine), std::ssize(wanted[machine]));
    if (step % 16)
      continue;
    auto hitOf = [&](Machine one) {
      int64_t pages = 0;
      while (pages < std::ssize(prompt) &&
             wanted[one].contains(prompt[static_cast<size_t>(pages)]))
        ++pages;
      return pages;
    };
    int64_t longest = 0, leastLoad = INT64_MAX;
    for (Machine one = 0; one < Machines; ++one) {
      ASSERT_EQ(router.hit(one, prompt), hitOf(one));
      longest = std::max(longest, hitOf(one));
      leastLoad = std::min(leastLoad, router.load(one));
    }
    PrefixRouter::Choice choice = router.choose(prompt);
    ASSERT_TRUE(choice.isFound);
    ASSERT_EQ(choice.hitPages, hitOf(choice.machine));
    // Loads of one list count as equal: 16 and more differ by an eighth.
    ASSERT_LE(router.load(choice.machine) - choice.hitPages, leastLoad);
    hits += longest;
    chosen += choice.hitPages;
  }
  EXPECT_GT(hits, 10'000);
  EXPECT_GT(chosen, hits / 2);
}

TEST(PrefixRouter, TheLongestPrefixAndTheLeastLoad) {
  PrefixRouter router(4);
  std::vector<uint64_t> prompt = branch(1, 20);
  std::span<const uint64_t> all = prompt;
  EXPECT_EQ(router.choose(all).hitPages, 0);
  router.stored(1, all.first(5));
  router.stored(2, all.first(18));
  EXPECT_EQ(router.choose(all).machine, 2u);
  EXPECT_EQ(router.choose(all).hitPages, 18);
  EXPECT_EQ(router.choose(all.first(5)).hitPages, 5);
  // One that has much to do is left alone, for one that has less of the prefix.
  router.addLoad(2, 15);
  EXPECT_EQ(router.choose(all).machine, 1u);
  router.addLoad(1, 10);
  EXPECT_EQ(router.choose(all).machine, 2u);
  router.addLoad(2, 6);
  EXPECT_EQ(router.choose(all).hitPages, 0);
  router.addLoad(2, -21);
  EXPECT_EQ(router.choose(all).machine, 2u);
  router.setUsable(2, false);
  EXPECT_NE(router.choose(all).machine, 2u);
  for (Machine machine = 0; machine < 4; ++machine)
    router.setUsable(machine, false);
  EXPECT_FALSE(router.choose(all).isFound);
  EXPECT_FALSE(PrefixRouter(0).choose(all).isFound);
}

TEST(PrefixRouter, OfManyTheLeastLoadedIsFound) {
  constexpr uint32_t Machines = 10'000;
  PrefixRouter router(Machines);
  std::vector<uint64_t> prompt = branch(1, 30);
  for (Machine machine = 0; machine < Machines; ++machine) {
    router.addLoad(machine, 20 + machine % 7);
    if (machine % 3)
      router.stored(machine, prompt);
  }
  router.addLoad(7000, -20);
  EXPECT_EQ(router.choose(prompt).machine, 7000u);
  router.setUsable(7000, false);
  PrefixRouter::Choice choice = router.choose(prompt);
  EXPECT_EQ(choice.hitPages, 30);
  EXPECT_LE(router.load(choice.machine), 22);
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

namespace {

constexpr int32_t PageSize = 4;

/// An engine that publishes.
struct Serving {
  std::unique_ptr<EventPublisher> publisher;
  std::unique_ptr<CacheEngine> engine;

  static std::string endpoint(const char *kind, int index) {
    return localEndpoint(concat(kind, "-", index));
  }
  explicit Serving(int index, EventPublisher::Encoding encoding,
                   bool recurrent) {
    auto opened =
        EventPublisher::open({.endpoint = endpoint("events", index),
                              .replayEndpoint = endpoint("replay", index),
                              .encoding = encoding,
                              .replaysTopic = index % 2 == 0,
                              .pageSize = PageSize,
                              .recurrent = recurrent,
                              .replayBatches = 3, // soon only a snapshot helps
                              .queueBytes = 1 << 16,
                              .interval = std::chrono::milliseconds(1)});
    EXPECT_TRUE(opened) << text(opened);
    publisher = std::move(*opened);
    auto made = CacheEngine::create({.numPages = 150,
                                     .pageSize = PageSize,
                                     .recurrent = recurrent,
                                     .snapshots = recurrent ? 12 : 0,
                                     .maxSequences = 2,
                                     .maxTokens = 200,
                                     .events = publisher.get()});
    EXPECT_TRUE(made) << text(made);
    engine = std::move(*made);
  }
  ~Serving() { engine.reset(); }

  int64_t hit(const Tokens &prompt, const Scope &scope) {
    Expected<Sequence> sequence = engine->open(scope);
    CacheEngine::Plan plan = engine->plan(
        *sequence, prompt, {.length = static_cast<int64_t>(prompt.size())});
    return plan.hitPages;
  }
  void serve(const Tokens &prompt, const Scope &scope) {
    Expected<Sequence> sequence = engine->open(scope);
    int64_t length = static_cast<int64_t>(prompt.size());
    // With recurrent layers, steps end where states are kept.
    while (sequence->processedTokens() < length &&
           engine->reserve(*sequence, prompt, {.length = length}).fits()) {
      int64_t end = std::min(length, engine->nextSnapshot(*sequence));
      ASSERT_TRUE(engine->commit(*sequence, prompt, end));
    }
  }
};

/// Prompts of a few documents, whose turns go on where another one ended.
Tokens conversation(std::mt19937 &random) {
  int32_t document = static_cast<int32_t>(random() % 12);
  Tokens tokens =
      iota(1 + static_cast<int32_t>(random() % 150), 1000 * document);
  if (random() % 2)
    for (size_t at = random() % tokens.size(); at < tokens.size(); ++at)
      tokens[at] += 500;
  return tokens;
}

/// Engines that publish, and a router that hears most of it.
struct Fleet {
  static constexpr int Size = 5;
  using Encoding = EventPublisher::Encoding;

  bool recurrent;
  zmq::context_t context;
  PrefixRouter router{Size};
  PrefixHashes hashes{PageSize};
  std::mt19937 random{1}, lossy{2};
  std::vector<std::unique_ptr<Serving>> machines{Size};
  std::vector<std::unique_ptr<Follower>> followers;
  int64_t requests = 0, right = 0, hits = 0, ofAll = 0, restarts = 0;

  /// Starts a machine, or another incarnation of it, which has nothing.
  void start(size_t index, Encoding encoding) {
    machines[index].reset();
    machines[index] =
        std::make_unique<Serving>(static_cast<int>(index), encoding, recurrent);
  }

  void open() {
    for (int i = 0; i < Size; ++i) {
      start(static_cast<size_t>(i), i % 2 ? Encoding::Map : Encoding::Array);
      auto follower = Follower::open(
          context,
          {.events = Serving::endpoint("events", i),
           .replay = Serving::endpoint("replay", i),
           .interval = std::chrono::milliseconds(5),
           // Single ones, and a long run now and then.
           .loses =
               [&, left = 0]() mutable {
                 if (left == 0 && lossy() % 16 == 0)
                   left = static_cast<int>(lossy() % 40);
                 return left > 0 ? left-- > 0 : lossy() % 10 == 0;
               }},
          router, static_cast<Machine>(i));
      ASSERT_TRUE(follower) << text(follower);
      followers.push_back(std::move(*follower));
    }
  }

  /// Until all is told: the status says that the last message was lost.
  bool follow() {
    std::vector<const EventPublisher *> publishers;
    for (auto &machine : machines)
      publishers.push_back(machine->publisher.get());
    return followAll(followers, publishers);
  }

  Scope drawScope() { return {.salt = random() % 2 ? "b" : "a"}; }

  void serve() {
    Scope scope = drawScope();
    Tokens prompt = conversation(random);
    PrefixRouter::Choice choice = router.choose(hashes.of(scope, {prompt}));
    ASSERT_TRUE(choice.isFound);
    machines[choice.machine]->serve(prompt, scope);
    // So that not all goes to one machine.
    router.addLoad(choice.machine, 5);
    router.addLoad(static_cast<Machine>(random() % Size), -5);
    for (auto &follower : followers)
      follower->step();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  /// Compares what the router says of a request with what engines say.
  void predict() {
    Scope scope = drawScope();
    Tokens prompt = conversation(random);
    std::span<const uint64_t> names = hashes.of(scope, {prompt});
    PrefixRouter::Choice choice = router.choose(names);
    int64_t hit = machines[choice.machine]->hit(prompt, scope);
    ++requests;
    right += hit == choice.hitPages;
    hits += hit;
    for (size_t machine = 0; machine < machines.size(); ++machine)
      ofAll += router.hit(static_cast<Machine>(machine), names) ==
               machines[machine]->hit(prompt, scope);
  }
};

} // namespace

static void predictsHits(bool recurrent) {
  Fleet fleet{.recurrent = recurrent};
  ASSERT_NO_FATAL_FAILURE(fleet.open());
  ASSERT_TRUE(fleet.follow());
  for (int round = 0; round < 60; ++round) {
    for (int i = 0; i < 25; ++i)
      ASSERT_NO_FATAL_FAILURE(fleet.serve());
    if (round % 20 == 10) {
      fleet.start(fleet.random() % Fleet::Size, Fleet::Encoding::Array);
      ++fleet.restarts;
    }
    if (round % 16 == 5)
      fleet.machines[fleet.random() % Fleet::Size]->engine->resetPrefixes();
    ASSERT_TRUE(fleet.follow()) << round;
    for (int i = 0; i < 40; ++i)
      fleet.predict();
  }
  int64_t gaps = 0, replays = 0, snapshots = 0, requests = fleet.requests;
  for (auto &follower : fleet.followers) {
    gaps += follower->figures().gaps;
    replays += follower->figures().replays;
    snapshots += follower->figures().snapshots;
  }
  std::cout << requests << " requests, " << fleet.right << " predicted, "
            << fleet.hits << " pages hit; " << fleet.ofAll << " of "
            << requests * Fleet::Size << " pairs; " << gaps << " gaps, "
            << replays << " replays, " << snapshots << " snapshots, "
            << fleet.restarts << " restarts\n";
  EXPECT_GE(fleet.right * 100, requests * 99);
  EXPECT_GE(fleet.ofAll * 100, requests * Fleet::Size * 99);
  EXPECT_GT(fleet.hits, requests * (recurrent ? 1 : 3));
  EXPECT_GT(gaps, 50);
  EXPECT_GT(replays, 50);
  EXPECT_GT(snapshots, Fleet::Size + fleet.restarts);
}

TEST(Router, PredictsTheHitsOfEnginesAfterLostMessages) {
  predictsHits(/*recurrent=*/false);
}

/// Snapshots of states come and go: a prefix without one is no hit.
TEST(Router, PredictsTheHitsOfHybridEnginesAfterLostMessages) {
  predictsHits(/*recurrent=*/true);
}

namespace {

/// Answers a follower's questions as it is told.
class ScriptedPublisher {
public:
  ScriptedPublisher() {
    requests.set(zmq::sockopt::linger, 0);
    events.bind(localEndpoint("scripted-events"));
    requests.bind(localEndpoint("scripted-replay"));
    auto made = Follower::open(context,
                               {.events = localEndpoint("scripted-events"),
                                .replay = localEndpoint("scripted-replay"),
                                .patience = std::chrono::minutes(1),
                                .interval = std::chrono::milliseconds(1)},
                               router, 0);
    EXPECT_TRUE(made) << text(made);
    follower = std::move(*made);
    zmq::message_t subscribed;
    (void)events.recv(subscribed);
  }

  /// What the follower asks next.
  std::string question() {
    std::array<zmq::message_t, 3> frames;
    while (!requests.recv(frames[0], zmq::recv_flags::dontwait))
      step();
    for (size_t i = 1; i < frames.size(); ++i)
      (void)requests.recv(frames[i]);
    reader = frames[0].to_string();
    return frames[2].to_string();
  }
  /// The end of an answer: the process and its last message.
  void answer(char incarnation, char sequence) {
    std::string status = concat("\x82\xab", "incarnation", incarnation, "\xa8",
                                "sequence", sequence);
    for (const std::string &frame : {reader, std::string()})
      requests.send(zmq::buffer(frame), zmq::send_flags::sndmore);
    requests.send(zmq::buffer(sequenceFrame(-1)), zmq::send_flags::sndmore);
    requests.send(zmq::buffer(status), zmq::send_flags::none);
  }
  /// Publishes a message without events, which the follower takes.
  void publish(int64_t number) {
    std::string payload = EventEncoder({}).encode(0, {});
    int64_t before = follower->figures().messages;
    events.send(zmq::str_buffer(""), zmq::send_flags::sndmore);
    events.send(zmq::buffer(sequenceFrame(number)), zmq::send_flags::sndmore);
    events.send(zmq::buffer(payload), zmq::send_flags::none);
    while (follower->figures().messages == before)
      step();
  }

private:
  void step() {
    if (!follower->step())
      std::this_thread::sleep_for(std::chrono::microseconds(100));
  }

  zmq::context_t context;
  zmq::socket_t events{context, zmq::socket_type::xpub},
      requests{context, zmq::socket_type::router};
  PrefixRouter router{1};
  std::string reader;

public:
  std::unique_ptr<Follower> follower;
};

} // namespace

/// Numbers of an earlier process are larger than any that come.
TEST(Router, MessagesOfAnEarlierProcessAreForgotten) {
  ScriptedPublisher publisher;
  ASSERT_EQ(publisher.question(), "kv:snapshot");
  publisher.answer(1, 100);
  ASSERT_EQ(publisher.question(), "kv:status");
  publisher.answer(2, 3);
  ASSERT_EQ(publisher.question(), "kv:snapshot");
  publisher.publish(102); // it was on its way
  publisher.answer(2, 3);
  // What is between is asked for; there is no such thing, so all is.
  EXPECT_EQ(publisher.question(), sequenceFrame(4));
  publisher.answer(2, 3);
  EXPECT_EQ(publisher.question(), "kv:snapshot");
  publisher.answer(2, 3);
  EXPECT_EQ(publisher.question(), "kv:status");
  EXPECT_TRUE(publisher.follower->isUsable());
  EXPECT_EQ(publisher.follower->next(), 4);
}

TEST(Router, AMachineThatDoesNotAnswerIsNotUsed) {
  zmq::context_t context;
  PrefixRouter router(2);
  auto follower = Follower::open(context,
                                 {.events = localEndpoint("nobody"),
                                  .replay = localEndpoint("nobody-2"),
                                  .patience = std::chrono::milliseconds(5)},
                                 router, 1);
  ASSERT_TRUE(follower) << text(follower);
  for (int i = 0; i < 10; ++i) {
    (*follower)->step();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  EXPECT_FALSE((*follower)->isCurrent());
  EXPECT_GT((*follower)->figures().unanswered, 0);
  EXPECT_EQ(router.choose({}).machine, 0u);
  auto wrong =
      Follower::open(context, {.events = "nonsense", .replay = "x"}, router, 0);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message.find("router: nonsense cannot be connected"),
            0u)
      << text(wrong);
}

TEST(EventDecoder, WhatIsNoBatchIsAnError) {
  for (std::string_view payload :
       {"", "x", "\x93", "\x93\x01\x02\x03", "\x90", "\x92\xc0\x91\x91\x01"})
    EXPECT_FALSE(decodeEvents(payload)) << payload.size();
  EXPECT_FALSE(decodeStatus("\x80"));
  EXPECT_FALSE(decodeStatus("x"));
}
