//===- Ceilings.cpp - What a device can do at most ------------------------===//

#include "Ceilings.h"
#include "Step.h"
#include "Suite.h"

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

/// 2 GiB (of small devices a quarter of the memory) read and copied, and bf16
/// matrices of 8192 by cuBLASLt, which chooses itself.
class CeilingRows final : public Suite {
public:
  CeilingRows(Gpu &gpu, const SuiteOptions &options)
      : gpu(gpu), small(options.small) {}

  std::vector<Row> rows() override {
    std::vector<Row> rows{{"read ceiling", 1}, {"copy ceiling", 1}};
    if (!small) // the fake's cuBLASLt chooses nothing itself
      rows.push_back({"multiply ceiling", 3});
    return rows;
  }

  Result run(const std::string &row) override {
    if (row == "multiply ceiling")
      return multiply();
    bool copies = row == "copy ceiling";
    int64_t bytes = std::min<int64_t>(int64_t(2) << 30, gpu.memoryBytes / 8);
    if (small)
      bytes = 1 << 20;
    Buffers buffers(gpu);
    CeilingParams p{buffers.make(bytes, 1), nullptr, bytes / 16};
    p.to = copies ? buffers.make(bytes, 0) : nullptr;
    const char *kernel = copies ? "kv_test_copy" : "kv_test_read";
    double seconds =
        median(gpu.time(
            20, [&] { gpu.launch(kernel, gpu.multiprocessors * 4, &p); })) /
        1000;
    double moved = double(bytes) * (copies ? 2 : 1);
    return {true, "", {{"bytes", "GB/s", moved / seconds / 1e9}}};
  }

private:
  Result multiply() {
    auto loaded = driver::loadCublasLt();
    if (!loaded)
      return Result::failed(loaded.error().message);
    constexpr int64_t N = 8192;
    constexpr size_t WorkspaceBytes = size_t(64) << 20;
    Multiplication m(**loaded);
    float one = 1, zero = 0;
    if (int status = m.prepare(N))
      return Result::failed("cuBLASLt refuses it with status " +
                            std::to_string(status));
    Buffers buffers(gpu);
    // Noise: equal numbers would be multiplied with less power, so at a higher
    // clock, than a model's.
    void *matrices[3];
    for (void *&matrix : matrices) {
      NoiseParams noise{nullptr, N * N, N * N, 8, KV_DTYPE_BF16, 0};
      matrix = buffers.makeNoise(noise);
    }
    void *workspace = buffers.make(WorkspaceBytes, 0);
    int status = 0;
    double seconds =
        median(gpu.time(20,
                        [&] {
                          status |= m.api.matmul(
                              m.handle, m.descriptor, &one, matrices[0],
                              m.layout, matrices[1], m.layout, &zero,
                              matrices[2], m.layout, matrices[2], m.layout,
                              nullptr, workspace, WorkspaceBytes, gpu.stream());
                        })) /
        1000;
    if (status)
      return Result::failed("cuBLASLt fails");
    return {true,
            "",
            {{"operations", "TFLOP/s", 2.0 * N * N * N / seconds / 1e12},
             {"clock", "MHz", gpu.clock()}}};
  }

  Gpu &gpu;
  bool small;
};

} // namespace

std::unique_ptr<Suite>
kv::cuda::test::makeCeilings(Gpu &gpu, const SuiteOptions &options) {
  return std::make_unique<CeilingRows>(gpu, options);
}
