//===- page-store.cpp - What pages in a shared store cost -----------------===//
//
// page-store SOCKET PAGE_SIZE MEGABYTES: two machines that share the Redis
// server at the Unix socket, which is emptied. Pages as page-tiers has them.
// Prints lines "name <tab> value", GB/s but for the last:
//
//   store write, store read    until the server has all records; until all are
//                              in the pages of another manager
//   plain SET, plain GET       values of the same sizes, as many at once, by
//                              hiredis and nothing else
//   plain GET, kept            the same, each copied to a place of its own
//   pages                      that were moved
//
// The medians of five rounds, in each of which everything is measured once.
//
//===----------------------------------------------------------------------===//

#include "page-case.h"

#include <hiredis/hiredis.h>

#include <cstring>

#include <unistd.h>

using namespace kv;
using namespace kv::benchmark;

namespace {

[[noreturn]] void fail(const char *what) {
  std::fprintf(stderr, "page-store: %s\n", what);
  std::exit(1);
}

class Plain {
public:
  explicit Plain(const char *socket) : context(redisConnectUnix(socket)) {
    if (!context || context->err)
      fail("there is no server");
  }
  ~Plain() { redisFree(context); }

  void empty() {
    if (redisAppendCommand(context, "FLUSHALL") != REDIS_OK)
      fail("FLUSHALL");
    take(REDIS_REPLY_STATUS, 0);
  }
  void set(const Case &of, const std::vector<std::byte> &from) {
    each(
        of,
        [&](int64_t page) {
          return redisAppendCommand(context, "SET plain%lld %b",
                                    static_cast<long long>(page),
                                    from.data() + page * of.recordBytes,
                                    static_cast<size_t>(of.recordBytes));
        },
        REDIS_REPLY_STATUS);
  }
  /// `to`: where the values are kept, or null.
  void get(const Case &of, std::byte *to) {
    kept = to;
    each(
        of,
        [&](int64_t page) {
          return redisAppendCommand(context, "GET plain%lld",
                                    static_cast<long long>(page));
        },
        REDIS_REPLY_STRING);
    kept = nullptr;
  }

private:
  /// In batches of as many bytes as the store's.
  template <class Append>
  void each(const Case &of, Append &&append, int wanted) {
    int64_t most = std::max<int64_t>((4 << 20) / of.recordBytes, 1);
    for (int64_t page = 0; page < of.pages; page += most) {
      int64_t end = std::min(page + most, of.pages);
      for (int64_t at = page; at < end; ++at)
        if (append(at) != REDIS_OK)
          fail("a command");
      for (int64_t at = page; at < end; ++at)
        take(wanted, of.recordBytes);
    }
  }
  void take(int wanted, int64_t bytes) {
    void *reply = nullptr;
    if (redisGetReply(context, &reply) != REDIS_OK)
      fail("no reply");
    auto *found = static_cast<redisReply *>(reply);
    if (found->type != wanted || (wanted == REDIS_REPLY_STRING &&
                                  found->len != static_cast<size_t>(bytes)))
      fail("a wrong reply");
    if (kept) {
      std::memcpy(kept, found->str, static_cast<size_t>(bytes));
      kept += bytes;
    }
    freeReplyObject(reply);
  }

  redisContext *context;
  std::byte *kept = nullptr; // where the next value goes
};

} // namespace

int main(int argc, char **argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: page-store SOCKET PAGE_SIZE MEGABYTES\n");
    return 2;
  }
  Case of = caseOf(std::atoll(argv[2]), std::atoll(argv[3]));
  of.store = std::string("unix://") + argv[1] + "?timeout=10000";
  double gigabytes = static_cast<double>(of.pages * of.recordBytes) / 1e9;
  std::map<std::string, std::vector<double>> rates;
  auto add = [&](const char *name, double time) {
    rates[name].push_back(gigabytes / time);
  };
  // All memory once: that of the pages, and host memory, which is twice as
  // much.
  auto touch = [&, seed = 0](PagedKVCacheManager &manager) mutable {
    for (int i = 0; i < 2; ++i) {
      serve(manager, of, --seed, 0);
      while (manager.waitForLoads(10'000'000'000))
        ;
    }
  };
  std::vector<std::byte> from(of.pages * of.recordBytes, std::byte(1));
  Plain plain(argv[1]);
  for (int32_t round = 0; round < Rounds; ++round) {
    plain.empty();
    auto first = of.manager();
    touch(*first);
    plain.empty();
    first->resetPrefixCache();
    int64_t before = first->metrics().storePagesWritten;
    add("store write", seconds([&] {
          serve(*first, of, round, 0);
          while (first->metrics().storePagesWritten < before + of.pages &&
                 first->waitForLoads(10'000'000'000))
            ;
        }));
    if (first->metrics().storePagesWritten != before + of.pages)
      fail("not all was written");
    first.reset();
    auto second = of.manager();
    touch(*second);
    add("store read", serve(*second, of, round, of.pages).first);
    second.reset();
    plain.empty();
    add("plain SET", seconds([&] { plain.set(of, from); }));
    add("plain GET", seconds([&] { plain.get(of, nullptr); }));
    add("plain GET, kept", seconds([&] { plain.get(of, from.data()); }));
  }
  plain.empty();
  printMedians(rates);
  std::printf("pages\t%lld\n", static_cast<long long>(of.pages));
  return 0;
}
