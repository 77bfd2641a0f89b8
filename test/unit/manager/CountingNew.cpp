//===- CountingNew.cpp - Counts and refuses what is asked of it -----------===//
//
// In a file of its own: inlined, the pair looks mismatched to the compiler.
//
//===----------------------------------------------------------------------===//

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

std::atomic<int64_t> heapAllocations = 0;
/// How many more succeed before one fails; negative: all succeed.
std::atomic<int64_t> heapFailsAfter = -1;

void *operator new(size_t bytes) {
  ++heapAllocations;
  if (heapFailsAfter >= 0 && heapFailsAfter-- == 0)
    throw std::bad_alloc();
  if (void *memory = std::malloc(bytes ? bytes : 1))
    return memory;
  throw std::bad_alloc();
}
void *operator new(size_t bytes, const std::nothrow_t &) noexcept {
  ++heapAllocations;
  if (heapFailsAfter >= 0 && heapFailsAfter-- == 0)
    return nullptr;
  return std::malloc(bytes ? bytes : 1);
}
/// What the engine's arrays and a CPU device's memory are made of.
void *operator new(size_t bytes, std::align_val_t alignment,
                   const std::nothrow_t &) noexcept {
  ++heapAllocations;
  if (heapFailsAfter >= 0 && heapFailsAfter-- == 0)
    return nullptr;
  size_t unit = size_t(alignment);
  return std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit);
}
void operator delete(void *memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
