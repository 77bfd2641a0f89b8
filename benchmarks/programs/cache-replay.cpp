//===- cache-replay.cpp - A trace of real traffic through the engine ------===//
//
// cache-replay TRACE PAGESIZE PAGES
//
// TRACE has one request a line in Mooncake's format, of which input_length and
// hash_ids are read: one id for each block of 512 prompt tokens, equal ids for
// equal prefixes. Every request is looked up, computed and released before the
// next. Prints, separated by tabs: requests, prompt tokens, full pages of them,
// pages hit, pages that a least-recent-first cache of as many pages would hit,
// evicted pages, CPU seconds in the engine, requests longer than the pool.
//
//===----------------------------------------------------------------------===//

#include "trace.h"

#include "kv/Runtime/Engine/CacheEngine.h"

#include <cstdio>
#include <list>
#include <unordered_map>

using namespace kv;
using namespace kv::benchmark;

namespace {

/// The tokens of a prompt: those of a block follow from its id.
void expand(const Request &request, std::vector<int32_t> &tokens) {
  tokens.resize(request.length);
  for (int64_t at = 0; at < request.length; ++at) {
    uint32_t mixed =
        static_cast<uint32_t>(request.blocks[at / BlockTokens]) * 2654435761u +
        static_cast<uint32_t>(at % BlockTokens) * 40503u;
    tokens[at] = static_cast<int32_t>(mixed >> 8);
  }
}

/// What the engine should hit: a list and a map. A page is known by its
/// block's id, which names the whole prefix, and its place in the block.
class OfflineLru {
public:
  OfflineLru(int64_t capacity, int32_t pageSize)
      : capacity(capacity), pageSize(pageSize) {}

  int64_t serve(const Request &request) {
    int64_t pages = request.length / pageSize;
    int64_t reusable = std::max<int64_t>((request.length - 1) / pageSize, 0);
    auto key = [&](int64_t page) {
      int64_t token = page * pageSize;
      return int64_t(request.blocks[token / BlockTokens]) * BlockTokens +
             token % BlockTokens;
    };
    int64_t hits = 0;
    while (hits < reusable && where.contains(key(hits)))
      ++hits;
    // The pages that are hit are out of reach while the rest is computed, the
    // last one, which is not full, among it.
    std::vector<int64_t> own;
    for (int64_t page = 0; page < pages; ++page)
      own.push_back(key(page));
    for (int64_t page = 0; page < hits; ++page)
      take(own[page]);
    int64_t held = (request.length + pageSize - 1) / pageSize;
    while (static_cast<int64_t>(order.size()) + held > capacity)
      take(order.front());
    // Those computed again although they are there: the older copy stays.
    for (int64_t page = pages; page-- > 0;) {
      if (auto at = where.find(own[page]); at != where.end())
        order.erase(at->second);
      where[own[page]] = order.insert(order.end(), own[page]);
    }
    return hits;
  }

private:
  void take(int64_t key) {
    auto at = where.find(key);
    order.erase(at->second);
    where.erase(at);
  }

  int64_t capacity;
  int32_t pageSize;
  std::list<int64_t> order;
  std::unordered_map<int64_t, std::list<int64_t>::iterator> where;
};

} // namespace

int main(int argc, char **argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: cache-replay TRACE PAGESIZE PAGES\n");
    return 2;
  }
  std::vector<Request> requests = readTrace(argv[1]);
  int32_t pageSize = std::atoi(argv[2]);
  int32_t numPages = std::atoi(argv[3]);
  if (requests.empty()) {
    std::fprintf(stderr, "cache-replay: %s: no request\n", argv[1]);
    return 1;
  }
  if (BlockTokens % pageSize != 0) {
    std::fprintf(stderr,
                 "cache-replay: pages of %d tokens, allowed: divisors "
                 "of %d\n",
                 pageSize, BlockTokens);
    return 1;
  }
  int64_t longest = 0, tokens = 0, full = 0;
  for (const Request &request : requests) {
    longest = std::max(longest, request.length);
    tokens += request.length;
    full += request.length / pageSize;
  }
  auto engine = CacheEngine::create({.numPages = numPages,
                                     .pageSize = pageSize,
                                     .maxSequences = 1,
                                     .maxTokens = longest});
  if (!engine) {
    std::fprintf(stderr, "cache-replay: %s\n", engine.error().message.c_str());
    return 1;
  }

  std::vector<int32_t> prompt;
  double spent = 0;
  std::vector<int64_t> hits;
  for (const Request &request : requests) {
    expand(request, prompt);
    double start = cpuSeconds();
    Expected<Sequence> sequence = (*engine)->open();
    CacheEngine::Plan plan =
        (*engine)->reserve(*sequence, prompt, {.length = request.length});
    if (plan.fits())
      (void)(*engine)->commit(*sequence, prompt, request.length);
    sequence->release();
    spent += cpuSeconds() - start;
    hits.push_back(plan.fits() ? plan.hitPages : -1);
  }
  if (std::string fault = (*engine)->check(); !fault.empty()) {
    std::fprintf(stderr, "cache-replay: %s\n", fault.c_str());
    return 1;
  }
  int64_t total = 0, expected = 0, refused = 0;
  OfflineLru lru(numPages, pageSize);
  for (size_t at = 0; at < requests.size(); ++at) {
    if (hits[at] < 0) {
      ++refused; // longer than the pool: seen by neither
      continue;
    }
    total += hits[at];
    expected += lru.serve(requests[at]);
  }
  std::printf("%zu\t%lld\t%lld\t%lld\t%lld\t%lld\t%.3f\t%lld\n",
              requests.size(), static_cast<long long>(tokens),
              static_cast<long long>(full), static_cast<long long>(total),
              static_cast<long long>(expected),
              static_cast<long long>((*engine)->metrics().evictedPages), spent,
              static_cast<long long>(refused));
  return 0;
}
