//===- DeviceBackend.h - Memory and queue of one device ---------*- C++ -*-===//
//
// The interface to a device that managers, weights and sessions use. A device
// has memory and a queue: copies, page operations and entries are queued and
// executed later in the order of their calls, so each sees the effects of those
// before it. A second queue copies in parallel with the first. On a CPU each is
// executed before its call returns. The CUDA backend is a shared library,
// libkv_cuda.so, which is loaded when the first CUDA device is used.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_DEVICE_DEVICEBACKEND_H
#define KV_RUNTIME_DEVICE_DEVICEBACKEND_H

#include "kv/Runtime/Base/Error.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace kv {

class Communicator;

/// A copy of bytes. Both addresses are the device's, or one is in pinned memory
/// of the host.
struct MemoryCopy {
  void *target;
  const void *source;
  size_t bytes;
};

/// Device code: one row of an artifact's section .kv.kernels (KernelImages.h).
struct KernelImage {
  std::string name; // of its attention kernel, or "kv_movers"
  std::string chip; // "sm_90a", or "compute_80" for PTX
  std::string code;
};

/// An artifact's device code, loaded.
class DeviceModule {
public:
  virtual ~DeviceModule() = default;
};

/// The part of an ExecutionContext that depends on the device: the table of
/// functions that entries call, and their state between calls.
class DeviceContext {
public:
  virtual ~DeviceContext() = default;
  virtual const KvFunctionTable &functions() const = 0;
  virtual void *stream() const = 0;
  /// Entries call the kernels of `module` from now on. The module must outlive
  /// the entries.
  virtual void use(const DeviceModule *module) = 0;
  /// Begins a call of an entry. `call` holds all that the queued work depends
  /// on, except the module; without any words nothing is known of the work.
  /// True: the same work as that of an earlier call with equal words has been
  /// queued, and the entry is not to be called.
  virtual bool start(std::span<const uint64_t> call) = 0;
  /// Called after the entry, if start() returned false. `sound`: the entry has
  /// recorded no error. False: nothing has been queued, and the entry is to be
  /// called again.
  virtual bool finish(bool sound) = 0;
  /// An error that kernels found in the data of steps that were waited for,
  /// such as an id that an embedding does not have; each is returned once. Does
  /// not wait.
  virtual Expected<void> takeStepError() = 0;
};

struct DeviceContextOptions {
  /// A row's bits do not depend on the other rows of the batch.
  bool deterministic = false;
  /// The ranks that compute together with this process and all create a
  /// context; null: it computes alone.
  Communicator *ranks = nullptr;
  /// Receives notes, a sentence each.
  std::function<void(std::string_view)> log = {};
};

/// One device, used by one thread at a time. Errors are sticky: after something
/// queued has failed, every call that returns a value or an error returns the
/// first failure.
class DeviceBackend {
public:
  virtual ~DeviceBackend() = default;

  /// "NVIDIA H100 80GB HBM3 (sm_90)"
  virtual std::string description() const = 0;
  /// Whether the device's memory is the host's, and nothing is ever queued:
  /// everything is done when its call returns.
  virtual bool isHost() const = 0;
  /// Bytes of the arena of a context whose options give no size.
  virtual size_t defaultArenaBytes() const = 0;

  //===--- Memory ---------------------------------------------------------===//

  /// `bytes` bytes of device memory, aligned to 64 bytes at least. With
  /// `zeroed` a zero fill is queued; otherwise the contents are undefined.
  /// Error: no memory. free() waits for everything that is queued.
  virtual Expected<void *> allocate(size_t bytes, bool zeroed) = 0;
  virtual void free(void *data, size_t bytes) = 0;
  /// Zeroed host memory from and to which copies run asynchronously. Error: no
  /// memory.
  virtual Expected<void *> allocatePinned(size_t bytes) = 0;
  virtual void freePinned(void *data, size_t bytes) = 0;

  //===--- The queue ------------------------------------------------------===//

  /// Copies host memory to the device. A pinned source is read when the copy is
  /// executed, and must not change until then; any other source is read before
  /// the call returns.
  virtual void copyToDevice(void *target, const void *source, size_t bytes) = 0;
  /// Copies device memory to pinned host memory.
  virtual void copyToHost(void *target, const void *source, size_t bytes) = 0;
  /// Copies within the device; the two ranges do not overlap.
  virtual void copyOnDevice(void *target, const void *source, size_t bytes) = 0;
  virtual void zero(void *target, size_t bytes) = 0;
  /// Executes many copies in any order, for example of pages that are swapped
  /// to the host: between the device and pinned memory, or within the device.
  virtual void copyBatch(std::span<const MemoryCopy> copies) = 0;

  /// The current end of the queue; wait() returns when everything that was
  /// queued before it is done. Error: the first failure of anything queued.
  virtual uint64_t mark() = 0;
  virtual Expected<void> wait(uint64_t mark) = 0;
  /// Waits for everything that is queued. Error: the first failure.
  virtual Expected<void> synchronize() = 0;
  /// The first failure so far, without waiting.
  virtual Expected<void> status() const = 0;

  //===--- The second queue -----------------------------------------------===//

  /// Executes the copies of a batch on the second queue, in any order, but
  /// after earlier ones of this call, and `after` everything that is queued
  /// now. Returns a mark of its own. Nothing on the queue waits for the copies,
  /// unless followAside() says so.
  virtual uint64_t copyAside(std::span<const MemoryCopy> copies,
                             bool after) = 0;
  /// Work that is queued from now on waits for the copies up to the mark.
  virtual void followAside(uint64_t mark) = 0;
  /// Whether the copies up to the mark are done. Does not wait.
  virtual bool isAsideDone(uint64_t mark) = 0;

  //===--- Execution ------------------------------------------------------===//

  /// Loads, for each name among the images, the one that fits this device best.
  /// Errors: a name without an image that fits; a device that runs no such
  /// code.
  virtual Expected<std::unique_ptr<DeviceModule>>
  load(const std::vector<KernelImage> &images) = 0;
  virtual Expected<std::unique_ptr<DeviceContext>>
  createContext(const DeviceContextOptions &options) = 0;
};

/// The function that libkv_cuda.so exports as KV_OPEN_DEVICE_SYMBOL: opens
/// device `index`. The result lives as long as the process. Null: `error` says
/// why.
using OpenDevice = DeviceBackend *(*)(uint32_t interfaceVersion, int index,
                                      Error *error);
#define KV_OPEN_DEVICE_SYMBOL "kv_open_device"
inline constexpr uint32_t DeviceInterfaceVersion = 6;

} // namespace kv

#endif // KV_RUNTIME_DEVICE_DEVICEBACKEND_H
