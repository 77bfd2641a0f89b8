//===- Nccl.h - NCCL, loaded ------------------------------------*- C++ -*-===//
//
// Declares what the runtime uses of NCCL, as Driver.h does for the driver.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_CUDA_DRIVER_NCCL_H
#define KV_RUNTIME_CUDA_DRIVER_NCCL_H

#include "Driver.h"

namespace kv::cuda::nccl {

using driver::Stream;
using Result = int; // ncclResult_t; 0: success
using Comm = struct CommTag *;

enum : Result { InProgress = 7 };
enum : int { Int8 = 0 }; // ncclDataType_t

struct UniqueId {
  char bytes[128];
};

/// ncclConfig_t as NCCL 2.14 had it first. Later versions take it, by its size
/// and version, and have their defaults for what came afterwards.
struct CommConfig {
  size_t size = sizeof(CommConfig);
  unsigned magic = 0xcafebeef;
  unsigned version = 21400;
  int blocking = 1;
};

/// The functions of Nccl.def, loaded.
struct Nccl {
#define KV_NCCL(result, member, symbol, ...) result (*member)(__VA_ARGS__);
#include "Nccl.def"
};

/// The functions of libnccl.so.2 (FindCublasLt.h), loaded once. The environment
/// variable KV_NCCL_LIBRARY names another file, and so does KV_CUDA_DRIVER.
/// Errors: one sentence that names what is missing.
Expected<const Nccl *> loadNccl();

} // namespace kv::cuda::nccl

#endif // KV_RUNTIME_CUDA_DRIVER_NCCL_H
