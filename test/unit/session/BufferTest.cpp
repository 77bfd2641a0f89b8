//===- BufferTest.cpp - Devices, element types and buffers ----------------===//

#include "kv/Runtime/Device/Buffer.h"

#include <gtest/gtest.h>

using namespace kv;

namespace {

TEST(Device, Parse) {
  EXPECT_EQ(Device::parse("cpu")->index, 0);
  EXPECT_EQ(Device::parse("cpu:12")->index, 12);
  EXPECT_EQ(Device::parse("cpu:12")->str(), "cpu:12");
  EXPECT_EQ(Device::parse("virtual:sm_90a")->str(), "virtual:sm_90a");
  EXPECT_EQ(Device::parse("virtual:x86-64-v4:2")->str(), "virtual:x86-64-v4:2");
  EXPECT_FALSE(Device::parse("cpu")->isVirtual());
  EXPECT_EQ(Device::parse("cuda")->str(), "cuda:0");
  EXPECT_EQ(Device::parse("cuda:3")->index, 3);
  for (const char *bad :
       {"", "cpu:", "cpu:-1", "cpu:1x", "gpu", "cpu:99999999999",
        "virtual:", "virtual::1", "virtual:x:", "virtual:x:y"})
    EXPECT_EQ(Device::parse(bad).error().message,
              concat("device \"", bad,
                     "\": expected cpu, cpu:N, cuda, cuda:N, virtual:TARGET "
                     "or virtual:TARGET:N"));
}

TEST(Device, VirtualOnesHaveNoMemory) {
  auto memory = Device::parse("virtual:sm_90a")->allocate(1);
  ASSERT_FALSE(memory);
  EXPECT_EQ(memory.error().message, "device virtual:sm_90a has no memory: it "
                                    "is there to be compiled for");
}

TEST(DType, NamesAndSizes) {
  EXPECT_EQ(parseDType("bf16"), DType::BF16);
  EXPECT_EQ(parseDType("BF16"), std::nullopt);
  EXPECT_EQ(dtypeName(DType::F8E4M3FN), "f8E4M3FN");
  EXPECT_EQ(dtypeName(static_cast<DType>(77)), "unknown");
  EXPECT_EQ(dtypeBytes(DType::I64), 8u);
  EXPECT_EQ(dtypeBytes(static_cast<DType>(77)), 0u);
}

TEST(Buffer, DenseZeroedAndMovable) {
  Buffer buffer = *Buffer::create({}, DType::BF16, {3, 4, 5});
  EXPECT_EQ(buffer.elements(), 60);
  EXPECT_EQ(buffer.bytes(), 120u);
  EXPECT_EQ(buffer.view().strides[0], 20);
  EXPECT_EQ(buffer.view().strides[2], 1);
  EXPECT_EQ(describe(buffer.view()), "bf16[3, 4, 5]");
  for (int i = 0; i < 60; ++i)
    EXPECT_EQ(buffer.as<uint16_t>()[i], 0);
  void *data = buffer.data();
  Buffer moved = std::move(buffer);
  EXPECT_EQ(moved.data(), data);
  EXPECT_EQ(buffer.data(), nullptr);
}

TEST(Buffer, RefusesBadShapes) {
  EXPECT_EQ(Buffer::create({}, DType::F32, {2, -1}).error().message,
            "the tensor f32[2, -1] cannot be allocated");
  EXPECT_EQ(
      Buffer::create({}, DType::F32, {1L << 40, 1L << 40}).error().message,
      "the tensor f32[1099511627776, 1099511627776] cannot be "
      "allocated");
  EXPECT_FALSE(Buffer::create({}, DType::F32, {1, 1, 1, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(Buffer::create({}, DType::F32, {0, 5})->elements(), 0);
}

} // namespace
