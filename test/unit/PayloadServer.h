//===- PayloadServer.h - Requests whose pages keep a payload ----*- C++ -*-===//

#ifndef KV_TEST_UNIT_PAYLOADSERVER_H
#define KV_TEST_UNIT_PAYLOADSERVER_H

#include "ModelServer.h"

#include <cmath>

namespace kv::test {

/// With a manager that keeps payloads. The payload of a token follows from the
/// tokens up to it.
struct PayloadServer : ModelServer {
  static constexpr int64_t PageSize = 4, Bytes = 24;
  /// Keys and values of a page of fakeParams().
  static constexpr int64_t RecordBytes = 2 * PageSize * 4;

  bool isComplete = true; // whether each payload was the right one

  /// `hostPages`: 0: without tiers.
  explicit PayloadServer(PagedKVCacheManager::Options options,
                         int64_t hostPages = 0, int64_t window = 0) {
    KVCacheParams params = fakeParams(PageSize);
    if (hostPages > 0) {
      params.connector = options.tiers.diskDirectory.empty()
                             ? KVConnector::Host
                             : KVConnector::Tiered;
      params.hostSwapSpaceGB =
          std::ldexp(double(hostPages * RecordBytes * (1 + (window > 0))), -30);
    }
    MultiKVCacheParams caches = {{params}};
    if (window > 0) {
      caches.params.push_back(params);
      caches.params[1].name = "window";
      caches.params[1].geometry.window = window;
    }
    options.maxSeqLen = 64;
    options.payloadRanks = Bytes / 8 - 1;
    options.enableRuntimeChecks = true;
    auto made = PagedKVCacheManager::create(caches, options);
    EXPECT_TRUE(made) << text(made);
    manager = std::move(*made);
  }

  static std::vector<std::byte> payloadOf(const Tokens &tokens) {
    std::vector<std::byte> payload;
    uint64_t state = 1;
    for (int32_t token : tokens)
      for (int64_t i = 0; i < Bytes; ++i) {
        state = (state + token + 1) * 0x9E3779B97F4A7C15ull;
        payload.push_back(static_cast<std::byte>(state >> 56));
      }
    return payload;
  }

  /// Serves a prompt alone, in steps of at most `chunk` tokens, and returns the
  /// tokens that it had in a cache.
  int64_t serve(const Tokens &prompt, bool hasPayload = true,
                int64_t chunk = 64) {
    TextGenerationContext context(++last, prompt);
    std::vector<std::byte> right = payloadOf(prompt), payload(right.size());
    if (hasPayload)
      context.setPayload(payload);
    context.limitActive(chunk);
    EXPECT_TRUE(manager->claim(last));
    int64_t cached = -1;
    while (context.processed() < context.length()) {
      auto allocated = manager->alloc(context);
      if (!allocated) {
        EXPECT_EQ(allocated.error().reason, AllocationError::Reason::Loading)
            << allocated.error().error.message;
        (void)manager->waitForLoads(10'000'000'000);
        continue;
      }
      if (cached < 0)
        cached = allocated->cachedTokens;
      // The payload of what is cached, and of the token after it, is there; the
      // rest is known once it has been computed.
      if (hasPayload) {
        auto end =
            static_cast<std::ptrdiff_t>(cached > 0 ? (cached + 1) * Bytes : 0);
        isComplete &=
            std::equal(right.begin(), right.begin() + end, payload.begin());
        payload = right;
        EXPECT_EQ(context.payload().data(), payload.data());
      }
      compute(context, prompt);
    }
    EXPECT_TRUE(manager->release(last));
    EXPECT_TRUE(isComplete) << "request " << last;
    return cached;
  }

  /// Why each page would not be a hit.
  std::vector<CacheEngine::Reason> explain(const Tokens &prompt,
                                           bool hasPayload = true) const {
    TextGenerationContext context(1'000'000, prompt);
    std::vector<std::byte> payload(prompt.size() * Bytes);
    if (hasPayload)
      context.setPayload(payload);
    return manager->explain(context);
  }
};

} // namespace kv::test

#endif // KV_TEST_UNIT_PAYLOADSERVER_H
