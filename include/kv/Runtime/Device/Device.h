//===- Device.h - Where tensors live ----------------------------*- C++ -*-===//

#ifndef KV_RUNTIME_DEVICE_DEVICE_H
#define KV_RUNTIME_DEVICE_DEVICE_H

#include "kv/Runtime/Device/DeviceBackend.h"

namespace kv {

/// Owns memory of one device, or pinned memory of the host. Aligned to 64 bytes
/// at least. Move-only.
class Memory {
public:
  Memory() = default;
  Memory(Memory &&other) noexcept { *this = std::move(other); }
  Memory &operator=(Memory &&other) noexcept;
  ~Memory() { reset(); }

  void *data() const { return base; }
  template <class T> T *as() const { return static_cast<T *>(base); }
  size_t bytes() const { return length; }

private:
  friend struct Device;
  void reset();

  void *base = nullptr;
  size_t length = 0;
  bool pinned = false;
  DeviceBackend *backend = nullptr;
};

/// A device by kind and index. Each `cpu:n` is a device with memory of its own,
/// although all of them are the one host. A virtual device has no memory: it
/// stands for a target to compile for, which this machine need not have.
struct Device {
  enum class Kind { CPU, CUDA, Virtual };

  Kind kind = Kind::CPU;
  int index = 0;
  std::string target = {}; // of a virtual device: "x86-64-v4", "sm_90a"

  bool operator==(const Device &) const = default;
  bool isVirtual() const { return kind == Kind::Virtual; }

  /// "cpu", "cpu:1", "cuda", "cuda:1", "virtual:sm_90a", or "virtual:sm_90a:1"
  /// for a second one.
  static Expected<Device> parse(std::string_view text);
  std::string str() const;

  /// The device's memory and queue, which live as long as the process. Errors:
  /// the device is virtual; there is no such device, no driver, or no
  /// libkv_cuda.so next to the runtime (or at the path in the environment
  /// variable KV_CUDA_LIBRARY).
  Expected<DeviceBackend *> backend() const;

  /// `bytes` bytes, 0 allowed, of zeros: zeroing them is queued before all that
  /// is queued later. On a CPU, large allocations ask for huge pages. Errors:
  /// no memory; those of backend().
  Expected<Memory> allocate(size_t bytes) const;
  /// Device memory with undefined contents (on a CPU zeros).
  Expected<Memory> allocateScratch(size_t bytes) const;
  /// Zeroed, pinned host memory for copies from and to this device.
  Expected<Memory> allocatePinned(size_t bytes) const;

private:
  enum class MemoryKind { Zeroed, Scratch, Pinned };
  Expected<Memory> make(size_t bytes, MemoryKind kind) const;
};

} // namespace kv

#endif // KV_RUNTIME_DEVICE_DEVICE_H
