//===- Buffer.h - A dense tensor that owns its memory -----------*- C++ -*-===//

#ifndef KV_RUNTIME_DEVICE_BUFFER_H
#define KV_RUNTIME_DEVICE_BUFFER_H

#include "kv/Runtime/Base/DType.h"
#include "kv/Runtime/Device/Device.h"

#include <initializer_list>
#include <span>

namespace kv {

/// A dense row-major view of memory that the caller keeps alive. The rank is
/// at most KV_MAX_RANK.
KvTensorView makeView(void *data, DType dtype, std::span<const int64_t> shape);
KvTensorView makeView(void *data, DType dtype,
                      std::initializer_list<int64_t> shape);

/// "bf16[36, 576, 16]": how messages print a type.
std::string describe(DType dtype, std::span<const int64_t> shape);
std::string describe(const KvTensorView &view);

/// A dense row-major tensor in memory that it owns, zeroed at first. Move-only.
class Buffer {
public:
  Buffer() = default;

  /// Errors: a rank above KV_MAX_RANK, a negative size, no memory, those of
  /// Device::backend().
  static Expected<Buffer> create(const Device &device, DType dtype,
                                 std::span<const int64_t> shape);
  static Expected<Buffer> create(const Device &device, DType dtype,
                                 std::initializer_list<int64_t> shape);

  void *data() const { return memory.data(); }
  template <class T> T *as() const { return static_cast<T *>(memory.data()); }
  DType dtype() const { return static_cast<DType>(whole.dtype); }
  std::span<const int64_t> shape() const {
    return {whole.sizes, static_cast<size_t>(whole.rank)};
  }
  int64_t elements() const;
  size_t bytes() const { return elements() * dtypeBytes(dtype()); }
  const KvTensorView &view() const { return whole; }

private:
  Memory memory;
  KvTensorView whole = {};
};

} // namespace kv

#endif // KV_RUNTIME_DEVICE_BUFFER_H
