//===- FakeDriverTest.cpp - What the fake driver sees ---------------------===//
//
// Each mistake once, so that the other tests' silence means something.
//
//===----------------------------------------------------------------------===//

#include "CudaFixture.h"
#include "runtime/cuda/Module.h"

using namespace kv;
using namespace kv::test;
namespace driver = kv::cuda::driver;

namespace {

class FakeDriver : public ::testing::Test {
protected:
  // Of their own: a device's first failure stays.
  std::unique_ptr<kv::cuda::Backend> backend =
      std::move(*kv::cuda::Backend::open(0));
  std::unique_ptr<DeviceModule> module = std::move(*backend->load(allImages()));
  static constexpr size_t Row = [] {
    size_t row = 0;
    while (kv::cuda::KernelLaunches[row].name != "kv_positions")
      ++row;
    return row;
  }();
  const kv::cuda::KernelLaunch &kernel = kv::cuda::KernelLaunches[Row];

  /// Launches kv_positions; what the fake driver says.
  std::string launch(unsigned blocks, unsigned threads, unsigned sharedBytes,
                     kv::cuda::PositionsParams params) {
    void *arguments[] = {&params};
    auto function =
        static_cast<kv::cuda::Module &>(*module).kernel(Row).function;
    backend->check(backend->driver().launchKernel(
                       function, blocks, 1, 1, threads, 1, 1, sharedBytes,
                       backend->stream(), arguments, nullptr),
                   "cuLaunchKernel");
    return said();
  }
  std::string said() {
    std::vector<std::string> problems = fake::takeProblems();
    return problems.empty() ? "nothing" : problems[0];
  }
};

} // namespace

TEST_F(FakeDriver, Launches) {
  ASSERT_EQ(kernel.name, "kv_positions");
  EXPECT_EQ(launch(1, 256, 0, {}), "nothing");
  EXPECT_TRUE(backend->synchronize());
  EXPECT_EQ(launch(0, 256, 0, {}),
            "kv_positions is launched with 0 blocks, needed: 1");
  EXPECT_EQ(launch(1, 128, 0, {}),
            "kv_positions is launched with 128 threads, needed: 256");
  EXPECT_EQ(launch(1, 256, 64, {}),
            "kv_positions is launched with 64 bytes of shared memory, needed: "
            "0");
  EXPECT_EQ(backend->status().error().message,
            "cuLaunchKernel: invalid argument (1)");
}

// Of ptxas, 9.0's tile kernels have their argument at offset 112 (below): in a
// buffer that begins with it they would read 112 bytes further on.
TEST_F(FakeDriver, PackedArguments) {
  kv::cuda::PositionsParams params{};
  size_t bytes = sizeof params;
  void *extra[] = {reinterpret_cast<void *>(1), &params,
                   reinterpret_cast<void *>(2), &bytes, nullptr};
  backend->driver().launchKernel(
      static_cast<kv::cuda::Module &>(*module).kernel(Row).function, 1, 1, 1,
      256, 1, 1, 0, backend->stream(), nullptr, extra);
  EXPECT_EQ(said(), "cuLaunchKernel: its arguments are a packed buffer, "
                    "allowed: kernelParams");
}

// Another device was entered meanwhile.
TEST_F(FakeDriver, AnotherDevicesContext) {
  auto other = std::move(*kv::cuda::Backend::open(1));
  EXPECT_EQ(launch(1, 256, 0, {}),
            "cuLaunchKernel: the stream is of device 0, the current context of "
            "1");
  EXPECT_FALSE(backend->status());
}

// Its offsets lie where nothing was allocated: seen when the kernel runs, and
// then by everybody.
TEST_F(FakeDriver, AKernelThatLeavesMemory) {
  void *out = *backend->allocate(64, true),
       *lengths = *backend->allocate(4, true);
  void *offsets = *backend->allocate(8, true);
  kv::cuda::PositionsParams params{{static_cast<int32_t *>(lengths),
                                    static_cast<int32_t *>(offsets), 1, 16, 0},
                                   static_cast<int32_t *>(out)};
  EXPECT_EQ(launch(1, 256, 0, params), "nothing");
  ASSERT_TRUE(backend->synchronize());
  backend->free(out, 64);
  EXPECT_EQ(launch(1, 256, 0, params), "nothing") << "not run yet";
  auto done = backend->synchronize();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message,
            "cuStreamSynchronize: unspecified launch failure (719)");
  EXPECT_NE(said().find("writes 4 bytes where nothing was allocated"),
            std::string::npos);
  EXPECT_FALSE(backend->wait(backend->mark()));
  fake::forgetFailure();
}

TEST_F(FakeDriver, Products) {
  const driver::CublasLt &api = **driver::loadCublasLt();
  void *memory = *backend->allocate(4096, true);
  driver::Handle handle;
  driver::Descriptor descriptor;
  driver::Layout layout;
  api.create(&handle);
  api.descriptorCreate(&descriptor, driver::ComputeF32, driver::TypeF32);
  api.layoutCreate(&layout, driver::TypeBf16, 8, 8, 8);
  float one = 1, zero = 0;
  auto multiply = [&](const driver::Algorithm &algorithm, void *workspace) {
    EXPECT_NE(api.matmul(handle, descriptor, &one, memory, layout, memory,
                         layout, &zero, memory, layout, memory, layout,
                         &algorithm, workspace, 64, backend->stream()),
              0);
    return said();
  };
  driver::Algorithm algorithm = {};
  EXPECT_EQ(multiply(algorithm, memory),
            "cublasLtMatmul: it is asked for something else than a product");
  int32_t transposed = driver::Transposed;
  api.descriptorSet(descriptor, driver::DescriptorTransA, &transposed, 4);
  EXPECT_EQ(multiply(algorithm, memory),
            "cublasLtMatmul: the algorithm is of another product");
  driver::Preference preference;
  driver::Heuristic found;
  int count = 0;
  api.preferenceCreate(&preference);
  api.getHeuristic(handle, descriptor, layout, layout, layout, layout,
                   preference, 1, &found, &count);
  EXPECT_EQ(multiply(found.algorithm, &one),
            "cublasLtMatmul: the workspace is not device memory");
  memory = static_cast<char *>(memory) + 16;
  EXPECT_EQ(multiply(found.algorithm, memory),
            "cublasLtMatmul: an operand is not aligned as the algorithm needs");
  memory = static_cast<char *>(memory) - 16;
  api.preferenceDestroy(preference);
  api.layoutDestroy(layout);
  api.descriptorDestroy(descriptor);
  api.destroy(handle);
  backend->free(memory, 4096);
}
