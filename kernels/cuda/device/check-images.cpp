//===- check-images.cpp - Whether images and host agree on arguments ------===//
//
// check-images CUBIN...: of the kernels of KernelTable.h. The build runs it.
//
//===----------------------------------------------------------------------===//

#include "ImageParameters.h"

using namespace kv::cuda;

int main(int argc, char **argv) {
  return checkImages({argv + 1, size_t(argc - 1)},
                     [](std::string_view name) -> std::optional<ArgumentShape> {
                       if (const KernelLaunch *kernel = findKernel(name))
                         return kernel->argument;
                       return {};
                     });
}
