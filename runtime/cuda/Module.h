//===- Module.h - An artifact's kernels on a GPU ----------------*- C++ -*-===//

#ifndef KV_RUNTIME_CUDA_MODULE_H
#define KV_RUNTIME_CUDA_MODULE_H

#include "../../kernels/cuda/KernelTable.h"
#include "Backend.h"

namespace kv::cuda {

struct LoadedKernel {
  driver::Function function = nullptr; // null: not in the artifact
  int sm = 80;                         // what KernelTable.h calls sm
};

class Module final : public DeviceModule {
public:
  /// For each name the code for exactly this chip, else PTX. Errors: neither is
  /// there, a name that is none of KernelTable.h, too little shared memory.
  static Expected<std::unique_ptr<DeviceModule>>
  load(Backend &backend, const std::vector<KernelImage> &images);
  ~Module() override;

  /// Of a row of KernelLaunches.
  const LoadedKernel &kernel(size_t row) const { return kernels[row]; }

private:
  explicit Module(Backend &backend) : backend(backend) {}
  Expected<void> add(const KernelImage &image);
  Expected<void> addKernel(driver::Module from, size_t row, int sm);

  Backend &backend;
  std::vector<driver::Module> modules;
  std::array<LoadedKernel, KernelLaunches.size()> kernels = {};
};

} // namespace kv::cuda

#endif // KV_RUNTIME_CUDA_MODULE_H
