//===- PeerPair.cpp - Two managers, of which one asks the other -----------===//

#include "PeerPair.h"

#include "runtime/tiers/TieredConnector.h"

using namespace kv;
using namespace kv::test;
using namespace std::chrono_literals;

void PeerPair::Figures::add(const Figures &more) {
  commands += more.commands;
  prompts += more.prompts;
  deaths += more.deaths;
  losses += more.losses;
  readPages += more.readPages;
  failedPages += more.failedPages;
  refusedReturns += more.refusedReturns;
  expiredLeases += more.expiredLeases;
  storeLoads += more.storeLoads;
}

PeerPair::PeerPair(uint32_t seed, const Kind &kind)
    : random(seed), kind(kind), word(random()), model(std::to_string(seed)) {
  network.seed = seed;
  network.slowness = static_cast<uint32_t>(network.random(8));
  network.hangs = network.random(3) ? 0 : 10;
  network.fails = network.random(3) ? 0 : 20;
  local.delay = std::chrono::microseconds(network.random(3) * 20);
  local.others = [this] {
    if (prefill)
      prefill->turn();
  };
  peers.endpoint = localEndpoint(concat("managers-", seed));
  peers.cache = TieredHarness(word, {}).cache();
  peers.lease = std::chrono::milliseconds(network.random(2) ? 1000 : 3);
  peers.answer = 2s;
  if (kind.inOneThread && network.random(2))
    peers.answer = 20ms;
  peers.note = [this](std::string_view text) {
    figures.losses += text.contains("are computed here");
  };
  if (!kind.inOneThread) {
    first = std::make_unique<TemporaryFolder>();
    second = std::make_unique<TemporaryFolder>();
  }
  begin(Role::Prefill);
  begin(Role::Decode);
}

Expected<std::unique_ptr<PageConnector>>
PeerPair::open(const PageConnector::Options &slots,
               std::unique_ptr<PageConnector> records, Role role) {
  auto transport = std::make_unique<FakeTransport>(network);
  (void)transport->add(
      {slots.memory, slots.recordBytes * static_cast<size_t>(slots.numSlots)});
  peers.role = role;
  auto opened =
      [&]<class Peer>(Peer *&peer) -> Expected<std::unique_ptr<PageConnector>> {
    Expected<std::unique_ptr<Peer>> made =
        kind.inOneThread
            ? Peer::open(
                  slots, std::move(records), std::move(transport), peers,
                  std::make_unique<LocalChannel>(local, role == Role::Prefill))
            : Peer::open(slots, std::move(records), std::move(transport),
                         peers);
    if (!made)
      return std::unexpected(made.error());
    peer = made->get();
    return std::move(*made);
  };
  return role == Role::Prefill ? opened(prefill) : opened(decode);
}

void PeerPair::begin(Role role) {
  bool isPrefill = role == Role::Prefill;
  TieredHarness::Around around = {
      .shared = shared,
      .model = model,
      .weights = isPrefill && asking ? asking->lastWeights() : 1};
  if (kind.inOneThread) {
    around.wrap = [this, role](const PageConnector::Options &slots,
                               std::unique_ptr<PageConnector> records) {
      return open(slots, std::move(records), role);
    };
  } else {
    around.open = [this, role](const PageConnector::Options &slots)
        -> Expected<std::unique_ptr<PageConnector>> {
      Expected<std::unique_ptr<TieredConnector>> records =
          TieredConnector::open(slots);
      if (!records)
        return std::unexpected(records.error());
      return open(slots, std::move(*records), role);
    };
    around.folder = (isPrefill ? first : second)->path();
    around.store = kind.store;
  }
  // The asking side would wait for what nobody computes.
  if (!isPrefill)
    around.mostWait = kind.inOneThread ? 300'000 : 1'000'000;
  harness(role) = std::make_unique<TieredHarness>(word, around);
}

std::string PeerPair::end(Role role) {
  std::unique_ptr<TieredHarness> &one = harness(role);
  if (role == Role::Prefill && prefill) {
    figures.expiredLeases += prefill->peerMetrics().expiredLeases;
  } else if (decode) {
    figures.readPages += decode->peerMetrics().readPages;
    figures.failedPages += decode->peerMetrics().failedPages;
    figures.refusedReturns += decode->peerMetrics().refusedReturns;
    figures.storeLoads += decode->metrics().storeReadPages;
  }
  if (role == Role::Prefill)
    prefill = nullptr; // has no more turns
  std::string wrong = one->finish();
  coverage.add(one->coverage);
  figures.commands += one->numCommands();
  one.reset();
  return wrong;
}

/// As kv-run does with prompts that peers want, or not.
std::string PeerPair::servePrompts(bool refuses) {
  std::string wrong;
  while (auto prompt = prefill->takePrompt()) {
    ++figures.prompts;
    if (wrong.empty() && !refuses && random() % 8)
      wrong = computing->serve(prompt->tokens, prompt->salt.value_or(""));
    prefill->promptDone(prompt->id);
  }
  return wrong;
}

/// Now and then, in the middle of reads: what was leased becomes something
/// else.
std::string PeerPair::outliveLeases() {
  if (peers.lease > 5ms || random() % (kind.inOneThread ? 6 : 24))
    return {};
  if (kind.inOneThread) {
    local.time += 5ms;
    prefill->turn();
  } else {
    ::usleep(5000);
  }
  std::string wrong;
  for (int step = 0; step < 20 && wrong.empty(); ++step) {
    std::vector<int32_t> tokens(8, static_cast<int32_t>(random()));
    wrong = computing->serve(tokens, "a");
  }
  return wrong;
}

/// In one thread: the prefilling side has its turn, or not yet, and nothing
/// happens for a long time.
void PeerPair::passTime() {
  uint32_t what = random() % 1024;
  if (what == 0)
    local.time += 30ms;
  else if (what == 1)
    local.time += 3s;
  if (what % 4)
    prefill->turn();
}

std::string PeerPair::play(int64_t calls) {
  bool wasReading = false;
  for (int64_t call = 0; call < calls; ++call) {
    bool isAsking = random() % 4 > 0;
    TieredHarness &one = isAsking ? *asking : *computing;
    TieredHarness &other = isAsking ? *computing : *asking;
    std::string wrong = one.step(random());
    if (wrong.empty() && one.lastWeights() != other.lastWeights())
      wrong = other.reset();
    if (kind.inOneThread)
      passTime();
    if (wrong.empty() && random() % 4 > 0)
      wrong = servePrompts(/*refuses=*/false);
    bool isReading = decode->peerMetrics().openReads > 0;
    if (wrong.empty() && isReading)
      wrong = outliveLeases();
    // A read that has just ended waits for its lease's end to be confirmed.
    if (wrong.empty() && std::exchange(wasReading, isReading) && !isReading &&
        random() % 8 == 0) {
      wrong = computing->reset();
      if (wrong.empty())
        wrong = asking->reset();
    }
    if (wrong.empty() && call == calls / 2 && random() % 2) {
      ++figures.deaths;
      wrong = end(Role::Prefill);
      begin(Role::Prefill);
    }
    if (!wrong.empty())
      return concat(isAsking ? "asking: " : "computing: ", wrong);
  }
  // Nobody waits for what nobody computes.
  std::string wrong = servePrompts(/*refuses=*/true);
  if (kind.inOneThread)
    prefill->turn();
  // The side that asks ends first: its slots are given back by then.
  if (wrong.empty())
    wrong = end(Role::Decode);
  if (wrong.empty())
    wrong = end(Role::Prefill);
  return wrong.empty() ? network.fault : wrong;
}
