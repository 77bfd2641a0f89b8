//===- PeerFixture.h - A prefilling and a decoding side ---------*- C++ -*-===//
//
// Both sides in one process, with a fake transport between them, or NIXL if
// KV_PEER_NIXL is set. What a page holds follows from its tokens and those
// before it, element by element, so that whoever loads one knows whether it is
// the right one, whatever its size and layout.
//
//===----------------------------------------------------------------------===//

#ifndef KV_TEST_UNIT_TRANSPORT_PEERFIXTURE_H
#define KV_TEST_UNIT_TRANSPORT_PEERFIXTURE_H

#include "FakeTransport.h"
#include "LocalChannel.h"
#include "test/unit/TemporaryFile.h"

#include "runtime/tiers/TieredConnector.h"
#include "runtime/transport/DecodePeer.h"
#include "runtime/transport/PrefillPeer.h"

#include "kv/Runtime/Manager/PoolLayout.h"

#include <cstdio>
#include <cstdlib>

namespace kv::test {

inline MultiKVCacheParams smallCache(int64_t page,
                                     CacheLayout layout = CacheLayout::NHD) {
  KVCacheParams params;
  params.geometry.dtype = KV_DTYPE_F32;
  params.geometry.layers = 2;
  params.geometry.heads = 2;
  params.geometry.dim = 4;
  params.geometry.page = page;
  params.geometry.layout = layout;
  params.enablePrefixCaching = true;
  return params;
}

/// Writes the record of the page `index` of a prompt that was computed with
/// these weights.
inline void compute(const CacheGeometry &of, std::span<const int32_t> tokens,
                    int64_t index, uint32_t weights, std::byte *record) {
  auto *out = reinterpret_cast<uint32_t *>(record);
  std::array<int64_t, 6> sizes = {1,       of.planes(), of.layers,
                                  of.page, of.heads,    of.dim};
  std::array<int, 6> order = blockOrder(of.layout);
  std::array<int64_t, 6> at = {};
  std::vector<uint32_t> prefix; // a hash of what ends with each token
  uint32_t hash = weights;
  for (int32_t token : tokens.first(static_cast<size_t>((index + 1) * of.page)))
    prefix.push_back(hash =
                         (hash ^ static_cast<uint32_t>(token)) * 0x9E3779B1u +
                         (hash >> 15));
  int64_t count = of.blockBytesPerPage() / 4;
  for (int64_t i = 0; i < count; ++i) {
    uint32_t value = prefix[static_cast<size_t>(index * of.page + at[3])];
    for (int logical : {1, 2, 4, 5})
      value = value * 31 + static_cast<uint32_t>(at[logical]);
    out[i] = value;
    for (size_t place = order.size(); place-- > 0;) {
      if (++at[order[place]] < sizes[order[place]])
        break;
      at[order[place]] = 0;
    }
  }
}

/// Records of one side, and their memory.
struct Side {
  MultiKVCacheParams cache;
  std::vector<std::byte> memory;
  PageConnector::Options slots;

  Side(const MultiKVCacheParams &params, int32_t count)
      : cache(params), memory(static_cast<size_t>(
                           count * PoolLayout::of(params).recordBytes())) {
    slots = {.memory = memory.data(),
             .recordBytes = memory.size() / static_cast<size_t>(count),
             .numSlots = count,
             .pageSize = static_cast<int32_t>(params.pageSize())};
  }

  std::unique_ptr<PageConnector> records() const {
    return std::move(*TieredConnector::open(slots));
  }
  std::unique_ptr<Transport> transport(FakeNetwork &network) {
    std::unique_ptr<Transport> made;
    if (std::getenv("KV_PEER_NIXL")) {
      Expected<std::unique_ptr<Transport>> nixl = Transport::openNixl();
      if (!nixl) {
        std::fprintf(stderr, "%s\n", nixl.error().message.c_str());
        std::abort();
      }
      made = std::move(*nixl);
    } else {
      made = std::make_unique<FakeTransport>(network);
    }
    (void)made->add(memory);
    return made;
  }
  const CacheGeometry &geometry() const { return cache.params[0].geometry; }
  int64_t page() const { return cache.pageSize(); }
};

/// The pages of a prompt, as a side names them.
struct NamedPrompt {
  std::vector<int32_t> tokens;
  int64_t page;
  PrefixName scope;
  std::vector<PrefixName> names;

  NamedPrompt(PageConnector &connector, const std::vector<int32_t> &tokens,
              int64_t page)
      : tokens(tokens), page(page) {
    std::byte none[3] = {}; // a scope without model, adapter and salt
    scope = connector.nameScope(none);
    PrefixName name = scope;
    for (int64_t i = 0; i < size(); ++i)
      names.push_back(name = connector.namePage(name, {}, tokensOf(i)));
  }
  int64_t size() const { return std::ssize(tokens) / page; }
  std::span<const int32_t> tokensOf(int64_t index) const {
    return std::span(tokens).subspan(static_cast<size_t>(index * page),
                                     static_cast<size_t>(page));
  }
  PrefixPage at(int64_t index) const {
    return {.name = names[index],
            .parent = index > 0 ? names[index - 1] : scope,
            .scope = scope,
            .tokens = tokensOf(index)};
  }
};

struct Peers {
  FakeNetwork network;
  Side prefillSide, decodeSide;
  PeerConnector::Options options;
  std::unique_ptr<PrefillPeer> prefill;
  std::unique_ptr<DecodePeer> decode;
  std::string notes;
  uint32_t weights = 7;
  /// Set by stayInOneThread(), before either side is opened: time passes only
  /// as the test says.
  std::unique_ptr<LocalNetwork> local;
  static constexpr std::chrono::milliseconds Long = std::chrono::seconds(20);

  explicit Peers(const MultiKVCacheParams &prefillCache = smallCache(4),
                 const MultiKVCacheParams &decodeCache = smallCache(4),
                 int32_t prefillSlots = 16, int32_t decodeSlots = 16)
      : prefillSide(prefillCache, prefillSlots),
        decodeSide(decodeCache, decodeSlots) {
    static int number = 0;
    options.endpoint = localEndpoint(concat("peers-", ++number));
    options.answer = std::chrono::seconds(5); // also on a busy machine
    options.note = [this](std::string_view one) { notes += concat(one, "\n"); };
  }
  ~Peers() {
    decode.reset();
    prefill.reset();
  }

  /// From now on there is no other thread.
  void stayInOneThread() {
    local = std::make_unique<LocalNetwork>();
    local->others = [this] { turn(); };
  }
  void turn() {
    if (local && prefill)
      prefill->turn();
  }
  /// Time passes.
  void pause(std::chrono::microseconds time) {
    if (!local) {
      ::usleep(static_cast<useconds_t>(time.count()));
      return;
    }
    local->time += time;
    turn();
  }

  Expected<void> openPrefill() {
    options.role = PeerConnector::Role::Prefill;
    options.cache = prefillSide.cache;
    return open(prefill, prefillSide, /*listens=*/true);
  }
  Expected<void> openDecode() {
    options.role = PeerConnector::Role::Decode;
    options.cache = decodeSide.cache;
    return open(decode, decodeSide, /*listens=*/false);
  }

  template <class Peer>
  Expected<void> open(std::unique_ptr<Peer> &peer, Side &side, bool listens) {
    Expected<std::unique_ptr<Peer>> made =
        local ? Peer::open(side.slots, side.records(), side.transport(network),
                           options,
                           std::make_unique<LocalChannel>(*local, listens))
              : Peer::open(side.slots, side.records(), side.transport(network),
                           options);
    if (!made)
      return std::unexpected(made.error());
    peer = std::move(*made);
    return {};
  }

  /// As a manager does with pages that it has computed. Returns how many are
  /// new.
  int64_t store(PageConnector &connector, const Side &side,
                const std::vector<int32_t> &tokens) {
    NamedPrompt prompt(connector, tokens, side.page());
    int64_t stored = 0;
    for (int64_t i = 0; i < prompt.size(); ++i)
      if (PageConnector::Slot slot = connector.reserve(prompt.at(i), {})) {
        compute(side.geometry(), tokens, i, weights, slot.data);
        connector.publish(slot, /*written=*/true);
        ++stored;
      }
    return stored;
  }
  /// What kv-run does with the prompts that peers want.
  void computePrompts() {
    while (auto prompt = prefill->takePrompt()) {
      store(*prefill, prefillSide, prompt->tokens);
      prefill->promptDone(prompt->id);
    }
  }

  struct Loaded {
    int64_t pages = 0; // leading ones
    bool wrong = false, late = false;
  };
  /// As a manager does with a request: loads what comes until nothing does any
  /// more. `meanwhile` is called between waits; it returns whether to go on.
  template <class Meanwhile>
  Loaded load(const std::vector<int32_t> &tokens, Meanwhile &&meanwhile,
              std::chrono::milliseconds most = Long) {
    using Place = PageConnector::Place;
    NamedPrompt prompt(*decode, tokens, decodeSide.page());
    auto until = std::chrono::steady_clock::now() + most;
    Loaded loaded;
    decode->poll();
    int64_t end = 0;
    while (end < prompt.size() && decode->find(prompt.at(end)) != Place::Absent)
      ++end;
    std::vector<std::byte> wanted(decodeSide.slots.recordBytes);
    for (;;) {
      decode->poll();
      while (loaded.pages < end) {
        PageConnector::Slot slot = decode->acquire(prompt.at(loaded.pages));
        if (!slot)
          break;
        compute(decodeSide.geometry(), tokens, loaded.pages, weights,
                wanted.data());
        loaded.wrong |=
            std::memcmp(wanted.data(), slot.data, wanted.size()) != 0;
        decode->release(slot);
        ++loaded.pages;
      }
      if (loaded.pages == end)
        return loaded;
      Place place = decode->find(prompt.at(loaded.pages));
      bool comes = place == Place::Coming;
      int64_t ahead =
          std::min<int64_t>(end, loaded.pages + decodeSide.slots.numSlots / 2);
      for (int64_t at = loaded.pages; at < ahead; ++at) {
        bool fetched = decode->fetch(prompt.at(at));
        comes |= fetched && at == loaded.pages;
        if (!fetched && decode->find(prompt.at(at)) != Place::Coming)
          break;
      }
      if (!comes || !meanwhile())
        return loaded;
      if (std::chrono::steady_clock::now() > until) {
        loaded.late = true;
        return loaded;
      }
      (void)decode->wait(std::chrono::milliseconds(5));
    }
  }
  Loaded load(const std::vector<int32_t> &tokens) {
    return load(tokens, [&] {
      computePrompts();
      return true;
    });
  }

  /// What is wrong when nobody does anything any more: every slot of this side
  /// can be used again.
  std::string leaks(PageConnector &connector, const Side &side) {
    static int32_t unique = 1'000'000;
    std::vector<PageConnector::Slot> taken;
    for (int32_t i = 0; i < side.slots.numSlots; ++i) {
      std::vector<int32_t> tokens(static_cast<size_t>(side.page()), ++unique);
      NamedPrompt prompt(connector, tokens, side.page());
      if (PageConnector::Slot slot = connector.reserve(prompt.at(0), {}))
        taken.push_back(slot);
    }
    for (PageConnector::Slot slot : taken)
      connector.publish(slot, /*written=*/false);
    return std::ssize(taken) == side.slots.numSlots
               ? ""
               : concat(taken.size(), " of ", side.slots.numSlots,
                        " slots can be used");
  }
  std::string leaks() {
    // Leases and reads end by themselves.
    auto until = std::chrono::steady_clock::now() + Long;
    while ((decode->peerMetrics().openReads > 0 ||
            prefill->peerMetrics().openLeases > 0) &&
           std::chrono::steady_clock::now() < until)
      (void)decode->wait(std::chrono::milliseconds(1)),
          pause(std::chrono::milliseconds(1));
    (void)decode->reset();
    for (int i = 0; i < 400; ++i) {
      decode->poll();
      pause(std::chrono::milliseconds(1));
    }
    if (!network.fault.empty())
      return network.fault;
    std::string problem = leaks(*decode, decodeSide);
    if (!problem.empty())
      return "decoding side: " + problem;
    problem = leaks(*prefill, prefillSide);
    return problem.empty() ? "" : "prefilling side: " + problem;
  }
};

inline std::vector<int32_t> tokensFrom(int32_t first, int64_t count) {
  std::vector<int32_t> tokens;
  for (int64_t i = 0; i < count; ++i)
    tokens.push_back(first + static_cast<int32_t>(i) * 3);
  return tokens;
}

} // namespace kv::test

#endif // KV_TEST_UNIT_TRANSPORT_PEERFIXTURE_H
