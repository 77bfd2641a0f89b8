//===- DeviceMemory.h - Memory that the host may not touch ------*- C++ -*-===//

#ifndef KV_TEST_CUDA_FAKE_DEVICEMEMORY_H
#define KV_TEST_CUDA_FAKE_DEVICEMEMORY_H

#include <cstddef>
#include <cstdint>
#include <map>

namespace kv::fake {

/// Allocations in a reservation of address space. The pages are accessible
/// while an Access lives and not else, so that a host that follows a device
/// pointer dies at once. Addresses are never given out twice, and a page lies
/// between any two allocations.
class DeviceMemory {
public:
  DeviceMemory();

  /// Filled with 0xff, NaN in every type; null: no room.
  void *allocate(size_t bytes, int device);
  bool free(void *data);

  /// Whether [data, data + bytes) lies in one allocation.
  bool holds(const void *data, size_t bytes) const;
  struct Range {
    char *begin;
    size_t bytes;
  };
  /// The allocation that an address is in; no bytes: none.
  Range find(const void *address) const;

  int64_t bytesInUse() const { return inUse; }

  class Access {
  public:
    explicit Access(DeviceMemory &memory) : memory(memory) {
      if (memory.open++ == 0)
        memory.protect(true);
    }
    ~Access() {
      if (--memory.open == 0)
        memory.protect(false);
    }
    Access(const Access &) = delete;
    Access &operator=(const Access &) = delete;

  private:
    DeviceMemory &memory;
  };

private:
  struct Allocation {
    size_t bytes;
    int device;
  };
  void protect(bool accessible);

  char *base, *next, *end;
  std::map<char *, Allocation> allocations;
  std::map<int, size_t> used; // by device
  int64_t inUse = 0;
  int open = 0;
};

} // namespace kv::fake

#endif // KV_TEST_CUDA_FAKE_DEVICEMEMORY_H
