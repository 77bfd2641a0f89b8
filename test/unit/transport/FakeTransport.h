//===- FakeTransport.h - Reads within one process ---------------*- C++ -*-===//
//
// Reads part by part, slowly, and fails or hangs as a seed says. What it reads
// is what the memory holds at that moment, as with a real one.
//
//===----------------------------------------------------------------------===//

#ifndef KV_TEST_UNIT_TRANSPORT_FAKETRANSPORT_H
#define KV_TEST_UNIT_TRANSPORT_FAKETRANSPORT_H

#include "runtime/transport/Transport.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace kv::test {

/// All fake transports of a test, which are used by one thread.
struct FakeNetwork {
  /// Chances are of 256.
  uint32_t fails = 0, hangs = 0;
  uint32_t slowness = 0; // most calls of state() that a part takes
  uint64_t seed = 1;
  std::set<std::string> alive;
  int64_t reads = 0, numFailed = 0, numHung = 0;
  std::set<int64_t> held; // reads, counted from 1, that do not go on
  /// What a caller has done wrong.
  std::string fault;

  uint64_t random(uint64_t below) {
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (seed >> 33) % below;
  }
  bool happens(uint32_t chance) { return chance && random(256) < chance; }
  void blame(const char *text) {
    if (fault.empty())
      fault = text;
  }
};

class FakeTransport final : public Transport {
public:
  explicit FakeTransport(FakeNetwork &network)
      : network(network), name("fake " + std::to_string(++count)) {
    network.alive.insert(name);
  }
  ~FakeTransport() override { network.alive.erase(name); }

  Expected<void> add(std::span<std::byte> memory) override {
    own.push_back(memory);
    return {};
  }
  Expected<std::string> address() override { return name; }
  Expected<Peer> connect(const std::string &address) override {
    if (!network.alive.contains(address))
      return makeError(KV_STATUS_INTERNAL, "nobody is called ", address);
    peers[++last] = address;
    return static_cast<Peer>(last);
  }
  void disconnect(Peer peer) override {
    for (const auto &[number, read] : reads)
      if (read.peer == peer)
        network.blame("a peer with reads was disconnected");
    if (peers.erase(peer) != 1)
      network.blame("a peer was disconnected twice");
  }
  Expected<Read> read(Peer peer, std::span<const Part> parts) override {
    for (const Part &part : parts)
      if (std::ranges::none_of(own, [&](std::span<std::byte> memory) {
            return part.to >= memory.data() &&
                   part.to + part.bytes <= memory.data() + memory.size();
          }))
        network.blame("a read ends in memory that was not added");
    ++network.reads;
    reads[++last] = {peer,
                     {parts.begin(), parts.end()},
                     0,
                     network.reads,
                     network.happens(network.hangs) ? 200u : 0u,
                     network.happens(network.fails)};
    network.numHung += reads[last].rest > 0;
    return last;
  }
  State state(Read number) override {
    Reading &read = reads.at(number);
    if (network.held.contains(read.order))
      return State::UnderWay;
    if (read.rest > 0 && --read.rest > 0)
      return State::UnderWay;
    bool isOver = read.done == read.parts.size();
    if (!network.alive.contains(peers.at(read.peer)) ||
        (read.fails && 2 * read.done >= read.parts.size())) {
      ++network.numFailed;
      return State::Failed;
    }
    if (isOver)
      return State::Done;
    const Part &part = read.parts[read.done++];
    std::memcpy(part.to, reinterpret_cast<const std::byte *>(part.from),
                part.bytes);
    read.rest = network.slowness
                    ? static_cast<uint32_t>(network.random(network.slowness))
                    : 0;
    return State::UnderWay;
  }
  void forget(Read number) override {
    if (reads.erase(number) != 1)
      network.blame("a read was forgotten twice");
  }

private:
  struct Reading {
    Peer peer;
    std::vector<Part> parts;
    size_t done;
    int64_t order; // among all reads, from 1
    uint32_t rest; // calls that nothing happens in
    bool fails;
  };

  static inline int64_t count = 0;
  FakeNetwork &network;
  std::string name;
  std::vector<std::span<std::byte>> own;
  std::map<int64_t, std::string> peers;
  std::map<int64_t, Reading> reads;
  int64_t last = 0;
};

} // namespace kv::test

#endif // KV_TEST_UNIT_TRANSPORT_FAKETRANSPORT_H
