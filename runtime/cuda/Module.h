//===- Module.h - An artifact's kernels on a GPU ----------------*- C++ -*-===//

#ifndef KV_RUNTIME_CUDA_MODULE_H
#define KV_RUNTIME_CUDA_MODULE_H

#include "Backend.h"
#include "kernels/cuda/parameters/KernelTable.h"

namespace kv::cuda {

/// A kernel of an artifact on the GPU.
struct LoadedKernel {
  driver::Function function = nullptr; // null: not in the artifact
  int sm = 80;                         // whose shapes it has (KernelTable.h)
  int blocks = 0; // that an SM runs at once, as the driver says
  /// For a kernel whose blocks form clusters: the clusters that the GPU runs at
  /// once. If a part of the chip has an odd number of SMs, these are fewer than
  /// the blocks would make. 0: the driver cannot say.
  int clusters = 0;

  /// Whether the kernel itself waits for those before it: code for 9.0 and
  /// later does.
  bool waits() const { return hasClusters(sm); }

  /// The launches of `together` blocks each that the GPU runs at once.
  int parts(int multiprocessors, int together) const {
    return clusters ? clusters : multiprocessors * blocks / together;
  }
};

/// An artifact's device code, loaded to a GPU.
class Module final : public DeviceModule {
public:
  /// Loads for each name among `images` the machine code for exactly this GPU,
  /// or else PTX that it can compile. The backend must outlive the module.
  /// Errors: a name without code for this GPU; a name that is not in
  /// KernelTable.h; a kernel of which an SM cannot run a block.
  static Expected<std::unique_ptr<DeviceModule>>
  load(Backend &backend, const std::vector<KernelImage> &images);
  ~Module() override;

  /// No other module of the process has or had it, as one may have an address.
  const uint64_t serial;

  /// The kernel of a row of KernelLaunches; its function is null if the
  /// artifact does not contain it.
  const LoadedKernel &kernel(size_t row) const { return kernels[row]; }

private:
  explicit Module(Backend &backend);
  Expected<void> add(const KernelImage &image);
  Expected<void> addKernel(driver::Module from, size_t row, int sm);
  Expected<void> countClusters(LoadedKernel &kernel, const KernelLaunch &launch,
                               int bytes);

  Backend &backend;
  std::vector<driver::Module> modules;
  std::array<LoadedKernel, KernelLaunches.size()> kernels = {};
};

} // namespace kv::cuda

#endif // KV_RUNTIME_CUDA_MODULE_H
