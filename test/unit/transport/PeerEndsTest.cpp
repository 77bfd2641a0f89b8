//===- PeerEndsTest.cpp - How transfers end, and with whom ----------------===//
//
// Both sides in one thread, whose time passes only as a test says: what is
// given back is given back at once and not when a lease's time is over, nothing
// of an earlier incarnation is believed, and nobody waits for what a reset has
// ended.
//
//===----------------------------------------------------------------------===//

#include "PeerFixture.h"

#include <gtest/gtest.h>

using namespace kv;
using namespace kv::test;
using namespace std::chrono_literals;

using Place = PageConnector::Place;

namespace {

constexpr int64_t NumPages = 6;

/// One prompt, whose pages the prefilling side has computed. Less than half of
/// the slots may be leased.
class PeerEnds : public testing::Test {
protected:
  PeerEnds() {
    peers.stayInOneThread();
    peers.options.lease = 1h;
    peers.options.answer = 1min;
    EXPECT_TRUE(peers.openPrefill());
    EXPECT_TRUE(peers.openDecode());
    peers.store(*peers.prefill, peers.prefillSide, tokens);
    begin = peers.local->time;
  }

  void turns(int count = 4) {
    for (int i = 0; i < count; ++i) {
      peers.prefill->turn();
      peers.decode->poll();
    }
  }
  NamedPrompt prompt() { return {*peers.decode, tokens, 4}; }
  /// Asks for all pages, and begins to bring them.
  void fetchAll() { fetchAll(tokens); }
  void fetchAll(const std::vector<int32_t> &of) {
    NamedPrompt pages(*peers.decode, of, 4);
    for (int64_t i = 0; i < NumPages; ++i)
      EXPECT_EQ(peers.decode->find(pages.at(i)), Place::Coming);
    turns();
    for (int64_t i = 0; i < NumPages; ++i) {
      EXPECT_EQ(peers.decode->find(pages.at(i)), Place::Disk);
      EXPECT_TRUE(peers.decode->fetch(pages.at(i)));
    }
  }
  /// The same, until they are read. The first read is held.
  void beginToRead() {
    peers.network.held = {1};
    fetchAll();
    turns();
    EXPECT_EQ(peers.decode->peerMetrics().openReads, 1);
    EXPECT_EQ(peers.prefill->peerMetrics().openLeases, 1);
  }
  /// What a manager gets that loads the prompt.
  Peers::Loaded load() {
    return peers.load(tokens, [this] {
      peers.computePrompts();
      turns();
      return true;
    });
  }
  void loadsAll() {
    Peers::Loaded loaded = load();
    EXPECT_EQ(loaded.pages, NumPages);
    EXPECT_FALSE(loaded.wrong);
    EXPECT_FALSE(loaded.late);
  }
  /// Every slot can be used although no lease's time is over.
  void everythingIsFree() {
    EXPECT_EQ(peers.prefill->peerMetrics().openLeases, 0);
    EXPECT_EQ(peers.prefill->peerMetrics().expiredLeases, 0);
    EXPECT_EQ(peers.leaks(*peers.prefill, peers.prefillSide), "");
    if (peers.decode)
      EXPECT_EQ(peers.leaks(*peers.decode, peers.decodeSide), "");
    EXPECT_EQ(peers.network.fault, "");
    EXPECT_LT(peers.local->time - begin, peers.options.lease);
  }
  /// The prefilling process ends and another one takes its endpoint, whose
  /// weights are others. Reads that the transport has done stay done.
  void restartPrefill() {
    std::set<std::string> alive = peers.network.alive;
    peers.prefill.reset();
    peers.network.alive.insert(alive.begin(), alive.end());
    std::ranges::fill(peers.prefillSide.memory, std::byte(0xEE));
    ++peers.weights;
    ASSERT_TRUE(peers.openPrefill());
  }

  Peers peers;
  std::vector<int32_t> tokens = tokensFrom(5, 4 * NumPages);
  Channel::Time begin;
};

//===----------------------------------------------------------------------===//
// Slots come back when a transfer ends
//===----------------------------------------------------------------------===//

TEST_F(PeerEnds, WhatWasReadIsGivenBack) {
  loadsAll();
  EXPECT_EQ(peers.prefill->peerMetrics().returnedLeases, 1);
  everythingIsFree();
}

TEST_F(PeerEnds, AReadThatNobodyWaitsForIsGivenBackWhenItIsOver) {
  beginToRead();
  ASSERT_TRUE(peers.decode->reset());
  turns();
  EXPECT_EQ(peers.prefill->peerMetrics().openLeases, 1); // it still reads
  peers.network.held.clear();
  turns(2 * NumPages);
  everythingIsFree();
}

TEST_F(PeerEnds, ALeaseThatComesTooLateIsGivenBack) {
  fetchAll();
  peers.decode->poll(); // asks for the lease
  ASSERT_TRUE(peers.decode->reset());
  turns();
  EXPECT_EQ(peers.network.reads, 0);
  everythingIsFree();
}

TEST_F(PeerEnds, AReadOfALostContactIsGivenBackWhenItIsOver) {
  beginToRead();
  // The other side is too busy to answer, and then it is not.
  NamedPrompt other(*peers.decode, tokensFrom(900, 8), 4);
  EXPECT_EQ(peers.decode->find(other.at(0)), Place::Coming);
  peers.decode->poll();
  peers.local->time += 2min;
  peers.decode->poll();
  ASSERT_TRUE(peers.notes.ends_with("does not answer: prompts are computed "
                                    "here\n"))
      << peers.notes;
  turns();
  ASSERT_TRUE(peers.notes.ends_with("answers again\n")) << peers.notes;
  EXPECT_EQ(peers.prefill->peerMetrics().openLeases, 1);
  peers.network.held.clear();
  turns(2 * NumPages);
  // Its pages are asked for anew all the same.
  EXPECT_EQ(peers.decode->peerMetrics().readPages, 0);
  everythingIsFree();
  loadsAll();
}

TEST_F(PeerEnds, TimeGivesBackWhatADeadSideHolds) {
  beginToRead();
  peers.decode.reset();
  peers.local->time = begin + peers.options.lease - 1min;
  peers.prefill->turn();
  EXPECT_EQ(peers.prefill->peerMetrics().openLeases, 1);
  peers.local->time = begin + peers.options.lease + 1min;
  peers.prefill->turn();
  EXPECT_EQ(peers.prefill->peerMetrics().expiredLeases, 1);
  EXPECT_EQ(peers.leaks(*peers.prefill, peers.prefillSide), "");
}

//===----------------------------------------------------------------------===//
// Another incarnation
//===----------------------------------------------------------------------===//

/// A decoding side that says what it is told to.
class Talker {
public:
  explicit Talker(Peers &peers)
      : prefill(peers.prefill),
        type(PageType::of(peers.decodeSide.cache, peers.options.model)),
        channel(*peers.local, /*listens=*/false) {
    EXPECT_TRUE(channel.open());
  }

  /// The answer of this type, which is the next one.
  template <class Answer, class Message>
  std::optional<Answer> say(const Message &message) {
    msgpack::sbuffer buffer = peer::encode(message);
    EXPECT_TRUE(channel.send({}, {buffer.data(), buffer.size()}));
    prefill->turn();
    std::string from, frame;
    if (!channel.receive(from, frame))
      return std::nullopt;
    return peer::Received(frame).as<Answer>();
  }
  uint64_t greet() {
    auto welcome = say<peer::Welcome>(
        peer::Hello{peer::ProtocolVersion, type.digest(), type});
    EXPECT_TRUE(welcome);
    return welcome ? welcome->incarnation : 0;
  }
  /// Leases all pages of the prompt, which are there.
  uint64_t lease(uint64_t incarnation, const std::vector<int32_t> &tokens) {
    auto have = say<peer::Have>(ask(incarnation, tokens));
    EXPECT_TRUE(have && have->final && have->tokens == 4 * NumPages);
    auto leased =
        say<peer::Leased>(peer::Lease{incarnation, 2, 1, 0, NumPages});
    EXPECT_TRUE(leased && std::ssize(leased->addresses) == NumPages);
    return leased ? leased->generation : 0;
  }
  static peer::Ask ask(uint64_t incarnation,
                       const std::vector<int32_t> &tokens) {
    return {incarnation, 1, std::string(3, '\0'), tokens};
  }

private:
  std::unique_ptr<PrefillPeer> &prefill;
  PageType type;
  LocalChannel channel;
};

TEST_F(PeerEnds, AnotherIncarnationDoesNotBelieveWhatIsMeantForTheFirst) {
  peers.decode.reset();
  Talker first(peers), second(peers);
  uint64_t old = first.greet();
  uint64_t generation = first.lease(old, tokens);
  restartPrefill();
  peers.store(*peers.prefill, peers.prefillSide, tokens);
  uint64_t incarnation = second.greet();
  EXPECT_NE(incarnation, old);
  // Generations begin anew: only the incarnation tells the leases apart.
  ASSERT_EQ(second.lease(incarnation, tokens), generation);

  EXPECT_TRUE(
      first.say<peer::Stranger>(peer::Return{old, /*request=*/2, generation}));
  EXPECT_TRUE(first.say<peer::Stranger>(
      peer::Lease{old, /*request=*/3, /*ask=*/1, 0, NumPages}));
  EXPECT_TRUE(first.say<peer::Stranger>(Talker::ask(old, tokensFrom(700, 16))));
  EXPECT_FALSE(peers.prefill->takePrompt());
  EXPECT_TRUE(first.say<peer::Stranger>(peer::Ping{old}));
  EXPECT_EQ(peers.prefill->peerMetrics().openLeases, 1);

  auto returned = second.say<peer::Returned>(
      peer::Return{incarnation, /*request=*/2, generation});
  EXPECT_TRUE(returned && returned->valid);
  everythingIsFree();
}

TEST_F(PeerEnds, WhatTheFirstIncarnationSaidIsForgotten) {
  fetchAll(); // its answer was that all pages are there
  restartPrefill();
  turns(); // the lease is asked of the second one
  EXPECT_TRUE(peers.notes.ends_with("answers again\n")) << peers.notes;
  EXPECT_EQ(peers.decode->find(prompt().at(0)), Place::Coming); // asks anew
  EXPECT_EQ(peers.network.reads, 0);
  loadsAll(); // what the second one computes
  everythingIsFree();
}

TEST_F(PeerEnds, AReadOfTheFirstIncarnationEndsNoLeaseOfTheSecond) {
  beginToRead();
  restartPrefill();
  std::vector<int32_t> more = tokensFrom(2000, 4 * NumPages);
  peers.store(*peers.prefill, peers.prefillSide, more);
  // An answer that it waits for makes it notice.
  NamedPrompt other(*peers.decode, tokensFrom(900, 8), 4);
  EXPECT_EQ(peers.decode->find(other.at(0)), Place::Coming);
  turns();
  ASSERT_TRUE(peers.notes.ends_with("answers again\n")) << peers.notes;
  peers.network.held = {1, 2};
  fetchAll(more); // by a lease of the same generation
  turns();
  EXPECT_EQ(peers.network.reads, 2);
  EXPECT_EQ(peers.prefill->peerMetrics().openLeases, 1);
  peers.network.held = {2}; // the first one has read something
  turns(2 * NumPages);
  EXPECT_EQ(peers.decode->peerMetrics().openReads, 1);
  EXPECT_EQ(peers.decode->peerMetrics().readPages, 0);
  EXPECT_EQ(peers.prefill->peerMetrics().openLeases, 1);
  EXPECT_EQ(peers.prefill->peerMetrics().returnedLeases, 0);
  EXPECT_EQ(peers.prefill->peerMetrics().refusedReturns, 0);
  peers.network.held.clear();
  turns(2 * NumPages);
  EXPECT_EQ(peers.decode->peerMetrics().readPages, NumPages);
  everythingIsFree();
}

//===----------------------------------------------------------------------===//
// A reset while pages come
//===----------------------------------------------------------------------===//

/// Weights change on both sides, the decoding one's in the middle of a
/// transfer.
class PeerReset : public PeerEnds {
protected:
  void reset() {
    ASSERT_TRUE(peers.decode->reset());
    EXPECT_EQ(peers.decode->peerMetrics().failedPages, NumPages);
    ASSERT_TRUE(peers.prefill->reset());
    ++peers.weights;
  }
};

TEST_F(PeerReset, NobodyWaitsForALease) {
  fetchAll();
  peers.decode->poll();
  reset();
  loadsAll();
  everythingIsFree();
}

TEST_F(PeerReset, NobodyWaitsForARead) {
  beginToRead();
  reset();
  loadsAll(); // while the first read hangs
  EXPECT_EQ(peers.decode->peerMetrics().openReads, 1);
  peers.network.held.clear();
  turns(2 * NumPages);
  everythingIsFree();
}

TEST_F(PeerReset, NobodyWaitsForAConfirmation) {
  beginToRead();
  peers.network.held.clear();
  while (peers.decode->peerMetrics().openReads > 0)
    peers.decode->poll();
  reset();
  EXPECT_NE(peers.decode->find(prompt().at(0)), Place::Memory);
  loadsAll();
  everythingIsFree();
}

TEST_F(PeerReset, NobodyWaitsForWhatIsNotAskedForYet) {
  fetchAll(); // the lease goes with the next poll()
  reset();
  turns();
  EXPECT_EQ(peers.prefill->peerMetrics().grantedLeases, 0);
  loadsAll();
  everythingIsFree();
}

} // namespace
