//===- DeviceBackend.h - Memory and queue of one device ---------*- C++ -*-===//
//
// What managers, weights and sessions ask of a device. A device has memory and
// one queue: copies, page operations and entries are queued and run later, in
// this order, so that whatever is queued sees what was queued before it. On a
// CPU everything is done at once. CUDA's is in a shared library of its own,
// libkv_cuda.so, which is loaded when the first such device is asked for.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_DEVICEBACKEND_H
#define KV_RUNTIME_DEVICEBACKEND_H

#include "kv/Runtime/Error.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace kv {

/// Of the device, or of the host's pinned memory.
struct MemoryCopy {
  void *target;
  const void *source;
  size_t bytes;
};

/// Device code: one row of an artifact's section .kv.kernels.
struct KernelImage {
  std::string name; // of the attention kernel in it, or kv_movers
  std::string chip; // "sm_90a", or "compute_80" for PTX
  std::string code;
};

/// An artifact's device code, loaded.
class DeviceModule {
public:
  virtual ~DeviceModule() = default;
};

/// What an ExecutionContext has on a device: its table of functions, and what
/// they keep between calls.
class DeviceContext {
public:
  virtual ~DeviceContext() = default;
  virtual const KvFunctionTable &functions() const = 0;
  virtual void *stream() const = 0;
  /// Entries call the kernels of `module` from now on. It must outlive them.
  virtual void use(const DeviceModule *module) = 0;
  /// What kernels found wrong with the data of steps that somebody has waited
  /// for, such as an id that an embedding does not have; once. Does not wait.
  virtual Expected<void> takeStepError() = 0;
};

/// One device. One thread at a time. The first failure of what is queued
/// stays: it is what everything fallible returns from then on.
class DeviceBackend {
public:
  virtual ~DeviceBackend() = default;

  /// "NVIDIA H100 80GB HBM3 (sm_90)"
  virtual std::string description() const = 0;
  /// Whether the host reads and writes the device's memory, and copies are
  /// done when they return.
  virtual bool isHost() const = 0;
  /// Scratch memory of a context that asks for none.
  virtual size_t defaultArenaBytes() const = 0;

  //===--- Memory ---------------------------------------------------------===//

  /// Aligned to 64 bytes at least. Not zeroed unless asked for; that is queued.
  /// Freeing waits for what is queued.
  virtual Expected<void *> allocate(size_t bytes, bool zeroed) = 0;
  virtual void free(void *data, size_t bytes) = 0;
  /// Host memory, zeroed, that copies may use while the host goes on.
  virtual Expected<void *> allocatePinned(size_t bytes) = 0;
  virtual void freePinned(void *data, size_t bytes) = 0;

  //===--- The queue ------------------------------------------------------===//

  /// A source on the host is pinned, and stays as it is until the copy is
  /// done; or it is any memory, and is read before the call returns.
  virtual void copyToDevice(void *target, const void *source, size_t bytes) = 0;
  /// To pinned memory.
  virtual void copyToHost(void *target, const void *source, size_t bytes) = 0;
  /// The two do not overlap.
  virtual void copyOnDevice(void *target, const void *source, size_t bytes) = 0;
  virtual void zero(void *target, size_t bytes) = 0;
  /// Many copies between the device and pinned memory, or on the device, in any
  /// order: pages that are swapped.
  virtual void copyBatch(std::span<const MemoryCopy> copies) = 0;

  /// A place in the queue, and what waits until all before it is done.
  virtual uint64_t mark() = 0;
  virtual Expected<void> wait(uint64_t mark) = 0;
  /// Waits for all that is queued.
  virtual Expected<void> synchronize() = 0;
  /// The first failure so far, without waiting.
  virtual Expected<void> status() const = 0;

  //===--- Execution ------------------------------------------------------===//

  /// Loads what fits this device of each image's name. Errors: an image of
  /// which nothing fits, or no code for a device.
  virtual Expected<std::unique_ptr<DeviceModule>>
  load(const std::vector<KernelImage> &images) = 0;
  /// `deterministic`: a row's bits do not depend on the rows beside it.
  virtual Expected<std::unique_ptr<DeviceContext>>
  createContext(bool deterministic) = 0;
};

/// What libkv_cuda.so exports as KV_OPEN_DEVICE_SYMBOL: opens device `index`.
/// The result lives as long as the process. Null: `error` says why.
using OpenDevice = DeviceBackend *(*)(uint32_t interfaceVersion, int index,
                                      Error *error);
#define KV_OPEN_DEVICE_SYMBOL "kv_open_device"
inline constexpr uint32_t DeviceInterfaceVersion = 2;

} // namespace kv

#endif // KV_RUNTIME_DEVICEBACKEND_H
