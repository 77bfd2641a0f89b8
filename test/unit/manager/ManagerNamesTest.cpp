//===- ManagerNamesTest.cpp - Every documented name, called ---------------===//
//
// One test for each class, method, property and field of the four pages of
// MAX's documentation that docs/managers.md lists: called with the parameters
// that the page gives it, with and without those that have a default there, and
// compared with what the page says. test/python/kvmlir/test_manager_names.py
// compares the names and signatures here with those of the pages and of the
// document.
//
//===----------------------------------------------------------------------===//

#include "kv/Runtime/Manager/ContinuousBatchingKVCacheManager.h"
#include "kv/Runtime/Manager/LoadKVCacheManager.h"
#include "kv/Runtime/Manager/NullKVCacheManager.h"

#include "test/unit/Values.h"

#include <gtest/gtest.h>

using namespace kv;
using namespace kv::test;

/// The signature is the page's; "" for a property or a field.
#define NAME(page, name, signature) TEST(page, name)

namespace {

using Ints = std::vector<int32_t>;

KVCacheParams paged(int64_t devices = 1, int64_t replicas = 1) {
  return {.geometry = {.dtype = KV_DTYPE_F32,
                       .layers = 3,
                       .heads = 2,
                       .dim = 4,
                       .page = 2},
          .numDevices = devices,
          .dataParallelDegree = replicas,
          .enablePrefixCaching = true};
}

KVCacheParams slots() {
  KVCacheParams params = paged();
  params.geometry.strategy = CacheStrategy::Continuous;
  params.geometry.page = 16;
  params.enablePrefixCaching = false;
  return params;
}

std::vector<Device> virtuals(int count) {
  std::vector<Device> devices;
  for (int index = 0; index < count; ++index)
    devices.push_back({Device::Kind::Virtual, index, "sm_90a"});
  return devices;
}

Ints ints(const KvTensorView &view) {
  int64_t count = 1;
  for (int64_t i = 0; i < view.rank; ++i)
    count *= view.sizes[i];
  auto *data = static_cast<const int32_t *>(view.data);
  return Ints(data, data + count);
}

/// A manager and two requests of 5 tokens each.
template <class Manager> struct Serving {
  std::unique_ptr<Manager> manager;
  Tokens first = iota(5), second = iota(5, 100);
  TextGenerationContext one{1, first}, two{2, second};
  std::vector<const TextGenerationContext *> batch = {&one, &two};

  explicit Serving(Expected<std::unique_ptr<Manager>> made) {
    EXPECT_TRUE(made) << text(made);
    manager = std::move(*made);
  }
  Manager *operator->() const { return manager.get(); }

  void claim() {
    EXPECT_TRUE(manager->claim(1, 0));
    EXPECT_TRUE(manager->claim(2, manager->numReplicas() - 1));
  }
  void reserve(int32_t steps = 1) {
    claim();
    EXPECT_TRUE(manager->alloc(one, steps));
    EXPECT_TRUE(manager->alloc(two, steps));
  }
  /// The prompts are computed; neither has a token behind them.
  void compute() {
    reserve();
    EXPECT_TRUE(manager->runtimeInputs(batch));
    one.advance();
    two.advance();
    EXPECT_TRUE(manager->step(batch));
  }
};

struct Paged : Serving<PagedKVCacheManager> {
  explicit Paged(int64_t devices = 1, int64_t replicas = 1)
      : Serving(PagedKVCacheManager::create(
            paged(devices, replicas),
            {.maxBatchSize = 4, .maxSeqLen = 32, .numPages = 16})) {}
};

struct Continuous : Serving<ContinuousBatchingKVCacheManager> {
  Continuous()
      : Serving(ContinuousBatchingKVCacheManager::create(slots(),
                                                         {.maxBatchSize = 4})) {
  }
};

struct Null : Serving<NullKVCacheManager> {
  explicit Null(int devices = 1, int64_t replicas = 1)
      : Serving(NullKVCacheManager::create(
            paged(devices, replicas),
            {.devices = virtuals(devices), .maxSeqLen = 32})) {}
};

} // namespace

//===----------------------------------------------------------------------===//
// PagedKVCacheManager
//===----------------------------------------------------------------------===//

NAME(PagedKVCacheManager, PagedKVCacheManager,
     "params, max_batch_size, max_seq_len, num_layers, devices, session, "
     "available_cache_memory, zmq_endpoint_base=None, page_size=128, "
     "enable_runtime_checks=False") {
  // num_layers and page_size are the geometry's.
  KVCacheParams params = {.geometry = {.layers = 3, .heads = 2, .dim = 4}};
  auto made =
      PagedKVCacheManager::create(params, {.devices = {Device()},
                                           .maxBatchSize = 4,
                                           .maxSeqLen = 1000,
                                           .availableCacheMemory = 1 << 20});
  ASSERT_TRUE(made) << text(made);
  EXPECT_EQ((*made)->params().pageSize(), 128);
  EXPECT_EQ((*made)->maxSeqLen(), 1000);
  EXPECT_EQ((*made)->devices()[0], Device());
  EXPECT_FALSE(PagedKVCacheManager::Options().enableRuntimeChecks);
  // The batch is of all replicas.
  Paged two(2, 2);
  EXPECT_TRUE(two->claim(1, 0));
  EXPECT_TRUE(two->claim(2, 0));
  EXPECT_FALSE(two->claim(3, 0));
}

NAME(PagedKVCacheManager, contains, "request_id") {
  Paged serving;
  EXPECT_FALSE(serving->contains(1));
  serving.claim();
  EXPECT_TRUE(serving->contains(1));
}

NAME(PagedKVCacheManager, estimated_memory_size,
     "params, max_batch_size, max_seq_len, num_layers, "
     "available_cache_memory, devices, **kwargs") {
  int64_t page = paged().bytesPerPage();
  int64_t few =
      *PagedKVCacheManager::estimatedMemorySize(paged(), 2, 8, page << 10);
  EXPECT_GE(few, 8 * page) << "two sequences of four pages";
  EXPECT_LT(few, page << 10);
  EXPECT_LE(*PagedKVCacheManager::estimatedMemorySize(paged(), 512, 1 << 20,
                                                      9 * page),
            9 * page);
}

NAME(PagedKVCacheManager, external_claim, "request_id, replica_idx=None") {
  Paged one, several(2, 2);
  EXPECT_TRUE(one->claim(1));
  EXPECT_EQ(text(one->claim(1)), "request 1 is claimed already");
  EXPECT_TRUE(several->claim(1, 1));
  EXPECT_FALSE(several->claim(2)) << "which of two replicas?";
}

NAME(PagedKVCacheManager, claim, "request_id, replica_idx=None") {
  Paged one, several(2, 2);
  EXPECT_TRUE(one->claim(7));
  EXPECT_TRUE(several->claim(7, 0));
  EXPECT_EQ(*several->getReplica(7), 0);
}

NAME(PagedKVCacheManager, fetch, "batch, num_steps=1") {
  Paged serving(2, 2);
  serving.reserve(3);
  auto inputs = serving->runtimeInputs(serving.batch);
  ASSERT_TRUE(inputs) << text(inputs);
  ASSERT_EQ(inputs->size(), 2u) << "one a device";
  EXPECT_EQ(describe((*inputs)[0].maxLengths), "i32[1, 2]");
  EXPECT_EQ(describe((*inputs)[0].cacheLengths), "i32[1]");
  inputs = serving->runtimeInputs(serving.batch, 3);
  EXPECT_EQ(ints((*inputs)[1].maxLengths), (Ints{5, 5, 1, 6, 1, 7}));
}

NAME(PagedKVCacheManager, get_runtime_inputs, "batch, num_steps=1") {
  Paged serving;
  serving.reserve();
  RaggedKVCacheInputs inputs = (*serving->runtimeInputs(serving.batch))[0];
  EXPECT_EQ(describe(inputs.blocks), "f32[17, 2, 3, 2, 2, 4]");
  EXPECT_EQ(ints(inputs.cacheLengths), (Ints{0, 0}));
  EXPECT_EQ(inputs.lookupTable.sizes[0], 2);
  EXPECT_EQ(ints(inputs.lookupTable)[0], (*serving->getReqBlocks(1))[0]);
}

NAME(PagedKVCacheManager, free_blocks_pct, "") {
  Paged serving;
  EXPECT_EQ(serving->freeBlocksPct(), 1.0);
  serving.reserve();
  EXPECT_EQ(serving->freeBlocksPct(), 10.0 / 16);
}

NAME(PagedKVCacheManager, get_data_parallel_splits, "context_batch") {
  Paged serving(2, 2);
  serving.claim();
  EXPECT_TRUE(std::ranges::equal(*serving->getDataParallelSplits(serving.batch),
                                 std::vector<int64_t>{0, 1, 2}));
}

NAME(PagedKVCacheManager, get_or_recommend_replica, "context") {
  Paged serving(2, 2);
  ASSERT_TRUE(serving->claim(9, 0));
  EXPECT_EQ(serving->getOrRecommendReplica(serving.one), 1);
  ASSERT_TRUE(serving->claim(1, 0));
  EXPECT_EQ(serving->getOrRecommendReplica(serving.one), 0);
}

NAME(PagedKVCacheManager, get_replica, "context") {
  Paged serving(2, 2);
  serving.claim();
  EXPECT_EQ(*serving->getReplica(serving.two.id()), 1);
  EXPECT_EQ(text(serving->getReplica(3)), "request 3 is not claimed");
}

NAME(PagedKVCacheManager, get_req_blocks, "request_id") {
  Paged serving;
  serving.reserve();
  EXPECT_EQ(serving->getReqBlocks(1)->size(), 3u);
}

NAME(PagedKVCacheManager, host_committed_block_pct, "") {
  EXPECT_EQ(Paged()->hostCommittedBlockPct(), 0.0);
}

NAME(PagedKVCacheManager, increment_cache_lengths,
     "kv_cache_inputs, prev_model_inputs") {
  Paged serving;
  serving.reserve(2);
  auto inputs = *serving->runtimeInputs(serving.batch, 2);
  Ints rowOffsets = {0, 5, 10}; // of the previous model inputs
  ASSERT_TRUE(serving->incrementCacheLengths(inputs, rowOffsets));
  EXPECT_EQ(ints(inputs[0].cacheLengths), (Ints{5, 5}));
  EXPECT_EQ(ints(inputs[0].maxLengths), (Ints{1, 6}));
}

NAME(PagedKVCacheManager, infer_optimal_batch_size,
     "params, max_seq_len, num_layers, available_cache_memory, devices, "
     "**kwargs") {
  EXPECT_EQ(*PagedKVCacheManager::inferOptimalBatchSize(paged(), 32, 1 << 20),
            512);
}

NAME(PagedKVCacheManager, input_symbols, "devices=None, num_layers=None") {
  Paged serving(2, 2);
  EXPECT_EQ(serving->symbolicInputs().size(), 2u);
  EXPECT_EQ(serving->symbolicInputs(1).size(), 1u);
  EXPECT_EQ(serving->symbolicInputs()[0][0].shape[2].size, 3);
  EXPECT_EQ(serving->symbolicInputs({}, 7)[0][0].shape[2].size, 7);
}

NAME(PagedKVCacheManager, get_symbolic_inputs,
     "devices=None, num_layers=None") {
  EXPECT_EQ(Paged()->symbolicInputs()[0][2].name, "kv.lookup_table");
}

NAME(PagedKVCacheManager, max_supported_sequence_length,
     "params, num_layers, memory_available") {
  int64_t tokens = PagedKVCacheManager::maxSupportedSequenceLength(
      paged(), 40 * paged().bytesPerPage());
  EXPECT_EQ(tokens % 2, 0) << "whole pages";
  EXPECT_GT(tokens, 60);
  EXPECT_LE(tokens, 80);
}

NAME(PagedKVCacheManager, maybe_reserve, "data, num_steps=1") {
  Paged serving;
  serving.claim();
  EXPECT_TRUE(serving->alloc(serving.one).has_value());
  EXPECT_EQ(serving->getReqBlocks(1)->size(), 3u);
  EXPECT_FALSE(serving->alloc(serving.two, 64).has_value());
  EXPECT_TRUE(serving->getReqBlocks(2)->empty());
}

NAME(PagedKVCacheManager, alloc, "data, num_steps=1") {
  Paged serving;
  serving.claim();
  EXPECT_EQ(serving->alloc(serving.one, 10)->newPages, 7); // 14 tokens
  EXPECT_EQ(serving->alloc(serving.two)->newPages, 3);
}

NAME(PagedKVCacheManager, metrics, "") {
  Paged serving;
  serving.reserve();
  EXPECT_EQ(serving->metrics().inputTokens, 10);
  EXPECT_EQ(serving->metrics().promptTokens(), 10);
  EXPECT_EQ(serving->metrics().cacheHitRate(), 0);
}

NAME(PagedKVCacheManager, num_free_blocks, "") {
  Paged serving(2, 2);
  serving.reserve();
  EXPECT_EQ(serving->numFreeBlocks(), 26);
  EXPECT_EQ(serving->numFreeBlocks(1), 13);
}

NAME(PagedKVCacheManager, release, "request_id") {
  Paged serving;
  serving.reserve();
  ASSERT_TRUE(serving->release(1));
  EXPECT_FALSE(serving->contains(1));
  EXPECT_EQ(text(serving->release(1)), "request 1 is not claimed");
}

NAME(PagedKVCacheManager, reset_metrics, "") {
  Paged serving;
  serving.reserve();
  serving->resetMetrics();
  EXPECT_EQ(serving->metrics().inputTokens, 0);
}

NAME(PagedKVCacheManager, reset_prefix_cache, "") {
  Paged serving;
  serving.compute();
  TextGenerationContext again(3, serving.first);
  ASSERT_TRUE(serving->claim(3));
  EXPECT_EQ(serving->probe(again)->cachedTokens, 4);
  serving->resetPrefixCache();
  EXPECT_EQ(serving->probe(again)->cachedTokens, 0);
}

NAME(PagedKVCacheManager, step, "batch") {
  Paged serving;
  serving.compute();
  TextGenerationContext again(3, serving.second);
  ASSERT_TRUE(serving->claim(3));
  EXPECT_EQ(serving->alloc(again)->cachedTokens, 4) << "full pages are shared";
}

NAME(PagedKVCacheManager, total_num_host_pages, "") {
  EXPECT_EQ(Paged()->totalNumHostPages(), 0);
}

NAME(PagedKVCacheManager, used_blocks_pct, "") {
  Paged serving;
  serving.reserve();
  EXPECT_EQ(serving->usedBlocksPct(), 6.0 / 16);
}

//===----------------------------------------------------------------------===//
// ContinuousBatchingKVCacheManager
//===----------------------------------------------------------------------===//

NAME(ContinuousBatchingKVCacheManager, ContinuousBatchingKVCacheManager,
     "params, max_cache_batch_size, max_seq_len, num_layers, devices, "
     "session") {
  auto made = ContinuousBatchingKVCacheManager::create(
      slots(), {.devices = {Device()}, .maxBatchSize = 3, .maxSeqLen = 16});
  ASSERT_TRUE(made) << text(made);
  EXPECT_EQ((*made)->totalNumPages(), 3);
}

NAME(ContinuousBatchingKVCacheManager, block_shape, "n_sequences") {
  EXPECT_EQ(slots().blockShape(5), (std::array<int64_t, 6>{5, 2, 3, 16, 2, 4}));
}

NAME(ContinuousBatchingKVCacheManager, estimated_memory_size,
     "params, max_cache_batch_size, max_seq_len, num_layers, devices") {
  EXPECT_GE(*ContinuousBatchingKVCacheManager::estimatedMemorySize(slots(), 5),
            5 * 2 * 3 * 16 * 2 * 4 * 4);
}

NAME(ContinuousBatchingKVCacheManager, infer_optimal_batch_size,
     "params, max_seq_len, num_layers, available_cache_memory, devices, "
     "**kwargs") {
  EXPECT_EQ(*ContinuousBatchingKVCacheManager::inferOptimalBatchSize(
                slots(), 7 * (slots().bytesPerPage() + 2 * (64 + 1) * 4)),
            7);
}

NAME(ContinuousBatchingKVCacheManager, fetch, "seq_ids") {
  Continuous serving;
  serving.reserve();
  RaggedKVCacheInputs inputs = (*serving->runtimeInputs(serving.batch))[0];
  EXPECT_EQ(describe(inputs.blocks), "f32[4, 2, 3, 16, 2, 4]");
  EXPECT_EQ(ints(inputs.cacheLengths), (Ints{0, 0}));
  EXPECT_EQ(ints(inputs.lookupTable), (Ints{0, 1}));
  EXPECT_TRUE(inputs.isCacheEmpty);
  TextGenerationContext unknown(3, serving.first);
  const TextGenerationContext *batch[] = {&unknown};
  EXPECT_EQ(text(serving->runtimeInputs(batch)), "request 3 is not claimed");
}

NAME(ContinuousBatchingKVCacheManager, increment_cache_lengths,
     "kv_cache_inputs, prev_model_inputs") {
  Continuous serving;
  serving.reserve(2);
  auto inputs = *serving->runtimeInputs(serving.batch, 2);
  ASSERT_TRUE(serving->incrementCacheLengths(inputs, Ints{0, 5, 10}));
  EXPECT_EQ(ints(inputs[0].cacheLengths), (Ints{5, 5}));
  EXPECT_FALSE(inputs[0].isCacheEmpty) << "only the first step can encode";
}

NAME(ContinuousBatchingKVCacheManager, input_symbols, "") {
  auto inputs = Continuous()->symbolicInputs();
  ASSERT_EQ(inputs.size(), 1u);
  ASSERT_EQ(inputs[0].size(), 4u);
  EXPECT_EQ(inputs[0][0].shape.size(), 6u);
  EXPECT_EQ(inputs[0][1].shape.size(), 1u);
  EXPECT_EQ(inputs[0][2].shape.size(), 1u);
}

//===----------------------------------------------------------------------===//
// NullKVCacheManager
//===----------------------------------------------------------------------===//

NAME(NullKVCacheManager, NullKVCacheManager,
     "params, max_batch_size, max_seq_len, num_layers, devices, session, "
     "available_cache_memory, page_size=128") {
  KVCacheParams params = {.geometry = {.layers = 3, .heads = 2, .dim = 4}};
  auto made = loadKVCacheManager(params, {.devices = virtuals(1),
                                          .maxBatchSize = 4,
                                          .maxSeqLen = 99,
                                          .availableCacheMemory = 1 << 20});
  ASSERT_TRUE(made) << text(made);
  EXPECT_TRUE(dynamic_cast<NullKVCacheManager *>(made->get()));
  EXPECT_EQ((*made)->params().pageSize(), 128);
  EXPECT_EQ((*made)->maxSeqLen(), 99);
  EXPECT_EQ((*made)->poolBytes(), 0);
}

NAME(NullKVCacheManager, alloc, "data, num_steps=1") {
  Null serving;
  EXPECT_EQ(serving->alloc(serving.one)->newPages, 0);
  EXPECT_TRUE(serving->alloc(serving.two, 1000));
  EXPECT_TRUE(serving->contains(2));
}

NAME(NullKVCacheManager, claim, "request_id, replica_idx=None") {
  Null serving(2, 2);
  EXPECT_TRUE(serving->claim(1));
  EXPECT_TRUE(serving->claim(2, 1));
  EXPECT_EQ(*serving->getReplica(2), 0);
}

NAME(NullKVCacheManager, contains, "request_id") {
  Null serving;
  EXPECT_FALSE(serving->contains(1));
  serving.claim();
  EXPECT_TRUE(serving->contains(1));
}

NAME(NullKVCacheManager, estimated_memory_size,
     "params, max_batch_size, max_seq_len, num_layers, "
     "available_cache_memory, devices, **kwargs") {
  EXPECT_EQ(NullKVCacheManager::estimatedMemorySize(paged(), 4, 32, 1 << 20),
            0);
}

NAME(NullKVCacheManager, free_blocks_pct, "") {
  EXPECT_EQ(Null()->freeBlocksPct(), 1.0);
}

NAME(NullKVCacheManager, get_data_parallel_splits, "batch") {
  Null serving;
  EXPECT_TRUE(std::ranges::equal(*serving->getDataParallelSplits(serving.batch),
                                 std::vector<int64_t>{0, 2}));
}

NAME(NullKVCacheManager, get_or_recommend_replica, "context") {
  Null serving(2, 2);
  EXPECT_EQ(serving->getOrRecommendReplica(serving.one), 0);
}

NAME(NullKVCacheManager, get_replica, "context") {
  Null serving(2, 2);
  EXPECT_EQ(*serving->getReplica(serving.one.id()), 0);
}

NAME(NullKVCacheManager, get_req_blocks, "request_id") {
  Null serving;
  serving.reserve();
  EXPECT_TRUE(serving->getReqBlocks(1)->empty());
}

NAME(NullKVCacheManager, get_runtime_inputs, "batch, num_steps=1") {
  Null serving;
  auto inputs = serving->runtimeInputs(serving.batch);
  ASSERT_TRUE(inputs) << text(inputs);
  ASSERT_EQ(inputs->size(), 1u);
  EXPECT_EQ(describe((*inputs)[0].maxLengths), "i32[1, 2]");
  EXPECT_EQ(ints((*inputs)[0].cacheLengths), (Ints{0, 0}));
  inputs = serving->runtimeInputs(serving.batch, 3);
  EXPECT_EQ(describe((*inputs)[0].maxLengths), "i32[3, 2]");
}

NAME(NullKVCacheManager, get_symbolic_inputs, "devices=None, num_layers=None") {
  Null serving(2, 2);
  EXPECT_EQ(serving->symbolicInputs().size(), 2u);
  EXPECT_EQ(serving->symbolicInputs(1).size(), 1u);
  EXPECT_EQ(serving->symbolicInputs({}, 7)[1][0].shape[2].size, 7);
}

NAME(NullKVCacheManager, host_committed_block_pct, "") {
  EXPECT_EQ(Null()->hostCommittedBlockPct(), 0.0);
}

NAME(NullKVCacheManager, increment_cache_lengths,
     "kv_cache_inputs, prev_model_inputs") {
  Null serving;
  auto inputs = *serving->runtimeInputs(serving.batch, 2);
  ASSERT_TRUE(serving->incrementCacheLengths(inputs, Ints{0, 5, 10}));
  EXPECT_EQ(ints(inputs[0].cacheLengths), (Ints{0, 0})) << "unchanged";
  EXPECT_EQ(describe(inputs[0].maxLengths), "i32[2, 2]");
}

NAME(NullKVCacheManager, infer_optimal_batch_size,
     "params, max_seq_len, num_layers, available_cache_memory, devices, "
     "**kwargs") {
  EXPECT_EQ(NullKVCacheManager::inferOptimalBatchSize(paged(), 32, 1 << 20), 1);
}

NAME(NullKVCacheManager, metrics, "") {
  Null serving;
  serving.reserve();
  EXPECT_EQ(serving->metrics().promptTokens(), 0);
}

NAME(NullKVCacheManager, num_free_blocks, "") {
  EXPECT_EQ(Null()->numFreeBlocks(), 1000);
}

NAME(NullKVCacheManager, release, "request_id") {
  Null serving;
  serving.claim();
  EXPECT_TRUE(serving->release(1));
  EXPECT_FALSE(serving->contains(1));
  EXPECT_TRUE(serving->release(1)) << "nobody minds";
}

NAME(NullKVCacheManager, reset_metrics, "") {
  Null serving;
  serving->resetMetrics();
  EXPECT_EQ(serving->metrics().inputTokens, 0);
}

NAME(NullKVCacheManager, reset_prefix_cache, "") {
  Null serving;
  serving.claim();
  serving->resetPrefixCache();
  EXPECT_TRUE(serving->contains(1));
}

NAME(NullKVCacheManager, step, "batch") {
  Null serving;
  EXPECT_TRUE(serving->step(serving.batch));
}

NAME(NullKVCacheManager, total_num_host_pages, "") {
  EXPECT_EQ(Null()->totalNumHostPages(), 0);
}

NAME(NullKVCacheManager, used_blocks_pct, "") {
  EXPECT_EQ(Null()->usedBlocksPct(), 0.0);
}

//===----------------------------------------------------------------------===//
// KVCacheParams, MultiKVCacheParams
//===----------------------------------------------------------------------===//

namespace {

/// Two caches that share pages; the second with twice the layers.
MultiKVCacheParams both(int64_t devices = 1, int64_t replicas = 1) {
  KVCacheParams second = paged(devices, replicas);
  second.name = "second";
  second.geometry.layers = 6;
  auto made =
      MultiKVCacheParams::fromParams({paged(devices, replicas), second});
  EXPECT_TRUE(made) << text(made);
  return *made;
}

} // namespace

NAME(KVCacheParams, KVCacheParams, "") {
  KVCacheParams params;
  EXPECT_FALSE(params.enablePrefixCaching);
  EXPECT_EQ(params.pageSize(), 128);
  EXPECT_EQ(params.dataParallelDegree, 1);
  EXPECT_EQ(params.numDevices, 1);
  EXPECT_EQ(params.connector, KVConnector::None);
  EXPECT_FALSE(params.hostSwapSpaceGB);
}

NAME(KVCacheParams, MultiKVCacheParams,
     "params, page_size, data_parallel_degree, n_devices, kv_connector, "
     "host_kvcache_swap_space_gb, speculative_method=None, "
     "num_draft_tokens=0") {
  MultiKVCacheParams params = paged(4, 2); // the shared fields are its caches'
  EXPECT_EQ(params.params.size(), 1u);
  EXPECT_EQ(params.pageSize(), 2);
  EXPECT_EQ(params.speculativeMethod(), SpeculativeMethod::None);
  EXPECT_EQ(params.numDraftTokens(), 0);
}

NAME(KVCacheParams, from_params, "*params") {
  KVCacheParams other = paged();
  other.name = "other";
  other.geometry.page = 4;
  EXPECT_EQ(text(MultiKVCacheParams::fromParams({})),
            "no cache parameters are given, at least one is needed");
  EXPECT_EQ(text(MultiKVCacheParams::fromParams({paged(), other})),
            "collections kv and other share pages, but page is 2 in the first "
            "and 4 in the second");
  EXPECT_EQ(both().params.size(), 2u);
}

NAME(KVCacheParams, params, "") { EXPECT_EQ(both().params[1].name, "second"); }

NAME(KVCacheParams, bytes_per_block, "") {
  EXPECT_EQ(both(4, 2).bytesPerBlock(), 2 * 3 * paged().bytesPerPage());
}

NAME(KVCacheParams, page_size, "") { EXPECT_EQ(both().pageSize(), 2); }

NAME(KVCacheParams, data_parallel_degree, "") {
  EXPECT_EQ(both(4, 2).dataParallelDegree(), 2);
}

NAME(KVCacheParams, n_devices, "") { EXPECT_EQ(both(4, 2).numDevices(), 4); }

NAME(KVCacheParams, tensor_parallel_degree, "") {
  EXPECT_EQ(both(6, 2).tensorParallelDegree(), 3);
}

NAME(KVCacheParams, replicates_kv_across_tp, "") {
  EXPECT_FALSE(both(4, 2).replicatesKVAcrossTP());
  KVCacheParams latent = paged(4, 2);
  latent.geometry.heads = 1;
  latent.geometry.vDim = 2;
  EXPECT_TRUE(MultiKVCacheParams(latent).replicatesKVAcrossTP());
}

NAME(KVCacheParams, kv_connector, "") {
  EXPECT_EQ(both().connector(), KVConnector::None);
}

NAME(KVCacheParams, host_kvcache_swap_space_gb, "") {
  EXPECT_FALSE(both().hostSwapSpaceGB());
}

NAME(KVCacheParams, speculative_method, "") {
  KVCacheParams params = paged();
  params.speculativeMethod = SpeculativeMethod::Eagle;
  auto made = MultiKVCacheParams::fromParams({params});
  ASSERT_TRUE(made) << "a method whose draft tokens have their default, 0: "
                    << text(made);
  EXPECT_EQ(made->speculativeMethod(), SpeculativeMethod::Eagle);
}

NAME(KVCacheParams, num_draft_tokens, "") {
  KVCacheParams params = paged();
  EXPECT_EQ(params.numDraftTokens, 0);
  params.speculativeMethod = SpeculativeMethod::DFlash;
  params.numDraftTokens = 3;
  EXPECT_EQ(MultiKVCacheParams(params).numDraftTokens(), 3);
}

NAME(KVCacheParams, get_symbolic_inputs, "prefix=''") {
  EXPECT_EQ(both().symbolicInputs()[0].name, "kv.blocks");
  EXPECT_EQ(both().symbolicInputs("draft.")[4].name, "draft.second.blocks");
}
