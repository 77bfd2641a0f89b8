//===- page-transport.cpp - What pages of another process cost ------------===//
//
// page-transport PAGE_KIB PAGES: two processes on this machine, of which one
// has the records of a prompt of so many pages, in slots in random order.
// Prints lines "name <tab> value":
//
//   nixl         GB/s of one read by NIXL alone of all pages, a descriptor each
//   transport    GB/s of the same list from fetch() to the last page that can
//                be used: lease, read, return
//   ratio        of the two: the median of those within each round, and
//   best         of the fastest rounds; others on the machine disturb it less
//   busy         of the processor time of the thread that reads: the copies are
//                in it, the waiting is not, and others disturb it least
//   question     milliseconds until it is known what the other side has
//   converted    GB/s where pages are twice as large on this side, and hnd, not
//                nhd
//
// Medians of the rounds, in each of which everything is measured once. Every
// byte is compared once.
//
//===----------------------------------------------------------------------===//

#include "runtime/tiers/TieredConnector.h"
#include "runtime/transport/DecodePeer.h"
#include "runtime/transport/NixlTransport.h"
#include "runtime/transport/PrefillPeer.h"

#include "kv/Runtime/Manager/PoolLayout.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <tuple>
#include <unistd.h>

using namespace kv;

namespace {

constexpr int Warm = 2, Rounds = 21;
constexpr int64_t PageTokens = 16;

template <class T> T need(Expected<T> value) {
  if (value)
    return std::move(*value);
  std::fprintf(stderr, "page-transport: %s\n", value.error().message.c_str());
  std::exit(1);
}
void need(Expected<void> value) {
  if (!value)
    need(Expected<int>(std::unexpected(value.error())));
}

double seconds(auto &&body) {
  auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

double busySeconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) +
         static_cast<double>(time.tv_nsec) * 1e-9;
}

/// Heads of 64 elements of 16 bits, as many layers as the page takes.
MultiKVCacheParams cacheOf(int64_t pageBytes, int64_t tokens,
                           CacheLayout layout) {
  KVCacheParams params;
  params.geometry.dtype = KV_DTYPE_BF16;
  params.geometry.heads = 2;
  params.geometry.dim = 64;
  params.geometry.page = tokens;
  params.geometry.layout = layout;
  params.geometry.layers = pageBytes / (2 * PageTokens * 2 * 64 * 2);
  params.enablePrefixCaching = true;
  return params;
}

/// Slots, and a connector to them.
struct Side {
  MultiKVCacheParams cache;
  std::span<std::byte> memory;
  PageConnector::Options slots;

  Side(const MultiKVCacheParams &params, int64_t count) : cache(params) {
    size_t record = static_cast<size_t>(PoolLayout::of(params).recordBytes());
    size_t bytes = record * static_cast<size_t>(count);
    void *at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    memory = {static_cast<std::byte *>(at), bytes};
    slots = {.memory = memory.data(),
             .recordBytes = record,
             .numSlots = static_cast<int32_t>(count),
             .pageSize = static_cast<int32_t>(params.pageSize())};
  }
  std::unique_ptr<Transport> transport() const {
    std::unique_ptr<Transport> made = need(Transport::openNixl());
    need(made->add(memory));
    return made;
  }
};

struct Prompt {
  std::vector<int32_t> tokens;
  int64_t page;
  PrefixName scope;
  std::vector<PrefixName> names;

  Prompt(PageConnector &connector, int64_t count, int64_t page) : page(page) {
    for (int64_t i = 0; i < count; ++i)
      tokens.push_back(static_cast<int32_t>(i * 7919 % 50021));
    std::byte none[3] = {};
    scope = connector.nameScope(none);
    PrefixName name = scope;
    for (int64_t i = 0; i < count / page; ++i)
      names.push_back(name = connector.namePage(name, {}, at(i).tokens));
  }
  int64_t size() const { return std::ssize(names); }
  PrefixPage at(int64_t i) const {
    PrefixPage made;
    made.scope = scope;
    made.tokens = std::span(tokens).subspan(static_cast<size_t>(i * page),
                                            static_cast<size_t>(page));
    if (i < size()) {
      made.name = names[i];
      made.parent = i > 0 ? names[i - 1] : scope;
    }
    return made;
  }
};

/// Random bytes that both processes know.
void fill(std::span<std::byte> data, int64_t page) {
  uint64_t state = static_cast<uint64_t>(page) * 77 + 5;
  for (std::byte &one : data) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    one = static_cast<std::byte>(state >> 56);
  }
}

/// The process that has the pages. Tells the others where.
[[noreturn]] void serve(const std::string &endpoint, int64_t pageBytes,
                        int64_t pages, int told) {
  // Leases take half of the slots at most.
  Side side(cacheOf(pageBytes, PageTokens, CacheLayout::NHD), 2 * pages);
  std::unique_ptr<PrefillPeer> peer = need(PrefillPeer::open(
      side.slots, need(TieredConnector::open(side.slots)), side.transport(),
      {.role = PeerConnector::Role::Prefill,
       .endpoint = endpoint,
       .cache = side.cache,
       .computes = false}));
  Prompt prompt(*peer, pages * PageTokens, PageTokens);
  std::vector<int64_t> order;
  for (int64_t i = 0; i < pages; ++i)
    order.push_back(i);
  std::ranges::shuffle(order, std::mt19937(1));
  std::vector<uint64_t> addresses(static_cast<size_t>(pages));
  for (int64_t i : order) {
    PageConnector::Slot slot = peer->reserve(prompt.at(i), {});
    fill({slot.data, side.slots.recordBytes}, i);
    addresses[static_cast<size_t>(i)] = reinterpret_cast<uint64_t>(slot.data);
    peer->publish(slot, /*written=*/true);
  }
  std::unique_ptr<Transport> raw = side.transport();
  std::string address = need(raw->address());
  uint64_t size = address.size();
  if (::write(told, &size, sizeof size) < 0 ||
      ::write(told, address.data(), size) < 0 ||
      ::write(told, addresses.data(), addresses.size() * sizeof(uint64_t)) < 0)
    std::exit(1);
  for (;;)
    ::pause();
}

void readAll(int file, void *data, size_t bytes) {
  auto *at = static_cast<char *>(data);
  while (bytes > 0) {
    ssize_t got = ::read(file, at, bytes);
    if (got <= 0) {
      std::fprintf(stderr, "page-transport: the other process has ended\n");
      std::exit(1);
    }
    at += got;
    bytes -= static_cast<size_t>(got);
  }
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

struct Decoding {
  Side side;
  std::unique_ptr<DecodePeer> peer;
  Prompt prompt;
  double busy = 0; // of the thread, in the last load(), for the pages

  Decoding(const std::string &endpoint, const MultiKVCacheParams &cache,
           int64_t tokens)
      : side(cache, tokens / cache.pageSize()),
        peer(need(DecodePeer::open(side.slots,
                                   need(TieredConnector::open(side.slots)),
                                   side.transport(),
                                   {.role = PeerConnector::Role::Decode,
                                    .endpoint = endpoint,
                                    .cache = cache}))),
        prompt(*peer, tokens, cache.pageSize()) {}

  /// What a manager does that has all pages reserved: the time of the question,
  /// and that of the pages.
  std::pair<double, double> load() {
    using Place = PageConnector::Place;
    need(peer->reset());
    double question = seconds([&] {
      for (int64_t i = 0; i < prompt.size(); ++i)
        (void)peer->find(prompt.at(i));
      while (peer->find(prompt.at(0)) == Place::Coming)
        (void)peer->wait(std::chrono::milliseconds(5));
    });
    double begin = busySeconds();
    double time = seconds([&] {
      for (int64_t i = 0; i < prompt.size(); ++i)
        (void)peer->fetch(prompt.at(i));
      // The last one to be there is not always the last one.
      for (int64_t i = 0; i < prompt.size(); ++i)
        while (peer->find(prompt.at(i)) == Place::Coming)
          (void)peer->wait(std::chrono::milliseconds(5));
    });
    busy = busySeconds() - begin;
    for (int64_t i = 0; i < prompt.size(); ++i)
      if (peer->find(prompt.at(i)) != Place::Memory) {
        std::fprintf(stderr, "page-transport: page %lld has not come\n",
                     static_cast<long long>(i));
        std::exit(1);
      }
    return {question, time};
  }
};

/// The other process, which has the pages.
struct Child {
  std::string socket = (std::filesystem::temp_directory_path() /
                        concat("kv-page-transport-", ::getpid()))
                           .string();
  std::string endpoint = "ipc://" + socket, address;
  std::vector<uint64_t> from; // its pages
  pid_t process = -1;

  Child(int64_t pageBytes, int64_t pages) : from(static_cast<size_t>(pages)) {
    int told[2];
    if (::pipe(told) != 0)
      std::exit(1);
    process = ::fork();
    if (process == 0)
      serve(endpoint, pageBytes, pages, told[1]);
    ::close(told[1]);
    uint64_t size = 0;
    readAll(told[0], &size, sizeof size);
    address.resize(size);
    readAll(told[0], address.data(), size);
    readAll(told[0], from.data(), from.size() * sizeof(uint64_t));
  }

  void end() {
    ::kill(process, SIGKILL);
    ::waitpid(process, nullptr, 0);
    std::filesystem::remove(socket);
  }
};

/// The pages by the transport alone, without what asks for them.
struct Plain {
  std::unique_ptr<Transport> raw;
  Transport::Peer peer;
  std::vector<Transport::Part> parts;

  Plain(Decoding &into, const Child &child, int64_t pageBytes)
      : raw(into.side.transport()), peer(need(raw->connect(child.address))) {
    for (size_t i = 0; i < child.from.size(); ++i)
      parts.push_back({into.side.memory.data() + i * pageBytes, child.from[i],
                       static_cast<size_t>(pageBytes)});
  }

  /// Looking all the time, or with pauses.
  double read(bool pauses) {
    return seconds([&] {
      Transport::Read read = need(raw->read(peer, parts));
      while (raw->state(read) == Transport::State::UnderWay)
        if (pauses)
          ::usleep(20);
      raw->forget(read);
    });
  }
};

/// Whether the pages that come are the other process's.
bool arrive(Decoding &decoding, int64_t pageBytes, int64_t pages) {
  std::ranges::fill(decoding.side.memory, std::byte(0));
  (void)decoding.load();
  std::vector<std::byte> wanted(static_cast<size_t>(pageBytes));
  for (int64_t i = 0; i < pages; ++i) {
    fill(wanted, i);
    PageConnector::Slot slot = decoding.peer->acquire(decoding.prompt.at(i));
    if (!std::equal(wanted.begin(), wanted.end(), slot.data)) {
      std::fprintf(stderr, "page-transport: page %lld is wrong\n",
                   static_cast<long long>(i));
      return false;
    }
    decoding.peer->release(slot);
  }
  return true;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: page-transport PAGE_KIB PAGES\n");
    return 2;
  }
  int64_t pageBytes = std::atoll(argv[1]) * 1024, pages = std::atoll(argv[2]);
  if (pageBytes % 8192 != 0 || pages < 2 || pages % 2 != 0) {
    std::fprintf(stderr,
                 "page-transport: PAGE_KIB is %s, allowed: multiples "
                 "of 8; PAGES is %s, allowed: even numbers\n",
                 argv[1], argv[2]);
    return 2;
  }
  Child child(pageBytes, pages);
  int64_t tokens = pages * PageTokens;
  Decoding same(child.endpoint,
                cacheOf(pageBytes, PageTokens, CacheLayout::NHD), tokens);
  Decoding other(child.endpoint,
                 cacheOf(pageBytes, 2 * PageTokens, CacheLayout::HND), tokens);
  // Into the same memory, so that nobody finds it colder than the other.
  Plain plain(same, child, pageBytes);
  double bytes = static_cast<double>(pages * pageBytes);
  std::vector<double> nixl, ours, ratio, busy, questions, converted;
  for (int round = 0; round < Warm + Rounds; ++round) {
    double best = 0, plainBusy = 0, question = 0, time = 0;
    for (bool isOurs : {round % 2 == 0, round % 2 != 0})
      if (isOurs) {
        std::tie(question, time) = same.load();
      } else {
        double begin = busySeconds();
        // In the way that is faster.
        best = plain.read(true);
        plainBusy = busySeconds() - begin;
        best = std::min(best, plain.read(false));
      }
    double conversion = other.load().second;
    if (round < Warm)
      continue;
    nixl.push_back(bytes / best / 1e9);
    ours.push_back(bytes / time / 1e9);
    ratio.push_back(best / time);
    busy.push_back(plainBusy / same.busy);
    questions.push_back(1e3 * question);
    converted.push_back(bytes / conversion / 1e9);
  }
  if (!arrive(same, pageBytes, pages))
    return 1;
  std::printf("busy\t%.3f\nbest\t%.3f\n", median(busy),
              *std::ranges::max_element(ours) /
                  *std::ranges::max_element(nixl));
  std::printf("nixl\t%.3f\ntransport\t%.3f\nratio\t%.3f\nquestion\t%.3f\n"
              "converted\t%.3f\n",
              median(nixl), median(ours), median(ratio), median(questions),
              median(converted));
  std::fflush(stdout);
  child.end();
  return 0;
}
