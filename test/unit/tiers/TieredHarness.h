//===- TieredHarness.h - A manager with tiers, and what pages hold -*- C++ -*-//
//
// Words become calls of a paged manager whose tiers are unreliable. Every cell
// of the cache says of which prefix it is, so a page that is wrong, stale or
// half loaded is seen by the first step that reads it. Half of the managers
// have recurrent layers, whose states say of which prefix they are in each of
// their numbers. A reset changes what cells say, as other weights would.
//
//===----------------------------------------------------------------------===//

#ifndef KV_TEST_UNIT_TIERS_TIEREDHARNESS_H
#define KV_TEST_UNIT_TIERS_TIEREDHARNESS_H

#include "FickleConnector.h"

#include "kv/Runtime/Manager/PagedKVCacheManager.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kv::test {

class TieredHarness {
public:
  struct Around {
    /// Replaces the connector that is unreliable, of which `folder` is the
    /// directory.
    std::function<Expected<std::unique_ptr<PageConnector>>(
        const PageConnector::Options &)>
        open = {};
    /// Goes around the one that is unreliable, which it is given.
    std::function<Expected<std::unique_ptr<PageConnector>>(
        const PageConnector::Options &, std::unique_ptr<PageConnector>)>
        wrap = {};
    /// What the unreliable one has behind its memory, where it is a store: the
    /// same for all that share it.
    std::shared_ptr<FickleConnector::Records> shared = {};
    std::string folder = {};
    std::string store = {}; // blockStoreEndpoint, with a disk or without
    std::string model = {};
    uint32_t weights = 1;   // of an earlier manager that has used it
    bool hasQueues = false; // cuda:0 and so on, instead of CPUs
    /// Loads that take longer, in nanoseconds, are given up, and none is waited
    /// for; 0: as the word says.
    int64_t mostWait = 0;
  };

  /// The word says what the manager is like.
  TieredHarness(uint32_t word, const Around &around);
  uint32_t lastWeights() const { return weights; }
  /// Whether a store could not be told of a reset, so that others may find what
  /// was before.
  bool hasUntoldReset() const { return untold; }

  /// One word: one call or a few. The first contradiction, or empty.
  std::string step(uint32_t word);
  /// Releases everything.
  std::string finish();
  /// Forgets all prefixes; the weights are others from now on.
  std::string reset();
  /// Computes a prompt that somebody else wants, as far as that is possible
  /// now, and releases it.
  std::string serve(const std::vector<int32_t> &tokens, std::string_view salt);
  const MultiKVCacheParams &cache() const { return params; }

  int64_t numCommands() const { return commands; }

  struct Coverage {
    int64_t hits = 0, loaded = 0, loading = 0, abandoned = 0, stored = 0;
    int64_t forks = 0, truncations = 0, resets = 0, refused = 0;
    int64_t prefetched = 0, evicted = 0, steppedWhileLoading = 0;
    int64_t truncatedWhileLoading = 0, releasedWhileLoading = 0;
    int64_t resetWhileLoading = 0, windows = 0, asking = 0;
    int64_t drafts = 0, accepted = 0;
    /// Of managers with recurrent layers.
    int64_t stateHits = 0, stateLoads = 0, stateForks = 0;
    void add(const Coverage &more);
  } coverage;

private:
  struct Choices;
  void setCaches(Choices &below, uint64_t seed);
  void setAround(const Around &around, bool hasDisk);

  struct Request {
    std::vector<int32_t> tokens;
    std::vector<uint32_t> cells; // what the cache holds, by position
    std::unique_ptr<TextGenerationContext> context;
    std::string_view salt; // of a literal
    int32_t replica = 0;
    uint32_t weights = 0; // when its pages were first reserved
    bool isOpen = false, isLoading = false;
    int32_t steps = 0;    // for which it has room
    int64_t refusals = 0; // that say Loading, one after the other
    int64_t drafts = 0;   // of its last tokens
  };

  Request *pick(uint32_t word);
  std::vector<int32_t> prompt(uint32_t word) const;
  uint32_t cell(const Request &request, int64_t position) const;
  bool hasStates() const { return params.params.back().geometry.isRecurrent(); }
  std::string computeState(const Request &request, int64_t row, uint32_t salt,
                           const RaggedKVCacheInputs &one,
                           const CacheGeometry &of) const;
  void rewrite(Request &request, int64_t kept);
  void generate(Request &request, uint32_t word);
  std::string accept(Request &request, uint32_t word);
  std::string claim(uint32_t word);
  std::string alloc(Request &request, uint32_t word);
  std::string run(uint32_t word);
  std::string compute(const std::vector<const Request *> &batch,
                      std::span<const RaggedKVCacheInputs> inputs);
  std::string release(size_t index);
  std::string fork(Request &source, uint32_t word);
  std::string truncate(Request &request, uint32_t word);
  std::string prefetch(uint32_t word);
  std::string look(uint32_t word);

  std::unique_ptr<PagedKVCacheManager> manager;
  MultiKVCacheParams params;
  PagedKVCacheManager::Options options;
  std::string fault; // the connector's
  int64_t maxTokens = 0;
  int64_t longestWait = 1'000'000'000;
  bool hangs = false, hasQueues = false, untold = false;
  std::vector<Request> requests;
  RequestId lastId = 0;
  uint32_t weights;
  int64_t time = 0, commands = 0;
};

} // namespace kv::test

#endif // KV_TEST_UNIT_TIERS_TIEREDHARNESS_H
