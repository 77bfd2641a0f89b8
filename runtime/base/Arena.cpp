//===- Arena.cpp - A stack of temporaries ---------------------------------===//

#include "kv/Runtime/Base/Arena.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <sys/mman.h>
#include <utility>

using namespace kv;

static size_t align(size_t bytes) {
  return (bytes + Arena::Alignment - 1) & ~(Arena::Alignment - 1);
}

Arena &Arena::operator=(Arena &&other) noexcept {
  std::swap(base, other.base);
  std::swap(size, other.size);
  std::swap(top, other.top);
  std::swap(highest, other.highest);
  std::swap(owned, other.owned);
  return *this;
}

Arena::~Arena() {
  if (owned)
    munmap(base, size);
}

Expected<Arena> Arena::reserve(size_t bytes) {
  size_t wanted = std::max(align(bytes), Alignment);
  for (size_t size = wanted; size >= std::max(wanted / 1024, Alignment);
       size = align(size / 2)) {
    void *base = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base != MAP_FAILED) {
      madvise(base, size, MADV_HUGEPAGE); // if refused, memory is only slower
      Arena arena;
      arena.base = static_cast<char *>(base);
      arena.size = size;
      arena.owned = true;
      return arena;
    }
    if (size == Alignment)
      break;
  }
  return makeError(KV_STATUS_OUT_OF_MEMORY, "the arena: ", bytes,
                   " bytes of address space asked for: ", std::strerror(errno));
}

Arena Arena::over(void *base, size_t bytes) {
  Arena arena;
  arena.base = static_cast<char *>(base);
  arena.size = bytes & ~(Alignment - 1);
  return arena;
}

void Arena::release(int64_t mark) {
  if (mark >= 0 && size_t(mark) < top)
    top = size_t(mark);
}

void *Arena::allocate(int64_t bytes) {
  if (bytes < 0 || size_t(bytes) > size - top)
    return nullptr;
  void *result = base + top;
  // The size is a multiple of the alignment, so this cannot pass it.
  top += align(size_t(bytes));
  highest = std::max(highest, top);
  return result;
}

void Arena::returnBuffers(int64_t mark, void **pointers, const int64_t *bytes,
                          int64_t count, Move move, void *env) {
  // Each round moves the lowest buffer that has not been moved, together with
  // those that overlap it. A target is never above its source, so the buffers
  // that remain are intact, and the address of a moved one is below all of
  // them. `count` is the number of results of one function: quadratic time is
  // cheap.
  auto address = [&](int64_t i) {
    return reinterpret_cast<uintptr_t>(pointers[i]);
  };
  size_t newTop = std::min(size_t(std::max<int64_t>(mark, 0)), top);
  uintptr_t next = reinterpret_cast<uintptr_t>(base) + newTop;
  uintptr_t high = reinterpret_cast<uintptr_t>(base) + top;
  while (true) {
    uintptr_t first = high;
    for (int64_t i = 0; i < count; ++i)
      if (address(i) >= next)
        first = std::min(first, address(i));
    if (first == high)
      break;

    uintptr_t last = first;
    auto inGroup = [&](int64_t i) {
      return address(i) == first || (address(i) > first && address(i) < last);
    };
    for (bool grown = true; grown;) {
      grown = false;
      for (int64_t i = 0; i < count; ++i) {
        uintptr_t end = address(i) + size_t(std::max<int64_t>(bytes[i], 0));
        if (inGroup(i) && end > last) {
          last = std::min(end, high);
          grown = last == end;
        }
      }
    }

    char *target = base + newTop;
    void *source = reinterpret_cast<void *>(first);
    if (move && target != source)
      move(env, target, source, last - first, base + top);
    else
      std::memmove(target, source, last - first);
    newTop += align(last - first);
    for (int64_t i = 0; i < count; ++i)
      if (inGroup(i))
        pointers[i] = target + (address(i) - first);
    next = std::max(last, first + 1);
  }
  top = newTop;
}
