//===- TieredStateMachineTest.cpp - Random calls of a manager with tiers --===//
//
// KV_TIERS_OPS (default 10^7) sets how many commands are run: a quarter of it
// here, all of it by two managers (PeerManagersTest.cpp); KV_TIERS_SEED where
// they start. A failure is shrunk to the words that show it.
//
//===----------------------------------------------------------------------===//

#include "TieredHarness.h"
#include "test/Environment.h"

#include "runtime/tiers/TieredConnector.h"
#ifdef KV_REDIS_SERVER
#include "RedisServer.h"
#endif
#include "test/unit/TemporaryFile.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <random>
#include <sstream>
#include <thread>

using namespace kv;
using namespace kv::test;

namespace {

using Words = std::vector<uint32_t>;

/// The first word says what the manager is like.
std::string play(TieredHarness &harness, std::span<const uint32_t> words) {
  for (uint32_t word : words)
    if (std::string wrong = harness.step(word); !wrong.empty())
      return wrong;
  return harness.finish();
}

std::string print(const Words &words) {
  std::string text;
  for (uint32_t word : words)
    text += concat(word, ", ");
  return text;
}

/// Fewer words that go wrong as well.
Words shrink(Words words, const std::function<bool(const Words &)> &isWrong) {
  for (size_t part = words.size() / 2; part > 0; part /= 2)
    for (size_t at = 1; at < words.size();) {
      Words fewer = words;
      fewer.erase(fewer.begin() + at,
                  fewer.begin() + std::min(at + part, words.size()));
      if (isWrong(fewer))
        words = fewer;
      else
        at += part;
    }
  return words;
}

void print(const TieredHarness::Coverage &total, int64_t commands) {
  std::cout << commands << " commands: " << total.hits << " tokens hit, "
            << total.stored << " pages stored, " << total.loaded << " loaded, "
            << total.abandoned << " abandoned, " << total.evicted
            << " evicted, " << total.loading << " allocations wait, "
            << total.prefetched << " tokens prefetched; " << total.refused
            << " refused, " << total.forks << " forks, " << total.truncations
            << " truncations, " << total.resets << " resets, " << total.accepted
            << " of " << total.drafts
            << " drafts accepted; while loading: " << total.steppedWhileLoading
            << " steps, " << total.truncatedWhileLoading << " truncations, "
            << total.releasedWhileLoading << " releases, "
            << total.resetWhileLoading << " resets; " << total.asking
            << " allocations wait for an answer; with states: "
            << total.stateHits << " hits, " << total.stateLoads
            << " pages loaded, " << total.stateForks << " forks\n";
}

} // namespace

namespace {

void readsItsOwnPages(int64_t wanted, const TieredHarness::Around &around) {
  int64_t commands = 0;
  uint64_t seed = environment("KV_TIERS_SEED", 1);
  TieredHarness::Coverage total;
  for (; commands < wanted; ++seed) {
    std::mt19937 random(static_cast<uint32_t>(seed));
    Words words(600);
    for (uint32_t &word : words)
      word = random();
    auto run = [&](const Words &list, TieredHarness::Coverage *coverage) {
      TieredHarness harness(list[0], around);
      std::string wrong = play(harness, std::span(list).subspan(1));
      if (coverage) {
        coverage->add(harness.coverage);
        commands += harness.numCommands();
      }
      return wrong;
    };
    if (std::string wrong = run(words, &total); !wrong.empty()) {
      words = shrink(words, [&](const Words &list) {
        return !run(list, nullptr).empty();
      });
      FAIL() << "seed " << seed << ": " << wrong
             << "; in short: " << run(words, nullptr) << "\n"
             << print(words);
    }
  }
  print(total, commands);
  if (commands < 1'000'000)
    return; // seldom things may be missing
  // Nothing that matters is met too seldom to be tested.
  for (int64_t count :
       {total.hits, total.stored, total.loaded, total.evicted, total.loading,
        total.asking, total.refused, total.forks, total.truncations,
        total.prefetched, total.stateHits, total.stateLoads, total.stateForks})
    EXPECT_GT(count, commands / 500);
  for (int64_t count :
       {total.abandoned, total.resets, total.steppedWhileLoading,
        total.truncatedWhileLoading, total.releasedWhileLoading,
        total.resetWhileLoading, total.windows})
    EXPECT_GT(count, commands / 50'000);
}

} // namespace

TEST(TieredStateMachine, ReadsItsOwnPages) {
  readsItsOwnPages(environment("KV_TIERS_OPS", 10'000'000) / 4, {});
}

/// On devices that copy later.
TEST(TieredStateMachine, ReadsItsOwnPagesBehindAQueue) {
  setenv("KV_CUDA_LIBRARY", KV_LAZY_DEVICE, /*overwrite=*/1);
  readsItsOwnPages(environment("KV_TIERS_OPS", 10'000'000) / 10,
                   {.hasQueues = true});
}

/// The same with our connector, its threads, and a disk that outlives managers.
TEST(TieredStateMachine, WithThreadsAndADisk) {
  auto open = [](const PageConnector::Options &options)
      -> Expected<std::unique_ptr<PageConnector>> {
    return TieredConnector::open(options);
  };
  int64_t wanted = environment("KV_TIERS_OPS", 10'000'000) / 50, commands = 0;
  uint64_t seed = environment("KV_TIERS_SEED", 1);
  TieredHarness::Coverage total;
  for (; commands < wanted; ++seed) {
    std::mt19937 random(static_cast<uint32_t>(seed));
    TemporaryFolder folder;
    uint32_t kind = random(), weights = 1;
    for (int process = 0; process < 3; ++process) {
      TieredHarness harness(
          kind, {.open = open, .folder = folder.path(), .weights = weights});
      Words words(400);
      for (uint32_t &word : words)
        word = random();
      std::string wrong = play(harness, words);
      ASSERT_EQ(wrong, "") << "seed " << seed << ", manager " << process;
      total.add(harness.coverage);
      commands += harness.numCommands();
      weights = harness.lastWeights();
    }
  }
  print(total, commands);
  for (int64_t count : {total.hits, total.stored, total.loaded, total.loading,
                        total.resets * 10})
    EXPECT_GT(count, commands / 200);
}

#ifdef KV_REDIS_SERVER

namespace {

/// Stops the server for a moment, ends it, and writes nonsense to it, at any
/// time, until it is told to end.
class Mischief {
public:
  explicit Mischief(RedisServer &server, uint32_t seed)
      : server(server), random(seed), thread([this] { work(); }) {}
  ~Mischief() {
    ended = true;
    thread.join();
  }
  std::atomic<int64_t> restarts = 0, stops = 0, wrongRecords = 0;
  bool hasMetAll() const {
    return restarts > 5 && stops > 10 && wrongRecords > 100;
  }

private:
  void work() {
    while (!ended) {
      pause(1 + random() % 20);
      switch (random() % 8) {
      case 0:
        ++restarts;
        server.kill();
        pause(random() % 50);
        server.start();
        break;
      case 1:
      case 2:
        ++stops;
        server.stop();
        pause(random() % 60);
        server.resume();
        break;
      default:
        spoil();
        break;
      }
    }
  }
  void spoil() {
    std::vector<std::string> keys = server.records();
    // A few at a time: a store of thousands would leave no time for the rest.
    for (int turn = 0; turn < 40 && !keys.empty(); ++turn) {
      size_t i = random() % keys.size();
      std::string record = server.command({"GET", keys[i]});
      if (record.empty())
        continue;
      ++wrongRecords;
      if (random() % 3 == 0)
        record = record.substr(0, random() % record.size());
      else if (random() % 2 == 0) // that of another one
        record = server.command({"GET", keys[random() % keys.size()]});
      else
        record[random() % record.size()] ^= static_cast<char>(1 + random() % 9);
      server.command({"SET", keys[i], record});
    }
  }
  static void pause(uint32_t milliseconds) {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  }

  RedisServer &server;
  std::mt19937 random;
  std::atomic<bool> ended = false;
  std::thread thread;
};

/// Machines, one after the other, share a store, and have host memory or disks
/// of their own.
void sharesAStore(bool hasMischief, int64_t wanted) {
  auto open = [](const PageConnector::Options &options)
      -> Expected<std::unique_ptr<PageConnector>> {
    return TieredConnector::open(options);
  };
  RedisServer server;
  std::optional<Mischief> mischief;
  uint64_t seed = environment("KV_TIERS_SEED", 1);
  if (hasMischief)
    mischief.emplace(server, static_cast<uint32_t>(seed));
  int64_t commands = 0, begun = 0;
  TieredHarness::Coverage total;
  // All of it has had its turn, unless that takes much too long.
  auto goesOn = [&] {
    return commands < wanted ||
           (mischief && !mischief->hasMetAll() && commands < 5'000'000);
  };
  for (; goesOn(); ++seed) {
    std::mt19937 random(static_cast<uint32_t>(seed));
    uint32_t kind = random(), weights = 1;
    std::string model = std::to_string(seed);
    for (int machine = 0; machine < 3; ++machine) {
      TemporaryFolder disk;
      TieredHarness harness(kind, {.open = open,
                                   .folder = machine % 2 ? disk.path() : "",
                                   .store = server.address("?timeout=50"),
                                   .model = model,
                                   .weights = weights});
      Words words(400);
      for (uint32_t &word : words)
        word = random();
      std::string wrong = play(harness, words);
      ASSERT_EQ(wrong, "") << "seed " << seed << ", machine " << machine;
      total.add(harness.coverage);
      commands += harness.numCommands();
      weights = harness.lastWeights();
      // What others find then is not what they would have computed.
      if (harness.hasUntoldReset())
        model += concat("-", ++begun);
    }
  }
  print(total, commands);
  for (int64_t count : {total.hits, total.stored, total.loaded, total.loading,
                        total.asking, total.resets * 10})
    EXPECT_GT(count, commands / (mischief ? 2000 : 500));
  if (mischief) {
    std::cout << mischief->restarts << " restarts, " << mischief->stops
              << " stops, " << mischief->wrongRecords << " wrong records\n";
    EXPECT_TRUE(mischief->hasMetAll());
  }
}

} // namespace

TEST(TieredStateMachine, WithAStoreThatMachinesShare) {
  sharesAStore(false, environment("KV_TIERS_OPS", 10'000'000) / 50);
}

TEST(TieredStateMachine, WithAStoreThatFails) {
  sharesAStore(true, environment("KV_TIERS_OPS", 10'000'000) / 100);
}

#endif // KV_REDIS_SERVER
