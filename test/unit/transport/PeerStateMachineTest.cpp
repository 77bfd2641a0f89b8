//===- PeerStateMachineTest.cpp - Transfers that are cut short ------------===//
//
// Random transfers between two sides while requests are aborted, leases end too
// early, slots get other records, reads fail or hang, weights change, and
// either side dies. One run in seven is over ZeroMQ with its threads, the
// others are in one thread, where time costs nothing. KV_PEER_TRANSFERS says
// how many; a failure prints its seed, which KV_PEER_SEED repeats.
//
//===----------------------------------------------------------------------===//

#include "PeerFixture.h"
#include "test/Environment.h"

#include <gtest/gtest.h>

using namespace kv;
using namespace kv::test;
using namespace std::chrono_literals;

namespace {

/// Prompts that share their beginnings.
std::vector<int32_t> randomPrompt(FakeNetwork &random) {
  int32_t family = static_cast<int32_t>(random.random(8));
  auto shared = static_cast<size_t>(4 * random.random(10));
  std::vector<int32_t> tokens = tokensFrom(family * 1000, 44);
  for (size_t i = shared; i < tokens.size(); ++i)
    tokens[i] += static_cast<int32_t>(random.random(3));
  tokens.resize(8 + random.random(36));
  return tokens;
}

struct Counts {
  int64_t transfers = 0, pages = 0, refused = 0, expired = 0, failed = 0,
          deaths = 0, aborts = 0;
};

/// At which call of a transfer something happens to it; UINT64_MAX: at none.
struct Accidents {
  FakeNetwork &random;
  bool computes = random.random(8) > 0;
  uint64_t aborts = random.random(6) ? UINT64_MAX : random.random(12),
           kills = random.random(100) ? UINT64_MAX : random.random(12),
           pauses = random.random(6) ? UINT64_MAX : 1 + random.random(5),
           evicts = random.random(4) ? UINT64_MAX : random.random(8);
};

/// What a transfer's `call` meets. Returns whether its request is aborted.
bool meet(const Accidents &accidents, uint64_t call, int64_t transfer,
          Peers &peers, Counts &counts) {
  if (accidents.random.random(4))
    peers.turn();
  if (accidents.computes)
    peers.computePrompts();
  else
    while (auto prompt = peers.prefill->takePrompt())
      peers.prefill->promptDone(prompt->id);
  if (call == accidents.pauses) // longer than leases
    peers.pause(15ms);
  if (call == accidents.evicts || call == accidents.pauses)
    for (int k = 0; k < 8; ++k)
      peers.store(*peers.prefill, peers.prefillSide,
                  tokensFrom(100'000 + static_cast<int32_t>(call) * 100 +
                                 static_cast<int32_t>(transfer) * 3000 + k,
                             16));
  if (call == accidents.kills) {
    ++counts.deaths;
    counts.expired += peers.prefill->peerMetrics().expiredLeases;
    peers.prefill.reset();
    std::ranges::fill(peers.prefillSide.memory, std::byte(0xEE));
    peers.pause(accidents.random.random(3) * 40ms);
    EXPECT_TRUE(peers.openPrefill());
  }
  return call > accidents.aborts;
}

void run(uint64_t seed, int64_t transfers, Counts &counts) {
  SCOPED_TRACE(concat("KV_PEER_SEED=", seed));
  FakeNetwork random;
  random.seed = seed * 977 + 1;
  using enum CacheLayout;
  constexpr CacheLayout Layouts[] = {NHD, HND, CPU};
  bool converts = random.random(2);
  auto cache = [&] {
    return converts
               ? smallCache(4 << random.random(2), Layouts[random.random(3)])
               : smallCache(4);
  };
  Peers peers(cache(), cache(), 20, 12);
  peers.network.seed = seed;
  peers.network.slowness = static_cast<uint32_t>(random.random(6));
  peers.network.hangs = static_cast<uint32_t>(random.random(30));
  peers.network.fails = static_cast<uint32_t>(random.random(12));
  peers.options.lease = std::chrono::milliseconds(1 + random.random(12));
  peers.options.answer = 60ms;
  if (seed % 7 != 1 && !std::getenv("KV_PEER_NIXL")) {
    peers.stayInOneThread();
    peers.local->delay = std::chrono::microseconds(random.random(3) * 100);
  }
  ASSERT_TRUE(peers.openPrefill());
  ASSERT_TRUE(peers.openDecode());
  auto count = [&] {
    const PeerMetrics &here = peers.decode->peerMetrics();
    counts.pages += here.readPages;
    counts.failed += here.failedPages;
    counts.refused += here.refusedReturns;
  };
  auto begin = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < transfers; ++i) {
    std::vector<int32_t> tokens = randomPrompt(random);
    Accidents accidents{random};
    uint64_t call = 0;
    bool aborted = false;
    Peers::Loaded loaded = peers.load(tokens, [&] {
      aborted = meet(accidents, ++call, i, peers, counts);
      return !aborted;
    });
    counts.aborts += aborted;
    ++counts.transfers;
    ASSERT_FALSE(loaded.wrong) << "a foreign page, transfer " << i;
    ASSERT_FALSE(loaded.late) << "transfer " << i << " hangs";
    ASSERT_EQ(peers.network.fault, "");
    if (random.random(60) == 0) { // the weights change on both sides
      ASSERT_TRUE(peers.prefill->reset());
      ASSERT_TRUE(peers.decode->reset());
      ++peers.weights;
    }
    if (random.random(150) == 0) { // the decoding side dies
      ++counts.deaths;
      count();
      peers.decode.reset();
      ASSERT_TRUE(peers.openDecode());
    }
  }
  counts.expired += peers.prefill->peerMetrics().expiredLeases;
  count();
  EXPECT_LT(std::chrono::steady_clock::now() - begin,
            std::chrono::milliseconds(200 * transfers) + 10s);
  EXPECT_EQ(peers.leaks(), "");
}

TEST(PeerStateMachine, NoForeignPageNothingLeaked) {
  int64_t transfers = environment("KV_PEER_TRANSFERS", 10'000);
  constexpr int64_t Each = 150;
  uint64_t first = static_cast<uint64_t>(environment("KV_PEER_SEED", 1));
  Counts counts;
  for (uint64_t i = 0; counts.transfers < transfers && !HasFailure(); ++i)
    run(first + i, std::min(Each, transfers - counts.transfers), counts);
  std::string text =
      concat(counts.transfers, " transfers, ", counts.pages, " pages read, ",
             counts.failed, " not got, ", counts.expired, " leases expired, ",
             counts.refused, " returned too late, ", counts.deaths, " deaths, ",
             counts.aborts, " aborts");
  std::puts(text.c_str());
  if (transfers < 1000)
    return;
  // Everything that can happen has happened.
  EXPECT_GT(counts.pages, transfers / 2);
  for (int64_t one : {counts.failed, counts.expired, counts.refused,
                      counts.deaths, counts.aborts})
    EXPECT_GT(one, 0) << text;
}

} // namespace
