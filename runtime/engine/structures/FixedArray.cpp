//===- FixedArray.cpp - Arrays that are allocated once --------------------===//

#include "FixedArray.h"

#include <new>
#include <sys/mman.h>

using namespace kv;

namespace {

constexpr size_t CacheLine = 64, HugePage = size_t(2) << 20;

std::align_val_t alignmentOf(size_t bytes) {
  return std::align_val_t(bytes >= HugePage / 2 ? HugePage : CacheLine);
}

} // namespace

void *detail::allocateFixed(size_t bytes) {
  std::align_val_t alignment = alignmentOf(bytes);
  if (size_t(alignment) == HugePage)
    bytes = (bytes + HugePage - 1) / HugePage * HugePage;
  void *memory = ::operator new(bytes, alignment, std::nothrow);
  if (memory && size_t(alignment) == HugePage)
    // If the system refuses, the same memory is only slower.
    (void)::madvise(memory, bytes, MADV_HUGEPAGE);
  return memory;
}

void detail::freeFixed(void *memory, size_t bytes) {
  if (memory)
    ::operator delete(memory, alignmentOf(bytes));
}
