//===- Publisher.cpp - Sends cache events ---------------------------------===//

#include "Publisher.h"
#include "BlockSignals.h"
#include "Endpoint.h"

#include <msgpack.hpp>

#include <random>

using namespace kv;

/// The most blocks of a batch, so that messages stay small.
static constexpr size_t MostBlocks = 1024;
/// The number of the message that ends a replay or a snapshot.
static constexpr int64_t EndOfReplay = -1;

static Expected<void> validate(const EventPublisher::Options &options) {
  auto inRange = [](std::string_view name, int64_t value, int64_t least,
                    int64_t most) -> Expected<void> {
    if (value < least || value > most)
      return makeError(KV_STATUS_INVALID_ARGUMENT, "cache events: ", name,
                       " is ", value, ", allowed: ", least, " to ", most);
    return {};
  };
  for (Expected<void> valid :
       {inRange("rank", options.rank, 0, INT32_MAX),
        inRange("pageSize", options.pageSize, 1, 1 << 20),
        inRange("highWaterMark", options.highWaterMark, 1, INT32_MAX),
        inRange("replayBatches", options.replayBatches, 0, INT32_MAX),
        inRange("queueBytes", options.queueBytes, 1 << 16, 1 << 30),
        inRange("interval", options.interval.count(), 1, 60'000)})
    if (!valid)
      return valid;
  return {};
}

static uint64_t newIdentity() {
  std::random_device entropy;
  return uint64_t(entropy()) << 32 | entropy();
}

Publisher::Publisher(const Options &options)
    : options(options), queue(static_cast<size_t>(options.queueBytes),
                              options.pageSize, options.tiers),
      table(options.pageSize, options.groups.size() + options.recurrent),
      encoder(options), identity(newIdentity()),
      publish(context, zmq::socket_type::pub),
      requests(context, zmq::socket_type::router) {}

Expected<std::unique_ptr<Publisher>> Publisher::open(const Options &options) {
  if (Expected<void> valid = validate(options); !valid)
    return std::unexpected(valid.error());
  std::unique_ptr<Publisher> publisher(new Publisher(options));
  if (Expected<void> connected = publisher->connect(); !connected)
    return std::unexpected(connected.error());
  publisher->thread =
      std::jthread([self = publisher.get()](const std::stop_token &stop) {
        self->run(stop);
      });
  return publisher;
}

Expected<void> Publisher::connect() {
  auto use = [&](zmq::socket_t &socket, const std::string &endpoint,
                 bool binds) -> Expected<void> {
    // A second after the end, messages that subscribers have not taken are
    // dropped.
    socket.set(zmq::sockopt::linger, 1000);
    socket.set(zmq::sockopt::ipv6, true);
    Expected<void> done = attach(socket, endpoint, binds);
    if (!done)
      return makeError(done.error().code,
                       "cache events: ", done.error().message);
    return {};
  };
  const std::string &endpoint = options.endpoint;
  bool binds = endpoint.contains('*') || endpoint.contains("::") ||
               endpoint.starts_with("ipc:") || endpoint.starts_with("inproc:");
  publish.set(zmq::sockopt::sndhwm, options.highWaterMark);
  if (Expected<void> done = use(publish, endpoint, binds); !done)
    return done;
  // A subscriber that asks for a replay gets all of it.
  requests.set(zmq::sockopt::sndhwm, 0);
  if (!options.replayEndpoint.empty())
    return use(requests, options.replayEndpoint, /*binds=*/true);
  return {};
}

Publisher::~Publisher() {
  thread.request_stop();
  if (thread.joinable())
    thread.join();
}

EventPublisher::Figures Publisher::figures() const {
  auto read = [](const std::atomic<int64_t> &count) {
    return count.load(std::memory_order_relaxed);
  };
  return {.batches = read(counted.batches),
          .stored = read(counted.stored),
          .removed = read(counted.removed),
          .cleared = read(counted.cleared),
          .dropped = queue.dropped(),
          .gaps = queue.gaps(),
          .requests = read(counted.requests)};
}

//===----------------------------------------------------------------------===//
// The thread
//===----------------------------------------------------------------------===//

void Publisher::run(const std::stop_token &stop) {
  blockSignals();
  // Tells subscribers to forget the blocks of an earlier incarnation.
  add({});
  for (bool last = false; !last;) {
    last = stop.stop_requested();
    drain();
    zmq::pollitem_t item = {requests, 0, ZMQ_POLLIN, 0};
    zmq::poll(&item, 1, last ? std::chrono::milliseconds(0) : options.interval);
    if (item.revents) {
      drain(); // an answer includes what was told before it was asked
      answer();
    }
  }
}

void Publisher::drain() {
  queue.drain([&](const EventRecord &record) {
    if (record.kind == EventRecord::Lost)
      return leaveGap();
    table.apply(record, [&](CacheEvent event) { add(std::move(event)); });
  });
  send();
}

/// After a loss nothing is certain: a number is left out, and subscribers
/// forget what they know until the whole index follows.
void Publisher::leaveGap() {
  send();
  ++nextSequence;
  table.clear();
  add({});
}

void Publisher::add(CacheEvent event) {
  std::atomic<int64_t> &count =
      event.kind == CacheEvent::Stored    ? counted.stored
      : event.kind == CacheEvent::Removed ? counted.removed
                                          : counted.cleared;
  size_t blocks = std::max<size_t>(event.blocks.size(), 1);
  count.fetch_add(static_cast<int64_t>(blocks), std::memory_order_relaxed);
  batch.push_back(std::move(event));
  if ((batchBlocks += blocks) >= MostBlocks)
    send();
}

static double secondsNow() {
  return std::chrono::duration<double>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

void Publisher::send() {
  if (batch.empty())
    return;
  std::string payload = encoder.encode(secondsNow(), batch);
  batch.clear();
  batchBlocks = 0;
  int64_t sequence = nextSequence++;
  publish.send(zmq::buffer(options.topic), zmq::send_flags::sndmore);
  publish.send(zmq::buffer(sequenceFrame(sequence)), zmq::send_flags::sndmore);
  publish.send(zmq::buffer(payload), zmq::send_flags::none);
  counted.batches.fetch_add(1, std::memory_order_relaxed);
  if (options.replayBatches == 0)
    return;
  if (sent.size() == static_cast<size_t>(options.replayBatches))
    sent.pop_front();
  sent.emplace_back(sequence, std::move(payload));
}

//===----------------------------------------------------------------------===//
// The replay socket
//===----------------------------------------------------------------------===//

/// Requests are [reader, empty, what]: a number of eight bytes, "kv:status" or
/// "kv:snapshot".
void Publisher::answer() {
  std::vector<zmq::message_t> frames;
  do {
    frames.emplace_back();
    (void)requests.recv(frames.back());
  } while (frames.back().more());
  counted.requests.fetch_add(1, std::memory_order_relaxed);
  std::string_view what = frames.back().to_string_view();
  if (frames.size() == 3 && what == "kv:status")
    return reply(frames[0], true, nextSequence - 1, status());
  if (frames.size() == 3 && what == "kv:snapshot")
    return giveSnapshot(frames[0]);
  if (frames.size() == 3 && what.size() == 8) {
    uint64_t from = 0;
    for (unsigned char byte : what)
      from = from << 8 | byte;
    return replay(frames[0], static_cast<int64_t>(from));
  }
  reply(frames[0], true, EndOfReplay,
        status(concat("a request of ", frames.size() - 1, " frames, the last ",
                      what.size(),
                      " bytes; allowed: an empty frame and a number of 8 "
                      "bytes, kv:status or kv:snapshot")));
}

void Publisher::replay(const zmq::message_t &reader, int64_t from) {
  for (const auto &[sequence, payload] : sent)
    if (sequence >= from)
      reply(reader, options.replaysTopic, sequence, payload);
  reply(reader, options.replaysTopic, EndOfReplay, "");
}

/// All messages have the number of the last batch that the snapshot includes.
void Publisher::giveSnapshot(const zmq::message_t &reader) {
  std::vector<CacheEvent> events(1); // AllBlocksCleared
  size_t blocks = 0;
  auto give = [&] {
    reply(reader, true, nextSequence - 1, encoder.encode(secondsNow(), events));
    events.clear();
    blocks = 0;
  };
  table.snapshot([&](CacheEvent event) {
    blocks += event.blocks.size();
    events.push_back(std::move(event));
    if (blocks >= MostBlocks)
      give();
  });
  if (!events.empty())
    give();
  reply(reader, true, EndOfReplay, status());
}

std::string Publisher::status(std::string_view error) const {
  msgpack::sbuffer buffer;
  msgpack::packer packer(buffer);
  packer.pack_map(error.empty() ? 3 : 4);
  packer.pack("incarnation");
  packer.pack(identity);
  packer.pack("sequence"); // of the last batch
  packer.pack(nextSequence - 1);
  packer.pack("blocks");
  packer.pack(table.size());
  if (!error.empty()) {
    packer.pack("error");
    packer.pack(error);
  }
  return {buffer.data(), buffer.size()};
}

void Publisher::reply(const zmq::message_t &reader, bool withTopic,
                      int64_t sequence, const std::string &payload) {
  auto frame = [&](std::string_view bytes, bool last = false) {
    requests.send(zmq::buffer(bytes),
                  last ? zmq::send_flags::none : zmq::send_flags::sndmore);
  };
  frame(reader.to_string_view());
  frame("");
  if (withTopic)
    frame(options.topic);
  frame(sequenceFrame(sequence));
  frame(payload, true);
}
