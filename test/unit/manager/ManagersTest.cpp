//===- ManagersTest.cpp - What scenarios do not say of managers -----------===//
//
// test/conformance has what managers do, and what they refuse. Here is what the
// C interface has no word for: values for which it takes a default, classes,
// and types of inputs.
//
//===----------------------------------------------------------------------===//

#include "kv/Runtime/Manager/ContinuousBatchingKVCacheManager.h"
#include "kv/Runtime/Manager/LoadKVCacheManager.h"
#include "kv/Runtime/Manager/NullKVCacheManager.h"
#include "kv/Runtime/Manager/PagedSizes.h"

#include "test/unit/FakeModel.h"
#include "test/unit/Values.h"

#include <gtest/gtest.h>

using namespace kv;
using namespace kv::test;

namespace {

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

TEST(PagedManager, AsManySnapshotsAsAllowed) {
  for (auto [snapshots, isGood] :
       {std::pair(1 << 20, true), {(1 << 20) + 1, false}, {-2, false}}) {
    auto made = PagedKVCacheManager::create(
        fakeParams(2),
        {.maxSeqLen = 16, .numPages = 8, .snapshots = snapshots});
    EXPECT_EQ(made.has_value(), isGood) << snapshots;
  }
}

TEST(PagedManager, ManyIdsInFewSlots) {
  auto manager = *PagedKVCacheManager::create(
      fakeParams(2), {.maxBatchSize = 5, .maxSeqLen = 16, .numPages = 8});
  std::vector<RequestId> claimed;
  uint64_t state = 1;
  for (int step = 0; step < 5000; ++step) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    if (claimed.size() == 5 || (claimed.size() && (state >> 40) % 2)) {
      size_t at = (state >> 50) % claimed.size();
      ASSERT_TRUE(manager->release(claimed[at]));
      ASSERT_FALSE(manager->contains(claimed[at]));
      claimed.erase(claimed.begin() + at);
    } else {
      ASSERT_TRUE(manager->claim(state));
      claimed.push_back(state);
    }
    for (RequestId id : claimed)
      ASSERT_TRUE(manager->contains(id));
  }
}

TEST(PagedManager, Options) {
  using Options = PagedKVCacheManager::Options;
  EXPECT_FALSE(Options().enableRuntimeChecks);
  auto error = [](const KVCacheParams &params, int64_t steps, int32_t batch) {
    Options options = {.maxBatchSize = batch, .maxSeqLen = 8, .numPages = 4};
    options.maxSteps = int32_t(steps);
    return text(PagedKVCacheManager::create(params, options));
  };
  EXPECT_EQ(error(fakeParams(2), 1, 1), "no error");
  EXPECT_EQ(error(fakeParams(2), 0, 1),
            "cache manager: maxSteps is 0, allowed: 1 to 1048576");
  EXPECT_EQ(error(fakeParams(2), 1, 0),
            "cache manager: maxBatchSize is 0, allowed: 1 to 1048576");
  EXPECT_EQ(error(fakeParams(0), 1, 1),
            "collection kv: 'page' must be positive, not 0");
  EXPECT_EQ(
      error(slots(2), 1, 1),
      "collection kv: strategy is continuous, this cache manager needs paged");
  EXPECT_EQ(text(ContinuousBatchingKVCacheManager::create(pages(), {})),
            "collection kv: strategy is paged, this cache manager needs "
            "continuous");
  auto two = *PagedKVCacheManager::create(pages(2, 2),
                                          {.maxSeqLen = 32, .numPages = 4});
  EXPECT_EQ(text(two->claim(7, -1)),
            "request 7 cannot be claimed on replica -1, allowed: 0 to 1");
}

/// As much host memory as the devices have, or as much as one wants to give.
TEST(PagedSizes, HostPagesFollowTheDevices) {
  KVCacheParams cache = {
      .geometry = {.dtype = KV_DTYPE_F32, .layers = 1, .heads = 8, .dim = 128}};
  KVCacheParams state = cache;
  state.name = "state";
  state.geometry.strategy = CacheStrategy::Recurrent;
  state.geometry.heads = 20; // of 10 KiB: parts of 1 MiB, of which one will do
  MultiKVCacheParams hybrid;
  hybrid.params = {cache, state};
  PagedSizes sizes(hybrid, 4, 0);
  EXPECT_EQ(sizes.hostPages(100, INT64_MAX), 100 + sizes.states());
  EXPECT_EQ(sizes.hostPages(100, 0), 2); // a page and a state
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
  EXPECT_TRUE(
      dynamic_cast<ContinuousBatchingKVCacheManager *>(continuous->get()));
  EXPECT_TRUE(dynamic_cast<NullKVCacheManager *>(null->get()));
  EXPECT_EQ(
      text(loadKVCacheManager(slots(16),
                              {.maxSeqLen = 16, .resetEndpoint = "ipc:///x"})),
      "events or resets are asked for, allowed: with paged collections on real "
      "devices, which alone cache prefixes");
  EXPECT_EQ(text(loadKVCacheManager(MultiKVCacheParams(), {})),
            "no cache parameters are given, at least one is needed");
}
