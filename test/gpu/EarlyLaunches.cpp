//===- EarlyLaunches.cpp - Kernels that begin before others end -----------===//
//
// Each launch may begin before the one before it has ended, and reads what that
// one writes: a wait that is missing, or memory that is seen too late, shows in
// the sums.
//
//===----------------------------------------------------------------------===//

#include "GpuBackend.h"
#include "Step.h"
#include "kernels/cuda/parameters/Movers.h"
#include "test/kernels/instructions/InstructionBodies.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <numeric>

using namespace kv::cuda;
using namespace kv::cuda::test;

void Gpu::launchEarly(std::string_view name, int blocks, const void *params,
                      int cluster) {
  const Kernel &kernel = find(name);
  launched.emplace(name);
  void *arguments[] = {const_cast<void *>(params)};
  check(driver::launchEarly(api, kernel.function, blocks, cluster,
                            kernel.threads, kernel.sharedBytes, queue,
                            arguments),
        "cuLaunchKernelEx");
}

bool Gpu::launchesEarly(std::string_view name) {
  return hasClusters(imageOf(name).sm()) && api.launchKernelEx;
}

namespace {

constexpr const char *NeverEarly = "no kernel begins early here";

/// 10^4; fewer where each takes milliseconds.
int launchCount() {
  const char *given = std::getenv("KV_TEST_EARLY_LAUNCHES");
  return given ? int(std::strtol(given, nullptr, 10)) : 10000;
}

} // namespace

TEST(Instruction, GridDependency) {
  Gpu &gpu = currentGpu();
  const char *kernel = "kv_test_grid_dependency";
  if (!gpu.launchesEarly(kernel))
    GTEST_SKIP() << NeverEarly;
  constexpr int Blocks = 64;
  std::vector<float> counts(Blocks * InstructionThreads);
  Buffers buffers(gpu);
  float *a = buffers.copyOf(counts), *b = buffers.copyOf(counts);
  InstructionParams there{a, b, nullptr, int32_t(counts.size())},
      back{b, a, nullptr, int32_t(counts.size())};
  int pairs = launchCount() / 2;
  for (int i = 0; i < pairs; ++i) {
    gpu.launchEarly(kernel, Blocks, &there);
    gpu.launchEarly(kernel, Blocks, &back);
  }
  gpu.copyOut(counts.data(), a, counts.size() * sizeof(float));
  EXPECT_EQ(counts, std::vector<float>(counts.size(), float(2 * pairs)));
}

// Rows change places, get a number more, and change places again.
TEST(Mover, EarlyLaunches) {
  Gpu &gpu = currentGpu();
  if (!gpu.launchesEarly("kv_embedding"))
    GTEST_SKIP() << NeverEarly;
  constexpr int Rows = 96, Width = 40;
  int rounds = launchCount() / 3;
  std::vector<float> x(Rows * Width), more(Width);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = float(i % 1013);
  std::iota(more.begin(), more.end(), 0.0f);
  std::vector<int32_t> from(Rows), back(Rows);
  for (int i = 0; i < Rows; ++i) {
    from[i] = i * 35 % Rows;
    back[i] = (i * 5 + 7) % Rows;
  }
  Buffers buffers(gpu);
  auto *a = buffers.copyOf(x), *b = buffers.copyOf(x), *c = buffers.copyOf(x);
  auto *errors = buffers.copyOf(std::vector<uint64_t>(1));
  auto moveRows = [&](const std::vector<int32_t> &ids, float *in, float *out) {
    return EmbeddingParams{buffers.copyOf(ids),
                           in,
                           out,
                           Width,
                           Width,
                           Rows,
                           Width,
                           Rows,
                           KV_DTYPE_F32,
                           KV_DTYPE_F32,
                           errors};
  };
  EmbeddingParams first = moveRows(from, a, b), last = moveRows(back, c, a);
  ElementwiseParams add{b,
                        buffers.copyOf(more),
                        c,
                        Width,
                        0,
                        Width,
                        Rows,
                        Width,
                        KV_DTYPE_F32,
                        KV_DTYPE_F32,
                        KV_DTYPE_F32,
                        2,
                        {{ElementOp::Get, ElementSource::A, 0},
                         {ElementOp::Add, ElementSource::B, 0}}};
  for (int i = 0; i < rounds; ++i) {
    gpu.launchEarly("kv_embedding", Rows, &first);
    gpu.launchEarly("kv_elementwise", Rows, &add);
    gpu.launchEarly("kv_embedding", Rows, &last);
  }
  std::vector<float> got(x.size()), expected = x, moved(x.size());
  gpu.copyOut(got.data(), a, got.size() * sizeof(float));
  // All sums are whole numbers that f32 has.
  for (int i = 0; i < rounds; ++i) {
    for (int row = 0; row < Rows; ++row)
      for (int j = 0; j < Width; ++j)
        moved[row * Width + j] =
            expected[from[back[row]] * Width + j] + more[j];
    expected.swap(moved);
  }
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_EQ(got[i], expected[i])
        << "row " << i / Width << ", column " << i % Width << " after "
        << rounds * 3 << " launches";
}
