//===- CudaFixture.h - A CUDA device for tests ------------------*- C++ -*-===//

#ifndef KV_TEST_CUDA_CUDAFIXTURE_H
#define KV_TEST_CUDA_CUDAFIXTURE_H

#include "kernels/block/Numbers.h"
#include "kernels/cuda/parameters/KernelTable.h"
#include "kv/Runtime/Device/Buffer.h"
#include "kv/Runtime/Device/ExecutionContext.h"
#include "test/cuda/fake/FakeDriver.h"

#include <cmath>
#include <cstring>
#include <elf.h>
#include <functional>
#include <gtest/gtest.h>
#include <random>

namespace kv::test {

/// Of everything in KernelTable.h, as a driver would see its symbols.
inline std::string allKernels() {
  std::string text;
  for (const kv::cuda::KernelLaunch &kernel : kv::cuda::KernelLaunches)
    text += ".entry " + std::string(kernel.name) + "()\n";
  return text;
}

inline std::string ptx(const std::string &target, const std::string &symbols) {
  return ".version 8.0\n.target " + target + "\n" + symbols;
}

/// An ELF header of a cubin, and the symbols behind it.
inline std::string cubin(int chip, const std::string &symbols) {
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_ABIVERSION] = 8;
  header.e_machine = 190;
  header.e_flags = uint32_t(chip) << 8;
  header.e_shoff = sizeof header + symbols.size();
  return std::string(reinterpret_cast<const char *>(&header), sizeof header) +
         symbols;
}

/// Every kernel in code for every chip and PTX.
inline std::vector<KernelImage> allImages() {
  std::vector<KernelImage> images;
  auto add = [&](const std::string &name) {
    images.push_back({name, "sm_80", cubin(80, allKernels())});
    images.push_back({name, "sm_90a", cubin(90, allKernels())});
    images.push_back({name, "sm_100a", cubin(100, allKernels())});
    images.push_back({name, "sm_120", cubin(120, allKernels())});
    images.push_back({name, "compute_80", ptx("sm_80", allKernels())});
  };
  add("kv_movers");
  for (const kv::cuda::AttentionKernel &kernel : kv::cuda::AttentionKernels)
    add(std::string(kernel.name));
  for (const kv::cuda::AttentionKernel &kernel : kv::cuda::TileKernels) {
    std::string chip(kernels::onlyChipOf(kernel.name));
    images.push_back(
        {std::string(kernel.name), chip,
         cubin(std::atoi(chip.c_str() + std::strlen("sm_")), allKernels())});
  }
  return images;
}

/// A tensor on a device that a test fills and reads.
template <class T> class Tensor {
public:
  Tensor(const Device &device, DType dtype, std::vector<int64_t> shape)
      : backend(**device.backend()) {
    auto made = Buffer::create(device, dtype, shape);
    EXPECT_TRUE(made) << made.error().message;
    buffer = std::move(*made);
  }
  Tensor(const Device &device, DType dtype, std::vector<int64_t> shape,
         const std::vector<T> &values)
      : Tensor(device, dtype, std::move(shape)) {
    fill(values);
  }

  void fill(const std::vector<T> &values) {
    EXPECT_EQ(values.size() * sizeof(T), buffer.bytes());
    if (!values.empty())
      backend.copyToDevice(buffer.data(), values.data(), buffer.bytes());
  }
  std::vector<T> read() const {
    std::vector<T> values(buffer.bytes() / sizeof(T));
    if (!values.empty())
      backend.copyToHost(values.data(), buffer.data(), buffer.bytes());
    auto done = backend.synchronize();
    EXPECT_TRUE(done) << done.error().message;
    return values;
  }
  const KvTensorView *view() const { return &buffer.view(); }
  void *data() const { return buffer.data(); }

private:
  DeviceBackend &backend;
  Buffer buffer;
};

/// A device with every kernel, or with those given, and a context on it.
class Gpu {
public:
  static constexpr size_t ArenaBytes = 16 << 20;

  explicit Gpu(int index = 0, bool deterministic = false,
               Communicator *ranks = nullptr,
               const std::vector<KernelImage> &images = allImages())
      : device{Device::Kind::CUDA, index}, backend(**device.backend()) {
    auto loaded = backend.load(images);
    EXPECT_TRUE(loaded) << loaded.error().message;
    module = std::move(*loaded);
    auto made = ExecutionContext::create(pool, {.device = device,
                                                .arenaBytes = ArenaBytes,
                                                .deterministic = deterministic,
                                                .ranks = ranks});
    EXPECT_TRUE(made) << made.error().message;
    context = std::move(*made);
  }

  using Body = std::function<void(KvContext *, const KvFunctionTable &)>;

  /// Calls the body as an entry. Nothing in it may allocate or wait.
  Expected<void> run(const Body &body) {
    current = &body;
    fake::Counters before = fake::counters();
    Expected<void> done = context->call(
        [](KvContext *ctx, const KvTensorView *, int32_t) {
          (*current)(ctx, *ctx->functions);
          return ctx->status;
        },
        {}, module.get());
    fake::Counters after = fake::counters();
    EXPECT_EQ(after.allocations, before.allocations);
    EXPECT_EQ(after.synchronizations, before.synchronizations);
    EXPECT_EQ(after.pageableCopies, before.pageableCopies);
    return done;
  }
  void expectRun(const Body &body) {
    auto done = run(body);
    EXPECT_TRUE(done) << done.error().message;
  }

  ThreadPool pool{1};
  Device device;
  DeviceBackend &backend;
  std::unique_ptr<DeviceModule> module;
  std::unique_ptr<ExecutionContext> context;

private:
  static inline const Body *current = nullptr;
};

/// Tests of rows of Symbols.def on one device.
class RowsTest : public ::testing::Test {
protected:
  Gpu gpu;
  const Device &device = gpu.device;
  void TearDown() override {
    EXPECT_TRUE(gpu.backend.synchronize());
    EXPECT_TRUE(fake::takeProblems().empty());
  }
  std::string error(const Gpu::Body &body) {
    auto done = gpu.run(body);
    return done ? "no error" : done.error().message;
  }
};

using kv::cuda::Bf16;
using kv::cuda::F16;

template <class T> std::vector<T> randomValues(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<T> values(count);
  for (T &value : values)
    value = kv::cuda::narrow<T>(float(int(random() % 4001) - 2000) / 1024);
  return values;
}

} // namespace kv::test

#endif // KV_TEST_CUDA_CUDAFIXTURE_H
