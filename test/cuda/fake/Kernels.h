//===- Kernels.h - Modules and launches of the fake driver ------*- C++ -*-===//

#ifndef KV_TEST_CUDA_FAKE_KERNELS_H
#define KV_TEST_CUDA_FAKE_KERNELS_H

#include "State.h"
#include "kernels/cuda/device/ImageParameters.h"
#include "kernels/cuda/parameters/Watchdog.h"

#include <optional>

namespace kv::fake {

struct FakeModule {
  std::string image;
  int chip; // of its code, 100 of sm_100a
  /// As a cubin that ptxas has made describes them. PTX, and what tests write
  /// by hand, says nothing of offsets.
  std::vector<kv::cuda::ImageKernel> kernels;
  /// The variable WatchdogSymbol in device memory; null: there is none.
  kv::cuda::WatchdogReport **watchdog = nullptr;
};

struct FakeFunction {
  kv::cuda::KernelLaunch kernel;
  std::optional<kv::cuda::ImageKernel> image; // of cubins that ptxas has made
  int chip;                                   // its module's
  kv::cuda::WatchdogReport **watchdog = nullptr;
  int sharedBytes = 48 << 10; // allowed without asking

  /// What KernelTable.h calls so.
  int sm() const { return kv::cuda::shapesOfChip(chip); }
};

/// Checks that the image is code for this device.
Status loadModule(const void *image, const DeviceModel &device,
                  FakeModule &module);
/// The project's kernel of that name, or one of test/gpu. Nothing: there is
/// none, or it is not in the image.
std::optional<FakeFunction> findFunction(const FakeModule &module,
                                         const std::string &name);
/// The address of the variable of an image; null: it has none of that name.
void *findVariable(FakeModule &module, const std::string &name);
/// The most blocks of an SM, whatever they need.
constexpr int MostBlocks = 32;
/// The blocks of a kernel that an SM runs at once: by its shared memory, its
/// threads, and its registers, of which a kernel has what its budget allows.
int blocksOf(const FakeFunction &function, const DeviceModel &device,
             int threads, int sharedBytes);
/// The clusters of so many blocks that run at once.
int clustersOf(const FakeFunction &function, const DeviceModel &device,
               int threads, int sharedBytes, int cluster);
/// Checks the launch and queues the kernel's twin, whose blocks form clusters
/// of so many. `arguments` has the address of each argument, as kernelParams of
/// cuLaunchKernel; they are copied. `early`: the kernel may begin before the
/// one before it on the stream has ended, and then does so.
Status launch(const FakeFunction &function, unsigned blocks, unsigned threads,
              unsigned sharedBytes, void **arguments, void *stream,
              bool early = false, int cluster = 1);

} // namespace kv::fake

#endif // KV_TEST_CUDA_FAKE_KERNELS_H
