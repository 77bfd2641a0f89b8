//===- Device.h - Where tensors live ----------------------------*- C++ -*-===//

#ifndef KV_RUNTIME_DEVICE_H
#define KV_RUNTIME_DEVICE_H

#include "kv/Runtime/Error.h"

#include <cstddef>

namespace kv {

/// Zeroed memory of one device, owned. Aligned to 64 bytes at least.
class Memory {
public:
  Memory() = default;
  Memory(Memory &&other) noexcept { *this = std::move(other); }
  Memory &operator=(Memory &&other) noexcept;
  ~Memory() { reset(); }

  void *data() const { return base; }
  size_t bytes() const { return length; }

private:
  friend struct Device;
  void reset();

  void *base = nullptr;
  size_t length = 0;
};

/// A device by kind and number. Each `cpu:n` is a device with memory of its
/// own, though all share one host. A virtual device has no memory: it stands
/// for a target that is compiled for and not there.
struct Device {
  enum class Kind { CPU, Virtual };

  Kind kind = Kind::CPU;
  int index = 0;
  std::string target = {}; // of a virtual device: "x86-64-v4", "sm_90a"

  bool operator==(const Device &) const = default;
  bool isVirtual() const { return kind == Kind::Virtual; }

  /// "cpu", "cpu:1", "virtual:sm_90a", or "virtual:sm_90a:1" for a second one.
  static Expected<Device> parse(std::string_view text);
  std::string str() const;

  /// `bytes` zeroed bytes; 0 is allowed. Large blocks ask for huge pages.
  /// Errors: no memory; the device is virtual.
  Expected<Memory> allocate(size_t bytes) const;
};

} // namespace kv

#endif // KV_RUNTIME_DEVICE_H
