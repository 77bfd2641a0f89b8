//===- KernelImages.h - Device code of an artifact --------------*- C++ -*-===//

#ifndef KV_LIB_COMPILER_KERNELIMAGES_H
#define KV_LIB_COMPILER_KERNELIMAGES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace kv {

/// The section .kv.kernels (kv/ABI/KernelImages.h) with each image for each
/// chip, and as PTX for later ones: the files <image>.<chip>.cubin and
/// <image>.compute_80.ptx of `folder`; no PTX where a build for few chips has
/// none. Errors name the file that is not there.
llvm::Expected<std::string>
collectKernelImages(llvm::StringRef folder,
                    llvm::ArrayRef<llvm::StringRef> images,
                    llvm::ArrayRef<llvm::StringRef> chips);

} // namespace kv

#endif // KV_LIB_COMPILER_KERNELIMAGES_H
