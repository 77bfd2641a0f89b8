//===- EarlyLaunchTest.cpp - Kernels that begin before others end ---------===//

#include "CudaFixture.h"
#include "kv/Kernels/Sample.h"
#include "runtime/cuda/Module.h"

using namespace kv;
using namespace kv::test;
namespace driver = kv::cuda::driver;

namespace {

/// lengths + 3 * (rows of each sequence), by three launches that each read what
/// the one before has written.
std::vector<int32_t> growThrice(Gpu &gpu) {
  Tensor<int32_t> lengths(gpu.device, DType::I32, {2}, {5, 7}),
      offsets(gpu.device, DType::I32, {3}, {0, 1, 11}),
      one(gpu.device, DType::I32, {2}), two(gpu.device, DType::I32, {2}),
      three(gpu.device, DType::I32, {2});
  gpu.expectRun([&](KvContext *ctx, const KvFunctionTable &f) {
    f.growLengths(ctx, lengths.view(), offsets.view(), 1, one.view());
    f.growLengths(ctx, one.view(), offsets.view(), 1, two.view());
    f.growLengths(ctx, two.view(), offsets.view(), 1, three.view());
  });
  return three.read();
}

} // namespace

TEST(EarlyLaunch, OnlyOfCodeThatWaits) {
  Gpu gpu;
  fake::Counters before = fake::counters();
  EXPECT_EQ(growThrice(gpu), (std::vector<int32_t>{8, 37}));
  fake::Counters after = fake::counters();
  EXPECT_EQ(after.launches - before.launches, 3);
  EXPECT_EQ(after.earlyLaunches - before.earlyLaunches, 3);
  // 9.0 by its own code, and 8.6 and 12.0 by PTX that waits for nobody.
  std::vector<KernelImage> images = allImages();
  std::erase_if(images, [](const KernelImage &image) {
    return image.name != "kv_movers" || image.chip == "sm_100a" ||
           image.chip == "sm_120";
  });
  for (int index : {1, 2, 3}) {
    auto backend = std::move(*kv::cuda::Backend::open(index));
    auto module = backend->load(images);
    ASSERT_TRUE(module) << module.error().message;
    size_t row = std::size(kv::cuda::AttentionKernels);
    EXPECT_EQ(static_cast<kv::cuda::Module &>(**module).kernel(row).waits(),
              index == 1);
  }
  EXPECT_TRUE(fake::takeProblems().empty());
}

// Blocks draw from a long row together where code knows clusters, and from a
// short one alone; the token is the CPU's.
TEST(EarlyLaunch, DrawsOfClusters) {
  for (int width : {64, 16384}) {
    Gpu gpu;
    std::vector<float> row(width);
    for (int i = 0; i < width; ++i)
      row[i] = float((i * 37) % 64) / 8;
    Tensor<float> logits(gpu.device, DType::F32, {1, width}, row),
        temperature(gpu.device, DType::F32, {1}, {1}),
        topP(gpu.device, DType::F32, {1}, {1}),
        minP(gpu.device, DType::F32, {1}, {0});
    Tensor<int32_t> topK(gpu.device, DType::I32, {1}, {0}),
        index(gpu.device, DType::I32, {1}, {3}),
        out(gpu.device, DType::I32, {1});
    Tensor<int64_t> seed(gpu.device, DType::I64, {1}, {9});
    fake::Counters before = fake::counters();
    gpu.expectRun([&](KvContext *ctx, const KvFunctionTable &f) {
      f.sample(ctx, logits.view(), temperature.view(), topK.view(), topP.view(),
               minP.view(), seed.view(), index.view(), out.view());
    });
    EXPECT_EQ(fake::counters().clusterLaunches - before.clusterLaunches,
              width > 64);
    sampling::RowSampler sampler;
    EXPECT_EQ(out.read()[0],
              sampler.sample(row, {.temperature = 1, .seed = 9, .index = 3}));
  }
}

// An attribute that means another thing, and code that does not wait.
TEST(EarlyLaunch, Mistakes) {
  auto backend = std::move(*kv::cuda::Backend::open(0));
  auto module = std::move(*backend->load(allImages()));
  size_t row = std::size(kv::cuda::AttentionKernels) + 1;
  kv::cuda::PositionsParams params{};
  void *arguments[] = {&params};
  driver::LaunchAttribute early{driver::LaunchMayBeginEarly + 1, {1}, {}};
  driver::LaunchConfig config{1,      1, 1, 256, 1, 1, 0, backend->stream(),
                              &early, 1};
  auto launch = [&](driver::Function function) {
    EXPECT_NE(
        backend->driver().launchKernelEx(&config, function, arguments, nullptr),
        0);
    std::vector<std::string> problems = fake::takeProblems();
    return problems.empty() ? "nothing" : problems[0];
  };
  auto &kernel = static_cast<kv::cuda::Module &>(*module).kernel(row);
  EXPECT_TRUE(kernel.waits());
  EXPECT_EQ(launch(kernel.function),
            "cuLaunchKernelEx: its attributes have another form");
  early.id = driver::LaunchMayBeginEarly;
  driver::Module old = nullptr;
  driver::Function waitsForNobody = nullptr;
  std::string code = ptx("sm_80", allKernels());
  ASSERT_EQ(backend->driver().moduleLoadData(&old, code.c_str()), 0);
  ASSERT_EQ(
      backend->driver().moduleGetFunction(&waitsForNobody, old, "kv_positions"),
      0);
  EXPECT_EQ(launch(waitsForNobody),
            "kv_positions may begin early, and its code waits for nobody");
}
