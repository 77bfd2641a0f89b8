//===- CInterfaceTest.cpp - A manager on a CUDA device, in C --------------===//

#include "CudaFixture.h"
#include "kv/Runtime/C/CacheManager.h"

#include <dlpack/dlpack.h>

using namespace kv;
using namespace kv::test;

TEST(CInterface, AManagerOnADevice) {
  KvCollectionSpec one = {};
  one.dtype = KV_DTYPE_BF16;
  one.layers = one.heads = 1;
  one.dim = 64;
  one.page = 16;
  KvCacheSpec spec = {};
  spec.collections = &one;
  spec.numCollections = 1;
  const char *devices[] = {"cuda:1"};
  KvManagerOptions options = {};
  options.devices = devices;
  options.numDevices = 1;
  options.maxSeqLen = 64;
  options.numPages = 8;
  options.maxSteps = 2;
  KvManager *manager = nullptr;
  ASSERT_EQ(kvManagerCreate(&spec, &options, &manager), KV_STATUS_OK)
      << kvErrorMessage();
  int32_t tokens[20] = {};
  KvRequest *request = nullptr;
  ASSERT_EQ(kvRequestCreate(7, tokens, 20, &request), KV_STATUS_OK);
  const KvRequest *batch[] = {request};
  KvAllocation allocation;
  ASSERT_EQ(kvManagerClaim(manager, 7, -1), KV_STATUS_OK);
  ASSERT_EQ(kvManagerAlloc(manager, request, 2, &allocation), KV_STATUS_OK);
  ASSERT_EQ(kvManagerRuntimeInputs(manager, batch, 1, 2), KV_STATUS_OK)
      << kvErrorMessage();

  auto exported = [&](int32_t component) {
    DLManagedTensor *tensor = nullptr;
    EXPECT_EQ(kvManagerGetInputDLPack(manager, 0, 0, component, &tensor),
              KV_STATUS_OK)
        << kvErrorMessage();
    return tensor;
  };
  DeviceBackend &backend = **Device{Device::Kind::CUDA, 1}.backend();
  auto first = [&](const DLManagedTensor *tensor) {
    int32_t value = -1;
    backend.copyToHost(&value, tensor->dl_tensor.data, sizeof value);
    return value;
  };
  DLManagedTensor *blocks = exported(KV_COMPONENT_BLOCKS),
                  *lengths = exported(KV_COMPONENT_CACHE_LENGTHS),
                  *most = exported(KV_COMPONENT_MAX_LENGTHS);
  EXPECT_EQ(fake::pending(), 0) << "what is exported is there";
  for (const DLManagedTensor *tensor : {blocks, lengths}) {
    EXPECT_EQ(tensor->dl_tensor.device.device_type, kDLCUDA);
    EXPECT_EQ(tensor->dl_tensor.device.device_id, 1);
  }
  EXPECT_EQ(most->dl_tensor.device.device_type, kDLCPU);
  EXPECT_EQ(static_cast<int32_t *>(most->dl_tensor.data)[0], 20);
  EXPECT_EQ(first(lengths), 0);
  int32_t offsets[] = {0, 20};
  ASSERT_EQ(kvManagerIncrementCacheLengths(manager, offsets, 2), KV_STATUS_OK)
      << kvErrorMessage();
  EXPECT_EQ(first(lengths), 0) << "that of the first step";
  DLManagedTensor *later = exported(KV_COMPONENT_CACHE_LENGTHS);
  EXPECT_EQ(first(later), 20);
  for (DLManagedTensor *tensor : {blocks, lengths, most, later})
    tensor->deleter(tensor);
  kvRequestDestroy(request);
  kvManagerDestroy(manager);
  EXPECT_TRUE(fake::takeProblems().empty());
}
