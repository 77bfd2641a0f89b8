//===- MonitoringTest.cpp - Listeners beside the engine's thread ----------===//
//
// One thread uses a manager, while others subscribe, replay, ask for snapshots,
// scrape and reset. scripts/test-threads.sh runs it under ThreadSanitizer.
//
//===----------------------------------------------------------------------===//

#include "kv/Runtime/Manager/ManagerMetrics.h"
#include "kv/Runtime/Metrics/MetricsServer.h"

#include "test/unit/TemporaryFile.h"
#include "test/unit/Values.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zmq.hpp>

#include <atomic>
#include <random>
#include <thread>

using namespace kv;
using namespace kv::test;

namespace {

/// What a plain HTTP client gets.
std::string get(int port) {
  int connection = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string text;
  if (::connect(connection, reinterpret_cast<sockaddr *>(&address),
                sizeof address) == 0) {
    std::string_view request = "GET /metrics HTTP/1.0\r\n\r\n";
    (void)!::write(connection, request.data(), request.size());
    char chunk[4096];
    for (ssize_t bytes; (bytes = ::read(connection, chunk, sizeof chunk)) > 0;)
      text.append(chunk, static_cast<size_t>(bytes));
  }
  ::close(connection);
  return text;
}

/// Serves short requests whose prompts share beginnings.
void serve(PagedKVCacheManager &manager, const std::atomic<bool> &ended) {
  std::mt19937 random(1);
  while (!ended) {
    Tokens prompt = iota(5 + static_cast<int32_t>(random() % 50),
                         static_cast<int32_t>(random() % 6) * 100);
    TextGenerationContext request(1, prompt);
    ASSERT_TRUE(manager.claim(1));
    ASSERT_TRUE(manager.alloc(request));
    const TextGenerationContext *batch[] = {&request};
    ASSERT_TRUE(manager.runtimeInputs(batch));
    request.advance();
    prompt.push_back(7);
    request.extend(prompt);
    ASSERT_TRUE(manager.step(batch));
    ASSERT_TRUE(manager.release(1));
  }
}

struct Told {
  std::atomic<int64_t> batches = 0, snapshots = 0, replayed = 0, resets = 0;
};

/// Reads events, and asks for those that were and for all.
void route(const std::atomic<bool> &ended, Told &told) {
  zmq::context_t context;
  zmq::socket_t events(context, zmq::socket_type::sub);
  events.set(zmq::sockopt::subscribe, "");
  events.set(zmq::sockopt::rcvtimeo, 100);
  events.connect(localEndpoint("events"));
  zmq::socket_t ask(context, zmq::socket_type::dealer);
  ask.connect(localEndpoint("replay"));
  ask.set(zmq::sockopt::rcvtimeo, 5000);
  for (int round = 0; !ended; ++round) {
    zmq::message_t frame;
    if (events.recv(frame) && !frame.more())
      ++told.batches;
    if (round % 20)
      continue;
    bool replays = round % 40;
    ask.send(zmq::str_buffer(""), zmq::send_flags::sndmore);
    ask.send(replays ? zmq::buffer(std::string(8, '\0'))
                     : zmq::buffer(std::string("kv:snapshot")),
             zmq::send_flags::none);
    for (bool last = false; !last;) {
      ASSERT_TRUE(ask.recv(frame)) << "no answer";
      last = frame.size() == 8 && frame.to_string() == std::string(8, '\xff');
      told.replayed += replays && !frame.more();
    }
    ASSERT_TRUE(ask.recv(frame)); // of the end marker
    told.snapshots += !replays;
  }
}

void resetAgain(const std::atomic<bool> &ended, Told &told) {
  zmq::context_t context;
  zmq::socket_t ask(context, zmq::socket_type::req);
  ask.connect(localEndpoint("reset"));
  ask.set(zmq::sockopt::rcvtimeo, 5000);
  while (!ended) {
    ask.send(zmq::str_buffer("reset_prefix_cache"), zmq::send_flags::none);
    zmq::message_t answer;
    ASSERT_TRUE(ask.recv(answer)) << "no answer";
    EXPECT_EQ(answer.to_string(), "ok");
    ++told.resets;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

} // namespace

TEST(Monitoring, RunsBesideTheEnginesThread) {
  auto publisher =
      EventPublisher::open({.endpoint = localEndpoint("events"),
                            .replayEndpoint = localEndpoint("replay"),
                            .pageSize = 4,
                            .replayBatches = 50,
                            .queueBytes = 1 << 16,
                            .interval = std::chrono::milliseconds(1)});
  ASSERT_TRUE(publisher) << text(publisher);
  PagedKVCacheManager::Options options = {.maxBatchSize = 2,
                                          .maxSeqLen = 100,
                                          .numPages = 60,
                                          .events = {publisher->get()},
                                          .resetEndpoint =
                                              localEndpoint("reset"),
                                          .explainMisses = true};
  auto manager = PagedKVCacheManager::create(
      KVCacheParams{.geometry = {.dtype = KV_DTYPE_F16,
                                 .layers = 1,
                                 .heads = 1,
                                 .dim = 1,
                                 .page = 4},
                    .enablePrefixCaching = true},
      options);
  ASSERT_TRUE(manager) << text(manager);
  EXPECT_GE((*manager)->resetDescriptor(), 0); // an endpoint alone is enough
  auto server = MetricsServer::open("127.0.0.1:0", [&] {
    MetricFamilies families;
    collectMetrics(**manager, families);
    collectMetrics(**publisher, 0, families);
    collectVllmMetrics(**manager, "tiny", families);
    return families;
  });
  ASSERT_TRUE(server) << text(server);

  // The engine goes on until nobody waits for an answer.
  std::atomic<bool> ended = false, engineEnded = false;
  std::thread engine([&] { serve(**manager, engineEnded); });
  Told told;
  std::thread router([&] { route(ended, told); });
  std::thread admin([&] { resetAgain(ended, told); });
  // All have had their turn within half a minute, also where others compute.
  auto allWereThere = [&] {
    return told.batches > 5 && told.snapshots > 0 && told.replayed > 20 &&
           told.resets > 5;
  };
  for (int i = 0; i < 50 || (i < 1500 && !allWereThere()); ++i) {
    std::string page = get((*server)->port());
    EXPECT_NE(page.find("kv_pages{replica=\"0\"} 60"), std::string::npos)
        << page;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  ended = true;
  admin.join();
  router.join();
  engineEnded = true;
  engine.join();
  EXPECT_GT(told.batches, 5);
  EXPECT_GT(told.snapshots, 0);
  EXPECT_GT(told.replayed, 20);
  EXPECT_GT(told.resets, 5);
  // A request that came last may be answered by a reset of its own.
  EXPECT_LE((*manager)->figures(0).resets, told.resets);
  EXPECT_EQ((*manager)->numFreeBlocks(), 60);
  EventPublisher::Figures figures = (*publisher)->figures();
  EXPECT_GT(figures.stored, 100);
  EXPECT_GE(figures.cleared, told.resets);
}
