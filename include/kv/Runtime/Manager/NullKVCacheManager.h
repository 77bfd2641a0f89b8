//===- NullKVCacheManager.h - A manager without memory ----------*- C++ -*-===//
//
// For compiling on a machine without the target: on virtual devices a graph
// needs the symbolic inputs of a manager, but no memory. This manager tracks
// requests, refuses none of them, and answers with constants. Its symbolic
// inputs are those of the manager that the graph will run with, and its runtime
// inputs have the same types and ranks.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_MANAGER_NULLKVCACHEMANAGER_H
#define KV_RUNTIME_MANAGER_NULLKVCACHEMANAGER_H

#include "kv/Runtime/Manager/KVCacheManager.h"

#include <deque>
#include <memory>
#include <unordered_set>

namespace kv {

class NullKVCacheManager : public KVCacheManager {
public:
  static constexpr int64_t NumFreeBlocks = 1000;
  static constexpr int32_t MaxSteps = 1 << 20; // of runtimeInputs

  struct Options {
    std::vector<Device> devices = {}; // as many as the parameters say
    int64_t maxSeqLen = 0;            // tokens of one request
  };

  /// Errors: parameters that do not validate, or another count of devices.
  static Expected<std::unique_ptr<NullKVCacheManager>>
  create(const MultiKVCacheParams &params, const Options &options);

  const MultiKVCacheParams &params() const override { return cacheParams; }
  std::span<const Device> devices() const override { return options.devices; }
  int64_t maxSeqLen() const override { return options.maxSeqLen; }

  /// Tracks a request on replica 0, whatever `replica` is. Claiming it twice is
  /// no error.
  Expected<void> claim(RequestId id,
                       std::optional<int32_t> replica = {}) override;
  bool contains(RequestId id) const override { return tracked.contains(id); }
  Expected<void> release(RequestId id) override;
  Expected<int32_t> getReplica(RequestId) const override { return 0; }
  int32_t getOrRecommendReplica(const TextGenerationContext &) const override {
    return 0;
  }
  /// All requests of the batch belong to replica 0.
  Expected<std::span<const int64_t>>
  getDataParallelSplits(ContextBatch batch) const override;
  Expected<std::span<const int32_t>> getReqBlocks(RequestId) const override {
    return std::span<const int32_t>();
  }

  /// Tracks the request and reserves nothing.
  std::expected<Allocation, AllocationError>
  alloc(TextGenerationContext &context, int32_t steps = 1) override;
  Expected<AllocationPlan> probe(const TextGenerationContext &,
                                 int32_t = 1) const override {
    return AllocationPlan{.fits = true};
  }
  /// The inputs of every device: blocks without pages, and tables and lengths
  /// of zeros, which stay valid as long as the manager. The devices of replica
  /// 0 have a row for each request of the batch, the others none. Error:
  /// `steps` is not 1 to MaxSteps.
  Expected<std::span<RaggedKVCacheInputs>>
  runtimeInputs(ContextBatch batch, int32_t steps = 1) override;
  Expected<void> incrementCacheLengths(std::span<RaggedKVCacheInputs>,
                                       std::span<const int32_t>) override {
    return {};
  }
  Expected<void> acceptPath(const TextGenerationContext &,
                            std::span<const int32_t>) override {
    return {};
  }
  Expected<void> step(ContextBatch) override { return {}; }

  int64_t blocksFor(int64_t tokens) const override {
    return params().params[0].geometry.isPaged() ? params().pagesFor(tokens)
                                                 : 1;
  }
  int64_t numPagesPerReplica() const override { return NumFreeBlocks; }
  int64_t numFreeBlocks(int32_t) const override { return NumFreeBlocks; }
  int64_t numFreeBlocks() const override { return NumFreeBlocks; }
  int64_t totalNumPages() const override { return NumFreeBlocks; }
  int64_t poolBytes() const override { return 0; }
  int64_t hostBytes() const override { return 0; }
  KVCacheMetrics metrics() const override { return {}; }
  void resetMetrics() override {}
  void resetPrefixCache() override {}
  Expected<void> check() const override { return {}; }

  /// The estimators of the other managers, for either strategy: 0 bytes and a
  /// batch of 1, whatever the arguments are.
  static int64_t estimatedMemorySize(const MultiKVCacheParams &, int64_t,
                                     int64_t, int64_t) {
    return 0;
  }
  static int64_t inferOptimalBatchSize(const MultiKVCacheParams &, int64_t,
                                       int64_t) {
    return 1;
  }

private:
  NullKVCacheManager(const MultiKVCacheParams &params, const Options &options)
      : cacheParams(params), options(options) {}

  MultiKVCacheParams cacheParams;
  Options options;
  std::unordered_set<RequestId> tracked;
  mutable std::vector<int64_t> splits;
  /// The memory of the inputs: the last list, and shorter ones that earlier
  /// inputs still refer to.
  std::deque<std::vector<int32_t>> zeros;
  std::vector<RaggedKVCacheInputs> inputs;
};

} // namespace kv

#endif // KV_RUNTIME_MANAGER_NULLKVCACHEMANAGER_H
