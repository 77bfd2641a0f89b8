//===- Arena.h - A stack of temporaries -------------------------*- C++ -*-===//

#ifndef KV_RUNTIME_ARENA_H
#define KV_RUNTIME_ARENA_H

#include "kv/Runtime/Error.h"

#include <cstddef>

namespace kv {

/// One large stretch of memory, used as a stack. On the host it is a
/// reservation of address space: memory is touched only as far as the stack has
/// grown, and stays mapped for the next step.
class Arena {
public:
  static constexpr size_t Alignment = 64;

  Arena() = default;
  Arena(Arena &&other) noexcept { *this = std::move(other); }
  Arena &operator=(Arena &&other) noexcept;
  ~Arena();

  /// Reserves `bytes` of address space, or less (down to a 1024th of it) where
  /// the system refuses.
  static Expected<Arena> reserve(size_t bytes);

  /// Over memory that outlives the arena, the host's or a device's; `base` is
  /// aligned to Alignment.
  static Arena over(void *base, size_t bytes);

  /// The top of the stack. Release gives everything above a mark back.
  int64_t mark() const { return static_cast<int64_t>(top); }
  void release(int64_t mark);

  /// Null when `bytes` is negative or does not fit; 0 bytes give an address.
  void *allocate(int64_t bytes);

  /// Moves `bytes` bytes down to `target`, which may overlap with the source;
  /// `spare` is where the arena's unused memory begins.
  using Move = void (*)(void *env, void *target, const void *source,
                        size_t bytes, void *spare);

  /// Symbols.def, arenaReturn: moves those of the `count` buffers that lie
  /// above `mark` down to it and releases the rest. Buffers may be given in
  /// any order; one given twice is moved once. Allocates nothing. Without a
  /// `move` the memory is the host's.
  void returnBuffers(int64_t mark, void **pointers, const int64_t *bytes,
                     int64_t count, Move move = nullptr, void *env = nullptr);

  size_t capacity() const { return size; }
  size_t used() const { return top; }
  /// The highest that the stack has been.
  size_t peak() const { return highest; }

private:
  char *base = nullptr;
  size_t size = 0;
  size_t top = 0;
  size_t highest = 0;
  bool owned = false;
};

} // namespace kv

#endif // KV_RUNTIME_ARENA_H
