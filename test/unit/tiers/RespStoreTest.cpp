//===- RespStoreTest.cpp - A store that machines share, on its own --------===//
//
// Whatever a server does, a record is found with exactly its bytes or not at
// all, in time, and nothing is lost but records.
//
//===----------------------------------------------------------------------===//

#include "FaultyStoreCalls.h"
#include "RedisServer.h"
#include "TierFixture.h"
#include "test/unit/Values.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <random>
#include <thread>

using namespace kv;
using namespace kv::test;

namespace {

using Found = TestTiers::Found;
using Place = PageConnector::Place;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

/// A machine: host memory of its own, and the store.
TestTiers machine(const std::string &address, int32_t slots = 8,
                  const std::string &folder = {}) {
  TestTiers made(folder, slots);
  made.options.blockStoreEndpoint = address;
  return made;
}

/// Whether the machine has the record after a while: when the store is tried
/// again, and the answer that there is none is out of date.
bool findsInTime(TestTiers &machine, int32_t id) {
  for (int i = 0; i < 2400; ++i) {
    Found found = machine.load(id);
    if (found != Found::Nothing)
      return found == Found::Right;
    std::this_thread::sleep_for(milliseconds(25));
  }
  return false;
}

/// Stores records until one has reached the store. Its id; 0: none has.
int32_t writesInTime(TestTiers &machine, int32_t first) {
  int64_t before = machine.connector->metrics().storeWrittenPages;
  for (int i = 0; i < 2400; ++i) {
    (void)machine.storeAndWrite(first + i);
    if (machine.connector->metrics().storeWrittenPages > before)
      return first + i;
    std::this_thread::sleep_for(milliseconds(25));
  }
  return 0;
}

int freePort() {
  int probe = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in name = {};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof name;
  bool found =
      bind(probe, reinterpret_cast<sockaddr *>(&name), sizeof name) == 0 &&
      getsockname(probe, reinterpret_cast<sockaddr *>(&name), &size) == 0;
  EXPECT_TRUE(found);
  close(probe);
  return ntohs(name.sin_port);
}

/// Answers the first `polite` reads as a server with an epoch does, and then
/// everything with the same bytes, again and again, a few at a time.
class StrangeServer {
public:
  StrangeServer(std::string text, int polite, size_t piece = 4096)
      : text(std::move(text)), polite(polite), piece(piece) {
    listener = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = {}};
    std::string path = address();
    path.copy(name.sun_path, sizeof name.sun_path - 1);
    if (bind(listener, reinterpret_cast<sockaddr *>(&name), sizeof name) != 0 ||
        listen(listener, 16) != 0)
      ADD_FAILURE() << "no socket";
    threads.emplace_back([this] {
      for (int peer; (peer = accept(listener, nullptr, nullptr)) >= 0;)
        threads.emplace_back([this, peer] { serve(peer); });
    });
  }
  ~StrangeServer() {
    ended = true;
    shutdown(listener, SHUT_RDWR);
    threads.front().join();
    for (size_t i = 1; i < threads.size(); ++i)
      threads[i].join();
    close(listener);
  }
  std::string address() const { return folder.path() + "/strange.sock"; }

private:
  void serve(int peer) {
    char buffer[1 << 16];
    for (int i = 0; i < polite; ++i) {
      if (recv(peer, buffer, sizeof buffer, 0) <= 0)
        break;
      (void)!send(peer, "$3\r\nabc\r\n", 9, MSG_NOSIGNAL);
    }
    bool begun = false;
    while (!ended) {
      ssize_t read = recv(peer, buffer, sizeof buffer, MSG_DONTWAIT);
      if (read == 0)
        break;
      begun |= read > 0;
      for (size_t at = 0; begun && at < text.size(); at += piece)
        if (send(peer, text.data() + at, std::min(piece, text.size() - at),
                 MSG_NOSIGNAL | MSG_DONTWAIT) < 0 &&
            errno != EAGAIN)
          begun = false;
      std::this_thread::sleep_for(milliseconds(1));
    }
    close(peer);
  }

  TemporaryFolder folder;
  std::string text;
  int polite;
  size_t piece;
  int listener = -1;
  std::atomic<bool> ended = false;
  std::deque<std::thread> threads; // the first one makes the others
};

} // namespace

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

TEST(RespStore, AddressesAreRead) {
  auto full =
      StoreAddress::parse("redis://me:se@cret@host:17/3?timeout=20&ttl=9");
  ASSERT_TRUE(full) << text(full);
  EXPECT_EQ(full->host, "host");
  EXPECT_EQ(full->port, 17);
  EXPECT_EQ(full->user, "me");
  EXPECT_EQ(full->password, "se@cret");
  EXPECT_EQ(full->db, 3);
  EXPECT_EQ(full->timeout, milliseconds(20));
  EXPECT_EQ(full->ttl, 9);
  auto least = StoreAddress::parse("valkey://[::1]:80");
  ASSERT_TRUE(least) << text(least);
  EXPECT_EQ(least->host, "::1");
  EXPECT_EQ(least->port, 80);
  EXPECT_EQ(StoreAddress::parse("redis://h")->port, 6379);
  for (const char *path : {"unix:///a/b?db=2", "/a/b?db=2"}) {
    auto local = StoreAddress::parse(path);
    ASSERT_TRUE(local) << text(local);
    EXPECT_EQ(local->path, "/a/b");
    EXPECT_EQ(local->db, 2);
  }
  for (auto [wrong, sentence] :
       {std::pair("", "the address begins with '', allowed: redis://"),
        std::pair("rediss://:secret@h", "begins with 'rediss:', allowed"),
        std::pair("redis://", "no host is given"),
        std::pair("redis://h:0", "port is '0', allowed: 1 to 65535"),
        std::pair("redis://h:1x", "port is '1x'"),
        std::pair("redis://h/x", "db is 'x', allowed: 0 to"),
        std::pair("/a?timeout=0", "timeout is '0', allowed: 1 to 60000"),
        std::pair("/a?secret", "an option is 'secret', allowed: db=N")}) {
    auto made = StoreAddress::parse(wrong);
    ASSERT_FALSE(made) << wrong;
    EXPECT_NE(made.error().message.find(sentence), std::string::npos)
        << made.error().message;
    EXPECT_EQ(made.error().message.find("secret@"), std::string::npos);
  }
  TestTiers tiers = machine("nonsense");
  auto opened = tiers.open();
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().message.find("store: "), 0u);
}

//===----------------------------------------------------------------------===//
// What is shared
//===----------------------------------------------------------------------===//

TEST(RespStore, AMachineFindsWhatAnotherHasStored) {
  RedisServer server;
  TemporaryFolder firstDisk, secondDisk;
  {
    TestTiers first = machine(server.address(), 8, firstDisk.path());
    ASSERT_TRUE(first.open());
    for (int32_t id = 0; id < 20; ++id)
      ASSERT_TRUE(first.storeAndWrite(id));
    EXPECT_EQ(first.connector->metrics().storeWrittenPages, 20);
    EXPECT_EQ(first.connector->metrics().storeIsUp, 1);
  }
  TestTiers second = machine(server.address(), 8, secondDisk.path());
  ASSERT_TRUE(second.open());
  for (int32_t id = 0; id < 20; ++id)
    EXPECT_EQ(second.load(id), Found::Right) << id;
  EXPECT_EQ(second.load(20), Found::Nothing);
  ASSERT_TRUE(second.drain());
  const TierMetrics &figures = second.connector->metrics();
  EXPECT_EQ(figures.storeHits, 20);
  EXPECT_EQ(figures.storeMisses, 1);
  EXPECT_EQ(figures.storeReadPages, 20);
  EXPECT_GT(figures.storeReadBytes, 20 * int64_t(TestTiers::RecordBytes));
  EXPECT_EQ(figures.storeLosses, 0);
  // It has gone to the second one's disk as well: the store is not needed.
  EXPECT_EQ(figures.writtenPages, 20);
  server.kill();
  ASSERT_TRUE(second.open());
  for (int32_t id = 12; id < 20; ++id)
    EXPECT_EQ(second.load(id), Found::Right) << id;
}

TEST(RespStore, OtherModelsGeometriesAndScopesNeverMeet) {
  RedisServer server;
  TestTiers own = machine(server.address());
  ASSERT_TRUE(own.open());
  ASSERT_TRUE(own.storeAndWrite(1));
  struct Other {
    const char *what;
    std::function<void(PageConnector::Options &)> change;
  };
  for (const Other &other :
       {Other{"model", [](auto &o) { o.model = "n"; }},
        Other{"geometry", [](auto &o) { o.geometry = "two"; }}}) {
    TestTiers stranger = machine(server.address());
    other.change(stranger.options);
    ASSERT_TRUE(stranger.open());
    EXPECT_EQ(stranger.load(1), Found::Nothing) << other.what;
    // Not even if the server gives it the other one's record.
    ASSERT_TRUE(stranger.storeAndWrite(1));
    std::vector<std::string> keys = server.records();
    ASSERT_EQ(keys.size(), 2u);
    std::string a = server.command({"GET", keys[0]}),
                b = server.command({"GET", keys[1]});
    server.command({"SET", keys[0], b});
    server.command({"SET", keys[1], a});
    for (TestTiers *one : {&own, &stranger}) {
      ASSERT_TRUE(one->open());
      EXPECT_EQ(one->load(1), Found::Nothing) << other.what;
      EXPECT_EQ(one->connector->metrics().failedStoreReads, 1) << other.what;
    }
    server.command({"FLUSHALL"});
    ASSERT_TRUE(own.open());
    ASSERT_TRUE(writesInTime(own, 100));
    ASSERT_TRUE(own.storeAndWrite(1));
    ASSERT_EQ(own.load(1, "b"), Found::Nothing) << "another salt";
    server.command({"DEL", server.records()[0], server.records()[1]});
    ASSERT_TRUE(own.open());
    ASSERT_TRUE(own.storeAndWrite(1));
  }
}

TEST(RespStore, RecordsThatAreWrongAreMisses) {
  RedisServer server;
  TestTiers first = machine(server.address()),
            second = machine(server.address());
  ASSERT_TRUE(first.open());
  ASSERT_TRUE(first.storeAndWrite(1));
  ASSERT_EQ(server.records().size(), 1u);
  std::string key = server.records()[0];
  std::string good = server.command({"GET", key});
  ASSERT_GT(good.size(), TestTiers::RecordBytes);
  auto foundWith = [&](const std::string &record) {
    server.command({"SET", key, record});
    EXPECT_TRUE(second.open());
    return second.load(1);
  };
  std::mt19937 random(1);
  for (size_t byte = 0; byte < good.size();
       byte += byte < 200 ? 1 : 1 + random() % 200) {
    std::string wrong = good;
    wrong[byte] ^= char(1 << random() % 8);
    ASSERT_EQ(foundWith(wrong), Found::Nothing) << byte;
    ASSERT_EQ(second.connector->metrics().failedStoreReads, 1);
  }
  for (size_t size : {size_t(0), size_t(1), good.size() / 2, good.size() - 1})
    ASSERT_EQ(foundWith(good.substr(0, size)), Found::Nothing) << size;
  EXPECT_EQ(foundWith(good + "x"), Found::Nothing);
  EXPECT_EQ(foundWith(std::string(3 << 20, 'x')), Found::Nothing);
  EXPECT_EQ(foundWith(good), Found::Right);
  // Something else than a text; and gone between question and read.
  server.command({"DEL", key});
  server.ask({"RPUSH", key, good});
  ASSERT_TRUE(second.open());
  EXPECT_EQ(second.load(1), Found::Nothing);
  server.command({"SET", key, good});
  ASSERT_TRUE(second.open());
  while (second.find(1) == Place::Asked)
    ASSERT_TRUE(second.connector->wait(std::chrono::seconds(20)));
  ASSERT_EQ(second.find(1), Place::Store);
  server.ask({"DEL", key});
  EXPECT_EQ(second.load(1), Found::Nothing);
  // What is computed instead of it takes its place.
  server.command({"SET", key, "wrong"});
  ASSERT_TRUE(second.open());
  EXPECT_EQ(second.load(1), Found::Nothing);
  ASSERT_TRUE(second.storeAndWrite(1));
  EXPECT_EQ(server.command({"GET", key}), good);
}

TEST(RespStore, PasswordsAndDatabases) {
  RedisServer server({"--requirepass", "secret"});
  TestTiers refused = machine(server.address("?timeout=200"));
  ASSERT_TRUE(refused.open());
  refused.storeAndWrite(1);
  EXPECT_EQ(refused.connector->metrics().storeWrittenPages, 0);
  EXPECT_GT(refused.connector->metrics().storeLosses, 0);
  server.kill();

  std::string port = std::to_string(freePort());
  RedisServer tcp({"--port", port, "--requirepass", "secret"});
  std::string address = "redis://:secret@127.0.0.1:" + port;
  TestTiers first = machine(address + "/2"), second = machine(address + "/2"),
            other = machine(address + "/3"),
            stranger = machine("redis://:wrong@127.0.0.1:" + port);
  for (TestTiers *one : {&first, &second, &other, &stranger})
    ASSERT_TRUE(one->open());
  ASSERT_TRUE(first.storeAndWrite(1));
  EXPECT_EQ(first.connector->metrics().storeWrittenPages, 1);
  EXPECT_EQ(second.load(1), Found::Right);
  EXPECT_EQ(other.load(1), Found::Nothing);
  EXPECT_EQ(other.connector->metrics().storeMisses, 1);
  EXPECT_EQ(stranger.load(1), Found::Nothing);
  stranger.connector->poll();
  EXPECT_GT(stranger.connector->metrics().storeLosses, 0);
}

TEST(RespStore, RecordsAreKeptAsLongAsTheAddressSays) {
  RedisServer server;
  TestTiers tiers = machine(server.address("?ttl=1000"));
  ASSERT_TRUE(tiers.open());
  ASSERT_TRUE(tiers.storeAndWrite(1));
  ASSERT_EQ(server.records().size(), 1u);
  auto left = server.ask({"TTL", server.records()[0]});
  ASSERT_TRUE(left);
  EXPECT_GT(left->integer, 900);
  EXPECT_LE(left->integer, 1000);
}

//===----------------------------------------------------------------------===//
// Every call fails in turn
//===----------------------------------------------------------------------===//

namespace {

/// A machine that stores, and another one that loads, both with these calls.
/// Returns what is wrong.
std::string story(const RedisServer &server, FaultyStoreCalls &calls,
                  const std::string &model) {
  std::string address = server.address("?timeout=40");
  TestTiers machines[2] = {machine(address), machine(address)};
  for (TestTiers &one : machines) {
    one.options.model = model;
    if (Expected<void> opened = one.open(calls); !opened)
      return opened.error().message;
  }
  auto loadAll = [&](TestTiers &from, int32_t first, bool may) -> std::string {
    for (int32_t id = first; id < first + 5; ++id) {
      Found found = from.load(id);
      if (found == Found::Wrong)
        return concat("a wrong page, record ", id);
      if (!may && found == Found::Right)
        return concat("found after a reset: ", id);
    }
    return {};
  };
  for (int32_t id = 0; id < 5; ++id)
    (void)machines[0].storeAndWrite(id);
  if (std::string wrong = loadAll(machines[1], 0, true); !wrong.empty())
    return wrong;
  bool isTold = bool(machines[0].connector->reset());
  if (std::string wrong = loadAll(machines[0], 0, false); !wrong.empty())
    return wrong;
  // A third one, which knows of no reset.
  TestTiers later = machine(address);
  later.options.model = model;
  if (!later.open(calls))
    return "it cannot be opened";
  if (std::string wrong = loadAll(later, 0, !isTold); !wrong.empty())
    return wrong;
  for (int32_t id = 10; id < 15; ++id)
    (void)machines[0].storeAndWrite(id);
  if (std::string wrong = loadAll(machines[1], 10, true); !wrong.empty())
    return wrong;
  // The store is good again.
  calls.heal();
  int32_t last = writesInTime(machines[0], 100);
  if (!last)
    return "nothing is written to a good store";
  if (!findsInTime(machines[1], last))
    return "a good store has lost a record";
  for (TestTiers &one : machines)
    if (std::string leaked = one.leaks(); !leaked.empty())
      return leaked;
  return {};
}

} // namespace

TEST(RespStore, EveryCallFailsInTurn) {
  struct Way {
    const char *name;
    FaultyStoreCalls::Plan plan;
    int64_t most; // calls
  };
  using F = FaultyStoreCalls;
  std::vector<Way> ways;
  for (bool forGood : {false, true}) {
    ways.push_back(
        {"no connection", {F::Connect, F::Fails, 0, 0, forGood}, 99});
    ways.push_back({"no socket", {F::Connect, F::Ends, 0, 0, forGood}, 99});
    ways.push_back({"poll", {F::Wait, F::Fails, ENOMEM, 0, forGood}, 40});
    ways.push_back({"hangs", {F::Wait, F::Hangs, 0, 0, forGood}, 40});
    ways.push_back({"read", {F::Read, F::Fails, ECONNRESET, 0, forGood}, 99});
    ways.push_back({"closed", {F::Read, F::Ends, 0, 0, forGood}, 99});
    ways.push_back({"lost replies", {F::Read, F::Hangs, 0, 0, forGood}, 40});
    ways.push_back({"write", {F::Write, F::Fails, EPIPE, 0, forGood}, 99});
    ways.push_back({"refused write", {F::Write, F::Ends, 0, 0, forGood}, 40});
    ways.push_back({"stuck write", {F::Write, F::Hangs, 0, 0, forGood}, 40});
    for (size_t byte : {0, 1, 3, 7, 40, 300, 4000}) {
      ways.push_back({"a bit of a reply",
                      {F::Read, F::Flips, 0, 0, forGood, byte},
                      forGood ? 3 : 40});
      ways.push_back({"a bit of a command",
                      {F::Write, F::Flips, 0, 0, forGood, byte},
                      forGood ? 3 : 40});
    }
  }
  ways.push_back({"short write", {F::Write, F::Short, 0, 0, true}, 5});
  // Most of a story is waiting for the store to be tried again.
  RedisServer server;
  std::atomic<int64_t> calls = 0, next = 0;
  auto tell = [&] {
    for (size_t i; (i = static_cast<size_t>(next++)) < ways.size();) {
      Way way = ways[i];
      // Where all calls from one on fail, which is the first matters less.
      for (way.plan.at = 0; way.plan.at < way.most;
           way.plan.at += way.plan.forGood ? 7 : 1) {
        FaultyStoreCalls faulty(way.plan);
        std::string wrong = story(server, faulty, std::to_string(++calls));
        EXPECT_EQ(wrong, "")
            << way.name << ", call " << way.plan.at << ", byte "
            << way.plan.byte << (way.plan.forGood ? ", for good" : "");
        if (!faulty.hasFailed() || !wrong.empty())
          break;
      }
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 16; ++i)
      threads.emplace_back(tell);
  }
  EXPECT_GT(calls, 300);
}

//===----------------------------------------------------------------------===//
// Servers that hang, end, begin anew and are full
//===----------------------------------------------------------------------===//

TEST(RespStore, AServerThatStopsCostsMissesOnly) {
  RedisServer server;
  TestTiers first = machine(server.address("?timeout=300")),
            second = machine(server.address("?timeout=300"));
  ASSERT_TRUE(first.open());
  ASSERT_TRUE(second.open());
  for (int32_t id = 0; id < 5; ++id)
    ASSERT_TRUE(first.storeAndWrite(id));
  EXPECT_EQ(second.load(0), Found::Right);
  server.stop();
  // One call waits for the timeout, in a thread; the others know.
  Clock::time_point start = Clock::now();
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(second.load(1 + i % 4), Found::Nothing);
    second.store(1000 + i);
  }
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(10));
  EXPECT_GT(second.connector->metrics().storeLosses, 0);
  EXPECT_EQ(second.connector->metrics().storeIsUp, 0);
  // Slots that are to be written do not stay with a store that hangs.
  ASSERT_TRUE(second.drain());
  server.resume();
  for (int32_t id = 1; id < 5; ++id)
    EXPECT_TRUE(findsInTime(second, id)) << id;
  EXPECT_TRUE(writesInTime(second, 2000));
  EXPECT_EQ(second.connector->metrics().storeIsUp, 1);
  EXPECT_EQ(second.leaks(), "");
}

TEST(RespStore, NoCallWaitsForTheServer) {
  RedisServer server;
  // A timeout that would be seen.
  TestTiers tiers = machine(server.address("?timeout=5000"), /*slots=*/40);
  ASSERT_TRUE(tiers.open());
  ASSERT_TRUE(tiers.storeAndWrite(0));
  server.stop();
  Clock::time_point start = Clock::now();
  int taken = 0;
  for (int32_t id = 1; id < 40; ++id) {
    EXPECT_NE(tiers.find(id), Place::Store);
    taken += tiers.store(id);
    EXPECT_NE(tiers.find(100 + id), Place::Store);
    tiers.connector->poll();
  }
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(2));
  // Three quarters of the slots wait for it, and no more.
  EXPECT_EQ(taken, 39);
  EXPECT_EQ(tiers.connector->metrics().storeOperations, 30);
  EXPECT_EQ(tiers.connector->metrics().skippedStoreWrites, 9);
  EXPECT_EQ(tiers.connector->metrics().refusedStores, 0);
  server.resume();
  EXPECT_EQ(tiers.leaks(), "");
}

TEST(RespStore, AServerThatBeginsAnewIsEmpty) {
  RedisServer server;
  TestTiers first = machine(server.address()),
            second = machine(server.address());
  ASSERT_TRUE(first.open());
  ASSERT_TRUE(first.storeAndWrite(1));
  ASSERT_TRUE(second.open());
  ASSERT_EQ(second.load(1), Found::Right);
  for (int round = 0; round < 3; ++round) {
    server.kill();
    EXPECT_EQ(second.load(50 + round), Found::Nothing);
    first.storeAndWrite(60 + round);
    ASSERT_TRUE(server.start());
    ASSERT_TRUE(writesInTime(first, 1000 * (round + 1)));
    ASSERT_TRUE(first.storeAndWrite(10 + round));
    EXPECT_TRUE(findsInTime(second, 10 + round));
  }
  EXPECT_EQ(first.leaks(), "");
  EXPECT_EQ(second.leaks(), "");
}

TEST(RespStore, AServerThatIsNotThereIsNoError) {
  TestTiers tiers = machine("unix:///no/such/socket");
  ASSERT_TRUE(tiers.open());
  for (int32_t id = 0; id < 20; ++id) {
    EXPECT_TRUE(tiers.storeAndWrite(id));
    EXPECT_EQ(tiers.load(id), Found::Right);
  }
  EXPECT_EQ(tiers.load(0), Found::Nothing);
  for (int i = 0; i < 400 && tiers.connector->metrics().storeLosses == 0; ++i) {
    std::this_thread::sleep_for(milliseconds(25));
    tiers.connector->poll();
  }
  EXPECT_GT(tiers.connector->metrics().storeLosses, 0);
  TestTiers later = machine("redis://127.0.0.1:1");
  ASSERT_TRUE(later.open());
  EXPECT_EQ(later.load(0), Found::Nothing);
}

TEST(RespStore, AServerThatIsFullKeepsWhatItHas) {
  RedisServer server(
      {"--maxmemory", "3mb", "--maxmemory-policy", "noeviction"});
  TestTiers first = machine(server.address()),
            second = machine(server.address());
  ASSERT_TRUE(first.open());
  for (int32_t id = 0; id < 1000; ++id)
    ASSERT_TRUE(first.storeAndWrite(id)) << "it is in host memory all the same";
  const TierMetrics &figures = first.connector->metrics();
  EXPECT_GT(figures.failedStoreWrites, 0);
  // It is not sent record after record that it does not take.
  EXPECT_GT(figures.skippedStoreWrites, 10 * figures.failedStoreWrites);
  ASSERT_TRUE(second.open());
  int32_t right = 0;
  for (int32_t id = 0; id < 1000; ++id) {
    Found found = second.load(id);
    ASSERT_NE(found, Found::Wrong);
    right += found == Found::Right;
  }
  EXPECT_EQ(right, figures.storeWrittenPages);
  EXPECT_GT(right, 10);
  // Also a full one can forget.
  EXPECT_TRUE(first.connector->reset());
  ASSERT_TRUE(second.open());
  EXPECT_EQ(second.load(0), Found::Nothing);
}

TEST(RespStore, ServersThatTalkNonsense) {
  std::string bulk = concat("$", 1 << 20, "\r\n", std::string(1 << 20, 'x'));
  struct Nonsense {
    std::string text;
    int polite; // answers that are none
    size_t piece = 4096;
  };
  for (const Nonsense &one :
       {Nonsense{"+OK\r\n", 0}, Nonsense{":1\r\n", 1},
        Nonsense{"$3\r\nabc\r\n", 1}, Nonsense{"*-1\r\n", 1},
        Nonsense{"*2147483647\r\n", 1},
        Nonsense{"*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n", 1},
        Nonsense{"$9223372036854775807\r\nx", 1}, Nonsense{"$-7\r\n", 1},
        Nonsense{bulk, 1}, Nonsense{"-ERR no\r\n", 0},
        Nonsense{"HTTP/1.1 200 OK\r\n\r\n", 0},
        Nonsense{std::string(100, '\0'), 0}, Nonsense{":1\r", 1, 1},
        Nonsense{"", 1}}) {
    StrangeServer server(one.text, one.polite, one.piece);
    TestTiers tiers = machine(server.address() + "?timeout=50");
    ASSERT_TRUE(tiers.open());
    Clock::time_point start = Clock::now();
    for (int32_t id = 0; id < 10; ++id) {
      EXPECT_EQ(tiers.load(id), Found::Nothing) << one.text.substr(0, 30);
      EXPECT_TRUE(tiers.storeAndWrite(id + 100)) << one.text.substr(0, 30);
      std::this_thread::sleep_for(milliseconds(10));
    }
    (void)tiers.connector->reset();
    EXPECT_EQ(tiers.leaks(), "");
    tiers.connector.reset();
    EXPECT_LT(Clock::now() - start, std::chrono::seconds(10))
        << one.text.substr(0, 30);
  }
}

//===----------------------------------------------------------------------===//
// Reset, and the end
//===----------------------------------------------------------------------===//

TEST(RespStore, AResetIsForAll) {
  RedisServer server;
  TestTiers first = machine(server.address()),
            second = machine(server.address());
  ASSERT_TRUE(first.open());
  ASSERT_TRUE(second.open());
  ASSERT_TRUE(first.storeAndWrite(1));
  ASSERT_TRUE(first.storeAndWrite(2));
  ASSERT_EQ(second.load(1), Found::Right);
  std::string before = server.command({"GET", server.epochKey()});
  ASSERT_TRUE(first.connector->reset());
  EXPECT_NE(server.command({"GET", server.epochKey()}), before);
  EXPECT_EQ(first.load(1), Found::Nothing);
  EXPECT_EQ(second.load(2), Found::Nothing);
  ASSERT_TRUE(writesInTime(first, 100));
  ASSERT_TRUE(first.storeAndWrite(3));
  EXPECT_TRUE(findsInTime(second, 3));
  // A server that falls back is not believed.
  server.command({"SET", server.epochKey(), before});
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(first.load(1), Found::Nothing);
    std::this_thread::sleep_for(milliseconds(20));
  }
  // Another model's records stay.
  TestTiers other = machine(server.address());
  other.options.model = "another";
  ASSERT_TRUE(other.open());
  ASSERT_TRUE(other.storeAndWrite(1));
  (void)first.connector->reset();
  ASSERT_TRUE(other.open());
  EXPECT_EQ(other.load(1), Found::Right);
}

TEST(RespStore, AResetThatCouldNotBeToldIsMadeUpFor) {
  RedisServer server;
  TestTiers tiers = machine(server.address("?timeout=100"));
  ASSERT_TRUE(tiers.open());
  ASSERT_TRUE(tiers.storeAndWrite(1));
  server.stop();
  Clock::time_point start = Clock::now();
  auto done = tiers.connector->reset();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message,
            "the store could not be told to forget its records");
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(5));
  EXPECT_EQ(tiers.load(1), Found::Nothing);
  server.resume();
  ASSERT_TRUE(writesInTime(tiers, 100));
  EXPECT_EQ(tiers.load(1), Found::Nothing);
  TestTiers later = machine(server.address());
  ASSERT_TRUE(later.open());
  EXPECT_EQ(later.load(1), Found::Nothing);
  EXPECT_EQ(tiers.leaks(), "");
}

TEST(RespStore, WhatWasUnderWayAtAResetNeverComesBack) {
  RedisServer server;
  TestTiers tiers = machine(server.address("?timeout=2000"));
  ASSERT_TRUE(tiers.open());
  ASSERT_TRUE(tiers.storeAndWrite(0));
  TestTiers reader = machine(server.address("?timeout=2000"));
  ASSERT_TRUE(reader.open());
  while (reader.find(0) != Place::Store)
    ASSERT_TRUE(reader.connector->wait(std::chrono::seconds(20)));
  server.stop();
  ASSERT_TRUE(reader.connector->fetch(reader.page(0).view()));
  tiers.store(1);
  tiers.store(2);
  std::thread goesOn([&] {
    std::this_thread::sleep_for(milliseconds(100));
    server.resume();
  });
  EXPECT_TRUE(tiers.connector->reset());
  EXPECT_TRUE(reader.connector->reset());
  goesOn.join();
  ASSERT_TRUE(tiers.drain());
  ASSERT_TRUE(reader.drain());
  EXPECT_NE(reader.find(0), Place::Memory) << "the read has ended after it";
  EXPECT_EQ(reader.load(0), Found::Nothing);
  TestTiers later = machine(server.address());
  ASSERT_TRUE(later.open());
  for (int32_t id = 0; id < 3; ++id)
    EXPECT_EQ(later.load(id), Found::Nothing) << id;
}

TEST(RespStore, EndsInTime) {
  RedisServer server;
  {
    // What is to be written is, although it has just been asked for.
    TestTiers tiers = machine(server.address(), /*slots=*/40);
    ASSERT_TRUE(tiers.open());
    for (int32_t id = 0; id < 8; ++id)
      ASSERT_TRUE(tiers.store(id));
  }
  EXPECT_EQ(server.records().size(), 8u);
  TestTiers tiers = machine(server.address("?timeout=100"), /*slots=*/40);
  ASSERT_TRUE(tiers.open());
  ASSERT_TRUE(tiers.storeAndWrite(100));
  server.stop();
  for (int32_t id = 0; id < 8; ++id)
    tiers.store(200 + id);
  (void)tiers.find(300);
  tiers.connector->poll();
  Clock::time_point start = Clock::now();
  tiers.connector.reset();
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(5));
}
