//===- PeerManagersTest.cpp - Two managers, transfers, disks and a store --===//
//
// Random calls of two managers (TieredHarness.h): one computes prompts that the
// other one asks for, and both have host memory, perhaps disks, and perhaps a
// store that they share. Reads fail and hang, leases end too early, loads are
// given up, weights change, and the first one dies. KV_PEER_OPS sets how many
// calls are made (default 10^5), KV_PEER_SEED where they start.
//
//===----------------------------------------------------------------------===//

#include "../Environment.h"
#include "PeerFixture.h"
#include "TieredHarness.h"

#ifdef KV_REDIS_SERVER
#include "RedisServer.h"
#endif
#include "TemporaryFile.h"

#include <gtest/gtest.h>

#include <iostream>
#include <optional>
#include <random>

using namespace kv;
using namespace kv::test;
using namespace std::chrono_literals;

namespace {

/// Two managers of the same kind of cache, and what connects them.
class Pair {
public:
  Pair(uint32_t seed, std::string store)
      : random(seed), kind(random()), store(std::move(store)),
        model(std::to_string(seed)) {
    network.seed = seed;
    network.slowness = static_cast<uint32_t>(network.random(8));
    network.hangs = network.random(3) ? 0 : 10;
    network.fails = network.random(3) ? 0 : 20;
    peers.endpoint = localEndpoint(concat("managers-", seed));
    peers.cache = TieredHarness(kind, {}).cache();
    peers.lease = std::chrono::milliseconds(network.random(2) ? 1000 : 3);
    peers.answer = 2s;
    begin(PeerConnector::Role::Prefill, computing);
    begin(PeerConnector::Role::Decode, asking);
  }

  /// The first contradiction, or empty.
  std::string play(int64_t calls) {
    for (int64_t call = 0; call < calls; ++call) {
      bool isAsking = random() % 4 > 0;
      TieredHarness &one = isAsking ? *asking : *computing;
      TieredHarness &other = isAsking ? *computing : *asking;
      std::string wrong = one.step(random());
      if (wrong.empty() && one.lastWeights() != other.lastWeights())
        wrong = other.reset();
      if (wrong.empty() && random() % 4 > 0)
        wrong = servePrompts();
      if (wrong.empty() && decode->peerMetrics().openReads > 0)
        wrong = outliveLeases();
      if (wrong.empty() && call == calls / 2 && random() % 2) {
        ++deaths;
        wrong = end(computing);
        begin(PeerConnector::Role::Prefill, computing);
      }
      if (!wrong.empty())
        return concat(isAsking ? "asking: " : "computing: ", wrong);
    }
    // The side that asks ends first: its slots are given back by then.
    std::string wrong = end(asking);
    if (wrong.empty())
      wrong = end(computing);
    return wrong.empty() ? network.fault : wrong;
  }

  TieredHarness::Coverage coverage;
  int64_t commands = 0, prompts = 0, deaths = 0, readPages = 0, failedPages = 0;

private:
  void begin(PeerConnector::Role role,
             std::unique_ptr<TieredHarness> &harness) {
    bool isPrefill = role == PeerConnector::Role::Prefill;
    auto open = [&](const PageConnector::Options &slots)
        -> Expected<std::unique_ptr<PageConnector>> {
      Expected<std::unique_ptr<TieredConnector>> records =
          TieredConnector::open(slots);
      if (!records)
        return std::unexpected(records.error());
      auto transport = std::make_unique<FakeTransport>(network);
      (void)transport->add(
          {slots.memory,
           slots.recordBytes * static_cast<size_t>(slots.numSlots)});
      peers.role = role;
      if (isPrefill) {
        auto made = PrefillPeer::open(slots, std::move(*records),
                                      std::move(transport), peers);
        if (!made)
          return std::unexpected(made.error());
        prefill = made->get();
        return std::move(*made);
      }
      auto made = DecodePeer::open(slots, std::move(*records),
                                   std::move(transport), peers);
      if (!made)
        return std::unexpected(made.error());
      decode = made->get();
      return std::move(*made);
    };
    uint32_t weights = isPrefill && asking ? asking->lastWeights() : 1;
    harness = std::make_unique<TieredHarness>(
        kind, TieredHarness::Around{
                  .open = open,
                  .folder = (isPrefill ? first : second).path(),
                  .store = store,
                  .model = model,
                  .weights = weights,
                  // The asking side would wait for what nobody computes.
                  .mostWait = isPrefill ? 0 : 1'000'000});
  }
  std::string end(std::unique_ptr<TieredHarness> &harness) {
    std::string wrong = harness->finish();
    coverage.add(harness->coverage);
    commands += harness->numCommands();
    harness.reset();
    return wrong;
  }
  /// Now and then, in the middle of reads: what was leased becomes something
  /// else.
  std::string outliveLeases() {
    if (peers.lease > 5ms || random() % 24)
      return {};
    ::usleep(5000);
    std::string wrong;
    for (int step = 0; step < 20 && wrong.empty(); ++step) {
      std::vector<int32_t> tokens(8, static_cast<int32_t>(random()));
      wrong = computing->serve(tokens, "a");
    }
    return wrong;
  }
  std::string servePrompts() {
    while (auto prompt = prefill->takePrompt()) {
      ++prompts;
      std::string wrong;
      if (random() % 8) // or it refuses
        wrong = computing->serve(prompt->tokens, prompt->salt.value_or(""));
      prefill->promptDone(prompt->id);
      readPages = decode->peerMetrics().readPages;
      failedPages = decode->peerMetrics().failedPages;
      if (!wrong.empty())
        return wrong;
    }
    return {};
  }

  std::mt19937 random;
  uint32_t kind;
  std::string store, model;
  FakeNetwork network;
  TemporaryFolder first, second;
  PeerConnector::Options peers;
  PrefillPeer *prefill = nullptr; // of the harnesses' managers
  DecodePeer *decode = nullptr;
  std::unique_ptr<TieredHarness> computing, asking;
};

} // namespace

TEST(PeerManagers, ReadTheirOwnPages) {
  int64_t wanted = environment("KV_PEER_OPS", 100'000), commands = 0;
  uint32_t seed = static_cast<uint32_t>(environment("KV_PEER_SEED", 1));
  TieredHarness::Coverage total;
  int64_t prompts = 0, deaths = 0, readPages = 0, failedPages = 0;
  std::string store;
#ifdef KV_REDIS_SERVER
  RedisServer server;
  store = server.address("?timeout=200");
#endif
  for (; commands < wanted; ++seed) {
    Pair pair(seed, seed % 3 == 0 ? store : "");
    std::string wrong = pair.play(2000);
    ASSERT_EQ(wrong, "") << "KV_PEER_SEED=" << seed;
    total.add(pair.coverage);
    commands += pair.commands;
    prompts += pair.prompts;
    deaths += pair.deaths;
    readPages += pair.readPages;
    failedPages += pair.failedPages;
  }
  std::cout << commands << " commands: " << prompts << " prompts asked for, "
            << readPages << " records read, " << failedPages << " given up, "
            << total.loaded << " pages loaded, " << total.stateLoads
            << " of them with states, " << total.abandoned << " abandoned, "
            << total.resets << " resets, " << deaths << " deaths\n";
  for (int64_t count : {prompts, readPages, total.loaded, total.stateLoads})
    EXPECT_GT(count, commands / 500);
  for (int64_t count : {failedPages, total.abandoned, total.resets})
    EXPECT_GT(count, commands / 5000);
  EXPECT_GT(deaths, 5);
}
