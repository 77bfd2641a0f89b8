//===- GpuBackend.h - Kernels on a GPU --------------------------*- C++ -*-===//

#ifndef KV_TEST_GPU_GPUBACKEND_H
#define KV_TEST_GPU_GPUBACKEND_H

#include "Gpu.h"
#include "test/kernels/Backend.h"

namespace kv::cuda::test {

/// The device that canRun asks, and of all backends that makeBackend makes from
/// now on.
void setGpu(Gpu *gpu);
Gpu &currentGpu();

/// Why a kernel cannot run there; empty: it can.
std::string whyLeftOut(std::string_view kernel);

/// Memory of a GPU with a guard on both sides. What writes there, or to what it
/// was given to read, is reported.
class GpuBackend final : public Backend {
public:
  explicit GpuBackend(Gpu &gpu) : gpu(gpu) {}
  ~GpuBackend() override;

  void *give(const void *data, size_t bytes, Access access) override;
  void *givePool(const void *data, size_t bytes, size_t from,
                 size_t used) override;
  TensorMap encode(const TensorDescription &tensor) override;
  void take(void *data, const void *given, size_t bytes) override;
  void launch(std::string_view name, int blocks, const void *params,
              int cluster) override;
  std::vector<std::string> reports() override;

private:
  struct Block {
    char *memory; // with its guards
    size_t bytes;
    const void *original; // of what is only read, else null
  };
  char *allocate(size_t bytes, const void *original);

  Gpu &gpu;
  std::vector<Block> blocks;
  std::vector<std::string> problems;
};

} // namespace kv::cuda::test

#endif // KV_TEST_GPU_GPUBACKEND_H
