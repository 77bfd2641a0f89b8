//===- ModuleTest.cpp - Which code runs on which GPU ----------------------===//

#include "runtime/cuda/Module.h"
#include "CudaFixture.h"

using namespace kv;
using namespace kv::test;

namespace {

/// Loads images of the movers for these chips on a device; its sm, or what is
/// wrong.
std::string load(int device, std::initializer_list<const char *> chips,
                 const std::string &name = "kv_movers",
                 const std::string &symbols = allKernels()) {
  std::vector<KernelImage> images;
  for (std::string chip : chips)
    images.push_back(
        {name, chip,
         chip.starts_with("sm_")
             ? cubin(std::stoi(chip.substr(3)), symbols)
             : ptx("sm_" + chip.substr(chip.find('_') + 1), symbols)});
  auto backend = kv::cuda::Backend::open(device);
  auto module = (*backend)->load(images);
  if (!module)
    return module.error().message;
  const auto &kernels = static_cast<kv::cuda::Module &>(**module);
  size_t row = std::size(kv::cuda::AttentionKernels);
  for (size_t i = 0; i < kv::cuda::KernelLaunches.size(); ++i)
    if (kv::cuda::KernelLaunches[i].name == name)
      row = i;
  kv::cuda::LoadedKernel kernel = kernels.kernel(row);
  EXPECT_NE(kernel.function, nullptr);
  module->reset();
  EXPECT_TRUE(fake::takeProblems().empty());
  return concat("sm ", kernel.sm);
}

constexpr int Hopper = 0, Ada = 2, Desktop = 3, Turing = 4, Blackwell = 5;

} // namespace

TEST(Module, TheExactChipElsePtx) {
  std::initializer_list<const char *> all = {"sm_80", "sm_90a", "compute_80"};
  EXPECT_EQ(load(Hopper, all), "sm 90");
  EXPECT_EQ(load(Ada, all), "sm 80");
  EXPECT_EQ(load(Blackwell, all), "sm 80");
  EXPECT_EQ(load(Desktop, all), "sm 80");
  std::initializer_list<const char *> more = {"sm_100a", "sm_120",
                                              "compute_80"};
  EXPECT_EQ(load(Blackwell, more), "sm 90");
  EXPECT_EQ(load(Desktop, more), "sm 120");
  EXPECT_EQ(load(Hopper, {"compute_80", "sm_80"}), "sm 80");
  EXPECT_EQ(load(Ada, {"sm_90a"}),
            "kernel image kv_movers is there for sm_90a, this GPU is Fake 8.6 "
            "(sm_86): compile the model for this chip");
  EXPECT_EQ(load(Turing, all),
            "kernel image kv_movers is there for sm_80, sm_90a, compute_80, "
            "this GPU is Fake 7.5 (sm_75): compile the model for this chip");
}

/// Blocks of a kernel that an SM of the device runs at once.
static int blocksOn(int device, std::string_view name) {
  auto backend = kv::cuda::Backend::open(device);
  std::vector<KernelImage> images;
  for (KernelImage &image : allImages())
    if (image.name == name)
      images.push_back(std::move(image));
  auto module = (*backend)->load(images);
  EXPECT_TRUE(module) << module.error().message;
  size_t row = kv::cuda::findKernel(name) - kv::cuda::KernelLaunches.data();
  return static_cast<kv::cuda::Module &>(**module).kernel(row).blocks;
}

TEST(Module, BlocksThatAnSmRuns) {
  for (const kv::cuda::AttentionKernel &kernel : kv::cuda::AttentionKernels)
    EXPECT_GE(blocksOn(Hopper, kernel.name), kernel.blocks90) << kernel.name;
  // Chips with 100 KiB run fewer than those with 164, for which it was built.
  constexpr std::string_view Name = "kv_attention_decode_bf16_128";
  const auto &kernel = *std::find_if(
      std::begin(kv::cuda::AttentionKernels),
      std::end(kv::cuda::AttentionKernels),
      [&](const kv::cuda::AttentionKernel &k) { return k.name == Name; });
  int shared = kernel.sharedBytes(80) + 1024;
  EXPECT_EQ(blocksOn(Ada, Name), (100 << 10) / shared);
  EXPECT_LT(blocksOn(Ada, Name), kernel.blocks80);
}

// Where groups of SMs are odd, fewer than the blocks would make.
TEST(Module, ClustersThatAGpuRuns) {
  constexpr std::string_view Name = "kv_latent_pairs_bf16_576";
  auto load = [&]() -> Expected<kv::cuda::LoadedKernel> {
    auto backend = kv::cuda::Backend::open(Hopper);
    auto module =
        (*backend)->load({{std::string(Name), "sm_90a",
                           cubin(90, ".entry " + std::string(Name) + "()")}});
    if (!module)
      return std::unexpected(module.error());
    size_t row = kv::cuda::findKernel(Name) - kv::cuda::KernelLaunches.data();
    return static_cast<kv::cuda::Module &>(**module).kernel(row);
  };
  auto all = load();
  ASSERT_TRUE(all);
  EXPECT_EQ(all->clusters, 1);
  EXPECT_EQ(all->parts(/*multiprocessors=*/132, /*together=*/2), 1);
  fake::limitClusters(0);
  auto none = load();
  fake::limitClusters(INT_MAX);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message,
            "kernel image kv_latent_pairs_bf16_576 (sm_90a): Fake 9.0 (sm_90) "
            "cannot run a cluster of 2 blocks of kv_latent_pairs_bf16_576");
  // A driver that cannot say.
  kv::cuda::LoadedKernel unknown = *all;
  unknown.clusters = 0;
  EXPECT_EQ(unknown.parts(132, 2), 66);
}

TEST(Module, WhatAnImageHolds) {
  EXPECT_EQ(load(Hopper, {"sm_90a"}, "kv_attention_decode_bf16_64"), "sm 90");
  EXPECT_EQ(load(Hopper, {"sm_90a"}, "kv_tea"),
            "kernel image kv_tea (sm_90a): this runtime knows no kernel of "
            "this name: compile the model again");
  EXPECT_EQ(load(Hopper, {"sm_90a"}, "kv_movers", ".entry kv_plan()"),
            "kernel image kv_movers (sm_90a): it has no kernel kv_merge: "
            "compile the model again");
  // Names that only begin alike are others.
  EXPECT_EQ(load(Hopper, {"sm_90a"}, "kv_attention_decode_bf16_64",
                 ".entry kv_attention_decode_bf16_641()"),
            "kernel image kv_attention_decode_bf16_64 (sm_90a): it has no "
            "kernel kv_attention_decode_bf16_64: compile the model again");
}

/// What loading a kernel's image says on a GPU whose blocks have 99 KiB.
static std::string loadedSmall(int device, const char *gpu, const char *chip,
                               std::string_view name, int shared, int sm) {
  std::string expected =
      shared <= 101376
          ? concat("sm ", sm)
          : concat("kernel image ", name, " (", chip, "): ", name, " needs ",
                   shared, " bytes of shared memory a block, ", gpu,
                   " has 101376");
  EXPECT_EQ(load(device, {chip}, std::string(name)), expected);
  return expected;
}

TEST(Module, SharedMemory) {
  // More than a block may have on an 8.6, which takes sm_80's code.
  for (const kv::cuda::AttentionKernel &kernel : kv::cuda::AttentionKernels)
    loadedSmall(Ada, "Fake 8.6 (sm_86)", "sm_80", kernel.name,
                kernel.sharedBytes80, 80);
  // Code for 12.0 fits but over the longest latent rows.
  for (const kv::cuda::AttentionKernel &kernel : kv::cuda::AttentionKernels)
    EXPECT_EQ(loadedSmall(Desktop, "Fake 12.0 (sm_120)", "sm_120", kernel.name,
                          kernel.sharedBytes120, 120) == "sm 120",
              kernel.headDim != 576)
        << kernel.name;
}

TEST(Module, BadImages) {
  auto backend = kv::cuda::Backend::open(Hopper);
  std::vector<KernelImage> images = {{"kv_movers", "sm_90a", "nonsense"}};
  auto module = (*backend)->load(images);
  ASSERT_FALSE(module);
  EXPECT_EQ(module.error().message,
            "kernel image kv_movers (sm_90a): cuModuleLoadData: a PTX JIT "
            "compilation failed (218)");
  EXPECT_EQ(fake::takeProblems(),
            std::vector<std::string>{"neither a cubin nor PTX"});
  // Other artifacts are not concerned.
  EXPECT_TRUE((*backend)->status());
  images = {{"kv_movers", "sm_90a", cubin(80, allKernels())}};
  EXPECT_EQ((*backend)->load(images).error().message,
            "kernel image kv_movers (sm_90a): cuModuleLoadData: no kernel "
            "image is available for execution on the device (209)");
  fake::takeProblems();
}
