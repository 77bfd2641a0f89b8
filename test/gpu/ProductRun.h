//===- ProductRun.h - The runtime's products on a GPU -----------*- C++ -*-===//

#ifndef KV_TEST_GPU_PRODUCTRUN_H
#define KV_TEST_GPU_PRODUCTRUN_H

#include "Step.h"
#include "runtime/cuda/Matmul.h"

namespace kv::cuda::test {

struct ProductShape {
  KvDType type, outType;
  int64_t n, k;
  std::string name() const;
};

/// Noise times noise by runtime/cuda's Matmuls. Row r of x is row r %
/// PeriodRows, so that all results are known from those of the first rows.
class ProductRun {
public:
  static constexpr int64_t PeriodRows = 64;

  /// Error: cuBLASLt is not there or refuses.
  static Expected<std::unique_ptr<ProductRun>>
  create(Gpu &gpu, const ProductShape &shape, int64_t rows, bool deterministic);

  /// Queues the first m rows and waits for them.
  Expected<void> run(int64_t m);
  /// Queues them on the runtime's queue, `repeats` times, and gives the
  /// milliseconds of one.
  Expected<double> time(int64_t m, int repeats);
  /// [m][n], after run(m).
  std::vector<char> read(int64_t m) const;
  /// Why some elements of the first rows are not the sums; empty: they are.
  std::string checkSamples(int64_t m) const;

private:
  ProductRun(Gpu &gpu, const ProductShape &shape)
      : gpu(gpu), shape(shape), buffers(gpu) {}
  size_t outBytes() const { return shape.outType == KV_DTYPE_F32 ? 4 : 2; }
  Expected<void> queue(int64_t m);

  Gpu &gpu;
  ProductShape shape;
  Buffers buffers;
  std::unique_ptr<Backend> backend;
  std::optional<Matmuls> matmuls;
  NoiseParams x, weight;
  void *out = nullptr;
};

} // namespace kv::cuda::test

#endif // KV_TEST_GPU_PRODUCTRUN_H
