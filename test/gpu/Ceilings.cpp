//===- Ceilings.cpp - What a device can do at most ------------------------===//

#include "Ceilings.h"
#include "Timing.h"

#include <algorithm>

using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

double measureMultiply(Gpu &gpu, Report &report) {
  auto loaded = driver::loadCublasLt();
  if (!loaded) {
    report.left.push_back("the GEMM ceiling: " + loaded.error().message);
    return 0;
  }
  const driver::CublasLt &lt = **loaded;
  constexpr int64_t N = 8192;
  constexpr size_t WorkspaceBytes = size_t(64) << 20;
  driver::Handle handle = nullptr;
  driver::Descriptor multiply = nullptr;
  driver::Layout layout = nullptr;
  int transposed = driver::Transposed;
  float one = 1, zero = 0;
  if (lt.create(&handle) ||
      lt.descriptorCreate(&multiply, driver::ComputeF32, driver::TypeF32) ||
      lt.descriptorSet(multiply, driver::DescriptorTransA, &transposed,
                       sizeof(transposed)) ||
      lt.layoutCreate(&layout, driver::TypeBf16, N, N, N)) {
    report.left.push_back("the GEMM ceiling: cuBLASLt refuses it");
    return 0;
  }
  void *matrices[4];
  for (void *&matrix : matrices) {
    size_t bytes = &matrix == &matrices[3] ? WorkspaceBytes : N * N * 2;
    matrix = gpu.allocate(bytes);
    gpu.fill(matrix, 0x3c, bytes);
  }
  int status = 0;
  double time =
      median(gpu.time(20,
                      [&] {
                        status |= lt.matmul(handle, multiply, &one, matrices[0],
                                            layout, matrices[1], layout, &zero,
                                            matrices[2], layout, matrices[2],
                                            layout, nullptr, matrices[3],
                                            WorkspaceBytes, gpu.stream());
                      })) /
      1000;
  for (void *matrix : matrices)
    gpu.free(matrix);
  if (status) {
    report.left.push_back("the GEMM ceiling: cuBLASLt fails");
    return 0;
  }
  double rate = 2.0 * N * N * N / time;
  report.rows.push_back({"GEMM ceiling bf16 8192",
                         "operations",
                         "TFLOP/s",
                         rate / 1e12,
                         "",
                         {},
                         {}});
  return rate;
}

} // namespace

Ceilings kv::cuda::test::measureCeilings(Gpu &gpu, Report &report) {
  int64_t bytes = std::min<int64_t>(int64_t(2) << 30, gpu.memoryBytes / 4);
  bytes = bytes / 16 * 16;
  void *from = gpu.allocate(bytes), *to = gpu.allocate(bytes);
  gpu.fill(from, 1, bytes);
  CeilingParams p{from, to, bytes / 16};
  Ceilings ceilings;
  int blocks = gpu.multiprocessors * 4;
  auto rate = [&](const char *kernel, double moved) {
    return moved /
           (median(gpu.time(20, [&] { gpu.launch(kernel, blocks, &p); })) /
            1000);
  };
  ceilings.read = rate("kv_test_read", bytes);
  ceilings.copy = rate("kv_test_copy", 2.0 * bytes);
  gpu.free(from);
  gpu.free(to);
  report.rows.push_back(
      {"read ceiling", "bytes", "GB/s", ceilings.read / 1e9, "", {}, {}});
  report.rows.push_back({"copy ceiling",
                         "bytes read and written",
                         "GB/s",
                         ceilings.copy / 1e9,
                         "",
                         {},
                         {}});
  ceilings.multiply = measureMultiply(gpu, report);
  return ceilings;
}
