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
/// own, though all share one host.
struct Device {
  enum class Kind { CPU };

  Kind kind = Kind::CPU;
  int index = 0;

  bool operator==(const Device &) const = default;

  /// "cpu" or "cpu:1".
  static Expected<Device> parse(std::string_view text);
  std::string str() const;

  /// `bytes` zeroed bytes; 0 is allowed. Large blocks ask for huge pages.
  Expected<Memory> allocate(size_t bytes) const;
};

} // namespace kv

#endif // KV_RUNTIME_DEVICE_H
