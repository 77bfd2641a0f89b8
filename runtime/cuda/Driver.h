//===- Driver.h - The CUDA driver and cuBLASLt, loaded ----------*- C++ -*-===//
//
// The functions, types and values that the runtime uses, declared here: a
// machine without CUDA builds the project. Both libraries are looked for when a
// device is opened; test/cuda/HeadersTest compares all of this with CUDA's own
// headers where they are.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_CUDA_DRIVER_H
#define KV_RUNTIME_CUDA_DRIVER_H

#include "kv/Runtime/Error.h"

#include <cstddef>
#include <cstdint>

namespace kv::cuda::driver {

using Result = int; // CUresult, cublasStatus_t; 0: success
using Pointer = unsigned long long;
using Context = struct ContextTag *;
using Stream = struct StreamTag *;
using Event = struct EventTag *;
using Module = struct ModuleTag *;
using Function = struct FunctionTag *;

enum : int {
  AttributeMultiprocessors = 16,
  AttributeMajor = 75,
  AttributeMinor = 76,
  AttributeSharedBytes = 97, // that a block may have if it asks
  FunctionSharedBytes = 8,   // of cuFuncSetAttribute
};
enum : unsigned { StreamNonBlocking = 1, EventNoTiming = 2, HostPortable = 1 };

// The array `extra` of cuLaunchKernel.
inline void *const LaunchBufferPointer = reinterpret_cast<void *>(1);
inline void *const LaunchBufferSize = reinterpret_cast<void *>(2);
inline void *const LaunchEnd = nullptr;

struct Location {
  int type, id;
};
struct CopyAttributes {
  int sourceOrder; // SourceInStreamOrder
  Location source, target;
  unsigned flags;
};
enum : int { SourceInStreamOrder = 1 };

/// The driver's functions.
struct Driver {
#define KV_DRIVER(member, symbol, ...) Result (*member)(__VA_ARGS__);
#include "Driver.def"
};

//===--- cuBLASLt ---------------------------------------------------------===//

using Handle = struct HandleTag *;
using Descriptor = struct DescriptorTag *;
using Layout = struct LayoutTag *;
using Preference = struct PreferenceTag *;

struct Algorithm {
  uint64_t data[8];
};
struct Heuristic {
  Algorithm algorithm;
  size_t workspaceBytes;
  Result state;
  float waves;
  int reserved[4];
};

enum : int {
  TypeF32 = 0, // cudaDataType_t
  TypeF16 = 2,
  TypeBf16 = 14,
  ComputeF32 = 68,
  Transposed = 1, // cublasOperation_t
  DescriptorTransA = 3,
  LayoutColumns = 3,
  LayoutLeading = 4,
  PreferenceWorkspace = 1,
  PreferenceReductions = 3,
  PreferenceAlignmentA = 5, // B, C and D follow
};

struct CublasLt {
#define KV_CUBLASLT(member, symbol, ...) Result (*member)(__VA_ARGS__);
#include "CublasLt.def"
};

/// Both, loaded from libcuda.so.1 and libcublasLt.so, or from the one file that
/// the environment's KV_CUDA_DRIVER names. They stay loaded. Errors are one
/// sentence that says which library or function is not there.
Expected<const Driver *> loadDriver();
Expected<const CublasLt *> loadCublasLt();

} // namespace kv::cuda::driver

#endif // KV_RUNTIME_CUDA_DRIVER_H
