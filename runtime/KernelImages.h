//===- KernelImages.h - Device code of an artifact --------------*- C++ -*-===//

#ifndef KV_RUNTIME_KERNELIMAGES_H
#define KV_RUNTIME_KERNELIMAGES_H

#include "kv/Runtime/DeviceBackend.h"

#include <filesystem>

namespace kv {

/// Reads the section .kv.kernels. Any file is safe to give; errors name it.
Expected<std::vector<KernelImage>>
readKernelImages(const std::filesystem::path &artifact);

} // namespace kv

#endif // KV_RUNTIME_KERNELIMAGES_H
