//===- ImageParameters.h - The arguments in an image ------------*- C++ -*-===//
//
// A cubin says of each kernel at which offset of the parameter space ptxas
// expects each argument (EIATTR_KPARAM_INFO of the section .nv.info.<kernel>).
// The space begins where the chip's constant bank has its parameters, so that
// an argument of a large alignment need not lie at offset 0.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_DEVICE_IMAGEPARAMETERS_H
#define KV_KERNELS_CUDA_DEVICE_IMAGEPARAMETERS_H

#include "kernels/cuda/parameters/KernelTable.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kv::cuda {

/// One argument, in bytes.
struct ImageParameter {
  uint32_t offset, bytes; // from the beginning of the parameter space
};

/// A kernel as its image describes it.
struct ImageKernel {
  std::string name;
  uint32_t spaceOffset = 0; // of the parameter space in the constant bank
  std::vector<ImageParameter> parameters;
};

/// The kernels of a cubin, which may begin at any byte; empty: it has none, or
/// is damaged.
std::vector<ImageKernel> readImage(std::span<const char> cubin);

/// The problem of a kernel whose host writes one structure; empty if there is
/// none.
std::string problemOf(const ImageKernel &kernel, ArgumentShape wanted);

/// The program that the build runs: arguments are cubins. Gives the exit
/// status, 1 where a kernel's arguments lie elsewhere than `find(name)` says or
/// it knows no such kernel, and prints a line for each.
int checkImages(std::span<char *> paths,
                std::optional<ArgumentShape> (*find)(std::string_view name));

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_DEVICE_IMAGEPARAMETERS_H
