//===- BackendTest.cpp - Memory and queue of a CUDA device ----------------===//

#include "runtime/cuda/Backend.h"
#include "CudaFixture.h"

using namespace kv;
using namespace kv::test;

namespace {

const Device Cuda = {Device::Kind::CUDA, 0};

class Backend : public ::testing::Test {
protected:
  DeviceBackend &backend = **Cuda.backend();
  void TearDown() override { EXPECT_TRUE(fake::takeProblems().empty()); }
};

/// The one problem that a test asked for.
std::string problem() {
  std::vector<std::string> problems = fake::takeProblems();
  return problems.size() == 1 ? problems[0]
                              : concat(problems.size(), " problems");
}

/// Everything that is wrong stays wrong on a device, so a test has its own.
std::unique_ptr<kv::cuda::Backend>
open(int index = 0, const kv::cuda::driver::Driver *api = nullptr) {
  auto opened = kv::cuda::Backend::open(index, api);
  EXPECT_TRUE(opened) << opened.error().message;
  return std::move(*opened);
}

} // namespace

TEST_F(Backend, SaysWhatItIs) {
  EXPECT_EQ(backend.description(), "Fake 9.0 (sm_90)");
  EXPECT_FALSE(backend.isHost());
  EXPECT_EQ(backend.defaultArenaBytes(), size_t(64) << 20);
  EXPECT_EQ(Device::parse("cuda:17")->backend().error().message,
            "device cuda:17: this machine has 6 CUDA devices");
}

TEST_F(Backend, NoDriver) {
  setenv("KV_CUDA_DRIVER", "/nowhere/libcuda.so.1", 1);
  auto none = Device::parse("cuda:3")->backend();
  setenv("KV_CUDA_DRIVER", KV_FAKE_CUDA_PATH, 1);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, KV_STATUS_UNSUPPORTED);
  EXPECT_EQ(none.error().message,
            "device cuda:3: NVIDIA's driver, which a CUDA device needs, cannot "
            "be loaded: /nowhere/libcuda.so.1: cannot open shared object file: "
            "No such file or directory");
  // A library that is no driver.
  setenv("KV_CUDA_DRIVER", "libm.so.6", 1);
  none = Device::parse("cuda:3")->backend();
  setenv("KV_CUDA_DRIVER", KV_FAKE_CUDA_PATH, 1);
  EXPECT_EQ(none.error().message, "device cuda:3: NVIDIA's driver is too old: "
                                  "it has no cuInit");
  // A failure is not remembered.
  EXPECT_TRUE(Device::parse("cuda:3")->backend());
}

TEST_F(Backend, MemoryIsZeroedWhereAsked) {
  int64_t before = fake::bytesInUse();
  {
    auto zeroed = Cuda.allocate(100), scratch = Cuda.allocateScratch(100);
    ASSERT_TRUE(zeroed && scratch);
    EXPECT_EQ(fake::bytesInUse(), before + 200);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(zeroed->data()) % 64, 0u);
    std::vector<char> read(100, 1);
    backend.copyToHost(read.data(), zeroed->data(), 100);
    EXPECT_EQ(read, std::vector<char>(100, 0));
    backend.copyToHost(read.data(), scratch->data(), 100);
    EXPECT_EQ(read, std::vector<char>(100, -1)); // the fake driver's poison
  }
  EXPECT_EQ(fake::bytesInUse(), before);
  auto none = Cuda.allocate(0);
  ASSERT_TRUE(none);
  EXPECT_EQ(none->data(), nullptr);
  auto pinned = Cuda.allocatePinned(100);
  EXPECT_EQ(std::string(pinned->as<char>(), 100), std::string(100, 0));
}

TEST_F(Backend, NoMemory) {
  auto memory = Cuda.allocate(size_t(2) << 30);
  ASSERT_FALSE(memory);
  EXPECT_EQ(memory.error().code, KV_STATUS_OUT_OF_MEMORY);
  EXPECT_EQ(memory.error().message,
            "device cuda:0: 2147483648 bytes asked for: out of memory (2)");
  EXPECT_TRUE(backend.status()) << "the device goes on";
}

TEST_F(Backend, CopiesAreLateAndInOrder) {
  auto memory = *Cuda.allocate(16), other = *Cuda.allocate(16);
  auto in = *Cuda.allocatePinned(16), out = *Cuda.allocatePinned(16);
  ASSERT_TRUE(backend.synchronize());
  std::memset(in.data(), 1, 16);
  backend.copyToDevice(memory.data(), in.data(), 16);
  backend.copyOnDevice(other.data(), memory.data(), 16);
  backend.zero(memory.data(), 8);
  backend.copyToHost(out.data(), other.data(), 16);
  EXPECT_EQ(fake::pending(), 4);
  EXPECT_EQ(out.as<char>()[0], 0) << "nothing has run";
  // Pinned memory is read when its turn comes: too early a change is seen.
  in.as<char>()[3] = 7;
  ASSERT_TRUE(backend.synchronize());
  EXPECT_EQ(out.as<char>()[3], 7);
  EXPECT_EQ(out.as<char>()[15], 1);
  std::vector<char> read(16);
  backend.copyToHost(read.data(), memory.data(), 16);
  EXPECT_EQ(read[7], 0);
  EXPECT_EQ(read[8], 1);
  // Any other memory is read at once.
  read[0] = 5;
  backend.copyToDevice(memory.data(), read.data(), 16);
  read[0] = 6;
  backend.copyToHost(read.data(), memory.data(), 16);
  EXPECT_EQ(read[0], 5);
}

TEST_F(Backend, MarksWaitForWhatLiesBefore) {
  auto memory = *Cuda.allocate(4);
  auto one = *Cuda.allocatePinned(4), two = *Cuda.allocatePinned(4);
  ASSERT_TRUE(backend.synchronize());
  backend.copyToDevice(memory.data(), one.data(), 4);
  uint64_t first = backend.mark();
  backend.copyToDevice(memory.data(), two.data(), 4);
  EXPECT_EQ(fake::pending(), 2);
  ASSERT_TRUE(backend.wait(first));
  EXPECT_EQ(fake::pending(), 1);
  ASSERT_TRUE(backend.wait(0)) << "the mark of nothing";
  EXPECT_EQ(fake::pending(), 1);
  // More marks than there are events: an old one waits for a later place.
  uint64_t old = backend.mark();
  for (int i = 0; i < 40; ++i) {
    backend.zero(memory.data(), 4);
    backend.mark();
  }
  ASSERT_TRUE(backend.wait(old));
  EXPECT_LE(fake::pending(), 40);
  ASSERT_TRUE(backend.synchronize());
}

// A host that follows a device pointer.
TEST_F(Backend, TheHostCannotTouchDeviceMemory) {
  auto memory = *Cuda.allocate(16);
  EXPECT_DEATH(
      {
        volatile char *data = memory.as<char>();
        data[0] = 1;
      },
      "");
}

TEST_F(Backend, CopiesOfManyPages) {
  constexpr size_t Page = 96, Pages = 6;
  auto memory = *Cuda.allocate(Page * Pages);
  auto pinned = *Cuda.allocatePinned(Page * Pages);
  for (size_t i = 0; i < Page * Pages; ++i)
    pinned.as<char>()[i] = char(i / Page + 1);
  kv::cuda::driver::Driver old = **kv::cuda::driver::loadDriver();
  old.memcpyBatchAsync = nullptr;
  auto withBatch = open(), without = open(0, &old);
  int64_t pageable = fake::counters().pageableCopies;
  for (DeviceBackend *device : {static_cast<DeviceBackend *>(withBatch.get()),
                                static_cast<DeviceBackend *>(without.get())}) {
    fake::Counters before = fake::counters();
    std::vector<MemoryCopy> out, back;
    for (size_t page = 0; page < Pages; ++page) {
      out.push_back({memory.as<char>() + page * Page,
                     pinned.as<char>() + (Pages - 1 - page) * Page, Page});
      back.push_back({pinned.as<char>() + page * Page,
                      memory.as<char>() + page * Page, Page});
    }
    device->copyBatch(out);
    ASSERT_TRUE(device->synchronize());
    device->copyBatch(back);
    device->copyBatch({});
    ASSERT_TRUE(device->synchronize());
    EXPECT_EQ(fake::counters().copies - before.copies,
              device == withBatch.get() ? 2 : int64_t(2 * Pages));
    bool turned = device == withBatch.get();
    for (size_t page = 0; page < Pages; ++page)
      EXPECT_EQ(pinned.as<char>()[page * Page],
                char(turned ? Pages - page : page + 1));
  }
  EXPECT_EQ(fake::counters().pageableCopies, pageable);
}

// The second queue runs as late as somebody makes it, or as early as it may.
TEST_F(Backend, CopiesBesideTheQueue) {
  constexpr size_t Bytes = 64;
  auto memory = *Cuda.allocate(Bytes);
  auto pinned = *Cuda.allocatePinned(2 * Bytes);
  char *from = pinned.as<char>(), *to = from + Bytes;
  auto device = open();
  auto fill = [&](char value) {
    device->copyToDevice(memory.data(), std::string(Bytes, value).data(),
                         Bytes);
  };
  auto aside = [&](void *target, const void *source, bool after) {
    MemoryCopy copy = {target, source, Bytes};
    return device->copyAside({&copy, 1}, after);
  };
  // Late: the queue has gone on, and nobody has made it wait.
  fill('a');
  uint64_t out = aside(to, memory.data(), /*after=*/true);
  fill('b');
  ASSERT_TRUE(device->wait(device->mark()));
  EXPECT_FALSE(device->isAsideDone(out));
  fake::runAside();
  EXPECT_TRUE(device->isAsideDone(out));
  EXPECT_EQ(to[0], 'b');
  // Made to wait, the queue writes only what has been read.
  fill('c');
  out = aside(to, memory.data(), /*after=*/true);
  device->followAside(out);
  fill('d');
  ASSERT_TRUE(device->wait(device->mark()));
  EXPECT_TRUE(device->isAsideDone(out));
  EXPECT_EQ(to[0], 'c');
  // Early: a copy that waits for nothing is there before what was queued.
  fill('e');
  from[0] = 'f';
  uint64_t in = aside(memory.data(), from, /*after=*/false);
  fake::runAside();
  EXPECT_TRUE(device->isAsideDone(in));
  device->copyToHost(to, memory.data(), Bytes);
  ASSERT_TRUE(device->synchronize());
  EXPECT_EQ(to[0], 'e');
}

TEST_F(Backend, MistakesAreSeen) {
  auto device = open();
  void *memory = *device->allocate(16, true);
  device->copyToDevice(static_cast<char *>(memory) + 8, "123456789", 9);
  EXPECT_EQ(problem(), "cuMemcpyHtoDAsync of 9 bytes leaves device memory");
  EXPECT_EQ(device->status().error().message,
            "cuMemcpyHtoDAsync: invalid argument (1)");
  // The first failure stays.
  EXPECT_EQ(device->synchronize().error().message,
            "cuMemcpyHtoDAsync: invalid argument (1)");

  device = open();
  device->copyOnDevice(memory, static_cast<char *>(memory) + 4, 8);
  EXPECT_EQ(problem(), "cuMemcpyDtoDAsync: source and target overlap");

  device = open();
  device->free(memory, 16);
  EXPECT_TRUE(device->status());
  device->free(memory, 16);
  EXPECT_EQ(problem(), "device memory is freed that is not allocated, or was "
                       "freed before");
  EXPECT_EQ(device->status().error().message,
            "cuMemFree: invalid argument (1)");

  device = open();
  device->zero(memory, 16);
  EXPECT_EQ(problem(), "cuMemsetD8Async of 16 bytes leaves device memory");
}
