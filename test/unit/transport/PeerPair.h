//===- PeerPair.h - Two managers, of which one asks the other ---*- C++ -*-===//
//
// One computes prompts that the other one asks for (TieredHarness.h). Both have
// host memory, perhaps disks, and perhaps a store that they share. Reads fail
// and hang, frames come late, leases end too early, loads are given up, weights
// change, and the first one dies.
//
// In one thread, the connectors behind the peers have moods
// (FickleConnector.h), frames stay in the thread (LocalChannel.h), and time is
// the pair's, so that a call takes a few microseconds. Otherwise the connectors
// are ours, frames go over ZeroMQ, and time passes.
//
//===----------------------------------------------------------------------===//

#ifndef KV_TEST_UNIT_TRANSPORT_PEERPAIR_H
#define KV_TEST_UNIT_TRANSPORT_PEERPAIR_H

#include "FakeTransport.h"
#include "LocalChannel.h"
#include "test/unit/TemporaryFile.h"
#include "test/unit/tiers/TieredHarness.h"

#include "runtime/transport/DecodePeer.h"
#include "runtime/transport/PrefillPeer.h"

#include <random>

namespace kv::test {

class PeerPair {
public:
  struct Kind {
    bool inOneThread = false;
    std::string store = {}; // a server's address; not in one thread
  };

  PeerPair(uint32_t seed, const Kind &kind);

  /// The first contradiction, or empty.
  std::string play(int64_t calls);

  struct Figures {
    int64_t commands = 0, prompts = 0, deaths = 0, losses = 0;
    int64_t readPages = 0, failedPages = 0, refusedReturns = 0;
    int64_t expiredLeases = 0;
    int64_t storeLoads = 0; // of the asking side
    void add(const Figures &more);
  } figures;
  TieredHarness::Coverage coverage;

private:
  using Role = PeerConnector::Role;

  void begin(Role role);
  Expected<std::unique_ptr<PageConnector>>
  open(const PageConnector::Options &slots,
       std::unique_ptr<PageConnector> records, Role role);
  std::string end(Role role);
  std::unique_ptr<TieredHarness> &harness(Role role) {
    return role == Role::Prefill ? computing : asking;
  }
  std::string servePrompts(bool refuses);
  std::string outliveLeases();
  void passTime();

  std::mt19937 random;
  const Kind kind;
  const uint32_t word; // what the managers are like
  std::string model;
  FakeNetwork network;
  LocalNetwork local;
  std::shared_ptr<FickleConnector::Records> shared =
      std::make_shared<FickleConnector::Records>();
  std::unique_ptr<TemporaryFolder> first, second;
  PeerConnector::Options peers;
  PrefillPeer *prefill = nullptr; // of the harnesses' managers
  DecodePeer *decode = nullptr;
  std::unique_ptr<TieredHarness> computing, asking;
};

} // namespace kv::test

#endif // KV_TEST_UNIT_TRANSPORT_PEERPAIR_H
