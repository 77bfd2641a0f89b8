//===- Ceilings.cpp - What a device can do at most ------------------------===//

#include "Ceilings.h"
#include "RandomFill.h"
#include "Timing.h"

#include <algorithm>

using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

/// transpose(A) B of square bf16 matrices.
struct Multiplication {
  explicit Multiplication(const driver::CublasLt &api) : api(api) {}
  ~Multiplication() {
    if (layout)
      api.layoutDestroy(layout);
    if (descriptor)
      api.descriptorDestroy(descriptor);
    if (handle)
      api.destroy(handle);
  }
  /// cuBLASLt's status.
  int prepare(int64_t n) {
    int transposed = driver::Transposed;
    int r = api.create(&handle);
    r = r ? r
          : api.descriptorCreate(&descriptor, driver::ComputeF32,
                                 driver::TypeF32);
    r = r ? r
          : api.descriptorSet(descriptor, driver::DescriptorTransA, &transposed,
                              sizeof(transposed));
    return r ? r : api.layoutCreate(&layout, driver::TypeBf16, n, n, n);
  }

  const driver::CublasLt &api;
  driver::Handle handle = nullptr;
  driver::Descriptor descriptor = nullptr;
  driver::Layout layout = nullptr;
};

double measureMultiply(Gpu &gpu, Report &report) {
  auto loaded = driver::loadCublasLt();
  if (!loaded) {
    report.left.push_back("the GEMM ceiling: " + loaded.error().message);
    return 0;
  }
  constexpr int64_t N = 8192;
  constexpr size_t WorkspaceBytes = size_t(64) << 20;
  Multiplication m(**loaded);
  float one = 1, zero = 0;
  if (int status = m.prepare(N)) {
    report.left.push_back("the GEMM ceiling: cuBLASLt refuses it with status " +
                          std::to_string(status));
    return 0;
  }
  void *matrices[4];
  for (void *&matrix : matrices) {
    size_t bytes = &matrix == &matrices[3] ? WorkspaceBytes : N * N * 2;
    matrix = gpu.allocate(bytes);
    fillRandom<Bf16>(gpu, matrix, bytes);
  }
  int status = 0;
  double time =
      median(gpu.time(20,
                      [&] {
                        status |= m.api.matmul(
                            m.handle, m.descriptor, &one, matrices[0], m.layout,
                            matrices[1], m.layout, &zero, matrices[2], m.layout,
                            matrices[2], m.layout, nullptr, matrices[3],
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
