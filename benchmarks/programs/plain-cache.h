//===- plain-cache.h - A cache of standard containers -----------*- C++ -*-===//

#ifndef KV_BENCHMARKS_PROGRAMS_PLAINCACHE_H
#define KV_BENCHMARKS_PROGRAMS_PLAINCACHE_H

#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <list>
#include <random>
#include <unordered_map>
#include <vector>

namespace kv::benchmark {

using Tokens = std::vector<int32_t>;
inline constexpr int32_t PageSize = 16;

/// Pages by the SHA-256 of their prefix; the oldest free page goes first.
struct PlainCache {
  using Key = std::array<unsigned char, SHA256_DIGEST_LENGTH>;
  struct Hash {
    size_t operator()(const Key &key) const {
      size_t hash;
      std::memcpy(&hash, key.data(), sizeof(hash));
      return hash;
    }
  };
  struct PlainPage {
    Key key;
    int32_t holds = 0;
    bool cached = false;
    std::list<int32_t>::iterator place;
  };

  std::unordered_map<Key, int32_t, Hash> index;
  std::list<int32_t> free;
  std::vector<PlainPage> pages;

  explicit PlainCache(int32_t count) : pages(count) {
    std::vector<int32_t> order(count);
    for (int32_t page = 0; page < count; ++page)
      order[page] = page;
    std::shuffle(order.begin(), order.end(), std::mt19937(3));
    for (int32_t page : order)
      pages[page].place = free.insert(free.end(), page);
  }

  static std::vector<Key> hash(const Tokens &tokens) {
    std::vector<Key> keys(tokens.size() / PageSize);
    unsigned char record[32 + 4 * PageSize] = {};
    for (size_t page = 0; page < keys.size(); ++page) {
      std::memcpy(record + 32, &tokens[page * PageSize], 4 * PageSize);
      SHA256(record, sizeof(record), keys[page].data());
      std::memcpy(record, keys[page].data(), 32);
    }
    return keys;
  }
  std::vector<int32_t> lookup(const std::vector<Key> &keys) const {
    std::vector<int32_t> found;
    for (const Key &key : keys) {
      auto at = index.find(key);
      if (at == index.end())
        break;
      found.push_back(at->second);
    }
    return found;
  }
  void touch(const std::vector<int32_t> &found) {
    for (int32_t page : found)
      if (pages[page].holds++ == 0)
        free.erase(pages[page].place);
  }
  std::vector<int32_t> allocate(int32_t count) {
    std::vector<int32_t> taken;
    for (int32_t i = 0; i < count; ++i) {
      int32_t page = free.front();
      free.pop_front();
      if (pages[page].cached)
        index.erase(pages[page].key);
      pages[page].cached = false;
      pages[page].holds = 1;
      taken.push_back(page);
    }
    return taken;
  }
  void commit(const std::vector<int32_t> &taken, const std::vector<Key> &keys) {
    for (size_t i = 0; i < taken.size(); ++i) {
      pages[taken[i]].key = keys[i];
      pages[taken[i]].cached = true;
      index[keys[i]] = taken[i];
    }
  }
  void release(const std::vector<int32_t> &taken) {
    for (size_t i = taken.size(); i-- > 0;)
      if (--pages[taken[i]].holds == 0)
        pages[taken[i]].place = free.insert(free.end(), taken[i]);
  }
};

} // namespace kv::benchmark

#endif // KV_BENCHMARKS_PROGRAMS_PLAINCACHE_H
