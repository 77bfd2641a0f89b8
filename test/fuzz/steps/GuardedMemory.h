//===- GuardedMemory.h - Memory whose neighbours are watched ----*- C++ -*-===//

#ifndef KV_TEST_FUZZ_STEPS_GUARDEDMEMORY_H
#define KV_TEST_FUZZ_STEPS_GUARDEDMEMORY_H

#include <cstddef>
#include <cstdint>
#include <span>

/// Bytes that end where a page without any access begins, and begin behind
/// another one: generated code, which no sanitizer has instrumented, faults on
/// the first element beyond them. Below them, up to the page's begin, lie bytes
/// of a pattern.
class GuardedMemory {
public:
  /// Ends the program where there is no memory.
  explicit GuardedMemory(size_t bytes);
  ~GuardedMemory();
  GuardedMemory(GuardedMemory &&other) noexcept;
  GuardedMemory &operator=(GuardedMemory &&) = delete;

  std::span<uint8_t> bytes() const { return {begin, size}; }
  template <class T> T *as() const { return reinterpret_cast<T *>(begin); }

  /// Whether the bytes below still have their pattern.
  bool isIntact() const;

private:
  uint8_t *mapping, *begin;
  size_t mapped, size;
};

#endif // KV_TEST_FUZZ_STEPS_GUARDEDMEMORY_H
