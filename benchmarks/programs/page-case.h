//===- page-case.h - Managers whose pages are moved -------------*- C++ -*-===//

#ifndef KV_BENCHMARKS_PROGRAMS_PAGECASE_H
#define KV_BENCHMARKS_PROGRAMS_PAGECASE_H

#include "kv/Runtime/Manager/PagedKVCacheManager.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>

namespace kv::benchmark {

inline constexpr int Rounds = 5, IoThreads = 4;

template <class T> T need(Expected<T> value) {
  if (value)
    return std::move(*value);
  std::fprintf(stderr, "%s\n", value.error().message.c_str());
  std::exit(1);
}

inline double seconds(auto &&body) {
  auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

/// Pages of a model of 30 layers with 3 KV heads of 64 elements of 16 bits.
struct Case {
  std::filesystem::path folder; // of a disk, if there is one
  std::string store;            // that machines share, if there is one
  int64_t pageSize = 0, pages = 0, recordBytes = 0;

  KVCacheParams params() const {
    KVCacheParams made = {.geometry = {.dtype = KV_DTYPE_BF16,
                                       .layers = 30,
                                       .heads = 3,
                                       .dim = 64,
                                       .page = pageSize},
                          .enablePrefixCaching = true};
    bool isHost = folder.empty() && store.empty();
    made.connector = isHost ? KVConnector::Host : KVConnector::Tiered;
    made.hostSwapSpaceGB = std::ldexp(
        static_cast<double>((folder.empty() ? 2 : 1) * pages * recordBytes),
        -30);
    return made;
  }
  std::unique_ptr<PagedKVCacheManager> manager() const {
    auto made = need(PagedKVCacheManager::create(
        params(),
        {.maxBatchSize = 1,
         .maxSeqLen = (pages + 1) * pageSize,
         .numPages = pages + 1,
         .tiers = {.diskDirectory = folder,
                   .diskBytes =
                       folder.empty() ? 0 : 3 * pages * (recordBytes + 65536),
                   .ioThreads = IoThreads,
                   .blockStoreEndpoint = store}}));
    return made;
  }
};

/// Serves one prompt of all pages; the seconds of alloc() and of step(). A
/// negative seed: all memory of the pages is written before.
inline std::pair<double, double> serve(PagedKVCacheManager &manager,
                                       const Case &of, int32_t seed,
                                       int64_t wanted) {
  std::vector<int32_t> tokens(of.pages * of.pageSize + 1);
  for (size_t i = 0; i < tokens.size(); ++i)
    tokens[i] = static_cast<int32_t>(i) * 7 + seed;
  TextGenerationContext context(1, tokens);
  if (!manager.claim(1))
    std::abort();
  double alloc = seconds([&] {
    auto taken = manager.alloc(context);
    if (!taken || taken->cachedTokens != wanted * of.pageSize) {
      std::fprintf(stderr, "not what was to be measured\n");
      std::exit(1);
    }
  });
  const TextGenerationContext *batch[] = {&context};
  std::span<RaggedKVCacheInputs> inputs = need(manager.runtimeInputs(batch));
  if (seed < 0) // as a model would, so that no page is new to the system
    std::memset(inputs[0].blocks.data, 1,
                static_cast<size_t>((of.pages + 2) * of.recordBytes));
  context.advance();
  double step = seconds([&] {
    if (!manager.step(batch))
      std::abort();
  });
  if (!manager.release(1))
    std::abort();
  return {alloc, step};
}

/// The case of so many megabytes in pages of so many tokens.
inline Case caseOf(int64_t pageSize, int64_t megabytes) {
  Case made;
  made.pageSize = pageSize;
  made.recordBytes = int64_t(30) * 2 * 3 * 64 * 2 * pageSize;
  made.pages = (megabytes << 20) / made.recordBytes;
  return made;
}

/// Prints lines "name <tab> value" of the medians.
inline void printMedians(std::map<std::string, std::vector<double>> &rates) {
  for (auto &[name, values] : rates) {
    std::ranges::sort(values);
    std::printf("%s\t%.3f\n", name.c_str(), values[values.size() / 2]);
  }
}

} // namespace kv::benchmark

#endif // KV_BENCHMARKS_PROGRAMS_PAGECASE_H
