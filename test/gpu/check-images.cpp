//===- check-images.cpp - Whether images and host agree on arguments ------===//
//
// check-images CUBIN...: of the kernels of VerifyKernels.h. The build runs it.
//
//===----------------------------------------------------------------------===//

#include "VerifyKernels.h"
#include "kernels/cuda/device/ImageParameters.h"

using namespace kv::cuda;

int main(int argc, char **argv) {
  return checkImages({argv + 1, size_t(argc - 1)},
                     [](std::string_view name) -> std::optional<ArgumentShape> {
                       if (const auto *kernel = test::findVerifyKernel(name))
                         return kernel->argument;
                       return {};
                     });
}
