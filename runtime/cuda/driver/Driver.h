//===- Driver.h - The CUDA driver and cuBLASLt, loaded ----------*- C++ -*-===//
//
// Declares the functions, types and values of the CUDA driver and of cuBLASLt
// that the runtime uses, so that the project builds on machines without CUDA.
// Both libraries are looked for when a device is opened. Where CUDA's own
// headers are installed, test/cuda/HeadersTest compares these declarations with
// them.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_CUDA_DRIVER_DRIVER_H
#define KV_RUNTIME_CUDA_DRIVER_DRIVER_H

#include "kv/Runtime/Base/Error.h"

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
using Graph = struct GraphTag *;
using GraphExec = struct GraphExecTag *;

enum : int {
  AttributeMultiprocessors = 16,
  AttributeMajor = 75,
  AttributeMinor = 76,
  AttributeSharedBytes = 97, // most of a thread block, by opting in
  AttributeBlocks = 106,     // most blocks of an SM, whatever they need
  FunctionSharedBytes = 8,   // for cuFuncSetAttribute
  FunctionCarveout = 9,      // percent of an SM's memory that is shared memory
};
enum : unsigned { StreamNonBlocking = 1, EventNoTiming = 2, HostPortable = 1 };

/// The calls that other threads may make while a stream is captured: any.
enum CaptureMode : int { CaptureThreadLocal = 1 };

/// One attribute of a launch; its value is a union of 64 bytes.
struct LaunchAttribute {
  int id;
  alignas(8) int value[3]; // of a cluster: its blocks in each dimension
  char rest[52];
};
/// Blocks form clusters; the kernel may begin while the one before it on the
/// stream still runs.
enum : int { LaunchClusters = 4, LaunchMayBeginEarly = 6 };
struct LaunchConfig {
  unsigned gridX = 1, gridY = 1, gridZ = 1;
  unsigned blockX = 1, blockY = 1, blockZ = 1;
  unsigned sharedBytes = 0;
  Stream stream = nullptr;
  LaunchAttribute *attributes = nullptr;
  unsigned count = 0;
};

/// The output of cuTensorMapEncodeTiled, and its enumerations.
struct alignas(128) TensorMapWords {
  uint64_t words[16];
};
enum : int {
  TensorUint16 = 1,
  TensorPlain = 0, // not interleaved
  TensorNoSwizzle = 0,
  TensorSwizzle128 = 3,
  TensorFetch256 = 3, // bytes that a miss brings to the second-level cache
  TensorZeros = 0     // what lies outside
};

struct Location {
  int type, id;
};
struct CopyAttributes {
  int sourceOrder; // SourceInStreamOrder
  Location source, target;
  unsigned flags;
};
enum : int { SourceInStreamOrder = 1 };

/// The functions of Driver.def, loaded.
struct Driver {
#define KV_DRIVER(member, symbol, ...) Result (*member)(__VA_ARGS__);
#include "Driver.def"
};

/// Queues `clusters` clusters of `clusterBlocks` blocks. The clusters may begin
/// while the kernel before them on the stream still runs, so their kernel must
/// wait for it itself. The driver must have cuLaunchKernelEx.
inline Result launchEarly(const Driver &api, Function function, int clusters,
                          int clusterBlocks, int threads, int sharedBytes,
                          Stream stream, void **arguments) {
  LaunchAttribute attributes[] = {{LaunchMayBeginEarly, {1}, {}},
                                  {LaunchClusters, {clusterBlocks, 1, 1}, {}}};
  LaunchConfig config{.gridX = unsigned(clusters) * unsigned(clusterBlocks),
                      .blockX = unsigned(threads),
                      .sharedBytes = unsigned(sharedBytes),
                      .stream = stream,
                      .attributes = attributes,
                      .count = clusterBlocks > 1 ? 2u : 1u};
  return api.launchKernelEx(&config, function, arguments, nullptr);
}

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
  LayoutBatch = 5,       // i32: products at once
  LayoutBatchStride = 6, // i64: elements between their matrices
  PreferenceWorkspace = 1,
  PreferenceReductions = 3,
  PreferenceAlignmentA = 5, // B, C and D follow
};

/// The functions of CublasLt.def, loaded.
struct CublasLt {
#define KV_CUBLASLT(member, symbol, ...) Result (*member)(__VA_ARGS__);
#include "CublasLt.def"
};

/// The functions of libcuda.so.1 and of libcublasLt.so
/// (FindCublasLt.h). If the environment
/// variable KV_CUDA_DRIVER is set, both come from the one file that it names.
/// The libraries are loaded once and stay loaded as long as the process lives.
/// Errors: one sentence that names the library or the function that is missing.
Expected<const Driver *> loadDriver();
Expected<const CublasLt *> loadCublasLt();

} // namespace kv::cuda::driver

#endif // KV_RUNTIME_CUDA_DRIVER_DRIVER_H
