//===- Kernels.h - Modules and launches of the fake driver ------*- C++ -*-===//

#ifndef KV_TEST_CUDA_FAKE_KERNELS_H
#define KV_TEST_CUDA_FAKE_KERNELS_H

#include "../../../kernels/cuda/KernelTable.h"
#include "State.h"

namespace kv::fake {

struct FakeModule {
  std::string image;
  int sm; // what KernelTable.h calls so
};

struct FakeFunction {
  const kv::cuda::KernelLaunch *kernel;
  int sm;
  int sharedBytes = 48 << 10; // allowed without asking
};

/// Checks that the image is code for this device.
Status loadModule(const void *image, const DeviceModel &device,
                  FakeModule &module);
/// Whether a symbol of this name is in the image.
bool hasSymbol(const std::string &image, const std::string &name);
/// Checks the launch and queues the kernel's twin.
Status launch(const FakeFunction &function, unsigned blocks, unsigned threads,
              unsigned sharedBytes, const void *params, size_t paramBytes,
              void *stream);

} // namespace kv::fake

#endif // KV_TEST_CUDA_FAKE_KERNELS_H
