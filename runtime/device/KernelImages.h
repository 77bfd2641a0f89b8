//===- KernelImages.h - Device code of an artifact --------------*- C++ -*-===//

#ifndef KV_RUNTIME_DEVICE_KERNELIMAGES_H
#define KV_RUNTIME_DEVICE_KERNELIMAGES_H

#include "kv/Runtime/Device/DeviceBackend.h"

#include <filesystem>

namespace kv {

/// Reads the section .kv.kernels of an artifact. Damaged and hostile files are
/// errors, which name the file.
Expected<std::vector<KernelImage>>
readKernelImages(const std::filesystem::path &artifact);

} // namespace kv

#endif // KV_RUNTIME_DEVICE_KERNELIMAGES_H
