//===- Arena.h - A stack of temporaries -------------------------*- C++ -*-===//

#ifndef KV_RUNTIME_BASE_ARENA_H
#define KV_RUNTIME_BASE_ARENA_H

#include "kv/Runtime/Base/Error.h"

#include <cstddef>

namespace kv {

/// A large block of memory used as a stack. On the host it is a reservation of
/// address space: the system maps memory only where the stack has been, and it
/// stays mapped for the next step. Move-only.
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

  /// An arena in memory of the host or of a device, which the caller owns and
  /// which outlives the arena. `base` is aligned to Alignment.
  static Arena over(void *base, size_t bytes);

  /// The top of the stack, in bytes. release() frees everything above a mark.
  int64_t mark() const { return static_cast<int64_t>(top); }
  void release(int64_t mark);

  /// Memory on top of the stack, aligned to Alignment. Null if `bytes` is
  /// negative or does not fit; for 0 bytes a valid address.
  void *allocate(int64_t bytes);

  /// Moves `bytes` bytes from `source` down to `target`; the two may overlap.
  /// The arena's memory from `spare` on is unused and may be written.
  using Move = void (*)(void *env, void *target, const void *source,
                        size_t bytes, void *spare);

  /// The function arenaReturn of Symbols.def: moves those of the `count`
  /// buffers that are above `mark` down to it, updates their `pointers`, and
  /// frees everything else above the mark. Buffers may be in any order; one
  /// that is given twice is moved once. Allocates nothing. `move` is called
  /// with `env`; null: the memory is the host's, and is moved by memmove.
  void returnBuffers(int64_t mark, void **pointers, const int64_t *bytes,
                     int64_t count, Move move = nullptr, void *env = nullptr);

  size_t capacity() const { return size; }
  size_t used() const { return top; }
  /// The largest used() so far.
  size_t peak() const { return highest; }

private:
  char *base = nullptr;
  size_t size = 0;
  size_t top = 0;
  size_t highest = 0;
  bool owned = false;
};

} // namespace kv

#endif // KV_RUNTIME_BASE_ARENA_H
