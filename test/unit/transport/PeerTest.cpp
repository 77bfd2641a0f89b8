//===- PeerTest.cpp - Pages that another process computes -----------------===//

#include "PeerFixture.h"
#include "test/unit/TemporaryFile.h"

#include <gtest/gtest.h>
#include <zmq.hpp>

using namespace kv;
using namespace kv::test;
using namespace std::chrono_literals;

using Place = PageConnector::Place;

namespace {

TEST(Peer, ReadsWhatTheOtherHas) {
  Peers peers;
  ASSERT_TRUE(peers.openPrefill());
  ASSERT_EQ(peers.store(*peers.prefill, peers.prefillSide, tokensFrom(5, 20)),
            5);
  ASSERT_TRUE(peers.openDecode()) << peers.notes;
  Peers::Loaded loaded = peers.load(tokensFrom(5, 22));
  EXPECT_EQ(loaded.pages, 5);
  EXPECT_FALSE(loaded.wrong);
  EXPECT_EQ(peers.decode->peerMetrics().readPages, 5);
  EXPECT_EQ(peers.decode->peerMetrics().readBytes, 5 * 512);
  EXPECT_EQ(peers.prefill->peerMetrics().returnedLeases, 1);
  EXPECT_EQ(peers.network.reads, 1); // one list
  // A second time they are our own.
  EXPECT_EQ(peers.load(tokensFrom(5, 22)).pages, 5);
  EXPECT_EQ(peers.network.reads, 1);
  EXPECT_EQ(peers.leaks(), "");
  EXPECT_EQ(peers.notes, "");
}

/// A side whose host memory holds less than a lease asks for reads what it can
/// give, and that once.
TEST(Peer, ReadsWhatTheOtherHasOnADisk) {
  TemporaryFolder folder;
  Peers peers(smallCache(4), smallCache(4), /*prefillSlots=*/4,
              /*decodeSlots=*/32);
  peers.prefillSide.slots.directory = folder.path();
  peers.prefillSide.slots.geometry = "small";
  peers.prefillSide.slots.diskBytes = 1 << 20;
  ASSERT_TRUE(peers.openPrefill());
  constexpr int32_t Pages = 24;
  for (int32_t pages = 1; pages <= Pages; ++pages) {
    ASSERT_EQ(peers.store(*peers.prefill, peers.prefillSide,
                          tokensFrom(5, 4 * pages)),
              1);
    while (peers.prefill->metrics().diskOperations > 0)
      ASSERT_TRUE(peers.prefill->wait(20s));
  }
  ASSERT_TRUE(peers.openDecode()) << peers.notes;
  Peers::Loaded loaded = peers.load(tokensFrom(5, 4 * Pages + 1));
  EXPECT_EQ(loaded.pages, Pages);
  EXPECT_FALSE(loaded.wrong);
  EXPECT_LE(peers.prefill->metrics().readPages, Pages * 11 / 10);
}

TEST(Peer, ComputesWhatIsMissing) {
  Peers peers;
  ASSERT_TRUE(peers.openPrefill());
  ASSERT_TRUE(peers.openDecode());
  ASSERT_EQ(peers.store(*peers.prefill, peers.prefillSide, tokensFrom(5, 8)),
            2);
  Peers::Loaded loaded = peers.load(tokensFrom(5, 24));
  EXPECT_EQ(loaded.pages, 6);
  EXPECT_FALSE(loaded.wrong);
  EXPECT_EQ(peers.leaks(), "");
}

TEST(Peer, TellsTheScopeOfAPrompt) {
  Peers peers;
  ASSERT_TRUE(peers.openPrefill());
  ASSERT_TRUE(peers.openDecode());
  std::string scope("\0\0\1\4\0\0\0\0\0\0\0salt", 15);
  PrefixName root =
      peers.decode->nameScope(std::as_bytes(std::span<const char>(scope)));
  std::vector<int32_t> tokens = {1, 2, 3, 4};
  PrefixName name = peers.decode->namePage(root, {}, tokens);
  PrefixPage page = {
      .name = name, .parent = root, .scope = root, .tokens = tokens};
  EXPECT_EQ(peers.decode->find(page), Place::Coming);
  std::optional<PeerConnector::WantedPrompt> prompt;
  for (int i = 0; i < 2000 && !prompt; ++i) {
    (void)peers.decode->wait(1ms);
    prompt = peers.prefill->takePrompt();
  }
  ASSERT_TRUE(prompt);
  EXPECT_EQ(prompt->salt, "salt");
  EXPECT_FALSE(prompt->model);
  EXPECT_FALSE(prompt->adapter);
  EXPECT_EQ(prompt->tokens, tokens);
  peers.prefill->promptDone(prompt->id);
  for (int i = 0; i < 2000 && peers.decode->find(page) == Place::Coming; ++i)
    (void)peers.decode->wait(1ms);
  EXPECT_EQ(peers.decode->find(page), Place::Absent);
}

TEST(Peer, ConvertsPageSizeAndLayout) {
  using enum CacheLayout;
  for (auto [from, to] : {std::pair(smallCache(4, NHD), smallCache(8, HND)),
                          {smallCache(4, NHD), smallCache(4, CPU)},
                          {smallCache(8, CPU), smallCache(4, NHD)},
                          {smallCache(16, HND), smallCache(32, CPU)},
                          {smallCache(12, HND), smallCache(8, NHD)}}) {
    Peers peers(from, to, 40, 24);
    ASSERT_TRUE(peers.openPrefill());
    ASSERT_TRUE(peers.openDecode());
    Peers::Loaded loaded = peers.load(tokensFrom(9, 100));
    // What the other side has are whole pages of its own.
    int64_t whole = 100 / to.pageSize() * to.pageSize();
    EXPECT_EQ(loaded.pages,
              whole / from.pageSize() * from.pageSize() / to.pageSize());
    EXPECT_FALSE(loaded.wrong);
    EXPECT_EQ(peers.leaks(), "");
  }
}

TEST(Peer, RefusesAnotherType) {
  auto sentence = [](auto &&change) {
    Peers peers;
    EXPECT_TRUE(peers.openPrefill());
    change(peers);
    Expected<void> opened = peers.openDecode();
    EXPECT_FALSE(opened);
    std::string message = opened ? "" : opened.error().message;
    std::string begin = concat("peers: the one at ", peers.options.endpoint,
                               " has other pages: ");
    EXPECT_TRUE(message.starts_with(begin)) << message;
    return message.substr(std::min(begin.size(), message.size()));
  };
  auto geometry = [&](auto &&change) {
    return sentence([&](Peers &peers) {
      change(peers.decodeSide.cache.params[0].geometry);
    });
  };
  EXPECT_EQ(geometry([](CacheGeometry &of) { of.heads = 4; }),
            "heads of kv is 2 on the prefilling side and 4 on the decoding "
            "side");
  EXPECT_EQ(geometry([](CacheGeometry &of) { of.dtype = KV_DTYPE_BF16; }),
            "dtype of kv is f32 on the prefilling side and bf16 on the "
            "decoding side");
  EXPECT_EQ(geometry([](CacheGeometry &of) { of.dim = 8; }),
            "dim of kv is 4 on the prefilling side and 8 on the decoding side");
  EXPECT_EQ(geometry([](CacheGeometry &of) { of.window = 64; }),
            "window of kv is 0 on the prefilling side and 64 on the decoding "
            "side");
  EXPECT_EQ(geometry([](CacheGeometry &of) {
              of.dtype = KV_DTYPE_I8;
              of.scaleGroup = 4;
            }),
            "dtype of kv is f32 on the prefilling side and i8 on the decoding "
            "side");
  EXPECT_EQ(sentence([](Peers &peers) { peers.options.model = "other"; }),
            "the model is  on the prefilling side and other on the decoding "
            "side");
  EXPECT_EQ(
      sentence(
          [](Peers &peers) { peers.decodeSide.cache.params[0].name = "x"; }),
      "the name of collection 0 is kv on the prefilling side and x on the "
      "decoding side");
  EXPECT_EQ(sentence([](Peers &peers) {
              KVCacheParams second = peers.decodeSide.cache.params[0];
              second.name = "second";
              peers.decodeSide.cache.params.push_back(second);
            }),
            "the number of collections is 1 on the prefilling side and 2 on "
            "the decoding side");
}

TEST(Peer, ALeaseThatEndsTooEarlyIsAnError) {
  Peers peers;
  peers.options.lease = 30ms;
  ASSERT_TRUE(peers.openPrefill());
  ASSERT_EQ(peers.store(*peers.prefill, peers.prefillSide, tokensFrom(5, 32)),
            8);
  ASSERT_TRUE(peers.openDecode());
  // The read takes as long as somebody looks; nobody does until the lease is
  // over and the slots have other records.
  NamedPrompt prompt(*peers.decode, tokensFrom(5, 32), 4);
  for (int64_t i = 0; i < 8; ++i)
    ASSERT_EQ(peers.decode->find(prompt.at(i)), Place::Coming);
  while (peers.decode->find(prompt.at(0)) == Place::Coming)
    (void)peers.decode->wait(1ms);
  for (int64_t i = 0; i < 8; ++i)
    ASSERT_TRUE(peers.decode->fetch(prompt.at(i)));
  while (peers.decode->peerMetrics().openReads == 0)
    (void)peers.decode->poll();
  while (peers.prefill->peerMetrics().openLeases > 0)
    ::usleep(1000);
  EXPECT_EQ(peers.prefill->peerMetrics().expiredLeases, 1);
  for (int32_t i = 0; i < 16; ++i)
    peers.store(*peers.prefill, peers.prefillSide, tokensFrom(1000 + i, 4));
  Peers::Loaded loaded = peers.load(tokensFrom(5, 32), [] { return true; });
  EXPECT_EQ(loaded.pages, 0);
  EXPECT_EQ(peers.decode->peerMetrics().failedPages, 8);
  EXPECT_EQ(peers.decode->peerMetrics().readPages, 0);
  EXPECT_EQ(peers.leaks(), "");
}

TEST(Peer, AReadBehindTheEndIsRefused) {
  // As above, but the reader does not know that its lease has ended.
  Peers peers;
  peers.network.hangs = 256;
  ASSERT_TRUE(peers.openPrefill());
  ASSERT_TRUE(peers.openDecode());
  ASSERT_EQ(peers.store(*peers.prefill, peers.prefillSide, tokensFrom(5, 32)),
            8);
  bool isReset = false;
  Peers::Loaded loaded = peers.load(tokensFrom(5, 32), [&] {
    if (peers.decode->peerMetrics().openReads > 0 && !isReset) {
      EXPECT_TRUE(peers.prefill->reset()); // the weights have changed
      isReset = true;
    }
    return true;
  });
  EXPECT_TRUE(isReset);
  EXPECT_EQ(loaded.pages, 0);
  EXPECT_EQ(peers.prefill->peerMetrics().refusedReturns, 1);
  EXPECT_EQ(peers.decode->peerMetrics().refusedReturns, 1);
  EXPECT_EQ(peers.leaks(), "");
}

TEST(Peer, ADeadPeerCostsLittleTime) {
  Peers peers;
  peers.options.answer = 300ms;
  ASSERT_TRUE(peers.openPrefill());
  ASSERT_TRUE(peers.openDecode());
  std::vector<int32_t> tokens = tokensFrom(5, 32);
  // It dies after it was asked.
  int calls = 0;
  auto begin = std::chrono::steady_clock::now();
  Peers::Loaded loaded = peers.load(tokens, [&] {
    if (++calls == 3)
      peers.prefill.reset();
    return true;
  });
  EXPECT_EQ(loaded.pages, 0);
  EXPECT_FALSE(loaded.late);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 3s);
  EXPECT_TRUE(
      peers.notes.ends_with("does not answer: prompts are computed here\n"))
      << peers.notes;
  // The next request does not wait at all.
  NamedPrompt prompt(*peers.decode, tokens, 4);
  EXPECT_EQ(peers.decode->find(prompt.at(0)), Place::Absent);
  EXPECT_FALSE(peers.decode->wait(10s));
  // Another one takes its place.
  ASSERT_TRUE(peers.openPrefill());
  for (int i = 0; i < 5000 && !peers.notes.contains("answers again"); ++i) {
    peers.decode->poll();
    ::usleep(1000);
  }
  loaded = peers.load(tokens);
  EXPECT_EQ(loaded.pages, 8);
  EXPECT_FALSE(loaded.wrong);
  EXPECT_EQ(peers.leaks(), "");
}

TEST(Peer, AFailedReadIsAMiss) {
  Peers peers;
  peers.network.fails = 256;
  peers.options.lease = 500ms;
  ASSERT_TRUE(peers.openPrefill());
  ASSERT_TRUE(peers.openDecode());
  EXPECT_EQ(peers.load(tokensFrom(5, 32)).pages, 0);
  // Pages that are computed meanwhile are read by themselves.
  EXPECT_GE(peers.network.numFailed, 1);
  peers.network.fails = 0;
  // Each failure puts the peer aside for a while.
  int64_t pages = 0;
  for (int i = 0; i < 5000 && pages != 8; ++i) {
    ::usleep(1000);
    pages = peers.load(tokensFrom(5, 32)).pages;
  }
  EXPECT_EQ(pages, 8);
  EXPECT_TRUE(peers.notes.contains("answers again"));
  EXPECT_EQ(peers.leaks(), "");
}

TEST(Peer, MorePagesThanSlots) {
  // Leases are as large as the slots allow, and what was loaded is used before
  // the rest comes.
  Peers peers(smallCache(4), smallCache(4), 40, 6);
  ASSERT_TRUE(peers.openPrefill());
  ASSERT_TRUE(peers.openDecode());
  Peers::Loaded loaded = peers.load(tokensFrom(5, 120));
  EXPECT_EQ(loaded.pages, 30);
  EXPECT_FALSE(loaded.wrong);
  EXPECT_EQ(peers.leaks(), "");
}

TEST(Peer, NobodyThere) {
  Peers peers;
  peers.options.connect = 100ms;
  ASSERT_TRUE(peers.openDecode());
  EXPECT_EQ(peers.notes, concat("no peer answers at ", peers.options.endpoint,
                                ": prompts are computed here until one "
                                "does\n"));
  EXPECT_EQ(peers.load(tokensFrom(5, 32), [] { return true; }).pages, 0);
}

TEST(Peer, WhatStrangersSendIsIgnored) {
  Peers peers;
  ASSERT_TRUE(peers.openPrefill());
  zmq::context_t context;
  zmq::socket_t stranger(context, zmq::socket_type::dealer);
  stranger.set(zmq::sockopt::linger, 0);
  stranger.connect(peers.options.endpoint);
  uint64_t state = 1;
  for (int i = 0; i < 3000; ++i) {
    std::string frame;
    for (uint64_t size = peers.network.random(40); size > 0; --size)
      frame.push_back(static_cast<char>(peers.network.random(256)));
    if (i % 2 && frame.size() > 2) { // a kind that exists
      frame[0] = static_cast<char>(0xd0);
      frame[1] = static_cast<char>(1 + state++ % 5);
    }
    stranger.send(zmq::buffer(frame), i % 7 == 0 ? zmq::send_flags::sndmore
                                                 : zmq::send_flags::none);
  }
  // Well-formed, but of no sense.
  for (int64_t first : {INT64_MIN, int64_t(-1), int64_t(0), INT64_MAX})
    for (int64_t end : {INT64_MIN, int64_t(0), int64_t(3), INT64_MAX}) {
      msgpack::sbuffer buffer = peer::encode(peer::Lease{0, 1, 1, first, end});
      stranger.send(zmq::buffer(buffer.data(), buffer.size()));
    }
  ASSERT_TRUE(peers.openDecode());
  EXPECT_EQ(peers.load(tokensFrom(5, 32)).pages, 8);
  EXPECT_EQ(peers.leaks(), "");
}

} // namespace
