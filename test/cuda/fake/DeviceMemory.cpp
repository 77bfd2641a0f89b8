//===- DeviceMemory.cpp - Memory that the host may not touch --------------===//

#include "DeviceMemory.h"

#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

using namespace kv::fake;

static constexpr size_t Page = 4096, Reserved = size_t(1) << 40,
                        MostPerDevice = size_t(1) << 30;

static size_t pages(size_t bytes) { return (bytes + Page - 1) / Page * Page; }

DeviceMemory::DeviceMemory() {
  void *reserved = mmap(nullptr, Reserved, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED)
    std::abort();
  base = next = static_cast<char *>(reserved);
  end = base + Reserved;
}

void *DeviceMemory::allocate(size_t bytes, int device) {
  size_t whole = pages(bytes);
  if (bytes > MostPerDevice || used[device] + bytes > MostPerDevice ||
      whole + Page > size_t(end - next))
    return nullptr;
  char *data = next;
  mprotect(data, whole, PROT_READ | PROT_WRITE);
  std::memset(data, 0xff, whole);
  if (open == 0)
    mprotect(data, whole, PROT_NONE);
  next += whole + Page;
  allocations[data] = {bytes, device};
  used[device] += bytes;
  inUse += int64_t(bytes);
  return data;
}

bool DeviceMemory::free(void *data) {
  auto it = allocations.find(static_cast<char *>(data));
  if (it == allocations.end())
    return false;
  used[it->second.device] -= it->second.bytes;
  inUse -= int64_t(it->second.bytes);
  size_t whole = pages(it->second.bytes);
  madvise(data, whole, MADV_DONTNEED);
  mprotect(data, whole, PROT_NONE);
  allocations.erase(it);
  return true;
}

DeviceMemory::Range DeviceMemory::find(const void *address) const {
  auto *at = static_cast<char *>(const_cast<void *>(address));
  auto it = allocations.upper_bound(at);
  if (it == allocations.begin())
    return {nullptr, 0};
  --it;
  if (at >= it->first + it->second.bytes)
    return {nullptr, 0};
  return {it->first, it->second.bytes};
}

bool DeviceMemory::holds(const void *data, size_t bytes) const {
  Range range = find(data);
  auto *begin = static_cast<const char *>(data);
  return range.bytes && bytes <= range.bytes &&
         begin + bytes <= range.begin + range.bytes;
}

void DeviceMemory::protect(bool accessible) {
  for (const auto &[data, allocation] : allocations)
    mprotect(data, pages(allocation.bytes),
             accessible ? PROT_READ | PROT_WRITE : PROT_NONE);
}
