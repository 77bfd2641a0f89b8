//===- FixedArray.h - Arrays that are allocated once ------------*- C++ -*-===//
//
// The engine allocates its arrays when it is created and never grows them.
// Running out of memory is a returned value, not an exception. Large arrays ask
// for huge pages, because they are read in random order.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_ENGINE_STRUCTURES_FIXEDARRAY_H
#define KV_RUNTIME_ENGINE_STRUCTURES_FIXEDARRAY_H

#include "Accesses.h"

#include <cassert>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

namespace kv {

namespace detail {
/// `bytes` bytes, aligned to a cache line at least; null if there is no memory.
void *allocateFixed(size_t bytes);
void freeFixed(void *memory, size_t bytes);
} // namespace detail

template <class T> class FixedArray {
  static_assert(std::is_trivially_copyable_v<T> &&
                std::is_trivially_destructible_v<T>);

public:
  enum Contents { Zeroed, Untouched };

  FixedArray() = default;
  FixedArray(const FixedArray &) = delete;
  FixedArray &operator=(const FixedArray &) = delete;
  ~FixedArray() { detail::freeFixed(data, bytes()); }

  /// Allocates `wanted` entries; may be called once. Untouched memory is not
  /// read or written here, so its pages are mapped only when they are used.
  /// False: no memory.
  [[nodiscard]] bool create(size_t wanted, Contents contents = Zeroed) {
    assert(!data && "made twice");
    if (wanted == 0)
      return true;
    data = static_cast<T *>(detail::allocateFixed(wanted * sizeof(T)));
    if (!data)
      return false;
    count = wanted;
    if (contents == Zeroed)
      std::memset(static_cast<void *>(data), 0, bytes());
    return true;
  }

  size_t size() const { return count; }
  size_t bytes() const { return count * sizeof(T); }
  T *begin() const { return data; }
  T *end() const { return data + count; }
  T &operator[](size_t index) const {
    assert(index < count && "outside of the array");
    detail::countAccess();
    return data[index];
  }

private:
  T *data = nullptr;
  size_t count = 0;
};

} // namespace kv

#endif // KV_RUNTIME_ENGINE_STRUCTURES_FIXEDARRAY_H
