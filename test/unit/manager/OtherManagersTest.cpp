//===- OtherManagersTest.cpp - Continuous, null, and the choice -----------===//

#include "kv/Runtime/Manager/ContinuousBatchingKVCacheManager.h"
#include "kv/Runtime/Manager/LoadKVCacheManager.h"
#include "kv/Runtime/Manager/NullKVCacheManager.h"

#include "test/unit/Values.h"

#include <gtest/gtest.h>

using namespace kv;
using namespace kv::test;

namespace {

using Continuous = ContinuousBatchingKVCacheManager;

KVCacheParams slots(int64_t maxSeq, int64_t devices = 1, int64_t replicas = 1) {
  return {.geometry = {.strategy = CacheStrategy::Continuous,
                       .dtype = KV_DTYPE_F32,
                       .layers = 3,
                       .heads = 2,
                       .dim = 4,
                       .page = maxSeq},
          .numDevices = devices,
          .dataParallelDegree = replicas};
}

KVCacheParams pages(int64_t devices = 1, int64_t replicas = 1) {
  KVCacheParams params = slots(16, devices, replicas);
  params.geometry.strategy = CacheStrategy::Paged;
  return params;
}

std::unique_ptr<Continuous> make(const KVCacheParams &params,
                                 Continuous::Options options = {}) {
  options.enableRuntimeChecks = true;
  auto manager = Continuous::create(params, options);
  EXPECT_TRUE(manager) << text(manager);
  return std::move(*manager);
}

std::vector<int32_t> ints(const KvTensorView &view, int64_t count) {
  auto *data = static_cast<const int32_t *>(view.data);
  return {data, data + count};
}

std::vector<Device> virtuals(int count) {
  std::vector<Device> devices;
  for (int index = 0; index < count; ++index)
    devices.push_back({Device::Kind::Virtual, index, "sm_90a"});
  return devices;
}

} // namespace

TEST(ContinuousManager, ASlotASequence) {
  auto manager = make(slots(8), {.maxBatchSize = 3, .maxSteps = 4});
  EXPECT_EQ(manager->maxSeqLen(), 8);
  EXPECT_EQ(manager->totalNumPages(), 3);
  Tokens tokens = iota(5), other = iota(2);
  TextGenerationContext a(10, tokens), b(20, other);
  ASSERT_TRUE(manager->claim(10));
  ASSERT_TRUE(manager->claim(20));
  EXPECT_EQ(manager->numFreeBlocks(), 1);
  EXPECT_EQ(manager->usedBlocksPct(), 1 - 1.0 / 3);
  ASSERT_TRUE(manager->alloc(a, 4));
  ASSERT_TRUE(manager->alloc(b, 4));
  // The slots ascend from 0, which is an ordinary one.
  EXPECT_EQ((*manager->getReqBlocks(10))[0], 0);
  EXPECT_EQ((*manager->getReqBlocks(20))[0], 1);
  const TextGenerationContext *batch[] = {&b, &a};
  auto inputs = manager->runtimeInputs(batch, 4);
  ASSERT_TRUE(inputs) << text(inputs);
  const RaggedKVCacheInputs &one = (*inputs)[0];
  EXPECT_EQ(describe(one.blocks), "f32[3, 2, 3, 8, 2, 4]");
  EXPECT_EQ(describe(one.lookupTable), "i32[2]");
  EXPECT_EQ(ints(one.lookupTable, 2), (Tokens{1, 0}));
  EXPECT_EQ(ints(one.cacheLengths, 2), (Tokens{0, 0}));
  EXPECT_EQ(ints(one.maxLengths, 8), (Tokens{5, 5, 1, 6, 1, 7, 1, 8}));
  std::vector<int32_t> offsets = {0, 2, 7};
  ASSERT_TRUE(manager->incrementCacheLengths(*inputs, offsets));
  EXPECT_EQ(ints(one.cacheLengths, 2), (Tokens{2, 5}));

  a.advance();
  b.advance();
  ASSERT_TRUE(manager->step(batch));
  tokens.push_back(9);
  a = TextGenerationContext(10, tokens);
  a.skip(5);
  ASSERT_TRUE(manager->alloc(a));
  const TextGenerationContext *alone[] = {&a};
  inputs = manager->runtimeInputs(alone);
  EXPECT_EQ(ints((*inputs)[0].cacheLengths, 1), (Tokens{5}));
  EXPECT_EQ(manager->metrics().inputTokens, 8);
  EXPECT_EQ(manager->metrics().peakUsedPages, 2);

  // A slot that comes back is empty.
  ASSERT_TRUE(manager->release(10));
  ASSERT_TRUE(manager->claim(30));
  EXPECT_EQ((*manager->getReqBlocks(30))[0], 0);
  TextGenerationContext c(30, tokens);
  ASSERT_TRUE(manager->alloc(c));
  const TextGenerationContext *last[] = {&c};
  EXPECT_EQ(ints((*manager->runtimeInputs(last))[0].cacheLengths, 1),
            (Tokens{0}));
}

TEST(ContinuousManager, ReplicasAndShardsHaveSlotsOfTheirOwn) {
  KVCacheParams params = slots(8, 4, 2);
  params.geometry.layout = CacheLayout::HND;
  auto manager = make(params, {.maxBatchSize = 5});
  EXPECT_EQ(manager->numPagesPerReplica(), 2);
  // Four devices of two slots, with 64 lengths and an entry for two steps each.
  EXPECT_EQ(manager->poolBytes(), 4 * 2 * (params.bytesPerPage() + 2 * 65 * 4));
  EXPECT_EQ(*Continuous::estimatedMemorySize(params, 5), manager->poolBytes());
  EXPECT_EQ(manager->hostBytes(), 2 * 2 * 64 * 2 * 4); // max_lengths
  Tokens tokens = iota(3);
  TextGenerationContext a(1, tokens), b(2, tokens);
  EXPECT_EQ(manager->getOrRecommendReplica(a), 0);
  ASSERT_TRUE(manager->claim(1, 0));
  EXPECT_EQ(manager->getOrRecommendReplica(b), 1);
  ASSERT_TRUE(manager->claim(2, 1));
  const TextGenerationContext *batch[] = {&a, &b};
  auto inputs = manager->runtimeInputs(batch);
  ASSERT_EQ(inputs->size(), 4u);
  for (const RaggedKVCacheInputs &one : *inputs) {
    EXPECT_EQ(describe(one.blocks), "f32[2, 2, 3, 2, 8, 4]");
    EXPECT_EQ(ints(one.lookupTable, 1), (Tokens{0}));
  }
}

TEST(ContinuousManager, Misuse) {
  auto manager = make(slots(8), {.maxBatchSize = 2, .maxSteps = 3});
  Tokens tokens = iota(7);
  TextGenerationContext context(1, tokens);
  const TextGenerationContext *batch[] = {&context};
  EXPECT_EQ(text(manager->getReqBlocks(1)), "request 1 is not claimed");
  EXPECT_TRUE(manager->probe(context)->fits); // needs no claim
  EXPECT_EQ(manager->alloc(context).error().error.message,
            "request 1 is not claimed");
  EXPECT_EQ(text(manager->runtimeInputs(batch)), "request 1 is not claimed");
  EXPECT_EQ(text(manager->release(1)), "request 1 is not claimed");
  ASSERT_TRUE(manager->claim(1));
  EXPECT_EQ(text(manager->claim(1)), "request 1 is claimed already");
  ASSERT_TRUE(manager->claim(2));
  EXPECT_EQ(text(manager->claim(3)), "request 3 cannot be claimed: all 2 "
                                     "sequence slots are in use");
  auto refused = manager->alloc(context, 3);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, AllocationError::Reason::NeverFits);
  EXPECT_EQ(refused.error().error.message,
            "request 1 needs room for 9 tokens, the longest sequence is 8");
  EXPECT_EQ(manager->metrics().refusals, 1);
  EXPECT_EQ(manager->metrics().inputTokens, 0);
  EXPECT_EQ(text(manager->runtimeInputs(batch, 3)),
            "request 1 needs room for 9 tokens in this step, 8 are reserved "
            "(is a call of alloc missing?)");
}

TEST(ContinuousManager, Options) {
  auto error = [](const KVCacheParams &params, Continuous::Options options) {
    return text(Continuous::create(params, options));
  };
  EXPECT_EQ(error(slots(8), {.maxSeqLen = 9}),
            "cache manager: maxSeqLen is 9, allowed: 1 to 8");
  EXPECT_EQ(error(pages(), {}), "collection kv: strategy is paged, this cache "
                                "manager needs continuous");
  KVCacheParams drafts = slots(8);
  drafts.speculativeMethod = SpeculativeMethod::MTP;
  drafts.numDraftTokens = 2;
  EXPECT_EQ(make(drafts)->maxSeqLen(), 4);
  EXPECT_EQ(error(drafts, {.maxSeqLen = 5}),
            "cache manager: maxSeqLen is 5, allowed: 1 to 4");
  KVCacheParams bad = slots(0);
  EXPECT_EQ(error(bad, {}), "collection kv: 'max_seq' must be positive, not 0");
  bad = slots(8);
  bad.enablePrefixCaching = true;
  EXPECT_EQ(error(bad, {}),
            "collection kv: enable_prefix_caching is true, allowed: false, "
            "since the strategy is continuous");
}

TEST(ContinuousManager, Sizes) {
  // prod(block_shape(5)) * 4 bytes, and for each of two steps 64 lengths and a
  // table's entry a slot.
  EXPECT_EQ(*Continuous::estimatedMemorySize(slots(8), 5),
            5 * 2 * 3 * 8 * 2 * 4 * 4 + 2 * 65 * 5 * 4);
  EXPECT_EQ(*Continuous::estimatedMemorySize(slots(8), 5, /*maxSteps=*/1),
            5 * 2 * 3 * 8 * 2 * 4 * 4 + 2 * 2 * 5 * 4);
  EXPECT_EQ(*Continuous::estimatedMemorySize(slots(8, 2), 5),
            2 * (5 * 2 * 3 * 8 * 2 * 4 * 4 + 2 * 65 * 5 * 4));
  EXPECT_EQ(*Continuous::estimatedMemorySize(slots(8, 2, 2), 4),
            4 * 2 * 3 * 8 * 2 * 4 * 4 + 2 * 65 * 4 * 4);
  EXPECT_EQ(*Continuous::inferOptimalBatchSize(slots(8), 2056 * 7 + 5), 7);
  EXPECT_EQ(*Continuous::inferOptimalBatchSize(slots(8), 2056 * 7 - 1), 6);
  EXPECT_EQ(*Continuous::inferOptimalBatchSize(slots(8, 2), 2056 * 7), 3);
  EXPECT_EQ(*Continuous::inferOptimalBatchSize(slots(8, 2, 2), 2056 * 7), 6);
  EXPECT_EQ(text(Continuous::inferOptimalBatchSize(slots(8), -1)),
            "available_cache_memory is -1 bytes, allowed: 0 or more");
  // Pages are another manager's.
  std::string_view paged = "collection kv: strategy is paged, this cache "
                           "manager needs continuous";
  EXPECT_EQ(text(Continuous::inferOptimalBatchSize(pages(), 1536)), paged);
  EXPECT_EQ(text(Continuous::estimatedMemorySize(pages(), 5)), paged);
  EXPECT_EQ(
      text(Continuous::estimatedMemorySize(slots(1 << 20), INT64_MAX)),
      "9223372036854775807 slots of 201326592 bytes are more than 64 bits "
      "can say");
}

TEST(NullManager, TheSeedsConstants) {
  auto manager = *NullKVCacheManager::create(
      pages(), {.devices = virtuals(1), .maxSeqLen = 99});
  Tokens tokens = iota(3);
  TextGenerationContext a(1, tokens), b(2, tokens);
  EXPECT_EQ(manager->numFreeBlocks(), 1000);
  EXPECT_EQ(manager->freeBlocksPct(), 1.0);
  EXPECT_EQ(manager->usedBlocksPct(), 0.0);
  EXPECT_EQ(manager->hostCommittedBlockPct(), 0.0);
  EXPECT_EQ(manager->totalNumHostPages(), 0);
  EXPECT_EQ(manager->poolBytes(), 0);
  EXPECT_EQ(NullKVCacheManager::estimatedMemorySize(pages(), 4, 99, 1 << 20),
            0);
  EXPECT_EQ(NullKVCacheManager::inferOptimalBatchSize(slots(8), 99, 1 << 20),
            1);
  EXPECT_FALSE(manager->contains(1));
  ASSERT_TRUE(manager->claim(1));
  EXPECT_TRUE(manager->contains(1));
  EXPECT_TRUE(manager->alloc(b)); // registers as well
  EXPECT_TRUE(manager->contains(2));
  EXPECT_EQ(*manager->getReplica(1), 0);
  EXPECT_EQ(manager->getOrRecommendReplica(a), 0);
  EXPECT_TRUE(manager->getReqBlocks(1)->empty());
  const TextGenerationContext *batch[] = {&a, &b};
  EXPECT_TRUE(std::ranges::equal(*manager->getDataParallelSplits(batch),
                                 std::vector<int64_t>{0, 2}));
  EXPECT_TRUE(manager->step(batch));
  EXPECT_TRUE(manager->release(1));
  EXPECT_FALSE(manager->contains(1));
  EXPECT_TRUE(manager->release(1)); // silent
  EXPECT_EQ(manager->metrics().promptTokens(), 0);
  EXPECT_EQ(manager->metrics().cacheHitRate(), 0);
  EXPECT_EQ(manager->numFreeBlocks(), 1000);
}

TEST(NullManager, InputsHaveTheTypesOfTheRealOnes) {
  KVCacheParams quantized = pages();
  quantized.name = "q";
  quantized.geometry.dtype = KV_DTYPE_I8;
  quantized.geometry.scaleGroup = 2;
  auto both = MultiKVCacheParams::fromParams({pages(), quantized});
  ASSERT_TRUE(both) << text(both);
  auto manager = *NullKVCacheManager::create(*both, {.devices = virtuals(1)});
  Tokens tokens = iota(3);
  TextGenerationContext a(1, tokens), b(2, tokens);
  const TextGenerationContext *batch[] = {&a, &b};
  auto inputs = manager->runtimeInputs(batch, 3);
  ASSERT_TRUE(inputs);
  ASSERT_EQ(inputs->size(), 2u);
  EXPECT_EQ(describe((*inputs)[0].blocks), "f32[0, 2, 3, 16, 2, 4]");
  EXPECT_EQ(describe((*inputs)[0].cacheLengths), "i32[2]");
  EXPECT_EQ(describe((*inputs)[0].lookupTable), "i32[2, 1]");
  EXPECT_EQ(describe((*inputs)[0].maxLengths), "i32[3, 2]");
  EXPECT_EQ(ints((*inputs)[0].maxLengths, 6), Tokens(6, 0));
  EXPECT_EQ(describe((*inputs)[1].scales), "f32[0, 2, 3, 16, 2, 2]");
  EXPECT_TRUE(manager->incrementCacheLengths(*inputs, {}));
  EXPECT_EQ(describe((*inputs)[0].maxLengths), "i32[3, 2]");
  EXPECT_EQ(text(manager->runtimeInputs(batch, 0)),
            "runtime inputs of 0 steps, allowed: 1 to 1048576");
}

// As many as have symbolic inputs, and with the rows of the splits.
TEST(NullManager, EveryDeviceHasInputs) {
  Tokens tokens = iota(3);
  TextGenerationContext a(1, tokens), b(2, tokens);
  const TextGenerationContext *batch[] = {&a, &b};
  for (auto [devices, replicas] : {std::pair(1, 1), {2, 2}, {4, 2}, {2, 1}}) {
    auto manager = *NullKVCacheManager::create(pages(devices, replicas),
                                               {.devices = virtuals(devices)});
    auto inputs = manager->runtimeInputs(batch);
    ASSERT_TRUE(inputs);
    ASSERT_EQ(inputs->size(), manager->symbolicInputs().size());
    std::span<const int64_t> splits = *manager->getDataParallelSplits(batch);
    for (int device = 0; device < devices; ++device) {
      int replica = device * replicas / devices;
      EXPECT_EQ(describe((*inputs)[device].lookupTable),
                concat("i32[", splits[replica + 1] - splits[replica], ", 1]"));
      EXPECT_TRUE((*inputs)[device].isCacheEmpty);
    }
  }
}

TEST(NullManager, SymbolicInputsAreThoseOfTheRealManager) {
  for (auto [devices, replicas] : {std::pair(1, 1), {2, 2}, {4, 2}, {2, 1}}) {
    KVCacheParams params = pages(devices, replicas);
    auto null =
        NullKVCacheManager::create(params, {.devices = virtuals(devices)});
    auto real =
        PagedKVCacheManager::create(params, {.maxSeqLen = 32, .numPages = 4});
    ASSERT_TRUE(null && real);
    auto ours = (*null)->symbolicInputs(), theirs = (*real)->symbolicInputs();
    ASSERT_EQ(ours.size(), theirs.size());
    for (size_t device = 0; device < ours.size(); ++device) {
      ASSERT_EQ(ours[device].size(), theirs[device].size());
      for (size_t i = 0; i < ours[device].size(); ++i) {
        const Argument &a = ours[device][i], &b = theirs[device][i];
        EXPECT_EQ(a.name, b.name);
        EXPECT_EQ(a.kind, b.kind);
        EXPECT_EQ(a.dtype, b.dtype);
        EXPECT_EQ(a.shape, b.shape);
        EXPECT_EQ(a.host, b.host);
      }
    }
  }
}

TEST(LoadKVCacheManager, ChoosesByDevicesAndStrategy) {
  auto load = [](const KVCacheParams &params, std::vector<Device> devices) {
    return loadKVCacheManager(params, {.devices = std::move(devices),
                                       .maxBatchSize = 4,
                                       .maxSeqLen = 16,
                                       .numPages = 6});
  };
  auto paged = load(pages(), {}), continuous = load(slots(16), {}),
       null = load(slots(16), virtuals(1));
  ASSERT_TRUE(paged && continuous && null);
  EXPECT_TRUE(dynamic_cast<PagedKVCacheManager *>(paged->get()));
  EXPECT_TRUE(dynamic_cast<Continuous *>(continuous->get()));
  EXPECT_EQ((*continuous)->totalNumPages(), 4);
  EXPECT_TRUE(dynamic_cast<NullKVCacheManager *>(null->get()));
  EXPECT_EQ((*null)->maxSeqLen(), 16);
  std::vector<Device> mixed = virtuals(1);
  mixed.push_back(Device());
  EXPECT_EQ(text(load(pages(2, 2), mixed)),
            "cache manager: 1 of 2 devices are virtual, allowed: none or all");
  EXPECT_EQ(text(load(pages(2, 2), virtuals(1))),
            "cache manager: 1 devices are given, n_devices is 2");
  EXPECT_EQ(
      text(loadKVCacheManager(slots(16),
                              {.maxSeqLen = 16, .resetEndpoint = "ipc:///x"})),
      "cache manager: cache events or resets are asked for, allowed: with "
      "paged collections, which alone cache prefixes");
  EXPECT_EQ(text(loadKVCacheManager(MultiKVCacheParams(), {})),
            "no cache parameters are given, at least one is needed");
}
